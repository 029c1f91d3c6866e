"""Runs the real command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from kb.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def kb(workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """``kb("list", "--json")`` in a temporary workspace, offline, with its own cache."""
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("KB_OFFLINE", "1")

    def run(*arguments: str) -> Ran:
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
