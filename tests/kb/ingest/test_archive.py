"""E-print archives: told by their bytes, read in memory, bounded."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from kb.errors import BadDocument
from kb.ingest.archive import read_source

TEX = b"\\documentclass{article}\\begin{document}\\section{S}Text.\\end{document}"


def tar_of(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["paper.tar.gz", "paper.pdf", "2501.00001"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_tar_is_read_whatever_its_name_says(tmp_path: Path, name: str, packed: bool) -> None:
    data = tar_of({"./paper.tex": TEX, "figures/a.png": b"\x89PNG"})
    (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)
    source = read_source(tmp_path / name)
    assert (source.kind, source.files) == ("latex", {"paper.tex": TEX})
    assert source.skipped == ("figures/a.png",)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (TEX, "latex"),
        (b"\n<!DOCTYPE html><html><body>x</body></html>", "html"),
        (b"%PDF-1.5 ...", "pdf"),
        (b"%!PS-Adobe-2.0\n", "postscript"),
        (b"Just words.", "text"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_single_files_are_told_by_their_bytes(tmp_path: Path, data: bytes, kind: str, packed: bool) -> None:
    path = tmp_path / "source.gz"
    path.write_bytes(gzip.compress(data) if packed else data)
    source = read_source(path)
    assert source.kind == kind
    assert list(source.files.values()) == [data]


def test_members_that_point_outside_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "evil.tar"
    path.write_bytes(
        tar_of({"../evil.tex": TEX, "/abs.tex": TEX, "a/../../b.tex": TEX, "ok.tex": TEX}, {"link.tex": "/etc/passwd"})
    )
    source = read_source(path)
    assert list(source.files) == ["ok.tex"]
    assert sorted(source.skipped) == ["../evil.tex", "/abs.tex", "a/../../b.tex", "link.tex"]
    assert [child.name for child in tmp_path.iterdir()] == ["evil.tar"]


def write_bomb(path: Path, mebibytes: int, member: str) -> None:
    """A tar.gz with one member of zeros, written without holding it in memory."""
    with gzip.open(path, "wb", compresslevel=9) as packed:
        info = tarfile.TarInfo(member)
        info.size = mebibytes * 2**20
        packed.write(info.tobuf())
        block = bytes(2**20)
        for _ in range(mebibytes):
            packed.write(block)
        packed.write(bytes(1024))


@pytest.mark.parametrize("member", ["zeros.tex", "zeros.bin"])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, member: str) -> None:
    path = tmp_path / "bomb.tar.gz"
    write_bomb(path, 300, member)
    tracemalloc.start()
    with pytest.raises(BadDocument, match="refused"):
        read_source(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 2**20


def test_a_bomb_of_one_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "zeros.gz"
    with gzip.open(path, "wb", compresslevel=9) as packed:
        for _ in range(64):
            packed.write(bytes(2**20))
    with pytest.raises(BadDocument, match="refused"):
        read_source(path)


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.tar"
    path.write_bytes(tar_of({f"{number}.tex": b"x" for number in range(5001)}))
    with pytest.raises(BadDocument, match="5000 members"):
        read_source(path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (gzip.compress(tar_of({"paper.tex": TEX * 50}))[:-40], "damaged"),
        (tar_of({"paper.tex": TEX * 50})[:700], "damaged"),
        (gzip.compress(b"\x00\x01\x02" * 100), "not a source"),
        (tar_of({"figure.png": b"\x89PNG"}), "no TeX source"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "source"
    path.write_bytes(data)
    with pytest.raises(BadDocument, match=reason):
        read_source(path)


def test_a_folder_is_read_like_an_archive(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.tex").write_bytes(TEX)
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    (tmp_path / "link.tex").symlink_to("/etc/passwd")
    source = read_source(tmp_path)
    assert (source.kind, list(source.files)) == ("latex", ["parts/a.tex"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadDocument, match="no TeX source"):
        read_source(tmp_path / "empty")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("1508.03176v1.tar.gz", "latex"),
        ("cs_9901011.tar.gz", "html"),
        ("stubs/ftp_arxiv_papers_2310_2310.08262.html.gz", "html"),
        ("stubs/ftp_cs_papers_0011_0011004.gz", "text"),
    ],
)
def test_archives_as_arxiv_serves_them(corpus: Path, name: str, kind: str) -> None:
    assert read_source(corpus / "sources" / "archives" / name).kind == kind
