"""Files of a version: whole or not at all, once, and never a page for people in place of a PDF."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from arxiv_server import CHALLENGE, ArxivServer, FakePaper, Trouble, full_paper
from made_papers import make_eprint, make_pdf, make_tex

from kb.errors import KbError, NetworkError, PartialError
from kb.ingest.connection import Connection
from kb.ingest.fetch import Fetcher
from kb.ingest.ids import parse_arxiv_id
from kb.ingest.originals import digest_of, digests, files_of, keep_copy, place_of

V2 = parse_arxiv_id("2503.14476v2")


@pytest.fixture
def fetcher(connection: Connection) -> Fetcher:
    return Fetcher(connection, day="2026-04-19")


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


def test_the_files_of_a_version_lie_by_version_with_where_they_came_from(
    arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    arxiv.add(full_paper("2503.14476", "Shared credit", 2))
    assert fetcher.fetch(V2, tmp_path) == []
    place = tmp_path / "files" / "v2"
    kept = ["2503.14476v2.html", "2503.14476v2.pdf", "2503.14476v2.tar.gz"]
    assert names(place) == [*kept, "originals.json"]
    entries = json.loads((place / "originals.json").read_text(encoding="utf-8"))
    for name in kept:
        assert entries[name]["sha256"] == hashlib.sha256((place / name).read_bytes()).hexdigest()
        assert entries[name]["day"] == "2026-04-19"
    assert entries["2503.14476v2.pdf"]["source"] == f"{arxiv.url}/pdf/2503.14476v2"


def test_what_is_here_is_not_fetched_again_unless_asked(
    arxiv: ArxivServer, connection: Connection, tmp_path: Path
) -> None:
    arxiv.add(full_paper("2503.14476", "Shared credit", 2))
    Fetcher(connection, "2026-04-19").fetch(V2, tmp_path)
    Fetcher(connection, "2026-04-20").fetch(V2, tmp_path)
    assert len(arxiv.requests) == 3
    Fetcher(connection, "2026-04-20", refetch=True).fetch(V2, tmp_path)
    assert len(arxiv.requests) == 6


def test_the_slash_of_an_old_id_makes_no_folder(arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path) -> None:
    arxiv.add(full_paper("math/0309136", "Old"))
    fetcher.fetch(parse_arxiv_id("math/0309136v1"), tmp_path)
    assert "math_0309136v1.pdf" in names(tmp_path / "files" / "v1")
    assert "/pdf/math/0309136v1" in arxiv.paths()


def test_a_web_page_in_place_of_the_pdf_is_refused_and_not_kept(
    arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    arxiv.add(full_paper("2503.14476", "Shared credit", 2, pdf=CHALLENGE))
    (trouble,) = fetcher.fetch(V2, tmp_path)
    assert trouble.message == "pdf: arXiv sent a web page in place of the PDF"
    assert trouble.transient
    assert files_of(tmp_path, 2).pdf is None
    assert not [name for name in names(tmp_path / "files" / "v2") if "pdf" in name]


def test_what_arxiv_does_not_have_is_no_trouble(arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path) -> None:
    arxiv.add(FakePaper("2503.14476", "Only a PDF", 2, pdf=make_pdf("Only a PDF")))
    assert fetcher.fetch(V2, tmp_path) == []
    assert names(tmp_path / "files" / "v2") == ["2503.14476v2.pdf", "originals.json"]


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (make_eprint("A title"), ["2503.14476v2.tar.gz", "originals.json"]),
        (make_tex("A title").encode(), ["2503.14476v2.src", "originals.json"]),
        (make_pdf("A title"), []),
    ],
)
def test_an_eprint_is_named_by_its_bytes(
    arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path, body: bytes, kept: list[str]
) -> None:
    arxiv.add(FakePaper("2503.14476", "A title", 2, source=body))
    assert fetcher.fetch(V2, tmp_path) == []
    assert names(tmp_path / "files" / "v2") == kept


def test_a_file_cut_short_is_fetched_again_and_never_half_kept(
    arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    whole = full_paper("2503.14476", "Shared credit", 2)
    arxiv.add(whole)
    arxiv.trouble("/pdf/", Trouble(200, make_pdf("Another"), cut=True))
    assert fetcher.fetch(V2, tmp_path) == []
    pdf = files_of(tmp_path, 2).pdf
    assert pdf is not None and pdf.read_bytes() == whole.pdf
    arxiv.trouble("/pdf/", *[Trouble(200, make_pdf("Another"), cut=True)] * 9)
    other = tmp_path / "other"
    with pytest.raises(NetworkError):
        fetcher.fetch(V2, other)
    assert names(other / "files" / "v2") == ["2503.14476v2.html", "2503.14476v2.tar.gz", "originals.json"]


def test_an_empty_file_is_asked_for_again(arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path) -> None:
    arxiv.add(full_paper("2503.14476", "Shared credit", 2))
    arxiv.trouble("/pdf/", Trouble(200, b""))
    assert fetcher.fetch(V2, tmp_path) == []
    assert files_of(tmp_path, 2).pdf is not None


def test_no_pdf_asks_for_no_pdf(arxiv: ArxivServer, connection: Connection, tmp_path: Path) -> None:
    arxiv.add(full_paper("2503.14476", "Shared credit", 2))
    Fetcher(connection, "2026-04-19", no_pdf=True).fetch(V2, tmp_path)
    assert arxiv.paths("/pdf/") == []
    assert len(arxiv.requests) == 2


def test_a_run_has_a_ceiling_of_pdfs(arxiv: ArxivServer, connection: Connection, tmp_path: Path) -> None:
    fetcher = Fetcher(connection, "2026-04-19", most_pdfs=2)
    for number in range(1, 4):
        arxiv.add(FakePaper(f"2503.0000{number}", "A title", pdf=make_pdf("A title")))
    for number in (1, 2):
        fetcher.fetch(parse_arxiv_id(f"2503.0000{number}v1"), tmp_path / str(number))
    with pytest.raises(PartialError, match="2 PDFs were fetched"):
        fetcher.fetch(parse_arxiv_id("2503.00003v1"), tmp_path / "3")
    assert len(arxiv.paths("/pdf/")) == 2


def test_a_full_disk_is_told_and_leaves_nothing_half(
    arxiv: ArxivServer, fetcher: Fetcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    arxiv.add(full_paper("2503.14476", "Shared credit", 2))
    monkeypatch.setattr("kb.ingest.fetch.os.fsync", full)
    with pytest.raises(KbError, match="No space left on device"):
        fetcher.fetch(V2, tmp_path)
    assert names(tmp_path / "files" / "v2") == []


def test_a_copy_of_a_local_file_is_kept_once_and_another_of_its_name_beside_it(tmp_path: Path) -> None:
    mine = tmp_path / "paper.pdf"
    place = place_of(tmp_path / "papers" / "slug", None)
    mine.write_bytes(b"%PDF-1 first")
    assert keep_copy(place, mine, digest_of(mine), "2026-04-19") == place / "paper.pdf"
    keep_copy(place, mine, digest_of(mine), "2026-04-20")
    mine.write_bytes(b"%PDF-1 second")
    second = keep_copy(place, mine, digest_of(mine), "2026-04-20")
    assert (place / "paper.pdf").read_bytes() == b"%PDF-1 first"
    assert second.read_bytes() == b"%PDF-1 second"
    assert len(names(place)) == 3
    known = dict(digests(tmp_path / "papers"))
    assert known[digest_of(mine)] == "slug"


def test_files_that_name_no_version_fill_gaps_only_where_asked(tmp_path: Path) -> None:
    for place, name in ((place_of(tmp_path, 2), "a.pdf"), (place_of(tmp_path, None), "main.tex")):
        place.mkdir(parents=True)
        (place / name).write_bytes(b"x")
    assert files_of(tmp_path, 2).source is None
    joined = files_of(tmp_path, 2, with_loose=True)
    assert joined.pdf == tmp_path / "files" / "v2" / "a.pdf"
    assert joined.source == tmp_path / "files" / "local" / "main.tex"
