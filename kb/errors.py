"""The one error family of kb. ``kb.cli`` prints these; nothing else reaches a user as a message.

Exit codes: 0 done, 1 error, 2 usage, 3 done in part (or a check has findings), 4 network.
"""

from __future__ import annotations

from collections.abc import Iterable

DONE = 0
ERROR = 1
USAGE = 2
PARTIAL = 3
NETWORK = 4


class KbError(Exception):
    """Something a person can act on: what happened, what was kept, what to type next."""

    exit_code = ERROR

    def __init__(self, message: str, hint: str = "", exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if exit_code is not None:
            self.exit_code = exit_code

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Errors travel between processes, whatever their constructors take.
        return _rebuild, (type(self), self.__dict__)


def near_hint(word: str, known: Iterable[str], otherwise: str, cutoff: float = 0.6) -> str:
    """A hint for a name that there is not: up to three near ones, or else what to look at."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=3, cutoff=cutoff)
    return f"did you mean {', '.join(near)}?" if near else otherwise


def _rebuild(kind: type[KbError], state: dict[str, object]) -> KbError:
    error = kind.__new__(kind)
    Exception.__init__(error, state["message"])
    error.__dict__.update(state)
    return error


class UsageError(KbError):
    """The command line asks for something that does not exist or makes no sense."""

    exit_code = USAGE


class NetworkError(KbError):
    """The network, or a server on it, did not answer; a later run goes on where this one stopped."""

    exit_code = NETWORK


class OfflineError(NetworkError):
    """A network address was asked for while the offline switch is on."""


class PartialError(KbError):
    """Part of a batch was done and kept; the rest is listed."""

    exit_code = PARTIAL


class FileFormatError(KbError):
    """A file that a person writes (front matter, TOML) cannot be read. Names path and line."""

    def __init__(self, path: object, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {message}", hint)
        self.path = str(path)
        self.line = line


class BadDocument(KbError):  # noqa: N818 - named for the document, which is what is bad
    """A foreign file (PDF, archive, HTML) cannot be read; the message is the reason shown to people.

    ``transient`` tells whether the same file may work later (a fetch cut short) or never will.
    """

    def __init__(self, message: str, hint: str = "", transient: bool = False) -> None:
        super().__init__(message, hint)
        self.transient = transient
