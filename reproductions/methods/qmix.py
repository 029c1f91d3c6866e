r"""QMIX: agents' values mixed by a monotone network of the global state; its gradient prices each agent's value.

As printed
    QMIX (1803.11485): Q_tot = w_2(s)' elu(W_1(s)' q + b_1(s)) + b_2(s), the weights |.| of linear functions of the state s, so that Q_tot rises with every
    Q_n and greedy agents are greedy together.

As computed
    The mixing network and its exact gradient. The credit of an action is dQ_tot/dQ_n times (Q_n less the mean of the same agent and turn over the
    prompt's rollouts). ``mixer`` is the trained network; without one it is an untrained network of 32 hidden units, seed 0.

Differs
    QMIX has no policy gradient and prints no advantage: reading the gradient as a price is this file's choice. b_2 is linear in
    the state, not a small network; credit does not depend on it.

Evidence
    Textbook formula.

Traps
    - An untrained mixer prices at random: the default shows the mechanics and nothing about a team.
    - Monotone mixing cannot express that an action is good only if another is not taken.
    - The price is local: far from the values seen, the elu makes it another one.

Run
    python -m reproductions run qmix --example
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, ParameterError, Traits, normalise


@dataclass(frozen=True, slots=True, eq=False)
class Mixer:
    """Linear hypernetworks from the state ``f`` (and a constant, its last entry) to the mixing weights; h hidden units."""

    first_fnh: Floats
    first_bias_fh: Floats
    second_fh: Floats
    second_bias_f: Floats

    @classmethod
    def initial(cls, agents: int, features: int, hidden: int = 32, seed: int = 0) -> Mixer:
        """An untrained network."""
        rng = np.random.default_rng(seed)
        size = 1.0 / np.sqrt(features + 1)
        shapes = ((features + 1, agents, hidden), (features + 1, hidden), (features + 1, hidden), (features + 1,))
        return cls(*(rng.uniform(-size, size, shape) for shape in shapes))

    def weights(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """``(W_1 [..., n, h], b_1 [..., h], w_2 [..., h], b_2 [...])`` at states ``[..., f]``."""
        s = np.concatenate([state, np.ones((*state.shape[:-1], 1))], axis=-1)
        first = np.abs(np.einsum("...f,fnh->...nh", s, self.first_fnh))
        return first, s @ self.first_bias_fh, np.abs(s @ self.second_fh), s @ self.second_bias_f

    def total(self, utility: Floats, state: Floats) -> Floats:
        """``Q_tot [...]`` of utilities ``[..., n]`` at states ``[..., f]``."""
        first, bias, second, last = self.weights(state)
        hidden = np.einsum("...n,...nh->...h", utility, first) + bias
        return np.asarray(np.einsum("...h,...h->...", second, _elu(hidden)) + last)

    def price(self, utility: Floats, state: Floats) -> Floats:
        """``dQ_tot / dQ_n [..., n]``, never negative."""
        first, bias, second, _ = self.weights(state)
        hidden = np.einsum("...n,...nh->...h", utility, first) + bias
        slope = np.exp(np.minimum(hidden, 0.0))
        return np.asarray(np.einsum("...nh,...h->...n", first, second * slope))


def _elu(x: Floats) -> Floats:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))


def assign(batch: Batch, *, mixer: Mixer | None = None) -> Credit:
    """Price times centred utility; an agent that did not act enters the mixture with 0."""
    state, acted = batch.need("team_state_pktf"), batch.acted_pknt
    network = mixer or Mixer.initial(batch.shape[2], state.shape[-1])
    expected = (state.shape[-1] + 1, batch.shape[2])
    if network.first_fnh.shape[:2] != expected:
        raise ParameterError(f"the mixer is for sizes {network.first_fnh.shape[:2]}, the batch has {expected}")
    utility = np.where(acted, batch.need("utility_pknt"), 0.0)
    by_turn = np.swapaxes(utility, 2, 3)
    price = np.where(acted, np.swapaxes(network.price(by_turn, state), 2, 3), 0.0)
    centred = normalise(utility, batch.group("pknt", same="pnt"), mean_only=True)
    diagnostics = {"total_pkt": network.total(by_turn, state), "price_pknt": price}
    return Credit(price * centred, diagnostics=diagnostics)


def example() -> Example:
    """Two rollouts of two agents; a mixer of one hidden unit that is linear here, with weights 2 and 1."""
    mixer = Mixer(
        first_fnh=np.array([[[0.0], [0.0]], [[2.0], [-1.0]]]),
        first_bias_fh=np.array([[0.0], [10.0]]),
        second_fh=np.array([[0.0], [1.0]]),
        second_bias_f=np.zeros(2),
    )
    batch = Batch.of(
        utility_pknt=[[[[0.75], [0.5]], [[0.25], [0.0]]]],
        team_state_pktf=[[[[0.3]], [[0.6]]]],
    )
    return Example(batch, parameters={"mixer": mixer}, source="by hand: +-0.5 and +-0.25")


METHOD = Method(
    name="qmix",
    title="QMIX: monotone mixing, its gradient as the price of a value",
    assign=assign,
    paper="1803.11485",
    formula=(
        r"Q_{tot} = w_2(s)^\top \mathrm{elu}(W_1(s)^\top q + b_1(s)) + b_2(s), \quad W_1, w_2 \ge 0, \quad "
        r"A_{k,n,t} = \frac{\partial Q_{tot}}{\partial Q_n} (Q_{k,n,t} - \mathrm{mean}_k Q_{n,t})"
    ),
    evidence=("textbook",),
    requires=("utility_pknt", "team_state_pktf"),
    signal=("utility_pknt",),
    traits=Traits(
        granularity="action",
        group="same prompt, agent and turn",
        critic=True,
        flags=frozenset({"multi_agent", "value_decomposition"}),
    ),
    claims=frozenset({"zero_when_equal"}),
    example=example,
)
