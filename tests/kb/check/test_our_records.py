"""The records of this repository against notes about their papers, right ones and wrong ones, in both languages.

What is right and wrong here was taken from the papers and their code, sentence by sentence, not from what the check says.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.check import ClaimVerdict, claims_of_note
from kb.library import Library
from kb.workspace import find_workspace

RIGHT = """\
## DAPO (arXiv:2503.14476)
clip 的上界放宽到 0.28，下界保持 0.2。每个 prompt 采样 16 条。
在 Qwen2.5-32B 上 AIME 2024 达到 50 分，GRPO 基线是 30 分，提高了 20 分。DAPO 没有 critic。
## CURE (NeurIPS'25)
CURE 需要真值单元测试，但不需要真值代码。CURE needs ground-truth unit tests but no ground-truth code.
代码准确率 +5.3%，Best-of-N +9.0%。
## RLOO
RLOO 的 baseline 是同组其他 k-1 条回答的平均奖励，不含自己。
## GRPO (DeepSeekMath, arXiv:2402.03300)
GRPO 的 baseline 是组内全部 G 条输出的平均奖励（含自身），而不是其他 K-1 条的平均。
The baseline of GRPO is the mean of all G outputs, its own included, not of the other K-1 rollouts.
GRPO 把 MATH 从 46.8% 提到 51.7%，GSM8K 从 82.9% 提到 88.2%。GRPO drops the critic.
## MAPPA
MAPPA stands for finetuning MultiAgent systems with Per-action Process rewards from AI feedback。
coach 用 Gemini 2.5 flash 和 Gemini 2.5 pro，每个动作一次额外的 LLM 调用。AIME +5.0~17.5pp，AMC +7.8~17.2pp。
## MASPRM
MASPRM v1 在 GSM8K 上 +30.7，MATH 上 +22.9。
## SPO (ICLR 2026)
SPO 没有 critic，消除了分组。
## GiGPO (NeurIPS 2025)
两层 hierarchical advantage（episode+step）。GiGPO 没有 critic，也没有额外采样。ALFWorld 提高 12% 以上。
## PPO (2017, Schulman et al.)
PPO 需要 critic，ε=0.2，λ=0.95，γ=0.99。GRPO 不需要 critic。
## LangMARL
LangMARL 不是介入性方法：critic 只读轨迹文本，没有去掉智能体后重跑。
## C3
C3 在一个决策点采样替代消息，并与兄弟节点比较，不会对每个 agent 单独跑一次去除它的轨迹。
## TRPO (2015, Schulman et al.)
TRPO (Trust Region Policy Optimization) bounds the KL by δ=0.01.
"""
# Below which paper, the sentence that is wrong.
WRONG = [
    ("DAPO", "DAPO (arXiv:2503.14477) 很有名。"),
    ("DAPO", "clip 的上界放宽到 0.3。"),
    ("DAPO", "DAPO reaches 42 points on AIME 2024 with Qwen2.5-32B."),
    ("DAPO", "On AIME 2024 with Qwen2.5-7B it scores 50 points."),
    ("DAPO", "DAPO 需要 critic。"),
    ("CURE", "CURE needs no ground truth at all."),
    ("CURE", "CURE 不需要单元测试。"),
    ("GRPO", "The baseline of GRPO is the mean reward of the other K-1 rollouts."),
    ("GRPO", "GRPO 训练一个 critic。"),
    ("GRPO", "GRPO 在 MATH 上从 46.8% 提高到 55.7%。"),
    ("MASPRM", "MASPRM 在 MATH 上 +32.9。"),
    ("SPO", "SPO (ICML'25) 不分组。"),
    ("COMA", "COMA（2011, Foerster et al.）不重采样。"),
    ("COMA", "COMA 不需要 critic。"),
    ("GAE", "GAE (Gradient Advantage Estimation) 很常用。"),
    ("TRPO", "TRPO (Token Region Policy Optimization) bounds the KL."),
    ("TRPO", "It bounds the KL by δ=0.1."),
    ("GiGPO", "两层 hierarchical advantage（token+trajectory）。"),
    ("GiGPO", "GiGPO 用 tree sampling。"),
    ("Dr.MAS", "Dr.MAS needs extra rollouts."),
    ("MAPPA", "The coach is GPT-4o."),
    ("MAPPA", "MAPPA (Multi-Agent Preference-based Policy Adaptation) 很新。"),
    ("MAPPA", "AMC improves by +9.8 to +17.2 points."),
    ("C3", "C3 对每个 agent 单独跑一次去除它的轨迹。"),
]
# The hand-judged list for the user's own documents: file, line, paper. Nothing else in them may be called wrong.
JUDGED_WRONG = {
    ("landscape-at-grpo.md", 16, "cure"), ("landscape-at-grpo.md", 18, "gigpo"),
    ("weekly-2026-04-12.md", 26, "pignatelli_survey"), ("weekly-2026-04-12.md", 36, "pignatelli_survey"),
    ("weekly-2026-04-12.md", 51, "sharp"), ("weekly-2026-04-12.md", 65, "langmarl"), ("weekly-2026-04-12.md", 89, "grpo"),
    ("weekly-2026-04-19.md", 65, "mappa"), ("weekly-2026-04-19.md", 67, "mappa"),
    ("weekly-2026-04-19.md", 87, "dr_mas"), ("weekly-2026-04-19.md", 172, "c3"),
}  # fmt: skip
CONFIRMED = [
    ("weekly-2026-04-19.md", 23, "dapo", "clip"),
    ("weekly-2026-04-19.md", 39, "dapo", "AIME 50"),
    ("weekly-2026-04-19.md", 67, "mappa", "AMC"),
    ("weekly-2026-04-19.md", 67, "mappa", "AIME"),
]


@pytest.fixture(scope="module")
def ours() -> Library:
    library = Library.load(find_workspace(Path(__file__).resolve().parents[3]))
    assert not library.problems
    return library


@pytest.fixture
def documents(corpus: Path) -> list[Path]:
    found = sorted((corpus.parent / "domain").glob("*.md"))
    if not found:
        pytest.skip("the documents beside the corpus are not here")
    return found


def wrong(verdicts: tuple[ClaimVerdict, ...]) -> list[ClaimVerdict]:
    return [verdict for verdict in verdicts if verdict.verdict == "contradicted"]


def test_right_notes_are_never_called_wrong_and_mostly_found(ours: Library) -> None:
    verdicts = claims_of_note(ours, None, RIGHT)
    assert wrong(verdicts) == []
    found = [verdict for verdict in verdicts if verdict.verdict == "found"]
    assert len(verdicts) >= 40
    assert len(found) >= 0.9 * len(verdicts)


@pytest.mark.parametrize(("heading", "sentence"), WRONG)
def test_wrong_notes_are_contradicted(ours: Library, heading: str, sentence: str) -> None:
    found = wrong(claims_of_note(ours, None, f"## {heading}\n\n{sentence}\n"))
    slug = ours.get(heading).slug
    assert {verdict.paper for verdict in found} == {slug}
    assert all(verdict.evidence is not None and verdict.evidence.is_firm for verdict in found)


def test_the_documents_of_the_records_are_judged_as_by_hand(ours: Library, documents: list[Path]) -> None:
    found = {
        (path.name, verdict.line, verdict.paper)
        for path in documents
        for verdict in wrong(claims_of_note(ours, None, path))
    }
    assert found == JUDGED_WRONG


def test_numbers_and_ranges_of_the_documents_are_confirmed(ours: Library, documents: list[Path]) -> None:
    by_name = {path.name: claims_of_note(ours, None, path) for path in documents}
    for name, line, slug, words in CONFIRMED:
        found = [v for v in by_name[name] if (v.line, v.paper) == (line, slug) and words in v.claim]
        assert [verdict.verdict for verdict in found] == ["found"], (line, words, found)


def test_facts_alone_contradict_what_the_records_say_of_notes(ours: Library, documents: list[Path]) -> None:
    """Without the recorded claims the needs, levels and baseline still speak against the documents."""
    library = Library.load(ours.workspace)
    for paper in library.papers.values():
        paper.fields.pop("claims_in_notes", None)
    found = {
        (path.name, verdict.line, verdict.paper)
        for path in documents
        for verdict in wrong(claims_of_note(library, None, path))
    }
    assert found == {
        ("landscape-at-grpo.md", 16, "cure"), ("landscape-at-grpo.md", 18, "gigpo"), ("weekly-2026-04-12.md", 89, "grpo"),
    }  # fmt: skip
