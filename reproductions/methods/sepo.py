r"""SEPO: the agents rate their own and each other's share of the work; above-average shares move the outcome.

As printed
    The second allocator of Counterfactual Credit Policy Optimization (2603.21563, v2 and later). The body was not read; what follows is the
    authors' code.

As computed
    The authors' code (bhai114/ccpo at ea50d3a, ``SEPO/``). Every role splits the credit; s_j = eta (own share by itself) + (1 - eta) (its share by
    the other), eta 0.3, w_j = s_j / sum s, delta_j = w_j - its mean on the prompt. A role is paid R + 0.2 delta_j where R > 0 and
    R - 0.2 delta_j where not, less the role's mean on the prompt.

Differs
    The code knows two roles; here "the other" is the mean of all others. ``uncentred`` takes w - 1/n instead of w less its mean. ``with_std``
    divides by the sample deviation + 1e-6, ``authors_code`` gives a lone rollout its raw reward.

Evidence
    Abstract read; code read and run.

Traps
    - The raters are told whether the answer was right; after a failure a large share means blame.
    - Centred shares make it impossible for a role to gain by always claiming most.
    - A rating whose stated outcome contradicts the verifier is rejected by the code; that is for whoever fills the batch.

Run
    python -m reproductions run sepo --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, SingletonRule, Traits, normalise


def peer_weight(batch: Batch, eta: float) -> Floats:
    """``[p, k, m]``: each agent's part of the credit from its own and the others' ratings, adding up to 1 over those who acted."""
    acted_pkn = batch.mask("pkn")
    both_pknm = acted_pkn[:, :, :, None] & acted_pkn[:, :, None, :]
    share_pknm = np.where(both_pknm, batch.need("peer_share_pknm"), 0.0)
    own_pkm = np.einsum("pkmm->pkm", share_pknm)
    others_pk1 = (acted_pkn.sum(axis=2) - 1)[:, :, None]
    by_others_pkm = (share_pknm.sum(axis=2) - own_pkm) / np.maximum(others_pk1, 1)
    score_pkm = np.where(others_pk1 > 0, eta * own_pkm + (1.0 - eta) * by_others_pkm, own_pkm)
    total_pk1 = score_pkm.sum(axis=2, keepdims=True)
    given = acted_pkn & (total_pk1 > 0)
    return np.asarray(np.divide(score_pkm, total_pk1, out=np.zeros_like(score_pkm), where=given))


def assign(
    batch: Batch,
    *,
    eta: float = 0.3,
    size: float = 0.2,
    centre: bool = True,
    mean_only: bool = True,
    eps: float = 1e-6,
    singleton: SingletonRule = "zero",
) -> Credit:
    """Role rewards less their role's mean on the prompt; they are the diagnostic ``role_reward_pkn``."""
    groups, acted_pkn = batch.group("pkn", same="pn"), batch.mask("pkn")
    weight_pkn = peer_weight(batch, eta)
    even_pk1 = 1.0 / np.maximum(acted_pkn.sum(axis=2), 1)[:, :, None]
    delta_pkn = weight_pkn - (groups.mean(weight_pkn) if centre else even_pk1)
    reward_pk1 = batch.need("reward_pk")[:, :, None]
    reward_pkn = np.where(acted_pkn, reward_pk1 + np.where(reward_pk1 > 0, size, -size) * delta_pkn, 0.0)
    advantage_pkn = normalise(reward_pkn, groups, ddof=1, eps=eps, mean_only=mean_only, singleton=singleton)
    diagnostics = {"role_reward_pkn": reward_pkn, "weight_pkn": weight_pkn}
    return Credit(batch.spread(advantage_pkn, "pkn"), diagnostics=diagnostics)


def example() -> Example:
    """One prompt, four rollouts of a thinker and a solver."""
    thinker = [(0.7, 0.3), (0.5, 0.5), (0.3, 0.7), (0.7, 0.3)]
    solver = [(0.5, 0.5), (0.3, 0.7), (0.3, 0.7), (0.7, 0.3)]
    batch = Batch.of(
        reward_pk=[[1, 1, -1, -1]], peer_share_pknm=[[list(pair) for pair in zip(thinker, solver, strict=True)]]
    )
    return Example(batch, source="bhai114/ccpo ea50d3a, _compute_peer_role_rewards")


METHOD = Method(
    name="sepo",
    title="SEPO: self and peer evaluation anchored at a verifier",
    assign=assign,
    paper="2603.21563",
    formula=(
        r"s_m = \eta p^m_m + (1 - \eta) p^{other}_m, \quad w_m = s_m / \sum_j s_j, \quad \delta_m = w_m - \mathrm{mean}_k w_m, \quad "
        r"r_m = R \pm 0.2 \, \delta_m, \quad A_m = r_m - \mathrm{mean}_k r_m"
    ),
    evidence=("abstract", "code", "run"),
    requires=("reward_pk", "peer_share_pknm"),
    traits=Traits(
        granularity="agent",
        group="same prompt and role",
        extra_llm_calls="1 rating per agent and rollout",
        flags=frozenset({"multi_agent"}),
    ),
    claims=frozenset({"agent_equivariant"}),
    presets={
        "authors_code": {"singleton": "raw"},
        "with_std": {"mean_only": False, "singleton": "raw"},
        "uncentred": {"centre": False},
    },
    example=example,
)
