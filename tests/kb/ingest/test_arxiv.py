"""arXiv's records: the recorded forms, refusals, throttling, searches with gaps, withdrawals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from arxiv_server import CHALLENGE, THROTTLED, ArxivServer, FakePaper, Trouble, empty_page

from kb.errors import BadDocument, NetworkError, OfflineError, UsageError
from kb.ingest.arxiv import fetch_records, is_withdrawn, parse_feed, search
from kb.ingest.connection import API_HOST, Busy, Connection
from kb.ingest.ids import parse_arxiv_id
from kb.ingest.limiter import Limiter
from kb.model import Metadata
from kb.workspace import Workspace

DAPO = parse_arxiv_id("2503.14476")


def record(connection: Connection, identifier: str = "2503.14476") -> Metadata:
    found = fetch_records(connection, [parse_arxiv_id(identifier)])[parse_arxiv_id(identifier)]
    assert isinstance(found, Metadata)
    return found


def test_a_record_is_read_whole(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(FakePaper("2503.14476", "DAPO: An Open\n  System", 2, comment="Project page: https://example.org"))
    assert record(connection) == Metadata(
        title="DAPO: An Open System",
        arxiv_id="2503.14476",
        version=2,
        authors=("Ada Example", "Bo Example"),
        abstract="We share credit between agents.",
        published="2025-03-18",
        updated="2025-05-02",
        categories=("cs.MA",),
        comment="Project page: https://example.org",
        pdf_url="https://arxiv.org/pdf/2503.14476v2",
    )


def test_a_record_without_a_link_to_a_pdf_is_read(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(FakePaper("2503.14476", "A title", pdf_link=False))
    assert record(connection).pdf_url is None


def test_many_ids_are_one_request_and_old_ids_keep_their_archive(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(FakePaper("math/0309136", "Old", 2), FakePaper("2503.14476", "New"))
    ids = [parse_arxiv_id(text) for text in ("math.GT/0309136", "2503.14476v1")]
    found = fetch_records(connection, ids)
    assert [item.title for item in found.values() if isinstance(item, Metadata)] == ["Old", "New"]
    assert len(arxiv.requests) == 1
    assert arxiv.requests[0].query["id_list"] == "math/0309136,2503.14476v1"


@pytest.mark.parametrize(
    ("word", "said"), [("2503.99999", "no paper"), ("2503.14476v9", "no paper with this id and version")]
)
def test_an_unknown_id_is_told_from_a_failure(arxiv: ArxivServer, connection: Connection, word: str, said: str) -> None:
    arxiv.add(FakePaper("2503.14476", "A title"))
    found = fetch_records(connection, [parse_arxiv_id(word)])[parse_arxiv_id(word)]
    assert isinstance(found, BadDocument)
    assert said in found.message
    assert not found.transient


def test_one_id_that_arxiv_refuses_does_not_cost_the_others(arxiv: ArxivServer, connection: Connection) -> None:
    ids = [parse_arxiv_id(f"2503.{number:05}") for number in range(1, 9)]
    arxiv.add(*(FakePaper(identifier.bare, f"Paper {identifier}") for identifier in ids))
    arxiv.refused_ids.add("2503.00005")
    found = fetch_records(connection, ids)
    refused = found.pop(parse_arxiv_id("2503.00005"))
    assert isinstance(refused, BadDocument) and "incorrect id format" in refused.message
    assert len(found) == 7 and all(isinstance(item, Metadata) for item in found.values())


def test_an_error_entry_is_never_a_paper() -> None:
    server = ArxivServer()
    server.refused_ids.add("abc")
    answer = server.answer("/api/query", {"id_list": "abc"})
    assert answer.status == 400
    with pytest.raises(UsageError, match="incorrect id format for abc"):
        parse_feed(answer.body)


def test_a_page_for_people_is_no_feed() -> None:
    with pytest.raises(Busy, match="no feed"):
        parse_feed(CHALLENGE)


def test_a_throttled_request_is_made_again(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(FakePaper("2503.14476", "A title"))
    busy = Trouble(429, THROTTLED, {"Retry-After": "0"})
    arxiv.trouble("/api/query", busy, busy)
    assert record(connection).title == "A title"
    assert len(arxiv.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_that_stays_busy_is_a_network_error_that_says_when_to_come_back(
    arxiv: ArxivServer, connection: Connection, status: int
) -> None:
    arxiv.trouble("/api/query", *[Trouble(status)] * 9)
    with pytest.raises(NetworkError, match=str(status)) as caught:
        fetch_records(connection, [DAPO])
    assert caught.value.exit_code == 4
    assert "run the same command again from" in caught.value.hint
    assert len(arxiv.requests) == 4


def test_an_hour_asked_for_is_not_waited_out(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.trouble("/api/query", *[Trouble(503, b"", {"Retry-After": "3600"})] * 9)
    with pytest.raises(NetworkError):
        fetch_records(connection, [DAPO])
    assert len(arxiv.requests) == 1


def test_retry_after_holds_back_the_next_request(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(FakePaper("2503.14476", "A title"))
    arxiv.trouble("/api/query", Trouble(429, THROTTLED, {"Retry-After": "1"}))
    record(connection)
    first, second = arxiv.requests
    assert second.began - first.ended >= 0.95


def test_rate_exceeded_in_words_counts_as_busy(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(FakePaper("2503.14476", "A title"))
    arxiv.trouble("/api/query", Trouble(403, THROTTLED))
    assert record(connection).title == "A title"


def test_a_server_that_does_not_answer_is_a_network_error(arxiv: ArxivServer, opened: Workspace) -> None:
    impatient = Workspace(opened.root, {"arxiv": {"timeout": 0.05}})
    arxiv.trouble("/api/query", *[Trouble(delay=0.3)] * 4)
    with Connection(impatient, Limiter(0.001)) as connection, pytest.raises(NetworkError, match="in time"):
        fetch_records(connection, [DAPO])


def test_no_server_at_all_is_a_network_error(opened: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_ARXIV_URL", "http://127.0.0.1:9")
    with Connection(opened, Limiter(0.001)) as connection, pytest.raises(NetworkError, match="cannot be reached"):
        fetch_records(connection, [DAPO])


def test_offline_opens_no_connection(
    arxiv: ArxivServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_OFFLINE", "1")
    with pytest.raises(OfflineError):
        fetch_records(connection, [DAPO])
    assert arxiv.requests == []


def test_requests_are_spaced_one_at_a_time_and_carry_our_name(arxiv: ArxivServer, opened: Workspace) -> None:
    arxiv.add(FakePaper("2503.14476", "A title"))
    named = Workspace(opened.root, {"arxiv": {"contact": "someone@example.org"}})
    with Connection(named, Limiter(0.1)) as connection:
        for _ in range(3):
            record(connection)
    gaps = [later.began - earlier.ended for earlier, later in zip(arxiv.requests, arxiv.requests[1:], strict=False)]
    assert len(gaps) == 2 and min(gaps) >= 0.09
    assert arxiv.requests[0].agent.startswith("litkb/")
    assert "mailto:someone@example.org" in arxiv.requests[0].agent


def test_arxivs_own_pace_cannot_be_set_lower(opened: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KB_ARXIV_URL", raising=False)
    monkeypatch.setenv("KB_ARXIV_INTERVAL", "0.1")
    connection = Connection(opened)
    assert connection.api == API_HOST
    assert connection.limiter.interval == 3.0
    assert Connection(opened).limiter is connection.limiter


def test_a_search_comes_page_by_page(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(*(FakePaper(f"2503.{number:05}", f"Paper {number}") for number in range(1, 231)))
    pages = list(search(connection, "all:credit", most=220))
    assert [len(page.records) for page in pages] == [100, 100, 20]
    assert [page.start for page in pages] == [0, 100, 200]


def test_a_search_ends_where_the_results_end(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(FakePaper("2503.00001", "Only one"))
    assert [len(page.records) for page in search(connection, "all:credit", most=50)] == [1]
    assert list(search(connection, "all:credit", most=50, start=1)) == []


def test_a_search_without_results_has_no_pages(arxiv: ArxivServer, connection: Connection) -> None:
    assert list(search(connection, "all:nothing", most=10)) == []
    assert len(arxiv.requests) == 1


def test_an_empty_page_in_the_middle_is_asked_for_again(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.add(*(FakePaper(f"2503.{number:05}", f"Paper {number}") for number in range(1, 151)))
    pages = search(connection, "all:credit", most=150)
    next(pages)
    arxiv.trouble("/api/query", empty_page(total=150, start=100))
    assert len(next(pages).records) == 50


def test_a_page_that_stays_empty_is_reported(arxiv: ArxivServer, connection: Connection) -> None:
    arxiv.trouble("/api/query", *[empty_page(total=150, start=0)] * 9)
    with pytest.raises(NetworkError, match="empty page at 0 of 150"):
        list(search(connection, "all:credit", most=10))


@pytest.mark.parametrize(
    ("comment", "abstract"),
    [
        ("This paper has been withdrawn by the authors", ""),
        ("paper withdrawn by author", ""),
        ("Withdrawn", ""),
        ("withdrawn by arXiv administrators due to plagiarism", ""),
        ("12 pages. This paper needs to be retracted", ""),
        ("We would like to withdraw the paper to address this", ""),
        ("The authors request its withdrawal", ""),
        ("", "This article has been withdrawn because it was merged with another."),
    ],
)
def test_withdrawals_are_recognised(comment: str, abstract: str) -> None:
    assert is_withdrawn(comment, abstract)


@pytest.mark.parametrize(
    ("comment", "abstract"),
    [
        ("10 pages, 3 figures", "We study withdrawn articles and why authors retract them."),
        ("We withdrew nothing", "Users may withdraw their consent at any time."),
        ("An earlier talk", "The number of retracted papers grows each year."),
        ("We decided to withdraw this paper from CoRL 2017", ""),
        ("The previous versions have been withdrawn", ""),
    ],
)
def test_papers_about_withdrawals_are_not_withdrawn(comment: str, abstract: str) -> None:
    assert not is_withdrawn(comment, abstract)


def test_recorded_answers_are_read(corpus: Path) -> None:
    for path in sorted((corpus / "api" / "recorded").glob("*.json")):
        answer = json.loads(path.read_text(encoding="utf-8"))
        body = answer["body"].encode("utf-8")
        if answer["status_code"] == 400:
            with pytest.raises(UsageError):
                parse_feed(body)
            continue
        page = parse_feed(body)
        assert len(page.records) == body.count(b"<entry>"), path.name
        assert all(record.arxiv_id and record.title and record.authors for record in page.records), path.name


def test_recorded_withdrawals_are_recognised(corpus: Path) -> None:
    records = sorted((corpus / "api" / "abs").glob("*.abs"))
    withdrawn = {path.name for path in records if _is_withdrawn_record(path)}
    marked = {
        path.name for path in records if "withdrawn" in path.read_text(encoding="utf-8", errors="replace").lower()
    }
    assert marked and withdrawn == marked


def _is_withdrawn_record(path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    head, _, body = text.partition("\n\\\\\n")[2].partition("\n\\\\\n")
    comment = head.partition("Comments:")[2].split("\n\n")[0]
    return is_withdrawn(" ".join(comment.split()), " ".join(body.split()))
