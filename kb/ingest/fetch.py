"""The files of one version from arXiv: HTML, e-print and PDF, each streamed to disk whole or not at all.

A file that is here is not asked for again. What arXiv does not have is no failure; the reader takes the next route.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import BadDocument, PartialError
from kb.ingest.connection import Busy, Connection
from kb.ingest.ids import ArxivId
from kb.ingest.originals import PaperFiles, enter, files_of, place_of
from kb.workspace import cannot_write

if TYPE_CHECKING:
    import httpx

MOST_PDFS = 100
MOST_BYTES = 500 * 2**20


@dataclass(slots=True)
class Fetcher:
    """Fetches versions over one connection and counts the PDFs of this run."""

    connection: Connection
    day: str
    most_pdfs: int = MOST_PDFS
    no_pdf: bool = False
    refetch: bool = False
    pdfs: int = field(default=0, init=False)

    def fetch(self, identifier: ArxivId, folder: Path) -> list[BadDocument]:
        """Fetch the files of a version that are not below ``folder`` yet; returns what came and could not be used.

        Raises NetworkError, or PartialError when this run has had its number of PDFs.
        """
        here = PaperFiles() if self.refetch else files_of(folder, identifier.version)
        place = place_of(folder, identifier.version)
        troubles: list[BadDocument] = []
        for kind, present in (("html", here.html), ("e-print", here.source), ("pdf", here.pdf)):
            if present is not None or (kind == "pdf" and self.no_pdf):
                continue
            if kind == "pdf":
                self._count_pdf()
            try:
                self._fetch_one(kind, identifier, place)
            except BadDocument as error:
                troubles.append(BadDocument(f"{kind}: {error.message}", error.hint, error.transient))
        return troubles

    def _count_pdf(self) -> None:
        if self.pdfs >= self.most_pdfs:
            raise PartialError(
                f"{self.pdfs} PDFs were fetched in this run, which is the ceiling",
                "run the same command again to go on, or raise max_pdfs below [arxiv] in kb.toml",
            )
        self.pdfs += 1

    def _fetch_one(self, kind: str, identifier: ArxivId, place: Path) -> None:
        url = f"{self.connection.content}/{kind}/{identifier}"
        partial = place / f".{identifier.file_stem}.{kind}.part"

        def consume(response: httpx.Response) -> str | None:
            if response.status_code == 404:
                return None
            if response.status_code >= 400:
                raise BadDocument(f"arXiv answered {response.status_code}", transient=True)
            return _stream(response, partial)

        try:
            digest = self.connection.ask(url, consume)
            if digest is None:
                return
            suffix = _suffix_of(kind, partial)
            if suffix is not None:
                target = place / f"{identifier.file_stem}{suffix}"
                partial.replace(target)
                enter(place, target.name, digest, url, self.day)
        except OSError as error:
            raise cannot_write(partial, error) from None
        finally:
            partial.unlink(missing_ok=True)


def _stream(response: httpx.Response, partial: Path) -> str:
    """Write the body to ``partial``; returns its SHA-256. The HTTP library checks Content-Length."""
    digest = hashlib.sha256()
    size = 0
    partial.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("wb") as stream:
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > MOST_BYTES:
                raise BadDocument(f"larger than {MOST_BYTES >> 20} MB")
            digest.update(chunk)
            stream.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())
    if size == 0:
        raise Busy("it sent an empty file")
    return digest.hexdigest()


def _suffix_of(kind: str, path: Path) -> str | None:
    """The ending of the file's name by what its bytes are; None for an e-print that is only the PDF again.

    Raises BadDocument for a body of the wrong kind: arXiv sends pages for people in place of files.
    """
    with path.open("rb") as stream:
        head = stream.read(1024)
    is_page = head.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml"))
    if kind == "html":
        if not is_page:
            raise BadDocument("arXiv sent no web page", transient=True)
        return ".html"
    if kind == "pdf":
        if b"%PDF-" not in head:
            what = "a web page" if is_page else "something that is no PDF"
            raise BadDocument(f"arXiv sent {what} in place of the PDF", transient=True)
        return ".pdf"
    if b"%PDF-" in head:
        return None
    return _archive_suffix(path, head)


def _archive_suffix(path: Path, head: bytes) -> str:
    if not head.startswith(b"\x1f\x8b"):
        return ".tar" if head[257:262] == b"ustar" else ".src"
    try:
        with gzip.open(path, "rb") as stream:
            return ".tar.gz" if stream.read(512)[257:262] == b"ustar" else ".gz"
    except (OSError, EOFError):
        raise BadDocument("the archive is damaged", transient=True) from None
