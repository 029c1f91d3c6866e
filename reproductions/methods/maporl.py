r"""MAPoRL: a verifier's score of each answer, and of the discussion that follows it, plus incentives to persuade and be persuaded.

As printed
    MAPoRL (2502.18439), from copies that agree: R_{t,a} = (Ver_{t,a} + sum_{t'>t} g^{t'-t} mean_j Ver_{t',j}) / sum_{t'>=t} g^{t'-t}; the mean is over all agents,
    a included. Incentives of size alpha for changing one's mind rightly or wrongly and for moving the others.

As computed
    The authors' code (chanwoo-park-official/MAPoRL at c204c2c): discount 0.3, incentives off. The cell's reward less its KL penalty (0.002)
    and the critic's value, then whitened over the batch within each turn and agent. With one number per action the code's token GAE
    (gamma 1) at its first token reduces to that at lambda 1.

Differs
    The *forward* incentive has the opposite sign in the code from the paper's description: who persuades the others of the right
    answer pays for it. ``forward_sign`` is -1 as in the code; ``described`` turns it. The code gives no incentive at the first turn,
    and none where the others' mean is exactly 0.5. Its ``individual`` mode is a preset. Turns in which an agent did not answer do not
    count, where the code fails. Lambda 0.95 over tokens is not kept.

Evidence
    Formula from secondary copies; code read and run (scores and incentives).
    Which deviation the whitening divides by was not read: the population's here, with 1e-8 under the root.

Traps
    - The score of the others is in everybody's reward: an agent that is always wrong still earns later turns.
    - Whitening per turn and agent hides which agent is better.

Run
    python -m reproductions run maporl --example
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import Batch, Bools, Credit, Example, Floats, Method, Traits, backward_sum, normalise


def discussion_reward(
    score_pknt: Floats, acted_pknt: Bools, discount: float, later: Literal["all", "individual"] = "all"
) -> Floats:
    """``[p, k, n, t]``: the discounted mean of the own score now and of all agents' (or the own) scores later."""
    score = np.where(acted_pknt, score_pknt, 0.0)
    counted = acted_pknt.astype(np.float64)
    if later == "all":
        agents = acted_pknt.sum(axis=2, keepdims=True)
        per_turn = np.broadcast_to(score.sum(axis=2, keepdims=True) / np.maximum(agents, 1), score.shape)
        counted = np.broadcast_to((agents > 0) * 1.0, score.shape)
    else:
        per_turn = score
    total = score + backward_sum(per_turn, discount) - per_turn
    return np.where(acted_pknt, total / np.maximum(backward_sum(counted, discount), 1.0), 0.0)


def incentive(
    correct_pknt: Bools, acted_pknt: Bools, alpha: tuple[float, float, float, float], forward_sign: float
) -> Floats:
    """``[p, k, n, t]``: paid for changes of mind against the others' last answers, and for changes of theirs afterwards."""
    correct = (correct_pknt & acted_pknt).astype(np.float64)
    others = acted_pknt.sum(axis=2, keepdims=True) - acted_pknt
    mean = np.divide(
        correct.sum(axis=2, keepdims=True) - correct, others, out=np.full(correct.shape, 0.5), where=others > 0
    )
    paid = np.zeros(correct.shape)
    right = correct > 0
    here, before = slice(1, None), slice(None, -1)
    both = acted_pknt[..., here] & acted_pknt[..., before]
    learnt, unlearnt = ~right[..., before] & right[..., here], right[..., before] & ~right[..., here]
    good, bad = mean[..., before] > 0.5, mean[..., before] < 0.5
    changed = np.where(learnt, 1.0, np.where(unlearnt, -1.0, 0.0))
    # Learning from others who were right, and unlearning although they were wrong, have the first weight; the other two have the second.
    with_others = np.where(learnt, good, bad)
    against_others = np.where(learnt, bad, good)
    paid[..., here] += np.where(both, changed * (alpha[0] * with_others + alpha[1] * against_others), 0.0)
    middle, after = slice(1, -1), slice(2, None)
    if correct.shape[-1] > 2:
        rises = (mean[..., middle] < 0.5) & (mean[..., after] > 0.5)
        falls = (mean[..., middle] > 0.5) & (mean[..., after] < 0.5)
        now = right[..., middle]
        risen = np.where(now, alpha[3], alpha[2])
        fallen = np.where(now, alpha[2], alpha[3])
        moved = forward_sign * (risen * rises - fallen * falls)
        paid[..., middle] += np.where(acted_pknt[..., middle] & acted_pknt[..., after], moved, 0.0)
    return paid


def assign(
    batch: Batch,
    *,
    discount: float = 0.3,
    later: Literal["all", "individual"] = "all",
    alpha: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    forward_sign: float = -1.0,
    kl_weight: float = 0.002,
    eps: float = 1e-8,
) -> Credit:
    """Whitened reward less value for every turn and agent; the reward is the diagnostic ``cell_reward_pknt``."""
    acted = batch.acted_pknt
    reward = discussion_reward(batch.need("verifier_score_pknt"), acted, discount, later)
    if any(alpha):
        reward = reward + incentive(batch.need("correct_pknt"), acted, alpha, forward_sign)
    net = reward - batch.need("value_pknt")
    if batch.kl_pknt is not None:
        net = net - kl_weight * batch.kl_pknt
    advantage = normalise(net, batch.group("pknt", same="nt"), ddof=0, eps=eps, eps_rule="var_plus")
    return Credit(advantage, diagnostics={"cell_reward_pknt": reward})


def example() -> Example:
    """One question, two agents, three turns; a critic that knows nothing."""
    score_tn = np.array([[0.2, 0.8], [0.7, 0.9], [0.9, 0.9]])
    batch = Batch.of(
        verifier_score_pknt=[[score_tn.T]], value_pknt=np.zeros((1, 1, 2, 3)), correct_pknt=[[(score_tn > 0.5).T]]
    )
    return Example(batch, source="chanwoo-park-official/MAPoRL c204c2c, score_rule: rewards 0.374820, 0.806475, ...")


METHOD = Method(
    name="maporl",
    title="MAPoRL: verifier scores of a discussion, with incentives",
    assign=assign,
    paper="2502.18439",
    formula=(
        r"R_{t,n} = \frac{Ver_{t,n} + \sum_{t'>t} \gamma^{t'-t} \, \mathrm{mean}_m Ver_{t',m}}{\sum_{t' \ge t} \gamma^{t'-t}}, \quad "
        r"A_{t,n} = \mathrm{whiten}(R_{t,n} + bonus_{t,n} - V_{t,n})"
    ),
    evidence=("secondary", "code", "run"),
    requires=("verifier_score_pknt", "value_pknt"),
    optional=("correct_pknt", "kl_pknt"),
    signal=("verifier_score_pknt",),
    traits=Traits(
        granularity="action",
        group="whole batch, same agent and turn",
        critic=True,
        extra_llm_calls="1 verifier call per answer",
        flags=frozenset({"multi_agent", "process_reward", "group_free"}),
    ),
    claims=frozenset({"zero_sum_in_batch", "agent_equivariant"}),
    presets={
        "individual": {"later": "individual", "discount": 1.0},
        "incentives": {"alpha": (1.0, 1.0, 1.0, 1.0)},
        "described": {"alpha": (1.0, 1.0, 1.0, 1.0), "forward_sign": 1.0},
    },
    example=example,
)
