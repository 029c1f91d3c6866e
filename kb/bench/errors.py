"""Errors of ``reproductions`` as errors of kb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kb.errors import ERROR, USAGE, KbError


@contextmanager
def reproduction_errors() -> Iterator[None]:
    """What goes wrong inside is raised as KbError, its hint kept; a name that there is not is a mistake of usage."""
    from reproductions.core import ParameterError, ReproductionError
    from reproductions.registry import RegistryError

    try:
        yield
    except ReproductionError as error:
        code = USAGE if isinstance(error, ParameterError | RegistryError) else ERROR
        raise KbError(str(error.args[0]), error.hint, code) from None
