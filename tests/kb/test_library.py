"""Reading papers, finding them by any name, and matching references."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.citations import Matcher, citation_graph
from kb.errors import UsageError
from kb.library import Library
from kb.model import Document, Provenance, Reference
from kb.textfile import write
from kb.workspace import find_workspace


def add(workspace: Path, slug: str, head: str, references: tuple[Reference, ...] = ()) -> None:
    folder = workspace / "papers" / slug
    folder.mkdir()
    (folder / "paper.md").write_text(f"---\n{head}\n---\n", encoding="utf-8")
    if references:
        text = write(Document(slug, Provenance("latex", "x"), references=references))
        (folder / "text.md").write_text(text, encoding="utf-8")


@pytest.fixture
def library(workspace: Path) -> Library:
    entries = (
        Reference(1, "a", "Shao et al. DeepSeekMath. arXiv:2402.03300", arxiv_id="2402.03300"),
        Reference(2, "b", "Foerster", title="Counterfactual Multi-Agent Policy Gradient", year=2018),
        Reference(3, "c", "Attention is all you need", title="Attention is all you need", year=2017),
        Reference(4, "d", "An older talk", title="Counterfactual Multi-Agent Policy Gradients", year=1999),
    )  # fmt: skip
    add(workspace, "grpo", 'id: "2402.03300"\ntitle: "DeepSeekMath: Limits"\naliases: [GRPO, 组相对]\nyear: 2024')
    add(workspace, "coma", 'id: "1705.08926"\ntitle: Counterfactual Multi-Agent Policy Gradients\nyear: 2017')
    add(workspace, "dr_mas", 'id: "2602.08847"\ntitle: "Dr. MAS"\naliases: [Dr.MAS]\nyear: 2026', entries)
    return Library.load(find_workspace(workspace))


@pytest.mark.parametrize(
    ("name", "slug"),
    [("grpo", "grpo"), ("GRPO", "grpo"), ("组相对", "grpo"), ("2402.03300", "grpo"), ("2402.03300v3", "grpo"),
     ("arXiv:2402.03300v1", "grpo"), ("Dr.MAS", "dr_mas"), ("dr mas", "dr_mas"), ("ＤＲ－ＭＡＳ", "dr_mas"),
     ("deepseekmath: limits", "grpo")],
)  # fmt: skip
def test_a_paper_is_found_by_every_name(library: Library, name: str, slug: str) -> None:
    assert library.get(name).slug == slug


def test_a_near_miss_names_the_paper(library: Library) -> None:
    with pytest.raises(UsageError) as caught:
        library.get("gpro")
    assert "grpo" in caught.value.hint


def test_one_broken_record_hides_no_other(workspace: Path, library: Library) -> None:
    add(workspace, "bad", "id: 2402.03300")
    again = Library.load(library.workspace)
    assert set(again.papers) == set(library.papers)
    assert len(again.problems) == 1
    assert "quote it" in again.problems[0].hint


def test_references_match_by_id_then_title_and_year(library: Library) -> None:
    links = [(link.cited, link.index, link.how) for link in citation_graph(library)]
    assert links == [("grpo", 1, "arxiv"), ("coma", 2, "title")]


def test_a_title_alone_with_another_year_is_another_paper(library: Library) -> None:
    matcher = Matcher(library.papers.values())
    assert matcher.match(Reference(1, "x", "", title="DeepSeekMath: Limits", year=2010)) is None
