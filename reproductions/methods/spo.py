r"""SPO (single-stream): the reward less a tracked success rate of the prompt, whitened over the batch; no groups.

As printed
    Single-stream Policy Optimization (2509.13232), from a reader's summary: each prompt keeps a Beta tracker with value
    v = alpha / (alpha + beta). A = r - v with v from before the update, then whitened over the batch. After a visit with reward
    r: alpha <- rho alpha + r, beta <- rho beta + 1 - r, where rho = clip(2^(-D / D_half), rho_min, rho_max) forgets the more, the
    further the policy moved (D) since the prompt's last response.

As computed
    The same. The trackers are an argument: ``memory`` goes in, ``Credit.memory`` comes out, and nothing is kept in between. A prompt
    is known by ``prompt_id_p`` (else by its index), D is ``drift_p`` (else 0). Several rollouts of a prompt in one batch all see
    the value from before, are discounted once and all added. Whitening is ddof 1, epsilon 1e-8 on the deviation.

Differs
    D_half 0.06, rho_min 0.875 and rho_max 0.96 are the recipe's (verl-recipe at 48ea0a7); the paper's own constants and its
    direction of the KL were not seen. The recipe samples prompts by sqrt(v (1 - v)) + 0.05, the summary of the paper also
    divides by a power of the tracker's weight: ``sampling_weight`` is the recipe's.

Evidence
    Abstract read; recipe code read; formulas from a summary.

Traps
    - Two other methods are called SPO: segment policy optimisation and simple policy optimisation.
    - Rewards must lie between 0 and 1: they are counted as successes.
    - Whitening over the batch couples prompts: the same surprise weighs less in a batch full of surprises.

Run
    python -m reproductions run spo --example
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np

from reproductions.core import Batch, BatchError, Credit, Example, Floats, Method, Traits, normalise


class Tracker(NamedTuple):
    """Counts of a prompt's successes and failures, faded by age. Without any data half of each."""

    alpha: float = 0.5
    beta: float = 0.5

    @property
    def value(self) -> float:
        return self.alpha / (self.alpha + self.beta)

    def after(self, wins: float, losses: float, drift: float, half: float, low: float, high: float) -> Tracker:
        """The tracker after a visit whose rewards add up to ``wins`` and whose shortfalls to ``losses``."""
        kept = min(max(2.0 ** (-drift / half), low), high)
        return Tracker(kept * self.alpha + wins, kept * self.beta + losses)


Memory = Mapping[Hashable, Tracker]


def offline_tracker(wins: int, samples: int, low: float = 0.875) -> Tracker:
    """A tracker from samples drawn before training: their rate, with the weight 1 / (1 - low) that tracking converges to."""
    if samples == 0:
        return Tracker()
    weight = 1.0 / (1.0 - low)
    return Tracker(weight * (wins + 0.5) / (samples + 1), weight * (samples - wins + 0.5) / (samples + 1))


def sampling_weight(value: float, exploration: float = 0.05) -> float:
    """How often to draw a prompt, up to a constant: most where successes are as likely as failures."""
    return float(np.sqrt(value * (1.0 - value))) + exploration


def assign(
    batch: Batch,
    *,
    memory: Memory | None = None,
    half: float = 0.06,
    low: float = 0.875,
    high: float = 0.96,
    eps: float = 1e-8,
) -> Credit:
    """Advantages from the trackers in ``memory``; the updated ones are ``Credit.memory``. ``half`` is D_half."""
    reward_pk, present_pk = batch.need("reward_pk"), batch.present_pk
    outside = present_pk & ((reward_pk < 0) | (reward_pk > 1))
    if outside.any():
        p, k = np.argwhere(outside)[0]
        raise BatchError(f"spo: reward_pk is {reward_pk[p, k]} at prompt {p}, rollout {k}", "rescale rewards to 0..1")
    names = range(batch.shape[0]) if batch.prompt_id_p is None else batch.prompt_id_p.tolist()
    known = dict(memory or {})
    trackers = [known.get(name, Tracker()) for name in names]
    value_p: Floats = np.array([tracker.value for tracker in trackers])
    batch_wide = batch.group("pk", same="")
    advantage_pk = normalise(reward_pk - value_p[:, None], batch_wide, ddof=1, eps=eps)
    wins_p, losses_p = ((present_pk * share).sum(axis=1) for share in (reward_pk, 1.0 - reward_pk))
    drift_p = np.zeros(len(trackers)) if batch.drift_p is None else batch.drift_p
    for p, name in enumerate(names):
        if present_pk[p].any():
            known[name] = trackers[p].after(wins_p[p], losses_p[p], drift_p[p], half, low, high)
    return Credit(batch.spread(advantage_pk, "pk"), diagnostics={"value_p": value_p}, memory=known)


def example() -> Example:
    """Three prompts, one response each; the first has been sampled eight times before, with three successes."""
    batch = Batch.of(reward_pk=[[1], [0], [1]], prompt_id_p=["known", "new", "other"])
    return Example(
        batch, parameters={"memory": {"known": offline_tracker(3, 8)}}, source="formula: value of 'known' 0.38889"
    )


METHOD = Method(
    name="spo",
    title="Single-stream policy optimisation: a value tracker per prompt",
    assign=assign,
    paper="2509.13232",
    formula=(
        r"A_p = \frac{\delta_p - \mathrm{mean}(\delta)}{\mathrm{std}(\delta)}, \quad \delta_p = r_p - v_p, \quad v_p = \frac{\alpha}{\alpha + \beta}, "
        r"\quad \alpha \leftarrow \rho \alpha + r, \; \beta \leftarrow \rho \beta + 1 - r"
    ),
    evidence=("abstract", "secondary", "code"),
    requires=("reward_pk",),
    optional=("prompt_id_p", "drift_p"),
    traits=Traits(granularity="rollout", group="whole batch", flags=frozenset({"group_free", "stateful"})),
    claims=frozenset({"same_for_the_whole_team"}),
    provisional="constants and the drift come from the recipe; the paper's formulas were seen in a summary only",
    example=example,
)
