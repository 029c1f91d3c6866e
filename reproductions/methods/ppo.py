r"""PPO: GAE advantages, and a loss whose ratio is clipped so that one batch can be used for several updates.

As printed
    PPO (1707.06347, equation 7): L = E[min(rho_t A_t, clip(rho_t, 1 - eps, 1 + eps) A_t)], to be maximised, on GAE advantages.
    Table 3: eps 0.2, gamma 0.99, lambda 0.95, 10 epochs over minibatches of 64.

As computed
    ``assign`` gives the advantages, ``loss`` the clipped loss, ``losses.value_loss`` the clipped value loss. Advantages are left
    as they are by default; the presets whiten them over the batch.

Differs
    Every codebase whitens, each in its own way: cleanrl per minibatch (ddof 1, epsilon 1e-8 on the deviation; the batch stands
    for the minibatch here), verl over tokens (ddof 1, 1e-8 inside the root), OpenRLHF over tokens (ddof 0, variance not below
    1e-8). Both language-model stacks default to gamma = lambda = 1. verl adds the dual clip: where A < 0 the loss is at most
    -c A, with c 3 by default, and clamps log-ratios to +-20.

Evidence
    Hyperparameter tables read; verl 0.9.1 and rlax 0.1.9 run.

Traps
    - The clip stops the gradient, it does not bound the ratio; with A < 0 the loss is unbounded without the dual clip.
    - Whitening over tokens lets long actions set the mean. Without ``length_pknt`` every action counts once.
    - lambda 0.95 is reported to be clearly worse than GRPO on long chains of thought, lambda 1 close to it (R1's report).

Run
    python -m reproductions run ppo --example
"""

from __future__ import annotations

from reproductions.core import Batch, Credit, EpsRule, Example, Floats, Method, Traits, normalise
from reproductions.losses import Aggregation, aggregate, clipped_surrogate, importance_ratio
from reproductions.methods import gae


def whitened(batch: Batch, advantage_pknt: Floats, ddof: int, eps: float, eps_rule: EpsRule) -> Floats:
    """Mean 0 and deviation 1 over all actions of the batch, weighted by their tokens where lengths are known."""
    weight = None if batch.length_pknt is None else batch.length_pknt.astype(float)
    return normalise(advantage_pknt, batch.group("pknt", same=""), ddof=ddof, eps=eps, eps_rule=eps_rule, weight=weight)


def assign(
    batch: Batch,
    *,
    gamma: float = 0.99,
    lam: float = 0.95,
    whiten: bool = False,
    ddof: int = 1,
    eps: float = 1e-8,
    eps_rule: EpsRule = "std_plus",
) -> Credit:
    """GAE over the actions in the order of play; ``ddof``, ``eps`` and ``eps_rule`` are for whitening."""
    found = gae.over_actions(batch, gamma, lam)
    return Credit(whitened(batch, found, ddof, eps, eps_rule) if whiten else found)


def loss(
    logp_bl: Floats,
    old_logp_bl: Floats,
    advantage_bl: Floats,
    mask_bl: Floats,
    *,
    clip: float = 0.2,
    clip_high: float | None = None,
    dual_clip: float | None = None,
    mode: Aggregation = "token-mean",
) -> float:
    """Equation 7 with the sign turned, over sequences ``b`` and tokens ``l``. ``clip_high`` is ``clip`` where left out."""
    high = clip if clip_high is None else clip_high
    per_token = clipped_surrogate(importance_ratio(logp_bl, old_logp_bl), advantage_bl, clip, high, dual_clip)
    return aggregate(per_token, mask_bl, mode)


def example() -> Example:
    """Two responses whose tokens are turns; the second has a token of tool output in the middle that was not sampled."""
    batch = Batch.of(
        step_reward_pknt=[[[[0, 0, 0, 1]], [[0, 0, 2, 0]]]],
        reward_pk=[[1, 2]],
        value_pknt=[[[[0.1, 0.2, 0.3, 0.4]], [[0.5, 0.1, 0.2, 0.9]]]],
        acted_pknt=[[[[1, 1, 1, 1]], [[1, 0, 1, 0]]]],
    )
    return Example(
        batch,
        preset="verl",
        parameters={"gamma": 0.99, "lam": 0.95},
        source="verl 0.9.1, compute_gae_advantage_return: -0.44347, -0.55638, -0.67425, -0.79741 and 0.81797, 1.65355",
    )


METHOD = Method(
    name="ppo",
    title="Proximal policy optimisation: clipped surrogate on GAE",
    assign=assign,
    paper="1707.06347",
    formula=(
        r"L_t = -\min(\rho_t A_t, \mathrm{clip}(\rho_t, 1 - \epsilon, 1 + \epsilon) A_t), \quad "
        r"A_t = \sum_{l \ge 0} (\gamma \lambda)^l \delta_{t+l}"
    ),
    evidence=("paper", "code", "run"),
    requires=("reward_pk", "value_pknt"),
    optional=("step_reward_pknt", "final_value_pkn", "length_pknt"),
    signal=("reward_pk", "step_reward_pknt", "value_pknt", "final_value_pkn"),
    traits=Traits(
        granularity="action", group="none", critic=True, flags=frozenset({"group_free", "loss_side", "trust_region"})
    ),
    claims=frozenset({"scale_equivariant"}),
    presets={
        "cleanrl": {"whiten": True},
        "verl": {"gamma": 1.0, "lam": 1.0, "whiten": True, "eps_rule": "var_plus"},
        "openrlhf": {"gamma": 1.0, "lam": 1.0, "whiten": True, "ddof": 0, "eps_rule": "var_floor"},
    },
    example=example,
)
