"""What words on the command line name."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from kb.ingest.sources import Source, read_sources


def named(*words: object) -> list[str]:
    found, problems = read_sources(map(str, words))
    assert problems == []
    return [source.name for source in found]


def reasons(*words: object) -> list[str]:
    found, problems = read_sources(map(str, words))
    assert found == []
    return [f"{problem.error.message} | {problem.error.hint}" for problem in problems]


def test_ids_addresses_and_dois_are_one_paper_each_however_written() -> None:
    words = [
        "2503.14476",
        "https://arxiv.org/abs/2503.14476",
        "10.48550/arXiv.2503.14476",
        "2503.14476v1",
        "cs.CL/0701188",
    ]
    assert named(*words) == ["2503.14476", "2503.14476v1", "cs/0701188"]


def test_a_folder_may_mix_pdfs_archives_and_latex_projects(tmp_path: Path) -> None:
    for name in ("a.pdf", "2405.04517/src/main.tex", "2405.04517/figures/plot.pdf", "project/main.tex", "project/plot.pdf",
                 "deep/er/x_source.tar.gz", "notes.md", ".hidden/b.pdf", "README.txt"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    found, problems = read_sources([str(tmp_path)])
    assert problems == []
    assert [(source.kind, str(Path(source.name).relative_to(tmp_path))) for source in found] == [
        ("latex", "2405.04517"), ("pdf", "a.pdf"), ("latex", "deep/er/x_source.tar.gz"), ("latex", "project"),
    ]  # fmt: skip
    assert [str(source.id) for source in found] == ["2405.04517", "None", "None", "None"]


def test_a_link_to_a_folder_above_does_not_loop(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"x")
    (tmp_path / "up").symlink_to(tmp_path, target_is_directory=True)
    assert len(named(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("2503.14476v2.pdf", "2503.14476v2"), ("math_0211159.pdf", "math/0211159"), ("1508.03176v1.tar.gz", "1508.03176v1"), ("论文.pdf", "None")],
)  # fmt: skip
def test_a_file_is_known_by_the_id_in_its_name(tmp_path: Path, name: str, identifier: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    (source,), _ = read_sources([str(tmp_path / name)])
    assert str(source.id) == identifier


def test_a_list_of_ids_has_comments_and_a_bad_line_costs_only_itself(tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("\ufeff# 本周\n2503.14476  # DAPO\n\nhttps://arxiv.org/abs/2402.03300#S1\nDAPO\n", encoding="utf-8")
    found, problems = read_sources([str(ids)])
    assert [source.name for source in found] == ["2503.14476", "2402.03300"]
    assert [problem.name for problem in problems] == [f"{ids}:5"]


def test_a_list_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_bytes("2503.14476 # 中文".encode("gbk"))
    assert reasons(ids) == [f"{ids} is not UTF-8 text | a list has one arXiv id to a line"]


def test_standard_input_is_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("2503.14476\n2503.14476\n- \n"))
    assert named("-") == ["2503.14476"]


def test_what_is_no_source_is_told_with_the_way_out(tmp_path: Path) -> None:
    for name in ("refs.bib", "note.md", "table.xlsx"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    said = reasons("DAPO", "10.1145/3292500.3330701", "https://openreview.net/pdf?id=x", tmp_path / "refs.bib",
                   tmp_path / "note.md", tmp_path / "table.xlsx", tmp_path / "empty")  # fmt: skip
    for part, text in zip(
        ("neither an arXiv id nor a file", "not a DOI of arXiv", "fetch the PDF", "one to a line", "kb import", "kb ingest --help", "no PDF and no LaTeX"),
        said, strict=True,
    ):  # fmt: skip
        assert part in text


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every folder")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    shut.mkdir(mode=0)
    assert "cannot be read" in reasons(shut)[0]


def test_the_sources_of_the_corpus_are_told_apart(corpus: Path) -> None:
    found, problems = read_sources([str(corpus / "sources")])
    assert problems == []
    folders = [source for source in found if source.path is not None and source.path.is_dir()]
    assert len(folders) == 27
    assert all(isinstance(source, Source) and source.kind == "latex" for source in found)
