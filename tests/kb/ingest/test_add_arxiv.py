"""arXiv ids into papers: routes joined, withdrawals shown, and a network that fails at any point loses nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from arxiv_server import CHALLENGE, THROTTLED, ArxivServer, FakePaper, Trouble, empty_page, full_paper
from ingesting import Ingest, Recorder
from made_papers import make_html, make_pdf

from kb.errors import NetworkError, OfflineError, PartialError
from kb.ingest.add_arxiv import search_ids
from kb.ingest.batch import Batch, Options
from kb.ingest.connection import Connection
from kb.ingest.journal import failures
from kb.library import Library, Paper
from kb.model import Paragraph
from kb.workspace import Workspace

TITLE = "Shared Credit for Teams"
BUSY = Trouble(503, b"")
GONE = [BUSY] * 40


def only_paper(opened: Workspace) -> Paper:
    (paper,) = Library.load(opened).papers.values()
    return paper


def test_every_field_comes_by_its_best_route(arxiv: ArxivServer, ingest: Ingest, opened: Workspace) -> None:
    arxiv.add(full_paper("2503.14476", TITLE, 2, comment="9 pages"))
    (outcome,) = ingest.ids("2503.14476")
    assert (outcome.state, outcome.slug, outcome.route, outcome.quality) == (
        "added",
        "example_2025_shared",
        "html",
        "exact",
    )
    paper = only_paper(opened)
    assert paper.fields["comment"] == "9 pages" and paper.date == "2025-03-18"
    assert paper.text is not None
    document = paper.text.document
    routes = document.provenance.routes
    assert (routes["title"], routes["abstract"], routes["pages"], routes["labels"]) == ("api", "api", "pdf", "latex")
    assert document.equations[0].label == "eq:adv"
    assert document.provenance.source == f"{arxiv.url}/html/2503.14476v2"
    assert document.provenance.fetched_at == "2026-04-19"
    assert any(block.page == 1 for _, block in document.blocks() if isinstance(block, Paragraph))
    record = json.loads((paper.folder / "files/v2/metadata.json").read_text(encoding="utf-8"))
    assert (record["has_pdf"], record["has_source"]) == (True, True)


def test_html_of_another_file_is_not_believed(arxiv: ArxivServer, ingest: Ingest) -> None:
    arxiv.add(full_paper("2503.14476", TITLE, html=make_html("A Checklist for Authors of Something Else")))
    (outcome,) = ingest.ids("2503.14476")
    assert outcome.route == "latex"
    assert any("its title is another" in remark for remark in outcome.remarks)


def test_bare_and_versioned_words_are_one_record(arxiv: ArxivServer, ingest: Ingest, opened: Workspace) -> None:
    arxiv.add(full_paper("2503.14476", TITLE, 2))
    outcomes = ingest.ids("2503.14476", "2503.14476v2")
    assert [outcome.state for outcome in outcomes] == ["added", "known"]
    assert len(arxiv.paths("/pdf/")) == 1
    assert only_paper(opened).arxiv_id == "2503.14476"
    assert [outcome.state for outcome in ingest.ids("2503.14476", "2503.14476v2")] == ["known", "known"]


def test_a_known_paper_is_not_asked_for(arxiv: ArxivServer, ingest: Ingest) -> None:
    arxiv.add(full_paper("2503.14476", TITLE))
    ingest.ids("2503.14476")
    asked = len(arxiv.requests)
    ingest.ids("2503.14476")
    assert len(arxiv.requests) == asked


def test_an_older_version_asked_for_later_lies_beside(arxiv: ArxivServer, ingest: Ingest, opened: Workspace) -> None:
    arxiv.add(*(full_paper("2503.14476", TITLE, version) for version in (1, 2, 3)))
    ingest.ids("2503.14476")
    record = (only_paper(opened).folder / "paper.md").read_bytes()
    (outcome,) = ingest.ids("2503.14476v1")
    paper = only_paper(opened)
    assert outcome.state == "updated"
    assert paper.text_fields["version"] == 3
    assert (paper.folder / "text.v1.md").exists()
    assert (paper.folder / "paper.md").read_bytes() == record


def test_a_local_pdf_is_filled_in_by_arxiv_when_its_id_is_asked_for(
    arxiv: ArxivServer, ingest: Ingest, opened: Workspace, tmp_path: Path
) -> None:
    arxiv.add(full_paper("2503.14476", TITLE, 2))
    mine = tmp_path / "mine.pdf"
    mine.write_bytes(make_pdf(TITLE, "2503.14476v2"))
    ingest.files(mine)
    (outcome,) = ingest.ids("2503.14476")
    assert (outcome.state, outcome.route) == ("updated", "html")
    assert arxiv.paths("/pdf/") == []
    assert only_paper(opened).metadata is not None


def test_wrong_ids_are_told_and_the_others_done(arxiv: ArxivServer, ingest: Ingest, opened: Workspace) -> None:
    arxiv.add(full_paper("2503.14476", TITLE))
    outcomes = {outcome.source: outcome for outcome in ingest.ids("2503.99999", "2503.14476", "2503.14476v7")}
    assert outcomes["2503.14476"].state == "added"
    assert outcomes["2503.99999"].reason == "arXiv has no paper with this id"
    assert outcomes["2503.14476v7"].reason == "arXiv has no paper with this id and version"
    assert "math/0309136" in outcomes["2503.99999"].hint
    assert only_paper(opened).slug == outcomes["2503.14476"].slug
    assert [failure.transient for failure in failures(opened)] == [False, False]


def test_a_withdrawn_paper_is_a_state_with_its_last_good_text(
    arxiv: ArxivServer, ingest: Ingest, opened: Workspace
) -> None:
    arxiv.add(
        full_paper("2503.14476", TITLE, 1),
        FakePaper("2503.14476", TITLE, 2, comment="This paper has been withdrawn by the authors: an error in Lemma 8"),
    )
    (outcome,) = ingest.ids("2503.14476")
    paper = only_paper(opened)
    assert outcome.state == "added"
    assert outcome.remarks[0] == "withdrawn: This paper has been withdrawn by the authors: an error in Lemma 8"
    assert any("version 1, the last that can be had" in remark for remark in outcome.remarks)
    assert paper.withdrawn and paper.text_fields["version"] == 1
    assert paper.metadata is not None and paper.metadata.has_pdf is False
    assert [outcome.state for outcome in ingest.ids("2503.14476")] == ["known"]


def test_a_withdrawn_paper_without_any_file_is_kept_as_a_record(
    arxiv: ArxivServer, ingest: Ingest, opened: Workspace
) -> None:
    arxiv.add(FakePaper("2503.14476", TITLE, comment="Withdrawn"))
    (outcome,) = ingest.ids("2503.14476")
    assert (outcome.state, outcome.quality, outcome.route) == ("added", "none", "metadata")
    assert only_paper(opened).withdrawn


def test_a_paper_whose_files_cannot_be_used_keeps_its_record_and_is_tried_again(
    arxiv: ArxivServer, ingest: Ingest, opened: Workspace
) -> None:
    paper = FakePaper("2503.14476", TITLE, pdf=CHALLENGE)
    arxiv.add(paper)
    (outcome,) = ingest.ids("2503.14476")
    assert outcome.state == "failed"
    assert outcome.reason == "no text: pdf: arXiv sent a web page in place of the PDF"
    assert only_paper(opened).title == TITLE
    assert failures(opened)[0].transient
    paper.pdf = make_pdf(TITLE, "2503.14476v1")
    (again,) = ingest.ids("2503.14476")
    assert (again.state, again.route) == ("updated", "pdf")
    assert failures(opened) == []


def test_metadata_that_failed_is_not_taken_for_absent(arxiv: ArxivServer, ingest: Ingest, opened: Workspace) -> None:
    arxiv.add(full_paper("2503.14476", TITLE))
    arxiv.trouble("/api/query", *GONE)
    with pytest.raises(NetworkError) as caught:
        ingest.ids("2503.14476")
    assert caught.value.exit_code == 4
    assert [outcome.state for outcome in ingest.heard.outcomes] == ["stopped"]
    assert list(opened.papers.iterdir()) == []
    assert failures(opened)[0].transient


def test_one_throttled_paper_does_not_stop_the_others(arxiv: ArxivServer, ingest: Ingest) -> None:
    for number in range(1, 4):
        arxiv.add(full_paper(f"2503.0000{number}", f"Paper of Number {number}"))
    arxiv.trouble("/html/2503.00002", *[Trouble(429, THROTTLED)] * 4)
    outcomes = ingest.ids("2503.00001", "2503.00002", "2503.00003")
    assert [outcome.state for outcome in outcomes] == ["added", "failed", "added"]
    assert outcomes[1].network and "again from" in outcomes[1].hint
    assert [outcome.state for outcome in ingest.ids("2503.00001", "2503.00002", "2503.00003")] == [
        "known",
        "known",
        "updated",
    ]


def test_a_dead_network_stops_the_batch_and_the_next_run_goes_on(
    arxiv: ArxivServer, ingest: Ingest, opened: Workspace
) -> None:
    ids = [f"2503.0000{number}" for number in range(1, 8)]
    arxiv.add(*(full_paper(identifier, f"Paper of Number {identifier[-1]}") for identifier in ids))
    for identifier in ids[2:]:
        arxiv.trouble(f"/html/{identifier}", *[BUSY] * 4)
    with pytest.raises(NetworkError):
        ingest.ids(*ids)
    assert [outcome.state for outcome in ingest.heard.outcomes] == ["added"] * 2 + ["failed"] * 2 + ["stopped"] * 3
    assert len(failures(opened)) == 5
    arxiv._troubles.clear()
    assert [outcome.state for outcome in ingest.ids(*ids)][:2] == ["known", "known"]
    assert failures(opened) == []
    assert len(arxiv.paths("/pdf/")) == 7


def test_the_ceiling_of_pdfs_stops_the_run_and_the_next_goes_on(arxiv: ArxivServer, ingest: Ingest) -> None:
    ids = [f"2503.0000{number}" for number in range(1, 4)]
    arxiv.add(*(full_paper(identifier, f"Paper of Number {identifier[-1]}") for identifier in ids))
    with pytest.raises(PartialError, match="ceiling"):
        ingest.ids(*ids, most_pdfs=2)
    assert [outcome.state for outcome in ingest.heard.outcomes] == ["added", "added", "stopped"]
    assert [outcome.state for outcome in ingest.ids(*ids)] == ["known", "known", "updated"]


def test_offline_asks_nothing_and_known_papers_are_still_known(
    arxiv: ArxivServer, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    arxiv.add(full_paper("2503.14476", TITLE))
    ingest.ids("2503.14476")
    asked = len(arxiv.requests)
    monkeypatch.setenv("KB_OFFLINE", "1")
    with pytest.raises(OfflineError):
        ingest.ids("2503.14476", "2402.03300")
    assert [outcome.state for outcome in ingest.heard.outcomes] == ["known", "stopped"]
    assert len(arxiv.requests) == asked


def find(opened: Workspace, connection: Connection, most: int, **options: Any) -> list[str]:
    batch = Batch.open(opened, Options(day="2026-04-19", **options), Recorder())
    return [str(identifier) for identifier in search_ids(batch, connection, "all:credit", most)]


def test_a_search_that_breaks_off_goes_on_after_its_last_page(
    arxiv: ArxivServer, opened: Workspace, connection: Connection
) -> None:
    opened.derived.mkdir()
    arxiv.add(*(FakePaper(f"2503.{number:05}", f"Paper {number}") for number in range(1, 251)))
    arxiv.trouble(
        "/api/query", Trouble(200, arxiv.answer("/api/query", {"search_query": "x", "max_results": "100"}).body)
    )
    arxiv.trouble("/api/query", *[empty_page(250, 100)] * 4)
    with pytest.raises(NetworkError) as caught:
        find(opened, connection, 250)
    assert caught.value.hint.startswith("100 results are kept")
    arxiv.requests.clear()
    assert len(find(opened, connection, 250)) == 250
    assert [request.query["start"] for request in arxiv.requests] == ["100", "200"]


def test_a_finished_search_is_asked_anew(arxiv: ArxivServer, opened: Workspace, connection: Connection) -> None:
    opened.derived.mkdir()
    arxiv.add(FakePaper("2503.00001", "First"))
    assert find(opened, connection, 5) == ["2503.00001"]
    arxiv.add(FakePaper("2503.00002", "Second"))
    assert find(opened, connection, 5) == ["2503.00001", "2503.00002"]
