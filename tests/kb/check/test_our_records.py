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
# True, or said of other methods, other settings, other people or the writer's own runs: nothing here may be called wrong.
HARD = """\
## MAPPA
MAPPA 的全称不是 Multi-Agent Process-aware Policy Allocation。
上周把 coach 写成了 GPT-4，其实是 Gemini 2.5 flash。
MAPPA 的 coach 不是 GPT-4，而是 Gemini。
The coach is not GPT-4 but Gemini 2.5 pro.
我们自己复现时用 GPT-4o 做 coach。
AMC 上的 pass@4 是 61.2%。
AMC 上提升 10.3pp（我们复现的结果）。
## GRPO
GRPO 的 baseline 常被误认为是其他 K-1 个 rollout 的平均奖励。
有人以为 GRPO 的 baseline 是其他 K-1 个样本的均值，这是 RLOO。
与 RLOO 用其他 K-1 个 rollout 的平均奖励做 baseline 不同，GRPO 用全部样本。
RLOO 的 baseline 是其他 K-1 个 rollout 的平均奖励，GRPO 则含自身。
PPO 需要 critic，GRPO 则不需要。
GRPO 去掉了 PPO 的 critic。
和 PPO 一样训练 critic 的方法很贵。
GRPO without a critic saves memory; PPO with a critic does not.
不同于需要 critic 的 PPO，GRPO 只用组内均值。
## CURE
CURE 并不是无需 ground truth：它需要真值单元测试。
CURE 说自己 "无需 ground truth 代码"。
很多人说 CURE 无需 ground truth，这不对。
CURE needs no ground-truth code.
## GiGPO
GiGPO 的两层是 episode 与 step，不是 token 与 task。
两层 hierarchical advantage（不是 token+task）。
相比之下，TreeRL 用 tree search。
加上 tree sampling 的 GiGPO 变体值得一试。
## DAPO
DAPO 的 verl 复现达到 52 分。
去掉 dynamic sampling 的 DAPO 在 AIME 2024 上是 42 分。
我们的 7B 复现在 AIME 2024 上只有 35 分。
DAPO 在 AIME 2025 上没有报告。
GRPO 基线在 AIME 2024 上是 30 分。
加了 overlong filtering 之后 AIME 2024 是 36 分。
OpenRLHF 里 eps_high 默认 0.2。
## LangMARL
LangMARL 常被归为介入性方法的变体，但它不重跑。
## C3
C3 不是对每个 agent 单独跑一次去除它的轨迹。
## SPO
SPO 有三篇：Segment Policy Optimization、Simple Policy Optimization 和这篇。
不要和 SPO (Segment Policy Optimization) 混淆。
## GAE
Schulman 在 2017 年的 PPO 里也用它。
PPO 是 2017 年的工作。
## AT-GRPO
AT-GRPO 没有过程奖励。Qwen3-8B 上 AIME24 达到 57.0。
MAPPO（这里指 2021 年的版本）需要 critic。
## DAPO
With the verl recipe DAPO reaches 52 on AIME 2024.
Without dynamic sampling it stays at 42 on AIME 2024.
Clip-higher alone brings AIME 2024 from 36 to 38.
The DeepSeek-R1-Zero baseline has 47 points on AIME 2024 with Qwen-32B.
Tan et al. report 44 points for DAPO on AIME 2024.
GSPO 在 AIME 2024 上达到 55 分，超过 DAPO。
DAPO 之后的 VAPO 在 AIME 2024 上达到 60.4 分，它需要 critic。
The value-based VAPO, which needs a critic, beats DAPO.
DAPO 训练到 5000 步时 AIME 2024 是 45 分。
一半训练步数时就到 40 分（AIME 2024）。
## GRPO
DeepSeekMath 用 144K 条 SFT 题。
DeepSeekMath-Base 在 MATH 上是 36.2%。
用 maj@64 时 MATH 是 60.9%。
GRPO 在 MATH 上比 DeepSeekMath-Instruct 高 4.9%。
GPT-4 在 MATH 上是 52.9%。
verl 里的 GRPO 可以配一个 critic。
The critic that PPO needs is gone.
训练里用 1e-6 的学习率。
## GiGPO
GiGPO 在 ALFWorld 上达到 90.8%（Qwen2.5-7B）。
WebShop 成功率 75.2%。
外层分组（任务+初始状态）。
两层分组（episode group + step group）。
## Dr.MAS
vanilla GRPO 在 search 上是 28.0。
只用 mu_k 时 39.1，只用 sigma_k 时 42.9，两者都用 43.8。
Dr.MAS 在 Qwen3-4B 上 avg@16 从 56.8 到 59.0。
math 上 pass@16 提升 4.6%。
## CURE
CURE 的 4B 长链模型推理效率 64.8%。
CURE does not need human-written code.
agentic coding 上 +8.1%。
## COMA
COMA 用 ε 从 0.5 退火到 0.02。
IAC 不需要中心化 critic。
QMIX does without a critic; COMA has one.
## TRPO
TRPO 的后继 PPO 把 KL 约束换成 clip 0.2。
TRPO 在 2015 年发表于 ICML。
natural policy gradient 是 2001 年的工作，TRPO 从它出发。
## MAPPA
MAPPA v1 发布于 2026-01-30。
DSBench 成功率 +12.5pp，质量最多 +30%。
MAPPA 的基座是 Qwen3-4B，coach 比它强。
The authors also tried a coach from OpenAI.
## SHARP
SHARP 用 Qwen3-8B，MuSiQue 等五个基准，相对单智能体 +23.66%。
SHARP (Shapley-based Hierarchical Attribution for Reinforcement Policy) 的名字里没有 tripartite。
## PPO
PPO 在 MuJoCo 上 γ=0.99，horizon 2048，minibatch 64，10 个 epoch。
Atari 上 PPO 的 clip 是 0.1 乘以线性衰减系数。
PPO 的 adaptive KL 版本 d_targ=0.01。
## DAPO
传统方法需要 critic，显存开销大。
价值模型方法需要训练一个 critic，DAPO 省掉了它。
DAPO 的作者说他们的数据集有 17K 条题。
long-CoT 场景下 GRPO 只有 30 分（AIME 2024）。
DeepSeek 报告的 AIME 2024 是 47 分。
每次 rollout 512 个 prompt，mini-batch 512，所以更新 16 次。
clip 的上界取 0.2 时熵会坍缩。
如果上界取 0.3 会怎样，论文没有说。
ε_high 从 0.2 提到 0.28。
AIME 2024 的题目有 30 道，每题评测 32 次。
AIME 2024 avg@32 先到 41，再到 42，最后到 50。
## GRPO
GRPO 的 KL 系数是 0.04，R1-Zero 用 0.001。
PPO requires a critic as large as the policy, so GRPO drops it.
There is no critic in GRPO, while PPO trains one.
组大小取 64；R1 取 16。
Its 7B model goes from 46.8% to 51.7% on MATH.
MATH 上 46.8 是 SFT 之后、RL 之前的数。
DeepSeekMath 发布于 2024 年 2 月。
## RLOO
RLOO 和 GRPO 的差别：前者用其余 k-1 条，后者用全部。
RLOO 不训练 critic，k=2 或 4。
REINFORCE（1992, Williams）是它的前身。
## GiGPO
外层是轨迹级（同一任务），内层是步级（同一 anchor state）。
两层 advantage（trajectory+step），没有 token 层。
critic-free，显存和 GRPO 一样。
RLVMR 用 process reward，GiGPO 没有。
需要 anchor state 重复出现，否则 step 项为 0。
## PPO
PPO 的 critic 与 actor 可以共享参数。
没有 critic 的 PPO 就退化成带 clip 的 REINFORCE。
OpenAI 的 RLHF 用 PPO，γ=1，λ=0.95，KL 系数 0.02。
InstructGPT 用的 PPO 取 γ=1。
LLM 上一般取 λ=1.0。
Atari 上的 λ=0.95，γ=0.99，和 MuJoCo 一致。
ε=0.1 和 ε=0.3 都不如 0.2。
## COMA
COMA 的 critic 输入其他智能体的动作。
独立 actor-critic 没有中心化 critic。
decentralised 的基线 IAC-V 不用反事实。
5m 地图上 81%，次好 71%。
COMA 发表于 2018 年的 AAAI。
## MAPPA
MAPPA 有 5 个 agent 吗？没有，数学任务是 3 个。
coach 换成 GPT-4 会更贵。
作者比较了 Gemini 2.5 flash 与人类评分。
AIME 最高 +17.5pp，最低 +5.0pp。
MAPPA 在 DSBench 上成功率从 50.0% 到 66.7%（后来的博客）。
## MASPRM
v2 的 Hit@1 最多 +13.4，和 v1 的 GSM8K +30.7 不是一回事。
MASPRM 本身就是价值模型。
在 MATH 上零样本迁移 +8.4。
## CURE
不需要人写的代码答案，但要单元测试。
没有真值测试的任务用不了 CURE。
CURE 的编码器和测试器是同一个模型。
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
    ("DeepSeek-R1", "DeepSeek-R1 在 AIME 2024 上 pass@1 达到 97.8%。"),
    ("RLOO", "RLOO 的 baseline 是全部样本的平均奖励，含自身。"),
    ("MAPPO", "MAPPO 用样本标准差归一化。"),
    ("GiGPO", "GiGPO 是 2021 年的工作。"),
    ("SHARP", "SHARP 名字里的 tripartite 指三部分奖励。"),
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


def test_hard_notes_are_never_called_wrong(ours: Library) -> None:
    verdicts = claims_of_note(ours, None, HARD)
    assert len(verdicts) >= 80
    assert wrong(verdicts) == []


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
