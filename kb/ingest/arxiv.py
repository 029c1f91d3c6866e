"""arXiv over HTTP: records by id or search, and the files of a version, politely.

One connection, one limiter, our own User-Agent, ``Retry-After`` obeyed. What fails for a while is a NetworkError that
the next run resumes; what arXiv does not have is a BadDocument.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb import __version__
from kb.errors import BadDocument, NetworkError, OfflineError, UsageError
from kb.ingest.ids import ArxivId, try_arxiv_id
from kb.ingest.limiter import Limiter
from kb.model import Metadata
from kb.workspace import Workspace, is_offline

if TYPE_CHECKING:
    import httpx

API_HOST = "https://export.arxiv.org"
CONTENT_HOST = "https://arxiv.org"
BATCH = 100
TRIES = 4
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_WITHDRAWN = re.compile(
    r"\b(?:(?:has|have) been|was|is|being)\s+(?:\w+\s+)?(?:withdrawn|retracted)\b|\bwithdrawn\s+(?:by|due|because|for|from|as)\b|"
    r"^\s*(?:withdrawn|retracted)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of a search: its records, where it began, and how many records there are in all."""

    records: list[Metadata]
    start: int
    total: int


class ArxivClient:
    """Talks to arXiv, or to whatever ``[arxiv] url`` or ``KB_ARXIV_URL`` names. Use it as a context manager."""

    def __init__(self, workspace: Workspace | None = None, limiter: Limiter | None = None) -> None:
        option = workspace.option if workspace else lambda name, default=None: default
        base = os.environ.get("KB_ARXIV_URL") or option("arxiv.url")
        self.api = str(base or API_HOST).rstrip("/")
        self.content = str(base or CONTENT_HOST).rstrip("/")
        interval = float(os.environ.get("KB_ARXIV_INTERVAL") or option("arxiv.interval") or 3.0)
        if base is None:
            interval = max(interval, 3.0)  # arXiv's own rule is not for us to relax
        self.limiter = limiter or Limiter(interval)
        contact = option("arxiv.contact") or ""
        self.agent = f"litkb/{__version__}" + (f" (mailto:{contact})" if contact else "")
        self.files_fetched = 0
        self.most_files = int(option("arxiv.max_files") or 500)
        self._client: httpx.Client | None = None

    def __enter__(self) -> ArxivClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    # ------------------------------------------------------------ records

    def records(self, ids: Sequence[ArxivId]) -> dict[ArxivId, Metadata]:
        """The records of many ids, a hundred to a request. An id that arXiv does not know is left out."""
        found: dict[ArxivId, Metadata] = {}
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            query = {"id_list": ",".join(map(str, batch)), "max_results": str(len(batch))}
            for record in self._query(query).records:
                for wanted in batch:
                    same = record.arxiv_id == wanted.bare
                    if same and (wanted.version is None or wanted.version == record.version):
                        found[wanted] = record
        return found

    def search(self, query: str, most: int, start: int = 0) -> Iterator[SearchPage]:
        """The pages of a search, each as it comes, so that a caller can keep what it has.

        An empty page before the end is a fault of the server: it is asked for again, then reported.
        """
        while start < most:
            size = min(BATCH, most - start)
            parameters = {"search_query": query, "start": str(start), "max_results": str(size)}
            page = self._query(parameters)
            if not page.records and start < min(page.total, most):
                page = self._query(parameters)
                if not page.records:
                    raise NetworkError(
                        f"arXiv sent an empty page at {start} of {page.total} results",
                        "run the same command again later",
                    )
            if not page.records:
                return
            yield page
            start += len(page.records)
            if start >= page.total:
                return

    def _query(self, parameters: dict[str, str]) -> SearchPage:
        response = self._get(f"{self.api}/api/query", parameters)
        return parse_feed(response.content, int(parameters.get("start", "0")))

    # ------------------------------------------------------------ files

    def fetch(self, kind: str, identifier: ArxivId, target: Path) -> Path | None:
        """Fetch ``pdf``, ``html`` or ``e-print`` of a version into ``target``; None where arXiv has none.

        The file appears whole or not at all. Raises NetworkError, or BadDocument for a body of the wrong kind.
        """
        if self.files_fetched >= self.most_files:
            raise NetworkError(
                f"{self.files_fetched} files were fetched in this run, which is the ceiling",
                "run again to go on, or raise max_files below [arxiv] in kb.toml",
            )
        self.files_fetched += 1
        response = self._get(f"{self.content}/{kind}/{identifier}", None, missing_is_none=True)
        if response is None:
            return None
        body = response.content
        promised = response.headers.get("Content-Length")
        if (
            promised
            and promised.isdigit()
            and "Content-Encoding" not in response.headers
            and int(promised) != len(body)
        ):
            raise NetworkError(f"{kind} of {identifier} was cut short", "run the same command again")
        _check_kind(kind, identifier, body)
        from kb.workspace import write_atomic

        write_atomic(target, body)
        return target

    # ------------------------------------------------------------ HTTP

    def _get(self, url: str, parameters: dict[str, str] | None, missing_is_none: bool = False) -> Any:
        """A GET with patience: busy answers and time-outs are tried again, then raised as NetworkError."""
        import httpx

        if is_offline():
            raise OfflineError(f"offline: {url} was not asked", "leave out --offline, or unset KB_OFFLINE")
        reason, wait = "", 0.0
        for attempt in range(TRIES):
            with self.limiter.turn():
                try:
                    response = self._connection().get(url, params=parameters)
                except httpx.TimeoutException:
                    reason, wait = "it did not answer in time", self._backoff(attempt)
                    self.limiter.pause(wait)
                    continue
                except httpx.HTTPError as error:
                    reason, wait = f"{type(error).__name__}: {error}", self._backoff(attempt)
                    self.limiter.pause(wait)
                    continue
                if response.status_code in _BUSY or _is_throttled(response):
                    asked = _retry_after(response.headers.get("Retry-After"))
                    reason = f"it answered {response.status_code}"
                    wait = asked if asked is not None else self._backoff(attempt)
                    if wait > 120:
                        break
                    self.limiter.pause(wait)
                    continue
            if response.status_code == 404 and missing_is_none:
                return None
            if response.status_code == 400:
                raise UsageError(
                    f"arXiv refused the request: {_error_text(response.content)}", "check the id or the query"
                )
            if response.status_code >= 400:
                raise NetworkError(f"{url} answered {response.status_code}", "run the same command again later")
            return response
        due = (dt.datetime.now() + dt.timedelta(seconds=max(wait, 60))).strftime("%H:%M")
        raise NetworkError(
            f"arXiv cannot be reached now: {reason}",
            f"what came before is kept; run the same command again, from {due} on",
        )

    def _backoff(self, attempt: int) -> float:
        return float(self.limiter.interval * 2**attempt * random.uniform(1.0, 1.5))

    def _connection(self) -> httpx.Client:
        if self._client is None:
            import httpx

            self._client = httpx.Client(
                headers={"User-Agent": self.agent},
                timeout=httpx.Timeout(60.0, connect=20.0),
                follow_redirects=True,
                limits=httpx.Limits(max_connections=1),
            )
        return self._client


