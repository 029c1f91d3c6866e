"""Errors of ``reproductions`` as errors of kb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kb.errors import KbError


@contextmanager
def reproduction_errors() -> Iterator[None]:
    """What goes wrong inside is raised as KbError, its hint kept."""
    from reproductions.core import ReproductionError

    try:
        yield
    except ReproductionError as error:
        raise KbError(str(error.args[0]), error.hint) from None
