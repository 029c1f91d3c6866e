"""E-print sources as arXiv serves them, read in memory: what they are is told by their bytes, never by their name.

Archives are streamed and never extracted to disk; everything that is decompressed is counted.
"""

from __future__ import annotations

import gzip
import io
import posixpath
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kb.errors import BadDocument

MAX_TOTAL = 200 * 2**20
MAX_MEMBER = 20 * 2**20
MAX_MEMBERS = 5000
MAX_RATIO = 300
TEXT_SUFFIXES = frozenset(
    ".tex .ltx .latex .sty .cls .bbl .bib .txt .def .clo .cfg .tikz .pgf .readme .json .yaml .toml .inc .input .htm .html".split(
        " "
    )
)

SourceKind = Literal["latex", "html", "pdf", "postscript", "text"]


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The text files of a source by their normalised name, and what the source is."""

    kind: SourceKind
    files: dict[str, bytes]
    skipped: tuple[str, ...] = ()


def read_source(path: Path) -> SourceFiles:
    """Read an archive, a single file or a folder. Raises BadDocument with the reason when it cannot be used."""
    if path.is_dir():
        return _from_folder(path)
    with path.open("rb") as stream:
        head = stream.read(512)
    if not head:
        raise BadDocument("empty file", transient=True)
    if head.startswith(b"\x1f\x8b"):
        return _from_gzip(path)
    if _is_tar(head):
        with path.open("rb") as stream:
            return _from_tar(stream, path.stat().st_size)
    if head.startswith(b"PK\x03\x04"):
        return _from_zip(path)
    return _from_single(path.read_bytes()[:MAX_MEMBER])


def _from_folder(folder: Path) -> SourceFiles:
    files: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or path.is_symlink() or not _is_text_name(name):
            continue
        size = path.stat().st_size
        total += size
        if size > MAX_MEMBER or total > MAX_TOTAL or len(files) >= MAX_MEMBERS:
            raise BadDocument(f"source too large: {name}")
        files[name] = path.read_bytes()
    if not any(name.lower().endswith((".tex", ".ltx")) for name in files):
        raise BadDocument("no TeX source in the folder")
    return SourceFiles("latex", files)


def _is_tar(head: bytes) -> bool:
    return len(head) >= 263 and head[257:262] == b"ustar"


def _from_gzip(path: Path) -> SourceFiles:
    try:
        with gzip.open(path, "rb") as stream:
            head = stream.read(512)
        if _is_tar(head):
            with path.open("rb") as raw:
                return _from_tar(_Counted(raw, path.stat().st_size), path.stat().st_size)
        with path.open("rb") as raw:
            return _from_single(_Counted(raw, path.stat().st_size).read(MAX_MEMBER))
    except (OSError, EOFError, zlib.error) as error:
        raise BadDocument(f"damaged archive: {error}", "fetch it again with --refetch", transient=True) from None


class _Counted(io.RawIOBase):
    """Decompresses a gzip stream and stops when it grows beyond its bounds."""

    def __init__(self, raw: io.BufferedReader, compressed: int) -> None:
        self._stream = gzip.GzipFile(fileobj=raw)
        self._limit = min(MAX_TOTAL, max(compressed, 2**12) * MAX_RATIO)
        self._seen = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        wanted = 2**16 if size is None or size < 0 else size
        data = self._stream.read(wanted)
        self._seen += len(data)
        if self._seen > self._limit:
            raise BadDocument("archive refused: it unpacks to far more than its size")
        return data


def _from_tar(stream: io.BufferedReader | _Counted, compressed: int) -> SourceFiles:
    files: dict[str, bytes] = {}
    skipped: list[str] = []
    total = count = 0
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                count += 1
                if count > MAX_MEMBERS:
                    raise BadDocument(f"archive refused: more than {MAX_MEMBERS} members")
                name = _safe_name(member.name)
                if not member.isfile() or name is None:
                    skipped.append(member.name)
                    continue
                total += member.size
                if total > MAX_TOTAL:
                    raise BadDocument("archive refused: it unpacks to more than 200 MB")
                if not _is_text_name(name) or member.size > MAX_MEMBER:
                    skipped.append(member.name)
                    continue
                handle = archive.extractfile(member)
                files[name] = handle.read() if handle else b""
    except tarfile.TarError as error:
        raise BadDocument(f"damaged archive: {error}", "fetch it again with --refetch", transient=True) from None
    return SourceFiles(_kind_of(files), files, tuple(skipped))


def _from_zip(path: Path) -> SourceFiles:
    """A zip as writing platforms export it. What a member claims of its size is not believed: reading stops there."""
    files: dict[str, bytes] = {}
    skipped: list[str] = []
    left = min(MAX_TOTAL, path.stat().st_size * MAX_RATIO)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise BadDocument(f"archive refused: more than {MAX_MEMBERS} members")
            for member in members:
                name = _safe_name(member.filename)
                if member.is_dir() or name is None or not _is_text_name(name) or member.file_size > MAX_MEMBER:
                    skipped.append(member.filename)
                    continue
                with archive.open(member) as handle:
                    files[name] = handle.read(MAX_MEMBER)
                left -= len(files[name])
                if left < 0:
                    raise BadDocument("archive refused: it unpacks to far more than its size")
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
        raise BadDocument(f"damaged archive: {error}") from None
    return SourceFiles(_kind_of(files), files, tuple(skipped))


def _safe_name(name: str) -> str | None:
    """The member's name inside the archive; None for one that points outside."""
    clean = posixpath.normpath(name.replace("\\", "/"))
    return None if clean.startswith(("/", "../")) or clean in ("..", ".") or ":" in clean[:3] else clean


def _is_text_name(name: str) -> bool:
    base = posixpath.basename(name).lower()
    return posixpath.splitext(base)[1] in TEXT_SUFFIXES or "." not in base or base.startswith("00readme")


def _kind_of(files: dict[str, bytes]) -> SourceKind:
    if any(name.lower().endswith((".tex", ".ltx", ".latex")) for name in files):
        return "latex"
    pages = [name for name in files if name.lower().endswith((".htm", ".html"))]
    if any(looks_like_tex(data) for name, data in files.items() if name not in pages):
        return "latex"
    if pages:
        return "html"
    raise BadDocument("no TeX source in the archive")


def looks_like_tex(data: bytes) -> bool:
    """Whether bytes are a TeX document of any dialect."""
    head = data[:200_000]
    marks = (
        b"\\documentclass",
        b"\\documentstyle",
        b"\\begin{document}",
        b"\\input",
        b"\\magnification",
        b"\\bye",
        b"\\def\\",
    )
    return any(mark in head for mark in marks)


def _from_single(data: bytes) -> SourceFiles:
    head = data[:1024].lstrip().lower()
    if data.startswith(b"%PDF-"):
        return SourceFiles("pdf", {"source.pdf": data})
    if data.startswith(b"%!"):
        return SourceFiles("postscript", {"source.ps": data})
    if head.startswith((b"<!doctype html", b"<html", b"<head")) or b"<html" in head:
        return SourceFiles("html", {"source.html": data})
    if looks_like_tex(data):
        return SourceFiles("latex", {"source.tex": data})
    if b"\x00" in data[:4096]:
        raise BadDocument("not a source: neither TeX, HTML, PDF nor an archive")
    return SourceFiles("text", {"source.txt": data})
