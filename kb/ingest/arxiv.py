"""arXiv's records: by id, a hundred to a request, and by search, a page at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kb.errors import BadDocument, NetworkError, UsageError
from kb.ingest.connection import Busy, Connection
from kb.ingest.ids import ArxivId, try_arxiv_id
from kb.model import Metadata

if TYPE_CHECKING:
    import httpx

BATCH = 100
_WORK = r"(?:papers?|articles?|submission|manuscript|preprint|work|note|version|report|thesis)"
_GONE = r"(?:withdrawn|retracted)"
_SAID_OF_IT = (
    rf"\b(?:this|the)\s+{_WORK}\s+(?:has\s+been|have\s+been|was|is)\s+(?:\w+\s+)?{_GONE}\b|^\W*(?:{_WORK}\s+)?{_GONE}\b"
)
_WITHDRAWN_ABSTRACT = re.compile(_SAID_OF_IT, re.IGNORECASE)
# Comments are about the paper itself, so looser words count there; of an earlier version or a venue they do not.
_WITHDRAWN_COMMENT = re.compile(
    rf"{_SAID_OF_IT}|(?<!versions )\b(?:has|have)\s+been\s+{_GONE}\b|\bneeds?\s+to\s+be\s+{_GONE}\b|\b{_GONE}\s+by\b|"
    rf"\b{_WORK}\s+{_GONE}\b|\bwithdraw(?:ing)?\s+(?:this|the|our)\s+{_WORK}\b(?!\s+from\s+(?!arxiv))|"
    r"\brequest(?:ed|ing)?\s+(?:its|the|a)\s+withdrawal\b",
    re.IGNORECASE,
)
_ERROR_ENTRY = re.compile(rb"<id>\s*https?://arxiv\.org/api/errors")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an answer: its records, where it began, and how many records there are in all."""

    records: list[Metadata]
    start: int
    total: int


def fetch_records(connection: Connection, ids: Sequence[ArxivId]) -> dict[ArxivId, Metadata | BadDocument]:
    """The record of every id, or why there is none. At most ``BATCH`` ids.

    arXiv refuses a whole request for one id that it does not like, so a refused batch is halved until that is alone.
    """
    try:
        page = _query(connection, {"id_list": ",".join(map(str, ids)), "max_results": str(len(ids))})
    except UsageError as error:
        if len(ids) == 1:
            return {ids[0]: BadDocument(error.message, error.hint)}
        half = len(ids) // 2
        return fetch_records(connection, ids[:half]) | fetch_records(connection, ids[half:])
    return {wanted: _pick(page.records, wanted) for wanted in ids}


def _pick(records: Sequence[Metadata], wanted: ArxivId) -> Metadata | BadDocument:
    for record in records:
        if record.arxiv_id == wanted.bare and wanted.version in (None, record.version):
            return record
    what = "paper with this id" if wanted.version is None else "paper with this id and version"
    return BadDocument(f"arXiv has no {what}", "check the number; an old id needs its archive, as math/0309136")


def search(connection: Connection, query: str, most: int, start: int = 0) -> Iterator[Page]:
    """The pages of a search, each as it comes, so that a caller can keep what it has.

    An empty page before the end is a fault of the server: it is asked for again, then reported.
    """
    while start < most:
        size = str(min(BATCH, most - start))
        page = _query(connection, {"search_query": query, "start": str(start), "max_results": size}, known_total=most)
        if not page.records:
            return
        yield page
        start += len(page.records)
        if start >= page.total:
            return


def _query(connection: Connection, parameters: dict[str, str], known_total: int = 0) -> Page:
    start = int(parameters.get("start", "0"))

    def consume(response: httpx.Response) -> Page:
        body = response.read()
        if response.status_code >= 400 and not _ERROR_ENTRY.search(body):
            raise NetworkError(f"arXiv answered {response.status_code}", "run the same command again later")
        page = parse_feed(body, start)
        if not page.records and start < min(page.total, known_total):
            raise Busy(f"it sent an empty page at {start} of {page.total} results")
        return page

    return connection.ask(f"{connection.api}/api/query", consume, parameters)


def parse_feed(body: bytes, start: int = 0) -> Page:
    """The records of an Atom answer.

    Raises UsageError for arXiv's error entry, Busy for what is no feed (arXiv's pages for people, when it is ill).
    """
    from arxiv._feed import parse  # the package's reader of the feed alone; its client knows no Retry-After

    if _ERROR_ENTRY.search(body):
        raise UsageError(f"arXiv refused the request: {_error_text(body)}", "check the id or the query")
    feed = parse(body)
    if feed.malformed or b"<feed" not in body[:2000]:
        raise Busy("its answer is no feed")
    records = [record for result in feed.results if (record := _record(result))]
    return Page(records, start, feed.header.total_results)


def _error_text(body: bytes) -> str:
    match = re.search(rb"<summary>(.*?)</summary>", body, re.DOTALL)
    return match[1].decode("utf-8", "replace").strip() if match else "no reason was given"


def _record(result: Any) -> Metadata | None:
    identifier = try_arxiv_id(result.entry_id)
    if identifier is None:
        return None
    comment, abstract = _one_line(result.comment), _one_line(result.summary)
    return Metadata(
        title=_one_line(result.title),
        arxiv_id=identifier.bare,
        version=identifier.version or 1,
        authors=tuple(_one_line(author.name) for author in result.authors),
        abstract=abstract,
        published=result.published.date().isoformat(),
        updated=result.updated.date().isoformat(),
        categories=tuple(result.categories),
        comment=comment,
        journal_ref=_one_line(result.journal_ref),
        doi=result.doi or "",
        pdf_url=result.pdf_url,
        withdrawn=is_withdrawn(comment, abstract),
    )


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def is_withdrawn(comment: str, abstract: str) -> bool:
    """Whether the comment, or the first words of the abstract, say that the paper was withdrawn."""
    return bool(_WITHDRAWN_COMMENT.search(comment) or _WITHDRAWN_ABSTRACT.search(abstract[:200]))
