r"""TRPO at toy size: the largest step along the natural gradient that keeps the policy within a KL radius of the old one.

As printed
    TRPO (1502.05477), as spinningup implements it: maximise E[rho_t A_t] subject to mean KL(pi_old || pi) <= delta.

As computed
    ``assign`` gives the advantages that go in: GAE, brought to mean 0 and deviation 1 over the batch. ``step`` does the rest for
    a softmax over logits: gradient g of the loss, (H + damping I) x = g by conjugate gradient with H = diag(p) - p p^T, then
    logits - 0.8^j sqrt(2 delta / (x^T (H + damping I) x)) x with the first j whose KL is within delta and whose loss is no
    worse; the old logits if there is none.

Differs
    Some implementations also ask for a share of the predicted improvement before a step is accepted; the paper's own rule was
    not checked. spinningup whitens with the population deviation and no epsilon, as here.

Evidence
    Code read; the solver of sb3-contrib 2.9.2 run; the step follows the formula.

Traps
    - H has the direction of all ones in its null space (adding a constant to the logits changes nothing): without damping the
      system has no single solution.
    - spinningup adds 1e-8 to the curvature inside the solver, which stops it at an error of about 1e-6; ``step`` does the same.
    - The expected step size is for the quadratic model, so that the KL of the step falls short of delta or passes it.

Run
    python -m reproductions run trpo --example
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Ints, Method, Traits, normalise
from reproductions.methods import gae


@dataclass(frozen=True, slots=True)
class Step:
    """A trust-region step: new logits ``[a]``, its KL and losses, and which try of the line search it is (None: refused)."""

    logits_a: Floats
    gradient_a: Floats
    direction_a: Floats
    kl: float
    loss_before: float
    loss_after: float
    accepted: int | None


def conjugate_gradient(
    matrix: Floats, target: Floats, iterations: int = 10, tolerance: float = 1e-20, eps: float = 0.0
) -> Floats:
    """``x`` with ``matrix @ x = target`` for a symmetric positive definite matrix.

    ``tolerance`` is for the squared residual; ``eps`` is added to the curvature along each direction, as spinningup does.
    """
    x = np.zeros_like(target, dtype=np.float64)
    residual = np.array(target, dtype=np.float64)
    direction, squared = residual.copy(), float(residual @ residual)
    for _ in range(iterations):
        if squared <= tolerance:
            break
        product = matrix @ direction
        size = squared / (float(direction @ product) + eps)
        x += size * direction
        residual -= size * product
        before, squared = squared, float(residual @ residual)
        direction = residual + squared / before * direction
    return x


def log_softmax(logits_a: Floats) -> Floats:
    """Log-probabilities, safe for large logits."""
    shifted = logits_a - logits_a.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def fisher(logits_a: Floats) -> Floats:
    """The Hessian of KL(old || new) at the old logits, ``[a, a]``."""
    p = np.exp(log_softmax(logits_a))
    return np.asarray(np.diag(p) - np.outer(p, p))


def surrogate(logits_a: Floats, old_logits_a: Floats, action_b: Ints, advantage_b: Floats) -> float:
    """The loss ``-mean(rho A)`` over samples ``b``."""
    log_ratio = log_softmax(logits_a)[action_b] - log_softmax(old_logits_a)[action_b]
    return -float(np.mean(np.exp(log_ratio) * advantage_b))


def step(
    logits_a: Floats,
    action_b: Ints,
    advantage_b: Floats,
    *,
    delta: float = 0.01,
    damping: float = 0.1,
    iterations: int = 10,
    shrink: float = 0.8,
    tries: int = 10,
    eps: float = 1e-8,
) -> Step:
    """One update of a softmax policy from samples ``b`` drawn with ``logits_a``. Defaults as in spinningup."""
    logp_a = log_softmax(logits_a)
    p = np.exp(logp_a)
    gradient = np.mean(advantage_b) * p - np.bincount(action_b, advantage_b, minlength=len(p)) / len(action_b)
    damped = fisher(logits_a) + damping * np.eye(len(p))
    direction = conjugate_gradient(damped, gradient, iterations, 0.0, eps)
    length = np.sqrt(2.0 * delta / (float(direction @ damped @ direction) + eps))
    before = surrogate(logits_a, logits_a, action_b, advantage_b)
    for attempt in range(tries):
        proposed = logits_a - shrink**attempt * length * direction
        kl = float(p @ (logp_a - log_softmax(proposed)))
        after = surrogate(proposed, logits_a, action_b, advantage_b)
        if kl <= delta and after <= before:
            return Step(proposed, gradient, direction, kl, before, after, attempt)
    return Step(np.array(logits_a, dtype=np.float64), gradient, direction, 0.0, before, before, None)


def assign(batch: Batch, *, gamma: float = 0.99, lam: float = 0.97) -> Credit:
    """GAE in the order of play, whitened over the batch (population deviation, no epsilon)."""
    found = gae.over_actions(batch, gamma, lam)
    return Credit(normalise(found, batch.group("pknt", same=""), ddof=0))


def example() -> Example:
    """One rollout of four steps that is cut before its end."""
    return Example(gae.example().batch)


METHOD = Method(
    name="trpo",
    title="Trust region policy optimisation, on a softmax policy",
    assign=assign,
    paper="1502.05477",
    formula=(
        r"\theta' = \theta - \beta^j \sqrt{\frac{2 \delta}{x^T (H + \lambda I) x}} \, x, \quad (H + \lambda I) x = g, \quad "
        r"\mathrm{KL}(\pi_\theta \Vert \pi_{\theta'}) \le \delta"
    ),
    evidence=("textbook", "code", "run"),
    requires=("reward_pk", "value_pknt"),
    optional=("step_reward_pknt", "final_value_pkn"),
    signal=("reward_pk", "step_reward_pknt", "value_pknt", "final_value_pkn"),
    traits=Traits(granularity="action", group="none", critic=True, flags=frozenset({"group_free", "trust_region"})),
    claims=frozenset({"zero_sum_in_batch", "scale_invariant"}),
    example=example,
)
