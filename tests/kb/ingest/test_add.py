"""Local files into papers: one bad file stops nothing, a second run reads nothing, nothing is lost."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from ingesting import Ingest
from made_papers import make_eprint, make_pdf, make_picture_pdf, make_tex

from kb import frontmatter
from kb.errors import KbError, PartialError
from kb.ingest.journal import failures
from kb.library import Library
from kb.model import Paragraph
from kb.workspace import Workspace

TITLE = "Shared Credit for Teams"


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def states(ingest: Ingest, *paths: Path, **options: Any) -> list[str]:
    return [outcome.state for outcome in ingest.files(*paths, **options)]


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return write(tmp_path / "in" / "paper.pdf", make_pdf(TITLE, "2503.14476v2"))


def test_a_pdf_becomes_a_record_a_text_and_a_kept_original(ingest: Ingest, opened: Workspace, pdf: Path) -> None:
    (outcome,) = ingest.files(pdf, tags=("credit",))
    assert (outcome.state, outcome.slug, outcome.quality, outcome.route) == (
        "added",
        "shared_credit_teams",
        "good",
        "pdf",
    )
    paper = Library.load(opened).get("2503.14476")
    assert paper.fields["added"] == "2026-04-19" and paper.tags == ("credit",)
    assert paper.text is not None and paper.text.document.version == 2
    assert (paper.folder / "files" / "v2" / "paper.pdf").read_bytes() == pdf.read_bytes()


def test_a_second_run_reads_nothing(ingest: Ingest, pdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest.files(pdf)
    monkeypatch.setattr("kb.ingest.add.digest_of", _must_not_run)
    monkeypatch.setattr("kb.ingest.reading_pool.ReadingPool.submit", _must_not_run)
    assert states(ingest, pdf) == ["known"]


def _must_not_run(*_: Any) -> None:
    raise AssertionError("a known file was read again")


def test_without_the_journal_papers_are_known_by_their_files(
    ingest: Ingest, opened: Workspace, pdf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest.files(pdf)
    shutil.rmtree(opened.derived)
    monkeypatch.setattr("kb.ingest.reading_pool.ReadingPool.submit", _must_not_run)
    moved = pdf.rename(pdf.with_name("other-name.pdf"))
    assert states(ingest, moved) == ["known"]


def test_a_text_that_someone_deleted_is_made_again(ingest: Ingest, opened: Workspace, pdf: Path) -> None:
    (outcome,) = ingest.files(pdf)
    text = opened.paper_dir(outcome.slug) / "text.md"
    text.unlink()
    assert states(ingest, pdf) == ["updated"]
    assert text.exists()


def test_bad_files_are_listed_with_their_reasons_and_stop_nothing(
    ingest: Ingest, opened: Workspace, tmp_path: Path
) -> None:
    whole = make_pdf(TITLE)
    folder = tmp_path / "in"
    write(folder / "a-challenge.pdf", "<html>Enable JavaScript</html>")
    write(folder / "b-empty.pdf", b"")
    write(folder / "c-cut.pdf", whole[: len(whole) // 3])
    write(folder / "d-text.gz", b"only words")
    write(folder / "e-picture.pdf", make_picture_pdf())
    write(folder / "f-good.pdf", whole)
    reasons = {Path(outcome.source).name: outcome.reason for outcome in ingest.files(folder)}
    assert reasons.pop("f-good.pdf") == ""
    for name, part in {
        "a-challenge.pdf": "not a PDF (HTML)", "b-empty.pdf": "empty file", "c-cut.pdf": "no text in it (repaired, truncated)",
        "d-text.gz": "no TeX source: plain text", "e-picture.pdf": "1 of 1 pages cannot be read (scan)",
    }.items():  # fmt: skip
        assert part in reasons[name]
    assert len(Library.load(opened).papers) == 1
    listed = {Path(failure.source).name: failure.transient for failure in failures(opened)}
    assert listed == dict.fromkeys(reasons, False) | {"e-picture.pdf": True}


def test_a_permanent_failure_is_listed_again_without_reading_until_the_file_changes(
    ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = write(tmp_path / "bad.pdf", b"")
    ingest.files(bad)
    (again,) = ingest.files(bad)
    assert (again.state, again.reason) == ("failed", "empty file")
    write(bad, make_pdf(TITLE))
    assert states(ingest, bad) == ["added"]


@pytest.mark.parametrize("pdf_first", [True, False])
def test_source_and_pdf_of_a_paper_become_one_text(
    ingest: Ingest, opened: Workspace, tmp_path: Path, pdf: Path, pdf_first: bool
) -> None:
    source = write(tmp_path / "in" / "2503.14476" / "main.tex", make_tex(TITLE)).parent
    for path in (pdf, source) if pdf_first else (source, pdf):
        ingest.files(path)
    (paper,) = Library.load(opened).papers.values()
    assert paper.text is not None
    document = paper.text.document
    assert (document.provenance.route, document.version, document.provenance.routes["pages"]) == ("latex", 2, "pdf")
    assert document.equations[0].latex == r"A_i = \frac{r_i - \mu}{\sigma}"
    assert document.equations[0].label == "eq:adv"
    pages = [block.page for _, block in document.blocks() if isinstance(block, Paragraph)]
    assert pages and set(pages) == {1}
    assert sorted(path.name for path in paper.folder.glob("text*.md")) == ["text.md"]


def test_an_archive_is_read_like_its_folder(ingest: Ingest, tmp_path: Path) -> None:
    (outcome,) = ingest.files(write(tmp_path / "2503.14476v2.tar.gz", make_eprint(TITLE)))
    assert (outcome.state, outcome.route, outcome.quality) == ("added", "latex", "exact")


def test_a_record_written_by_hand_is_found_by_its_id_and_left_alone(
    ingest: Ingest, opened: Workspace, pdf: Path
) -> None:
    record = write(opened.papers / "my_name" / "paper.md", '---\nid: "2503.14476"\ntitle: 我的标题\n---\n\n读过。\n')
    before = record.read_bytes()
    (outcome,) = ingest.files(pdf)
    assert (outcome.state, outcome.slug) == ("updated", "my_name")
    assert record.read_bytes() == before
    assert (opened.papers / "my_name" / "text.md").exists()


def test_a_record_that_cannot_be_read_is_named(ingest: Ingest, opened: Workspace, pdf: Path) -> None:
    write(opened.papers / "mine" / "paper.md", "---\nid: 2503.14476\n---\n")
    ingest.files(pdf)
    assert any("papers/mine/paper.md" in said and "read as a number" in said for said in ingest.heard.said)


def test_papers_are_never_joined_by_title(ingest: Ingest, opened: Workspace, tmp_path: Path) -> None:
    same_title = [
        write(tmp_path / "a.pdf", make_pdf(TITLE, "2503.14476v1")), write(tmp_path / "b.pdf", make_pdf(TITLE, "2503.14477v1")),
        write(tmp_path / "c.pdf", make_pdf(TITLE)), write(tmp_path / "d.pdf", make_pdf(TITLE, words="Something else. " * 5)),
    ]  # fmt: skip
    assert states(ingest, *same_title) == ["added"] * 4
    assert len(Library.load(opened).papers) == 4


def test_the_same_file_under_two_names_is_one_paper(ingest: Ingest, opened: Workspace, tmp_path: Path) -> None:
    content = make_pdf(TITLE)
    assert states(ingest, write(tmp_path / "a.pdf", content), write(tmp_path / "b.pdf", content)) == ["added", "known"]
    (paper,) = Library.load(opened).papers.values()
    assert paper.arxiv_id is None and len(paper.fields["sha256"]) == 64


def test_an_older_version_lies_beside_the_newer(ingest: Ingest, opened: Workspace, tmp_path: Path) -> None:
    ingest.files(write(tmp_path / "three.pdf", make_pdf(TITLE, "2503.14476v3")))
    ingest.files(write(tmp_path / "one.pdf", make_pdf(TITLE, "2503.14476v1")))
    (paper,) = Library.load(opened).papers.values()
    assert paper.text_fields["version"] == 3
    fields, _ = frontmatter.read(paper.folder / "text.v1.md")
    assert fields["version"] == 1
    assert {path.name for path in (paper.folder / "files").iterdir()} == {"v1", "v3"}


def test_refetch_reads_again_and_keeps_what_a_person_corrected(ingest: Ingest, opened: Workspace, pdf: Path) -> None:
    (outcome,) = ingest.files(pdf)
    text = opened.paper_dir(outcome.slug) / "text.md"
    text.write_text(text.read_text(encoding="utf-8").replace("Method", "Methods"), encoding="utf-8")
    corrected = text.read_bytes()
    (again,) = ingest.files(pdf, refetch=True)
    assert again.state == "updated"
    assert any("edited by hand" in remark for remark in again.remarks)
    assert text.read_bytes() == corrected


def test_a_dry_run_writes_nothing_outside_the_derived_folder(ingest: Ingest, opened: Workspace, pdf: Path) -> None:
    assert states(ingest, pdf, dry_run=True) == ["planned"]
    assert list(opened.papers.iterdir()) == []


def test_a_chosen_slug_is_used_and_a_taken_one_refused(ingest: Ingest, tmp_path: Path, pdf: Path) -> None:
    (outcome,) = ingest.files(pdf, slug="团队信用")
    assert outcome.slug == "团队信用"
    other = write(tmp_path / "other.pdf", make_pdf("Another Title"))
    (refused,) = ingest.files(other, slug="团队信用")
    assert refused.state == "failed" and "already" in refused.reason


def test_a_full_disk_stops_the_batch_and_keeps_what_was_written(
    ingest: Ingest, opened: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [
        write(tmp_path / f"{at}.pdf", make_pdf(f"A Title of Number {at}", f"2503.0000{at}v1")) for at in range(1, 8)
    ]
    ingest.files(paths[0])

    def full(*_: Any) -> None:
        raise KbError("cannot write text.md: No space left on device", "make room")

    monkeypatch.setattr("kb.ingest.record.write_atomic", full)
    with pytest.raises(PartialError, match="No space left") as caught:
        ingest.files(*paths)
    assert caught.value.exit_code == 3 and "kept" in caught.value.hint
    assert [outcome.state for outcome in ingest.heard.outcomes] == ["known", "failed", "failed"]
    monkeypatch.undo()
    assert states(ingest, *paths) == ["known", *["added"] * 6]


def test_an_archive_that_swells_is_refused(ingest: Ingest, tmp_path: Path) -> None:
    (outcome,) = ingest.files(write(tmp_path / "bomb.tar.gz", _bomb()))
    assert (outcome.state, outcome.reason) == ("failed", "archive refused: it unpacks to far more than its size")


def _bomb() -> bytes:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w|") as archive,
    ):
        member = tarfile.TarInfo("zeros.tex")
        member.size = 64 << 20
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    return packed.getvalue()
