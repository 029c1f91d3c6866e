"""What notes say of papers is found, contradicted or not found, by records and texts alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.check import ClaimVerdict, claims_of_note
from kb.errors import KbError
from kb.index.reader import Index
from kb.library import Library


def check(library: Library, sentence: str, index: Index | None = None) -> tuple[ClaimVerdict, ...]:
    """The verdicts on a sentence that stands below a heading of TANDEM."""
    return claims_of_note(library, index, f"# TANDEM\n\n{sentence}\n")


def verdicts(library: Library, sentence: str, index: Index | None = None) -> list[str]:
    return [verdict.verdict for verdict in check(library, sentence, index)]


# A sentence, and where the evidence for its one claim stands.
RIGHT = [
    ("TANDEM (arXiv:2402.00011) 是去年的。", "metadata"),
    ("TANDEM (ICML'24) 是去年的。", "metadata"),
    ("TANDEM（2024, Byron）是去年的。", "metadata"),
    ("TANDEM (arXiv:2402.00011v2) 是去年的。", "metadata"),
    ("TANDEM 发布于 2024-02-03。", "metadata"),
    ("它是 2024 年的工作。", "metadata"),
    ("TANDEM 的优势除以样本标准差。", "fact normalisation"),
    ("TANDEM uses ddof=1.", "fact normalisation"),
    ("TANDEM 在 AMC 上评测。", "results"),
    ("AIME 2024 上达到 41 分。", "results"),
    ("It reaches 41 points on AIME24.", "results"),
    ("在 AIME 2024 上提升了 11 分。", "results"),  # 41 - 30
    ("AMC 上 +3.5~6.0pp。", "results"),
    ("AMC improves by +3.5 to +6.0 points.", "results"),
    ("学习率取 3e-6。", "fact aggregation"),
    ("TANDEM 没有 critic。", "fact critic"),
    ("TANDEM needs no critic.", "fact critic"),
    ("TANDEM 需要人工标注的步骤。", "fact"),
    ("TANDEM 不需要 reward model。", "fact idea"),
    ("baseline 是全部样本的平均奖励，含自身。", "fact comparison_group"),
    ("两级优势（小组+队员）。", "fact idea"),
    ("TANDEM uses Qwen2.5-7B.", "results"),
    ("评委是 Qwen2.5-72B。", "record"),
]
WRONG = [
    ("TANDEM (arXiv:2402.00012) 是去年的。", "metadata"),
    ("TANDEM (NeurIPS'24) 是去年的。", "metadata"),
    ("TANDEM（2019, Byron）是去年的。", "metadata"),
    ("TANDEM 是 2019 年的工作。", "metadata"),
    ("TANDEM was published in 2019.", "metadata"),
    ("TANDEM 发布于 2024-01-01。", "metadata"),
    ("TANDEM 用总体标准差。", "fact normalisation"),
    ("TANDEM uses the population standard deviation.", "fact normalisation"),
    ("AIME 2024 上达到 55 分。", "results"),
    ("It reaches 55 points on AIME24.", "results"),
    ("AMC 上 +4.5~6.0pp。", "results"),
    ("AMC improves by +4.5 to +6.0 points.", "results"),
    ("学习率取 5e-6。", "fact aggregation"),
    ("TANDEM 需要 critic。", "fact critic"),
    ("TANDEM trains a critic.", "fact critic"),
    ("TANDEM 无需人工标注的步骤。", "fact"),
    ("TANDEM needs no hand-labelled steps.", "fact"),
    ("baseline 是其他 K-1 个样本的平均奖励。", "fact comparison_group"),
    ("The baseline is the mean reward of the other samples.", "fact comparison_group"),
    ("两级优势（词元+任务）。", "fact idea"),
    ("用 GPT-4 做评委。", "record"),
    ("TANDEM 在每一步都会重新采样。", "record"),
]
# Nothing here may be called wrong: other subjects, suppositions, remarks in the cell, weak evidence, denials, comparisons.
UNDECIDED = [
    "SOLO 需要 critic。",
    "如果 TANDEM 需要 critic，就麻烦了。",
    "TANDEM 是否需要 critic？",
    "TANDEM 没有额外采样。",
    "TANDEM 没有 tree sampling。",
    "TANDEM 不是在每一步都重新采样。",
    "baseline 不是其他 K-1 个样本的平均奖励。",
    "我们的方法比 TANDEM 多用一个 critic。",
    "与 TANDEM 不同，我们在 AIME 2024 上达到 55 分。",
    "AIME 2024 上 pass@1 达到 55 分。",
    "在 Llama-3-8B 上 AIME 2024 达到 55 分。",
    "AIME 2025 上达到 55 分。",
    "AIME 2024 上大约 55 分。",
    "TANDEM（2025, Byron）是去年的。",
    "SOLO 的 baseline 是其他 K-1 个样本的平均奖励。",
    "学习率从 1e-6 到 5e-6 都试过。",
    "TANDEM (arXiv:2402.00011v9) 是去年的。",
    "传统方法需要 critic。",
    "TANDEM 之后的 TRIDENT 需要 critic。",
    "去掉第二级时 AIME 2024 上是 35 分。",
    "基线方法在 AIME 2024 上达到 33 分。",
    "AMC 上提升 4.2pp。",
    "TANDEM 不用总体标准差。",
    "我们复现时 AIME 2024 只有 33 分。",
    "价值方法是 1992 年的工作。",
]


@pytest.mark.parametrize(("sentence", "where"), RIGHT)
def test_right_statements_are_found_with_their_place(library: Library, sentence: str, where: str) -> None:
    found = check(library, sentence)
    assert [verdict.verdict for verdict in found if verdict.verdict != "found"] == []
    assert any(verdict.evidence and verdict.evidence.where.startswith(where) for verdict in found)
    assert {(verdict.paper, verdict.line) for verdict in found} == {("tandem", 3)}


@pytest.mark.parametrize(("sentence", "where"), WRONG)
def test_wrong_statements_are_contradicted_by_their_place(library: Library, sentence: str, where: str) -> None:
    wrong = [verdict for verdict in check(library, sentence) if verdict.verdict == "contradicted"]
    assert any(verdict.evidence and verdict.evidence.where.startswith(where) for verdict in wrong)
    assert {verdict.paper for verdict in wrong} == {"tandem"}


@pytest.mark.parametrize("sentence", UNDECIDED)
def test_what_the_evidence_does_not_decide_is_not_called_wrong(library: Library, sentence: str) -> None:
    assert "contradicted" not in verdicts(library, sentence)


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("TANDEM = Twin Agents Nested Deep Estimation Method。", "found"),
        ("TANDEM (Twin Agents Nested Deep Estimation Method) 很新。", "found"),
        ("TANDEM (Team Adaptive Nested Decision Modelling) 很新。", "contradicted"),
        ("雇了 37 个标注员。", "found"),
        ("用 13k 条 prompt 训练了 16 epochs。", "found"),
        ("雇了 91 个标注员。", "not found"),
        ("TANDEM requires a central server.", "found"),
        ("TANDEM 需要图神经网络。", "not found"),
    ],
)
def test_the_text_of_a_paper_is_evidence_where_it_is_indexed(
    library: Library, index: Index, sentence: str, verdict: str
) -> None:
    assert set(verdicts(library, sentence, index)) == {verdict}


def test_evidence_of_a_text_names_section_and_page(library: Library, index: Index) -> None:
    (found,) = check(library, "雇了 37 个标注员。", index)
    assert found.evidence is not None
    assert found.evidence.where == "4 Experiments, p. 6"
    assert "37 annotators" in found.evidence.text


def test_without_index_the_text_is_not_looked_at(library: Library) -> None:
    assert verdicts(library, "雇了 37 个标注员。") == ["not found"]


@pytest.mark.parametrize(
    ("latex", "verdict"),
    [
        (r"A(\tau_i) = \frac{r(\tau_i) - \mu_G}{\sigma_G}", "found"),
        (r"A_i = \frac{r_i - \bar r}{\text{std}(\{r_j\}) + \epsilon}", "found"),
        (r"A_i = \sum_k \gamma^k r_{i+k} - V(s_i)", "not found"),
        (r"\mathcal{L} = \sum_{t} \gamma^{t}\, \delta_{t} + \beta\, H(\pi)", "found"),
    ],
)
def test_formulas_are_compared_by_structure(library: Library, index: Index, latex: str, verdict: str) -> None:
    (found,) = check(library, f"$$\n{latex}\n$$", index)
    assert (found.kind, found.verdict, found.line) == ("formula", verdict, 3)


def test_a_cell_with_a_remark_makes_a_statement_incomplete(library: Library) -> None:
    assert verdicts(library, "TANDEM 没有额外采样。") == ["incomplete"]


def test_what_a_record_could_not_verify_is_not_found_and_says_so(library: Library) -> None:
    (found,) = check(library, "TANDEM 的开销约为两倍。")
    assert found.verdict == "not found"
    assert found.evidence is not None
    assert (found.evidence.text, found.evidence.level) == ("没有查到 / Not found", "unverified")


def test_a_recorded_statement_and_its_model_are_one_claim(library: Library) -> None:
    (found,) = check(library, "评委是更强的模型，比如 GPT-4。")
    assert (found.kind, found.verdict) == ("name", "contradicted")


def test_evidence_is_shown_in_one_language(library: Library) -> None:
    (found,) = check(library, "评委是更强的模型，比如 GPT-4。")
    assert found.evidence is not None
    assert found.evidence.in_language("zh") == "评委是 Qwen2.5-72B"
    assert found.evidence.in_language("en") == "The judge is Qwen2.5-72B"


def test_a_note_in_gbk_is_read(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes("# TANDEM\n\nTANDEM 需要 critic。\n".encode("gbk"))
    assert [verdict.verdict for verdict in claims_of_note(library, None, path)] == ["contradicted"]


def test_a_file_that_is_no_text_is_an_error(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "picture.md"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xff\xff\xff")
    with pytest.raises(KbError):
        claims_of_note(library, None, path)


def test_a_record_that_cannot_be_read_stops_nothing(library: Library) -> None:
    library.papers["solo"].fields["facts"] = "none"
    assert verdicts(library, "TANDEM 需要 critic。") == ["contradicted"]


def test_checking_changes_no_file(library: Library, index: Index) -> None:
    root = library.workspace.root

    def contents() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in root.rglob("*.md")}

    before = contents()
    check(library, "TANDEM 需要 critic，AIME 2024 上达到 55 分。", index)
    assert contents() == before
