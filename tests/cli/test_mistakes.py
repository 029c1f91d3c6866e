"""Files of a person's own that cannot be used, and options that do not go together: named, with a way out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
NO_TEXT = b"x = [\xff\xfe"


@pytest.fixture
def records(workspace: Path, root: Path) -> Path:
    shutil.copytree(
        root / "papers" / "dapo", workspace / "papers" / "dapo", ignore=shutil.ignore_patterns("files", "text*")
    )
    return workspace


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gaps.toml", ("gaps",)),
        ("tables/methods.toml", ("compare", "dapo")),
        ("weekly.zh.md.j2", ("report", "2026-04-20")),
        ("report.html.j2", ("report", "2026-04-20", "--format", "html")),
    ],
)
def test_a_template_that_is_no_text_is_named(kb: Run, records: Path, name: str, arguments: tuple[str, ...]) -> None:
    path = records / "templates" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(NO_TEXT)
    ran = kb(*arguments)
    assert ran.code == 1 and name in ran.err and "hint: " in ran.err and "fault in kb" not in ran.err
    assert path.read_bytes() == NO_TEXT


def test_columns_to_draft_that_are_no_text_are_named(workspace: Path) -> None:
    from kb.drafting.columns import FILE_NAME, load_columns
    from kb.errors import FileFormatError
    from kb.workspace import load_workspace

    (workspace / "templates" / FILE_NAME).write_bytes(NO_TEXT)
    with pytest.raises(FileFormatError, match=FILE_NAME):
        load_columns(load_workspace(workspace))


def test_a_browser_that_is_no_name_is_explained(kb: Run, records: Path) -> None:
    (records / "kb.toml").write_text('language = "zh"\n[report]\nbrowser = 3\n', encoding="utf-8")
    ran = kb("report", "2026-04-20", "--format", "pdf")
    assert ran.code == 1 and "3 (kb.toml, report.browser) is not a program" in ran.err


def test_a_draft_on_stdout_is_not_called_json(kb: Run, records: Path) -> None:
    ran = kb("report", "2026-04-20", "-o", "-", "--json")
    assert (ran.code, ran.out) == (2, "") and "leave out --json" in ran.err


@pytest.mark.parametrize(
    "command", [("report",), ("gaps",), ("compare", "--all"), ("check", "claims"), ("bench", "claims")]
)
def test_a_language_of_kb_toml_that_there_is_not_is_named(kb: Run, records: Path, command: tuple[str, ...]) -> None:
    (records / "kb.toml").write_text('language = "fr"\n', encoding="utf-8")
    ran = kb(*command)
    assert ran.code == 1 and "kb.toml: language is 'fr'" in ran.err and ran.out == ""
