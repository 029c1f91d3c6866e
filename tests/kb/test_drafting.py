"""Facts drafted from made papers: what is proposed, with which evidence, and what is left alone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from drafted_paper import HEADLINE, IDEA, LIMITATION, OTHER_LIMITATION, PROBLEM, RECORD, document, fill

from kb import frontmatter
from kb.compare import chosen_records, compare
from kb.drafting.candidates import Candidate, best, fingerprint
from kb.drafting.columns import choose, load_columns
from kb.drafting.drafts import Draft, accepted, drafts_of, is_untouched, proposed_before, rejected, state_of, with_draft
from kb.drafting.own_names import names_pattern, own_names
from kb.drafting.passages import PaperSearch, RememberedQueries, check_indexed, is_own_text
from kb.drafting.propose import propose
from kb.drafting.run import draft_paper, write_drafts
from kb.drafting.sentences import clean, is_prose, sentences
from kb.errors import FileFormatError, KbError, UsageError
from kb.index.embedding.hashing import HashingEmbedder
from kb.index.embedding.protocol import FloatArray
from kb.index.reader import Index
from kb.index.reconcile import reconcile
from kb.library import Library, Paper, read_paper
from kb.model import Kind
from kb.search.glossary import load_glossary
from kb.textfile import write
from kb.workspace import Workspace

PATH = Path("papers/sharex/paper.md")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return fill(tmp_path_factory.mktemp("drafting"))


@pytest.fixture
def own(filled: Workspace, tmp_path: Path) -> Workspace:
    """A copy to write into."""
    shutil.copytree(filled.root, tmp_path / "w")
    return replace(filled, root=tmp_path / "w")


def paper_of(workspace: Workspace, slug: str = "sharex") -> Paper:
    return read_paper(workspace.paper_dir(slug) / "paper.md")


def searching(workspace: Workspace, slug: str, dense: bool) -> Iterator[PaperSearch]:
    with Index.open(workspace) as index:
        yield PaperSearch(
            index, paper_of(workspace, slug), load_glossary(workspace), HashingEmbedder() if dense else None
        )


def texts(workspace: Workspace, column: str, slug: str = "sharex", dense: bool = True) -> list[str]:
    for search in searching(workspace, slug, dense):
        return [c.text for c in propose(paper_of(workspace, slug), search, load_columns(workspace)[column])]
    return []


def draft_all(workspace: Workspace, *wanted: str, again: bool = False) -> dict[str, str]:
    for search in searching(workspace, "sharex", True):
        paper = paper_of(workspace)
        outcomes = draft_paper(paper, search, choose(load_columns(workspace), wanted), None, again)
        write_drafts(workspace, paper, outcomes)
        return {outcome.column: outcome.state for outcome in outcomes}
    return {}


# ---------------------------------------------------------------- what is proposed


@pytest.mark.parametrize("dense", [True, False], ids=["hybrid", "keywords alone"])
@pytest.mark.parametrize(
    ("column", "answer"), [("problem", PROBLEM), ("idea", IDEA), ("headline", HEADLINE), ("limitation", LIMITATION)]
)
def test_the_answering_sentence_comes_first(filled: Workspace, column: str, answer: str, dense: bool) -> None:
    assert answer in texts(filled, column, dense=dense)[0]


@pytest.mark.parametrize(
    ("column", "words"),
    [("problem", "难以区分贡献"), ("idea", "删去一条消息"), ("headline", "61.5%"), ("limitation", "八个以上")],
)
def test_a_chinese_paper_is_drafted_in_chinese(filled: Workspace, column: str, words: str) -> None:
    assert words in texts(filled, column, "zh", dense=False)[0]


def test_a_candidate_names_passage_place_and_score(filled: Workspace) -> None:
    with Index.open(filled) as index:
        search = PaperSearch(index, paper_of(filled), load_glossary(filled), None)
        columns = load_columns(filled)
        limitation = propose(paper_of(filled), search, columns["limitation"])
        headline = propose(paper_of(filled), search, columns["headline"])
        assert [c.evidence for c in limitation] == ["v2, section 4, p. 4"] * 2
        assert OTHER_LIMITATION in limitation[1].text
        assert LIMITATION in index.passage(limitation[0].passage).text
        assert limitation[0].score > limitation[1].score > 0
        assert [c.evidence for c in headline] == ["v2, abstract", "v2, table 1, p. 3"]
        assert index.passage(headline[1].passage).kind is Kind.TABLE


def test_a_number_of_a_table_comes_with_its_measure_and_what_it_is_beside(filled: Workspace) -> None:
    assert (
        texts(filled, "headline")[1]
        == "SHAREX: 61.5 AIME24 (GRPO 55.0; PPO 57.3) [Main results: accuracy (%) of all methods]"
    )


def test_what_a_paper_does_not_say_is_not_proposed(filled: Workspace) -> None:
    for column in ("tree_sampling", "code", "venue", "normalisation"):
        assert texts(filled, column) == []


def test_values_are_taken_out_of_their_sentence(own: Workspace) -> None:
    text = own.paper_dir("sharex") / "text.md"
    more = "Our code is available at https://github.com/someone/share-x. This paper was published as a conference paper at ICLR 2024."
    text.write_text(write(replace(document(), abstract=f"{document().abstract} {more}")), encoding="utf-8")
    reconcile(own, HashingEmbedder())
    assert texts(own, "code") == ["https://github.com/someone/share-x"]
    assert texts(own, "venue") == ["ICLR 2024"]


def test_a_model_that_fails_leaves_keywords_and_a_remark(filled: Workspace) -> None:
    class Broken(HashingEmbedder):
        def embed_queries(self, texts: object) -> object:  # type: ignore[override]
            raise KbError("the model is gone")

    with Index.open(filled) as index:
        search = PaperSearch(index, paper_of(filled), load_glossary(filled), Broken())
        assert LIMITATION in propose(paper_of(filled), search, load_columns(filled)["limitation"])[0].text
        assert search.remark == "keywords alone were used: the model is gone"


def test_questions_are_embedded_once_and_together(filled: Workspace) -> None:
    class Counting(HashingEmbedder):
        batches: list[int] = []  # noqa: RUF012 - one instance

        def embed_queries(self, texts: Sequence[str]) -> FloatArray:
            self.batches.append(len(texts))
            return super().embed_queries(texts)

    inner, glossary, column = Counting(), load_glossary(filled), load_columns(filled)["limitation"]
    remembered = RememberedQueries(inner, column.queries, glossary)
    with Index.open(filled) as index:
        plain = propose(paper_of(filled), PaperSearch(index, paper_of(filled), glossary, HashingEmbedder()), column)
        assert propose(paper_of(filled), PaperSearch(index, paper_of(filled), glossary, remembered), column) == plain
        propose(paper_of(filled, "zh"), PaperSearch(index, paper_of(filled, "zh"), glossary, remembered), column)
    assert len(inner.batches) == 1


def test_the_record_of_a_paper_is_not_its_text(own: Workspace) -> None:
    assert draft_all(own, "limitation") == {"limitation": "drafted"}
    reconcile(own, HashingEmbedder())
    with Index.open(own) as index:
        found = PaperSearch(index, paper_of(own), load_glossary(own), None).ask(
            ["limitation rollouts agents"], Kind.PROSE
        )
    assert found and all(is_own_text(hit.passage) and hit.passage.path.endswith("text.md") for hit in found)


def test_a_text_that_changed_since_it_was_indexed_is_an_error(own: Workspace) -> None:
    text = own.paper_dir("sharex") / "text.md"
    text.write_text(text.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    with Index.open(own) as index:
        with pytest.raises(KbError, match="not in the index as it is now"):
            check_indexed(index, paper_of(own))
        with pytest.raises(KbError, match="no text to draft from"):
            check_indexed(index, paper_of(own, "bare"))


# ---------------------------------------------------------------- the record


def test_drafts_are_written_beside_what_a_person_wrote(own: Workspace) -> None:
    states = draft_all(own, "problem", "critic", "limitation")
    assert states == {"problem": "drafted", "critic": "fact", "limitation": "drafted"}
    text = paper_of(own).record.read_text(encoding="utf-8")
    head, body = RECORD.split("---\n\n")
    for line in head.splitlines():
        assert line in text.splitlines()
    assert text.endswith(body)
    fact = paper_of(own).fields["facts"]["limitation"]
    assert (fact["level"], fact["evidence"]) == ("draft", "v2, section 4, p. 4")
    assert (
        LIMITATION in fact["en"] and fact["passage"] and fact["score"] and OTHER_LIMITATION in fact["others"][0]["en"]
    )


def test_drafting_twice_changes_nothing_the_second_time(own: Workspace) -> None:
    draft_all(own)
    once = paper_of(own).record.read_bytes()
    reconcile(own, HashingEmbedder())
    assert set(draft_all(own).values()) == {"fact", "waiting", "nothing"}
    assert paper_of(own).record.read_bytes() == once


@pytest.mark.parametrize("by_hand", [False, True], ids=["review", "deleted by hand"])
def test_a_rejected_draft_stays_rejected(own: Workspace, by_hand: bool) -> None:
    draft_all(own, "limitation")
    record = paper_of(own).record
    text = record.read_text(encoding="utf-8")
    if by_hand:
        new = re.sub(r"  limitation:\n(?:    .*\n)+", "", text, count=1)
        assert new != text
    else:
        new = rejected(text, record, "limitation")
    record.write_text(new, encoding="utf-8")
    assert "limitation" not in paper_of(own).fields["facts"]
    assert draft_all(own, "limitation") == {"limitation": "rejected"}
    assert draft_all(own, "limitation", again=True) == {"limitation": "nothing"}
    assert paper_of(own).record.read_text(encoding="utf-8") == new


def test_asked_again_other_candidates_are_proposed(own: Workspace) -> None:
    draft_all(own, "problem")
    first = {c.text for c in drafts_of(paper_of(own).fields)[0].candidates}
    record = paper_of(own).record
    marks = frontmatter.read(record)[0]["drafted"]["problem"].split()
    only = next(c for c in first if fingerprint(c) == marks[0])
    # Only the first candidate was proposed, and rejected.
    text = rejected(record.read_text(encoding="utf-8"), record, "problem").replace(" ".join(marks), marks[0])
    record.write_text(text, encoding="utf-8")
    if draft_all(own, "problem", again=True) == {"problem": "drafted"}:
        assert only not in {c.text for c in drafts_of(paper_of(own).fields)[0].candidates}
    else:
        assert len(first) == 1


def test_a_fact_of_a_person_is_never_replaced(own: Workspace) -> None:
    candidate = Candidate("A critic is learned by all.", "en", "v2", "p", 0.5)
    with pytest.raises(UsageError, match="has a fact already"):
        with_draft(RECORD, PATH, Draft("critic", (candidate,)))
    assert write_drafts(own, paper_of(own), []) is False


def test_accepting_keeps_the_evidence_and_drops_what_the_draft_needed() -> None:
    pair = (
        Candidate("First words of all.", "en", "v2, p. 1", "a1", 0.9),
        Candidate("第二个候选的说法在这里。", "zh", "v2, p. 2", "b2", 0.8),
    )
    drafted = with_draft(RECORD, PATH, Draft("idea", pair))
    assert state_of(frontmatter.parse(drafted, PATH)[0], "idea") == "draft"

    def idea(text: str) -> object:
        return frontmatter.parse(text, PATH)[0]["facts"]["idea"]

    assert idea(accepted(drafted, PATH, "idea")) == {
        "en": "First words of all.",
        "level": "paper",
        "evidence": "v2, p. 1",
    }
    assert idea(accepted(drafted, PATH, "idea", 2)) == {
        "zh": "第二个候选的说法在这里。",
        "level": "paper",
        "evidence": "v2, p. 2",
    }
    assert idea(accepted(drafted, PATH, "idea", 1, " 我的 说法 ")) == {
        "zh": "我的 说法",
        "level": "paper",
        "evidence": "v2, p. 1",
    }
    for rank in (0, 3):
        with pytest.raises(UsageError, match="2 candidates"):
            accepted(drafted, PATH, "idea", rank)
    with pytest.raises(UsageError, match="waits"):
        accepted(drafted, PATH, "problem")


def test_a_draft_that_a_person_worded_anew_is_theirs() -> None:
    drafted = with_draft(RECORD, PATH, Draft("idea", (Candidate("First words of all.", "en", "v2", "a", 0.9),)))
    fields, _ = frontmatter.parse(drafted, PATH)
    assert is_untouched(fields, drafts_of(fields)[0])
    fields, _ = frontmatter.parse(drafted.replace("First words of all.", "My own words."), PATH)
    assert not is_untouched(fields, drafts_of(fields)[0])


def test_a_table_shows_drafts_as_drafts(own: Workspace) -> None:
    draft_all(own, "limitation")
    library = Library.load(own)
    filled = compare(library, chosen_records(library, ["sharex"], None, False), columns=["limitation", "critic"])
    cells = filled.rows[0]
    assert cells[1].state == "draft" and cells[1].evidence.startswith("v2, section 4, p. 4")
    assert cells[2].state == "no"


# ---------------------------------------------------------------- parts


def test_citations_and_bullets_are_not_shown() -> None:
    assert (
        clean("• Agents share [@a; @b] a reward (Li et al., 2024; see also Wu, 2023) here [12, 13].")
        == "Agents share a reward here."
    )
    assert clean("It keeps (a remark) and [0, 1].") == "It keeps (a remark) and."  # an interval looks like a citation


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("We give each agent a share of the reward.", True),
        ("每个智能体都得到自己的一份奖励。", True),
        (
            "Ada Byron1 Li Lei2 Han Meimei3 University of Somewhere, Department of Things, Another Institute of Great Name",
            False,
        ),
        ("J(θ) = E[ Σ γt rt | π ] , t ∈ [0, T]", False),
        ("Figure 3 shows the return of the agents in the game.", False),
        ("Too short.", False),
        ("a word of it " * 60, False),
    ],
)
def test_what_reads_as_a_sentence(text: str, prose: bool) -> None:
    assert is_prose(text) is prose


def test_a_sentence_that_points_back_knows_what_stands_before_it() -> None:
    one, two = sentences("The share of an agent is hard to see. This makes the training of large teams unstable.")
    assert (one.points_back, two.points_back) == (False, True)
    assert two.before == one.text and one.after == two.text
    assert not sentences("This paper gives each agent a share of the reward.")[0].points_back


def test_the_best_are_unlike_each_other() -> None:
    def made(text: str, score: float) -> Candidate:
        return Candidate(text, "en", "", "p", score, "intro")

    same = made("Agents cannot see the share of the reward.", 0.8)
    chosen = best(
        [
            made("Agents cannot see their share of the reward.", 0.9),
            same,
            made("Training is slow in large games.", 0.3),
        ],
        2,
    )
    assert [c.score for c in chosen] == [0.9, 0.3]


def test_a_paper_is_known_by_the_names_it_gives_its_method(filled: Workspace) -> None:
    paper = paper_of(filled)
    assert own_names(paper, document().abstract) == ("SHAREX",)
    untitled = replace(paper, fields={"title": "Fair credit for large teams"})
    assert own_names(untitled, "We call the resulting method Team-Share (TSX), an RL method.") == ("TSX",)
    pattern = names_pattern(["DeepSeek-R1"])
    assert pattern is not None and pattern.search("DeepSeek R1 is") and not pattern.search("DeepSeek-R1-Zero is")
    assert names_pattern([]) is None


def test_columns_of_a_workspace_come_before_the_packaged_ones(own: Workspace) -> None:
    own.templates.mkdir(exist_ok=True)
    path = own.templates / "draft_columns.toml"
    path.write_text('[mood]\nqueries = ["mood"]\n[code]\nqueries = ["our own"]\n', encoding="utf-8")
    columns = load_columns(own)
    assert columns["mood"].queries == ("mood",) and columns["code"].queries == ("our own",)
    assert columns["problem"] == load_columns(None)["problem"]
    with pytest.raises(UsageError, match="no column 'moods'"):
        choose(columns, ["moods"])
    path.write_text('[mood]\nqueries = ["mood"]\ncues = [[1, "("]]\n', encoding="utf-8")
    with pytest.raises(FileFormatError, match="mood"):
        load_columns(own)


@pytest.mark.parametrize("written", [["idea"], "idea", 3])
def test_what_stands_there_in_another_form_is_nothing_that_was_drafted(written: object) -> None:
    assert state_of({"drafted": written}, "idea") == "open" and not proposed_before({"drafted": written}, "idea")
    assert state_of({"facts": written}, "idea") == "open" and drafts_of({"facts": written}) == []
