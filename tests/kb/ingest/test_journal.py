"""The journal: quick second runs, failures that are not forgotten, and a file that may be deleted at any time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.errors import KbError
from kb.ingest.journal import NAME, Failure, Journal, failures
from kb.workspace import Workspace


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"12345")
    return path


def test_an_unchanged_file_is_known_and_a_changed_one_is_not(opened: Workspace, file: Path) -> None:
    journal = Journal(opened)
    assert journal.known("a", file) is None
    journal.success("a", file, "0" * 64, "slug")
    known = journal.known("a", file)
    assert known is not None and known.slug == "slug"
    os.utime(file, ns=(1, 1))
    assert journal.known("a", file) is None


def test_a_folder_is_known_by_its_newest_member(opened: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.tex").write_text("a", encoding="utf-8")
    journal = Journal(opened)
    journal.success("p", folder, "", "slug")
    assert journal.known("p", folder) is not None
    (folder / "main.tex").write_text("ab", encoding="utf-8")
    assert journal.known("p", folder) is None


def test_failures_are_listed_with_their_tries_until_the_source_succeeds(opened: Workspace, file: Path) -> None:
    journal = Journal(opened)
    journal.failure("a", file, "it did not answer", True)
    journal.failure("a", file, "empty file", False)
    journal.failure("b", None, "gone", True)
    assert failures(opened) == [Failure("a", "empty file", False, 2), Failure("b", "gone", True, 1)]
    journal.success("a", file, "0" * 64, "slug")
    assert [failure.source for failure in failures(opened)] == ["b"]


def test_looking_at_failures_makes_no_journal(opened: Workspace) -> None:
    assert failures(opened) == []
    assert not (opened.derived / NAME).exists()


@pytest.mark.parametrize("open_it", [Journal, failures])
def test_a_damaged_journal_is_told_with_the_way_out(opened: Workspace, open_it: type) -> None:
    opened.derived.mkdir()
    (opened.derived / NAME).write_bytes(b"not a database, but long enough to be taken for one" * 40)
    with pytest.raises(KbError, match=NAME) as caught:
        open_it(opened)
    assert "delete" in caught.value.hint


def test_a_journal_that_cannot_be_written_is_no_traceback(opened: Workspace, file: Path) -> None:
    journal = Journal(opened)
    journal._db.execute("pragma query_only = on")
    with pytest.raises(KbError, match=NAME):
        journal.failure("a", file, "reason", True)
