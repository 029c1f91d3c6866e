"""What a search reads: keywords in both languages, filters, passages with their surroundings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_workspace import CountingEmbedder, fill_workspace

from kb.errors import KbError, UsageError
from kb.index import passages as passages_module
from kb.index.filters import Filters
from kb.index.reader import Index, any_of
from kb.index.recipe import NoIndexError
from kb.index.reconcile import reconcile
from kb.model import Kind
from kb.search.tokens import query_tokens
from kb.workspace import load_workspace


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    workspace = fill_workspace(tmp_path)
    reconcile(workspace, CountingEmbedder())
    with Index.open(workspace) as opened:
        yield opened


def found(index: Index, question: str, filters: Filters | None = None) -> list[str]:
    hits = index.keyword(any_of(query_tokens(question)), 20, filters)
    return [passage.text for passage in index.passages([identifier for identifier, _ in hits])]


@pytest.mark.parametrize("question", ["优势", "GRPO", "归一化", "放大噪声"])
def test_chinese_words_of_two_characters_and_names_glued_to_han_are_found(index: Index, question: str) -> None:
    assert any("优势归一化会放大噪声" in text for text in found(index, question))


def test_english_is_found_by_its_stem_and_the_title_counts_most(index: Index) -> None:
    assert any("contributed" in text for text in found(index, "contributes"))
    hits = index.keyword(any_of(["share"]), 50)
    assert {index.passage(identifier).paper for identifier, _ in hits} == {"fairshare"}
    assert all(score > 0 for _, score in hits)
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)


def test_references_are_found_only_when_asked_for(index: Index) -> None:
    assert not any(text.startswith("Foerster") for text in found(index, "counterfactual"))
    assert found(index, "counterfactual", Filters(kinds=(Kind.REFERENCE,))) != []


@pytest.mark.parametrize(
    ("filters", "owners"),
    [
        (Filters(papers=("bare",)), {"bare"}),
        (Filters(tags=("credit",)), {"fairshare"}),
        (Filters(tags=("report",)), {"notes/reports/plain.md"}),
        (Filters(since="2026"), {"notes/2026-04-12.md", "notes/reports/plain.md"}),
        (Filters(section="method", kinds=(Kind.TABLE,)), {"fairshare"}),
        (Filters(section="信用分配"), {"notes/2026-04-12.md"}),
        (Filters(languages=("zh",), papers=("fairshare",)), {"fairshare"}),
    ],
)
def test_filters_choose_the_same_passages_for_keywords_and_vectors(index: Index, filters: Filters, owners: set[str]) -> None:
    allowed = index.allowed(filters)
    assert allowed is not None
    assert {p.paper for p in index.passages(sorted(allowed))} == owners
    vector = CountingEmbedder().embed_queries(["share"])[0]
    assert {identifier for identifier, _ in index.dense(vector, 1000, allowed)} == allowed
    expression = " OR ".join(f"{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz0123456789")
    assert {identifier for identifier, _ in index.keyword(expression, 1000, filters)} <= allowed


def test_without_a_filter_every_vector_may_answer(index: Index) -> None:
    assert index.allowed(Filters()) is None
    vector = CountingEmbedder().embed_queries(["share"])[0]
    kinds = {p.kind for p in index.passages([identifier for identifier, _ in index.dense(vector, 1000)])}
    assert kinds == set(Kind) - {Kind.REFERENCE}


def test_a_passage_comes_back_whole_with_its_neighbours(index: Index) -> None:
    text = index.folder.parent.parent.parent / "papers" / "fairshare" / "text.md"
    sentence = next(
        p for p in index.passages(sorted(index.allowed(Filters(papers=("fairshare",))) or ())) if "Here q is" in p.text
    )
    assert sentence.text.split("\n\n")[-1] in text.read_text(encoding="utf-8")[slice(*sentence.span)]
    assert (sentence.title, sentence.date, sentence.tags) == ("Fair Shares: credit for teams", "2024-01-02", ("credit", "multi-agent"))
    around = index.around(sentence, 1)
    assert len(around) == 3 and around[1] == sentence
    assert index.passages(["gone", sentence.id]) == [sentence]
    with pytest.raises(KbError, match="no passage gone"):
        index.passage("gone")


def test_equations_of_papers_and_notes_are_listed(index: Index) -> None:
    latex = [latex for _, latex in index.equations()]
    assert latex.count(r"A_i = q_i - \bar q") == 3
    assert r"\hat A = \frac{r - \mu}{\sigma}" in latex
    assert {index.passage(identifier).paper for identifier, _ in index.equations(Filters(papers=("fairshare",)))} == {"fairshare"}


def test_an_expression_that_fts5_cannot_read_is_a_usage_error(index: Index) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        index.keyword('"open', 5)


def test_a_vector_of_another_model_is_refused_with_both_dimensions(index: Index) -> None:
    import numpy as np

    with pytest.raises(KbError, match="7 dimensions, the index 256"):
        index.dense(np.zeros(7, np.float32))


def test_no_index_and_a_newer_index_are_told_apart(tmp_path: Path) -> None:
    workspace = fill_workspace(tmp_path)
    with pytest.raises(NoIndexError, match="no search index yet"):
        Index.open(workspace)
    reconcile(workspace, CountingEmbedder())
    (manifest,) = (tmp_path / ".kb" / "index").glob("*/manifest.json")
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"schema": 1', '"schema": 99'), encoding="utf-8")
    with pytest.raises(KbError, match="another version of kb made the index"):
        Index.open(load_workspace(tmp_path))
    manifest.write_text("{}", encoding="utf-8")
    with pytest.raises(KbError, match="no manifest that this version of kb can read"):
        Index.open(load_workspace(tmp_path))


def test_a_python_without_fts5_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lame:
        def __enter__(self) -> Lame:
            return self

        def __exit__(self, *_: object) -> None: ...

        def execute(self, _: str) -> None:
            raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(passages_module.sqlite3, "connect", lambda _: Lame())
    with pytest.raises(KbError, match="no such module: fts5") as caught:
        passages_module.check_sqlite()
    assert "Python" in caught.value.hint


def test_an_index_in_a_folder_that_cannot_be_written_can_be_read(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    import kb.index.reader as reader

    connect = sqlite3.connect

    class Closed:
        """What SQLite hands out where it may not make its shared memory file."""

        def execute(self, _: str) -> None:
            raise sqlite3.OperationalError("unable to open database file")

        def close(self) -> None: ...

    def refuse(address: str, uri: bool) -> object:
        return connect(address, uri=uri) if address.endswith("&immutable=1") else Closed()

    monkeypatch.setattr(reader.sqlite3, "connect", refuse)
    with reader.open_readonly(index.folder / "passages.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM passages").fetchone()[0] > 10
