"""Options whose value is one of a few, and the language, which several commands ask for."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.errors import KbError, UsageError
from kb.workspace import CONFIG_NAME, Workspace

LangOption = Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="kb.toml says which if left out.")]
LANGUAGES = ("zh", "en")


def choose(given: str, *allowed: str) -> str:
    """``given`` if it is among the choices. Raises UsageError with the choices."""
    if given not in allowed:
        raise UsageError(f"{given!r} is not among the choices", f"one of {', '.join(allowed)}")
    return given


def chosen_language(given: str | None, workspace: Workspace) -> str:
    """The language of ``--lang``, else that of the workspace. Raises UsageError for another, KbError where kb.toml has it."""
    if given is not None:
        return choose(given, *LANGUAGES)
    language = str(workspace.option("language", "en"))
    if language not in LANGUAGES:
        raise KbError(f"{CONFIG_NAME}: language is {language!r}", 'write language = "zh" or language = "en"')
    return language
