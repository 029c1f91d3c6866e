r"""Dr.MAS: the team reward against the actions of the same agent on the same prompt, each agent in its own units.

As printed
    Dr.MAS (2602.08847v1, equation 5): A^i_k = (R^i - mu_k) / sigma_k for agent k in rollout i, where mu_k and sigma_k are the mean
    and the standard deviation (dividing by the count) of R over Y_k, the set of all outputs of agent k on the prompt. Equation 2 is
    the vanilla form with one mu and sigma for the whole team. Algorithm 1 divides by sigma_k + epsilon.

As computed
    Equation 5 over actions: an agent that acts three times in a rollout counts that rollout's reward three times. Population
    deviation, epsilon 0. An agent whose rewards on a prompt are all equal gets 0.

Differs
    The authors' code (langfengQ/DrMAS at 19c632b, ``compute_grpo_outcome_advantage`` with ``group_by_agent_id``) uses the sample
    deviation (ddof 1), epsilon 1e-6, gives an agent with a single action its raw reward, and first takes a penalty for invalid
    actions off single rows (0.1 in math, 0.01 in search), so that rows of one rollout may differ. That is the preset
    ``authors_code``. Its loss is a mean over tokens, the paper's (equation 3) a mean over each agent's outputs. Its
    ``adjust_batch`` may duplicate rows before the statistics, which is left out here. ``vanilla`` is the same code with the
    grouping off: rows of a rollout are averaged first, then compared within the prompt.

Evidence
    Paper read in full; code read and run.

Traps
    - The statistics are over calls, not over rollouts. Where every agent acts once per rollout, Dr.MAS *is* GRPO.
    - It changes scales, not signs of blame: an agent's advantage still carries the luck and the faults of the others.
    - The reason for it (lemma 4.2, proposition 4.3) is a factor on the second moment of an agent's gradient under team
      statistics, (sigma_k^2 + (mu_k - mu)^2) / sigma^2; it is returned as the diagnostic ``inflation_pn``.

Run
    python -m reproductions run dr_mas --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, SingletonRule, Traits, normalise


def row_reward(batch: Batch, subtract_penalty: bool) -> Floats:
    """The team reward of each action's rollout ``[p, k, n, t]``, less the action's own penalty if wanted."""
    reward_pknt = batch.spread(batch.need("reward_pk"), "pk")
    if subtract_penalty and batch.penalty_pknt is not None:
        reward_pknt = reward_pknt - batch.group("pknt", same="pknt").zeroed(batch.penalty_pknt)
    return reward_pknt


def inflation(batch: Batch) -> Floats:
    """``[p, n]``: (sigma_k^2 + (mu_k - mu)^2) / sigma^2, by which team statistics scale an agent's gradient; 0 where sigma is."""
    reward_pk = batch.need("reward_pk")
    reward_pknt = batch.spread(reward_pk, "pk")
    team, agent = batch.group("pk", same="p"), batch.group("pknt", same="pn")
    mean_p = team.mean(reward_pk)[:, 0]
    variance_p = team.mean((reward_pk - mean_p[:, None]) ** 2)[:, 0]
    # The second moment around the team's mean is the agent's variance plus its squared distance from that mean.
    around_pn = agent.mean((reward_pknt - mean_p[:, None, None, None]) ** 2)[:, 0, :, 0]
    return np.divide(around_pn, variance_p[:, None], out=np.zeros_like(around_pn), where=variance_p[:, None] > 0)


def assign(
    batch: Batch,
    *,
    by_agent: bool = True,
    ddof: int = 0,
    eps: float = 0.0,
    mean_only: bool = False,
    singleton: SingletonRule = "zero",
    subtract_penalty: bool = False,
) -> Credit:
    """Equation 5, or equation 2 without ``by_agent``. ``mean_only`` leaves the division out."""
    reward_pknt = row_reward(batch, subtract_penalty)
    if by_agent:
        groups = batch.group("pknt", same="pn")
        advantage = normalise(reward_pknt, groups, ddof=ddof, eps=eps, mean_only=mean_only, singleton=singleton)
    else:
        mean_pk = batch.group("pknt", same="pk").mean(reward_pknt)[:, :, 0, 0]
        groups = batch.group("pk", same="p")
        advantage_pk = normalise(mean_pk, groups, ddof=ddof, eps=eps, mean_only=mean_only, singleton=singleton)
        advantage = batch.spread(advantage_pk, "pk")
    return Credit(advantage, diagnostics={"inflation_pn": inflation(batch)})


def example() -> Example:
    """One prompt, a solver (agent 0) and a verifier (agent 1): rollout 1 takes two turns, in rollout 3 the verifier is not asked."""
    acted_knt = [[[1, 0], [1, 0]], [[1, 1], [1, 1]], [[1, 0], [1, 0]], [[1, 0], [0, 0]]]
    batch = Batch.of(reward_pk=[[1, 0, 1, 0]], acted_pknt=[acted_knt])
    return Example(batch, preset="authors_code", source="langfengQ/DrMAS 19c632b, compute_grpo_outcome_advantage")


METHOD = Method(
    name="dr_mas",
    title="Dr.MAS: advantages normalised per agent",
    assign=assign,
    paper="2602.08847",
    formula=(
        r"A_{p,k,n,t} = \frac{R_{p,k} - \mu_{p,n}}{\sigma_{p,n}}, \quad "
        r"\mu_{p,n}, \sigma_{p,n} \text{ over all actions } (k, t) \text{ of agent } n \text{ on prompt } p"
    ),
    evidence=("paper", "code", "run"),
    requires=("reward_pk",),
    optional=("penalty_pknt",),
    traits=Traits(granularity="agent", group="same prompt and agent", flags=frozenset({"multi_agent"})),
    claims=frozenset(
        {
            "zero_sum_over_actions",
            "unit_spread",
            "shift_invariant",
            "scale_invariant",
            "zero_when_equal",
            "agent_equivariant",
        }
    ),
    presets={
        "authors_code": {"ddof": 1, "eps": 1e-6, "singleton": "raw", "subtract_penalty": True},
        "vanilla": {"by_agent": False, "ddof": 1, "eps": 1e-6, "singleton": "raw", "subtract_penalty": True},
        "mean_only": {"mean_only": True},
    },
    example=example,
)
