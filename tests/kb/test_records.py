"""The records of this repository's own papers: readable, complete, and no statement without evidence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from kb import frontmatter
from kb.facts import NOT_STATED, VERDICTS, Fact, Record, formulas, read_record
from kb.ingest.ids import parse_arxiv_id
from kb.library import Library
from kb.workspace import find_workspace

ROOT = Path(__file__).resolve().parents[2]
SLUGS = sorted(path.parent.name for path in (ROOT / "papers").glob("*/paper.md"))

PROSE = frozenset(
    "problem idea unit_of_credit comparison_group normalisation needs aggregation headline overhead limitation formula "
    "turn_structure code venue".split()
)
TRAITS = frozenset(
    "multi_agent heterogeneous_agents step_level token_level process_reward tree_sampling efficient_tree_sampling "
    "reward_mixing adaptive_mixing group_free counterfactual asynchronous hierarchical_advantage regression_credit "
    "critic extra_rollouts extra_llm_calls".split()
)
TRAIT_CELL = re.compile(r"(yes|no)(, \S.*)?|not stated")
# A formula says where it stands: in a place of the paper, in code that was read or run, or provisionally.
SOURCE = re.compile(r"equation|section|lemma|[Rr]ead |[Rr]un in |Provisional|restated|weekly report|checked")
# The table of the landscape notes, in its order.
LANDSCAPE = {"at_grpo", "dr_mas", "marft", "maporl", "mhgpo", "cure", "gigpo", "masprm", "spo", "dapo", "turn_ppo"}
# Every paper or method that the user's documents and reading lists name.
NAMED = {
    "at_grpo", "c3", "ccpo", "cure", "dapo", "dr_mas", "gigpo", "mappa", "maporl", "marft", "masprm", "mhgpo", "sharp",
    "spo", "treerl", "turn_ppo", "langmarl", "pignatelli_survey", "stratified_grpo", "grpo", "dr_grpo", "rloo",
    "reinforce_pp", "ppo", "trpo", "gae", "a2c", "reinforce", "mappo", "coma", "vdn", "qmix", "bradley_terry", "cosac",
    "cofi_pgma", "lemon", "mada_rl", "collm", "magrpo", "matpo", "m_grpo", "marshal", "rema", "difference_rewards",
    "deepseek_r1", "cad_grpo",
}  # fmt: skip
# Statements of the notes that a source decides: paper, words of the claim, verdict.
DECIDED = [
    ("mappa", "Process-aware Policy Allocation", "contradicted"),
    ("mappa", "GPT-4", "contradicted"),
    ("mappa", "+7.8~17.2", "confirmed"),
    ("sharp", "R_acc(tau)", "unverified"),
    ("sharp", "lambda * mean", "unverified"),
    ("sharp", "alpha R^b", "confirmed"),
    ("sharp", "684s", "unverified"),
    ("dr_mas", "(R_k - mu_k)/sigma_k", "confirmed"),
    ("dr_mas", "零额外开销", "confirmed"),
    ("at_grpo", "K=4", "incomplete"),
    ("at_grpo", "贪心", "confirmed"),
    ("at_grpo", "r = alpha r_team", "confirmed"),
    ("ccpo", "2x", "unverified"),
    ("c3", "留一法", "incomplete"),
    ("mhgpo", "agent type", "incomplete"),
    ("masprm", "Agent-aware PRM", "confirmed"),
    ("cure", "ground truth", "contradicted"),
    ("marft", "Flex-MG", "confirmed"),
    ("maporl", "verifier", "confirmed"),
    ("grpo", "K-1", "contradicted"),
    ("gigpo", "A_step", "incomplete"),
    ("gigpo", "token+task", "contradicted"),
    ("dapo", "软惩罚", "incomplete"),
    ("dapo", "50 分", "confirmed"),
    ("dapo", "1/长度", "confirmed"),
    ("deepseek_r1", "K=16", "confirmed"),
    ("ppo", "lambda = 0.95", "incomplete"),
    ("spo", "persistent value tracker", "confirmed"),
    ("turn_ppo", "Turn-level MDP", "confirmed"),
]


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    library = Library.load(find_workspace(ROOT))
    assert not library.problems
    return {slug: read_record(paper) for slug, paper in library.papers.items()}


def answer(fact: Fact) -> str:
    """The first word of a trait: the same in both languages, or the record is at fault."""
    words = {re.split(r",\s", value)[0] for value in fact.text.values()}
    assert len(words) == 1, f"{fact.column}: {words}"
    return words.pop()


def trait(record: Record, column: str) -> str:
    return answer(record.facts[column]) if column in record.facts else "not checked"


def test_every_named_paper_has_a_record() -> None:
    assert not NAMED - set(SLUGS)


@pytest.mark.parametrize("slug", SLUGS)
def test_record_has_a_summary_in_both_languages(records: dict[str, Record], slug: str) -> None:
    paper = records[slug].paper
    chinese, english = (
        re.search(rf"^## {title}\n(.*?)(?=^#|\Z)", paper.body, re.M | re.S)[1] for title in ("摘要", "Summary")
    )
    assert 3 <= len(re.findall(r"[。！？]", chinese)) <= 7
    assert 3 <= len(re.findall(r"[.!?](?:\s|$)", english)) <= 9
    assert re.search(r"[\u4e00-\u9fff]", chinese) and not re.search(r"[\u4e00-\u9fff]", english)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_fact_has_evidence_and_a_level_that_somebody_gave(records: dict[str, Record], slug: str) -> None:
    record = records[slug]
    raw = record.paper.fields["facts"]
    for column, fact in record.facts.items():
        assert column in PROSE | TRAITS, f"{column} is not a column"
        assert raw[column].get("level") in ("paper", "code", "secondary", "unverified"), column
        assert fact.evidence.strip(), column
        assert {"zh", "en"} <= set(raw[column]) or "value" in raw[column], column
    for row in record.results:
        assert row.evidence and row.level in ("paper", "code", "secondary", "unverified") and row.metric and row.model


@pytest.mark.parametrize("slug", SLUGS)
def test_traits_keep_to_their_words(records: dict[str, Record], slug: str) -> None:
    for column, fact in records[slug].facts.items():
        if column in TRAITS:
            assert all(TRAIT_CELL.fullmatch(value) for value in fact.text.values()), (column, fact.text)
            assert answer(fact) in ("yes", "no", NOT_STATED)
        elif column == "formula":
            assert fact.value("en").startswith("$") or fact.value("en") == "no numeric formula"


@pytest.mark.parametrize("slug", SLUGS)
def test_not_stated_says_where_somebody_looked(records: dict[str, Record], slug: str) -> None:
    for column, fact in records[slug].facts.items():
        if fact.value("en") == NOT_STATED:
            assert re.search(r"look|search|abstract|no experiment|digest", fact.evidence), (column, fact.evidence)


@pytest.mark.parametrize("slug", SLUGS)
def test_ids_are_quoted_and_bare_and_names_are_names(slug: str) -> None:
    path = ROOT / "papers" / slug / "paper.md"
    fields, _ = frontmatter.read(path)
    head, _, _ = frontmatter.split(path.read_text(encoding="utf-8"))
    identifier = fields.get("id")
    if identifier is not None:
        assert isinstance(identifier, str) and f'id: "{identifier}"' in head
        assert parse_arxiv_id(identifier).bare == identifier
    methods = fields.get("method") or []
    for name in [methods] if isinstance(methods, str) else methods:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
    assert re.fullmatch(r"(19|20)\d\d(-\d\d-\d\d)?", str(fields.get("published") or fields.get("year")))
    assert all(key not in yaml.safe_load(head) for key in ("abstract", "text"))


def test_no_two_papers_share_a_name(records: dict[str, Record]) -> None:
    library = Library.load(find_workspace(ROOT))
    for record in records.values():
        for name in (record.paper.slug, *record.paper.aliases, record.paper.arxiv_id):
            assert name is None or library.get(name).slug == record.paper.slug


def test_landscape_tag_is_the_eleven_rows(records: dict[str, Record]) -> None:
    assert {slug for slug, record in records.items() if "landscape" in record.paper.tags} == LANDSCAPE


@pytest.mark.parametrize("slug", SLUGS)
def test_claims_have_a_verdict_a_place_and_a_correction_in_both_languages(
    records: dict[str, Record], slug: str
) -> None:
    for claim in records[slug].claims:
        assert claim.verdict in VERDICTS
        assert claim.note.startswith(("weekly 2026-04-", "landscape AT-GRPO"))
        assert claim.evidence and set(claim.correction) == {"zh", "en"}
        assert (claim.verdict == "unverified") or claim.level in ("paper", "code", "secondary"), claim.claim


@pytest.mark.parametrize(("slug", "words", "verdict"), DECIDED)
def test_decided_claims_of_the_notes_are_recorded(
    records: dict[str, Record], slug: str, words: str, verdict: str
) -> None:
    found = [claim.verdict for claim in records[slug].claims if words in claim.claim]
    assert found == [verdict]


@pytest.mark.parametrize("slug", SLUGS)
def test_display_formulas_are_closed_and_named(records: dict[str, Record], slug: str) -> None:
    body = records[slug].paper.body
    blocks = formulas(records[slug].paper)
    outside = body.split("$$")[2::2]  # what follows each formula
    assert body.count("$$") == 2 * len(blocks)
    for block, caption in zip(blocks, outside, strict=True):
        assert block.count("{") == block.count("}")
        assert len(re.findall(r"\\left\b", block)) == len(re.findall(r"\\right\b", block))
        assert SOURCE.search(caption), caption


def test_gaps_of_the_field_are_open_in_the_records(records: dict[str, Record]) -> None:
    def covered(*columns: str) -> set[str]:
        return {slug for slug, record in records.items() if all(trait(record, column) == "yes" for column in columns)}

    assert not covered("multi_agent", "efficient_tree_sampling")
    assert not covered("multi_agent", "process_reward", "hierarchical_advantage")
    assert not covered("adaptive_mixing")
    assert covered("regression_credit") == {"cosac", "cad_grpo"}
    # The parts exist each on their own, so the combinations are gaps and not merely unknown columns.
    assert {"at_grpo", "c3"} <= covered("multi_agent", "tree_sampling")
    assert "treerl" in covered("efficient_tree_sampling", "process_reward", "hierarchical_advantage")
    assert {"mappa", "masprm"} <= covered("multi_agent", "process_reward")
    assert {"at_grpo", "sharp"} <= covered("multi_agent", "reward_mixing")


def test_tree_sampling_with_several_agents_says_whether_it_is_efficient(records: dict[str, Record]) -> None:
    for record in records.values():
        if trait(record, "multi_agent") == "yes" and trait(record, "tree_sampling") == "yes":
            assert trait(record, "efficient_tree_sampling") in ("yes", "no"), record.paper.slug