def _is_throttled(response: Any) -> bool:
    """arXiv also says it is busy with a page of plain words."""
    return response.status_code == 403 and b"Rate exceeded" in response.content[:200]


def _retry_after(value: str | None) -> float | None:
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())


def _check_kind(kind: str, identifier: ArxivId, body: bytes) -> None:
    if not body:
        raise NetworkError(f"{kind} of {identifier} came empty", "run the same command again later")
    head = body[:1024].lstrip().lower()
    if kind == "pdf" and b"%pdf-" not in head:
        what = "a web page" if head.startswith((b"<!doctype", b"<html")) else "something that is no PDF"
        raise BadDocument(f"arXiv sent {what} in place of the PDF", "try again later", transient=True)
    if kind == "html" and b"<" not in head:
        raise BadDocument("arXiv sent no HTML", transient=True)


def _error_text(body: bytes) -> str:
    match = re.search(rb"<summary>(.*?)</summary>", body, re.DOTALL)
    return match[1].decode("utf-8", "replace").strip() if match else "no reason was given"


def parse_feed(body: bytes, start: int = 0) -> SearchPage:
    """The records of an Atom answer. Raises UsageError for arXiv's error entry, NetworkError for no feed at all."""
    from arxiv._feed import parse  # the package's reader of the feed alone; its client knows no Retry-After

    feed = parse(body)
    if feed.malformed or (b"<feed" not in body[:2000]):
        raise NetworkError("arXiv's answer is no feed", "run the same command again later")
    if b"/api/errors" in body:
        raise UsageError(f"arXiv refused the request: {_error_text(body)}", "check the id or the query")
    return SearchPage(
        [record for result in feed.results if (record := _record(result))], start, feed.header.total_results
    )


def _record(result: Any) -> Metadata | None:
    identifier = try_arxiv_id(result.entry_id)
    if identifier is None or result.title.strip() == "Error":
        return None
    comment = " ".join((result.comment or "").split())
    abstract = result.summary.strip()
    return Metadata(
        title=" ".join(result.title.split()),
        arxiv_id=identifier.bare,
        version=identifier.version or 1,
        authors=tuple(author.name for author in result.authors),
        abstract=" ".join(abstract.split()),
        published=result.published.date().isoformat(),
        updated=result.updated.date().isoformat(),
        categories=tuple(result.categories),
        comment=comment,
        journal_ref=" ".join((result.journal_ref or "").split()),
        doi=result.doi or "",
        pdf_url=result.pdf_url,
        withdrawn=is_withdrawn(comment, abstract),
        has_pdf=True if result.pdf_url else None,
    )


def is_withdrawn(comment: str, abstract: str) -> bool:
    """Whether arXiv's record says that the paper was withdrawn."""
    return bool(
        _WITHDRAWN.search(comment) or (_WITHDRAWN.search(abstract[:200]) and "withdrawn" in abstract[:200].lower())
    )
