"""A stand-in for arXiv on this machine: its answers have the recorded form, and its troubles can be scripted."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from made_papers import make_eprint, make_html, make_pdf

_FEED = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/made-for-a-test</id>
  <title>arXiv Query: {query}</title>
  <updated>2026-04-12T22:10:26Z</updated>
  <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
{entries}</feed>
"""
_ERROR = """  <entry>
    <id>https://arxiv.org/api/errors#incorrect_id_format_for_{word}</id>
    <title>Error</title>
    <updated>2026-04-12T22:59:06Z</updated>
    <link href="https://arxiv.org/api/errors#incorrect_id_format_for_{word}" rel="alternate" type="text/html"/>
    <summary>incorrect id format for {word}</summary>
    <author><name>arXiv api core</name></author>
  </entry>
"""
THROTTLED = b"Rate exceeded."
CHALLENGE = b"<!DOCTYPE html><html><body>Enable JavaScript and cookies to continue</body></html>"


@dataclass
class FakePaper:
    """One version of a paper. A file that is None is answered with 404."""

    id: str
    title: str
    version: int = 1
    authors: tuple[str, ...] = ("Ada Example", "Bo Example")
    abstract: str = "We share credit between agents."
    comment: str = ""
    pdf_link: bool = True
    html: bytes | None = None
    source: bytes | None = None
    pdf: bytes | None = None

    def entry(self) -> str:
        """The Atom entry of this version."""
        name = f"{self.id}v{self.version}"
        link = f'    <link href="https://arxiv.org/pdf/{name}" rel="related" type="application/pdf" title="pdf"/>\n'
        people = "".join(
            f"    <author>\n      <name>{escape(author)}</name>\n    </author>\n" for author in self.authors
        )
        comment = f"    <arxiv:comment>{escape(self.comment)}</arxiv:comment>\n" if self.comment else ""
        return (
            f"  <entry>\n    <id>http://arxiv.org/abs/{name}</id>\n    <title>{escape(self.title)}</title>\n"
            f"    <updated>2025-0{min(9, 3 + self.version)}-02T08:18:33Z</updated>\n"
            f'    <link href="https://arxiv.org/abs/{name}" rel="alternate" type="text/html"/>\n'
            f"{link if self.pdf_link else ''}    <summary>{escape(self.abstract)}</summary>\n"
            '    <category term="cs.MA" scheme="http://arxiv.org/schemas/atom"/>\n'
            "    <published>2025-03-18T17:49:06Z</published>\n"
            f'{comment}    <arxiv:primary_category term="cs.MA"/>\n{people}  </entry>\n'
        )


def full_paper(identifier: str, title: str, version: int = 1, **fields: object) -> FakePaper:
    """A version that arXiv has HTML, source and PDF of."""
    files = {"html": make_html(title), "source": make_eprint(title), "pdf": make_pdf(title, f"{identifier}v{version}")}
    return FakePaper(identifier, title, version, **(files | fields))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Trouble:
    """One answer that is given in place of the right one. ``delay`` is in seconds; ``cut`` closes halfway."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False


@dataclass(frozen=True)
class Request:
    """What was asked, by whom, and when it began and ended (seconds of a steady clock)."""

    path: str
    query: dict[str, str]
    agent: str
    began: float
    ended: float


class ArxivServer:
    """Holds papers by id and version, scripted troubles by path, and every request: as it arrived, as it was answered."""

    def __init__(self) -> None:
        self.versions: dict[str, list[FakePaper]] = {}
        self.requests: list[Request] = []
        self.arrived: list[str] = []
        self.refused_ids: set[str] = set()
        self._troubles: list[tuple[str, deque[Trouble]]] = []
        self.url = ""

    def add(self, *papers: FakePaper) -> None:
        for paper in papers:
            self.versions.setdefault(paper.id, []).append(paper)

    def trouble(self, path: str, *troubles: Trouble) -> None:
        """Answer the next requests below ``path`` with these, one each."""
        self._troubles.append((path, deque(troubles)))

    def paths(self, beginning: str = "/") -> list[str]:
        return [request.path for request in self.requests if request.path.startswith(beginning)]

    def answer(self, path: str, query: dict[str, str]) -> Trouble:
        for beginning, troubles in self._troubles:
            if path.startswith(beginning) and troubles:
                return troubles.popleft()
        if path == "/api/query":
            return self._feed(query)
        kind, _, name = path.strip("/").partition("/")
        body = self._file(kind, name)
        return Trouble(404, b"<html>not found</html>") if body is None else Trouble(200, body)

    def _file(self, kind: str, name: str) -> bytes | None:
        bare, _, version = name.rpartition("v")
        for paper in self.versions.get(bare, []):
            if str(paper.version) == version:
                return {"html": paper.html, "e-print": paper.source, "pdf": paper.pdf}[kind]
        return None

    def _feed(self, query: dict[str, str]) -> Trouble:
        start, size = int(query.get("start", "0")), int(query.get("max_results", "10"))
        if "id_list" in query:
            words = query["id_list"].split(",")
            for word in words:
                if word in self.refused_ids:
                    return Trouble(400, self._render([_ERROR.format(word=word)], 1, 0, 1, query))
            found = [paper for word in words if (paper := self._version(word))]
        else:
            found = [versions[-1] for versions in self.versions.values()]
        page = found[start : start + size]
        return Trouble(200, self._render([paper.entry() for paper in page], len(found), start, size, query))

    def _version(self, word: str) -> FakePaper | None:
        for bare, versions in self.versions.items():
            if word == bare:
                return versions[-1]
            for paper in versions:
                if word == f"{bare}v{paper.version}":
                    return paper
        return None

    @staticmethod
    def _render(entries: list[str], total: int, start: int, size: int, query: dict[str, str]) -> bytes:
        words = escape("&".join(f"{key}={value}" for key, value in query.items()))
        return _FEED.format(query=words, total=total, start=start, size=size, entries="".join(entries)).encode("utf-8")


def empty_page(total: int, start: int) -> Trouble:
    """A page without records that claims there are some."""
    return Trouble(200, ArxivServer._render([], total, start, 100, {}))


@contextmanager
def serving() -> Iterator[ArxivServer]:
    """A running server on a free port of the loopback address."""
    arxiv = ArxivServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            began = time.monotonic()
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
            answer = arxiv.answer(parts.path, query)
            arxiv.arrived.append(parts.path)
            if answer.delay:
                time.sleep(answer.delay)
            # Written down before the answer leaves, so that whoever has the answer finds the request.
            agent = self.headers.get("User-Agent", "")
            arxiv.requests.append(Request(parts.path, query, agent, began, time.monotonic()))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body[: len(answer.body) // 2] if answer.cut else answer.body)
            self.close_connection = self.close_connection or answer.cut

        def log_message(self, *_: object) -> None:
            return

        def handle(self) -> None:
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                return  # the client gave up waiting, as some tests make it do

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    arxiv.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield arxiv
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
