r"""QMIX: agents' values mixed by a monotone network of the global state; its gradient prices each agent's value.

As printed
    QMIX (1803.11485): dQ_tot / dQ_n >= 0 for every agent, so that agents that are greedy alone are greedy together. The body was not
    read; the network is as in the code.

As computed
    The mixing network Q_tot = elu(q |W_1(s)| + b_1(s)) |w_2(s)| + V(s) and its exact gradient; W_1, b_1, w_2 are linear in the state s, V is
    a network of one ReLU layer. The credit of an action is dQ_tot/dQ_n times (Q_n less the mean of the same agent and turn over the
    prompt's rollouts). ``mixer`` is the trained network; without one it is an untrained network of 32 hidden units, seed 0.

Differs
    QMIX prints no advantage: reading the gradient as a price is this file's choice. The network is that of the authors' group
    (oxwhirl/pymarl at c971afd, ``QMixer`` with ``hypernet_layers`` 1), of which ``Mixer.from_pymarl`` reads the parameters; weights
    made by two layers are not read.

Evidence
    Code read and run.

Traps
    - An untrained mixer prices at random: the default shows the mechanics and nothing about a team.
    - Monotone mixing cannot express that an action is good only if another is not taken.
    - The price is local: far from the values seen, the elu makes it another one.

Run
    python -m reproductions run qmix --example
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reproductions.core import Batch, Credit, Example, Floats, Method, ParameterError, Traits, normalise


@dataclass(frozen=True, slots=True, eq=False)
class Mixer:
    """Linear hypernetworks from the state ``f`` (and a constant, its last entry) to the mixing weights; h hidden units.

    ``value_fh``, ``value_h`` and ``value`` are the two layers of V(s), which adds to the total and prices nothing.
    """

    first_fnh: Floats
    first_bias_fh: Floats
    second_fh: Floats
    value_fh: Floats
    value_h: Floats
    value: float = 0.0

    @classmethod
    def initial(cls, agents: int, features: int, hidden: int = 32, seed: int = 0) -> Mixer:
        """An untrained network."""
        rng = np.random.default_rng(seed)
        size = 1.0 / np.sqrt(features + 1)
        first = rng.uniform(-size, size, (features + 1, agents, hidden))
        bias, second, value = rng.uniform(-size, size, (3, features + 1, hidden))
        return cls(first, bias, second, value, rng.uniform(-size, size, hidden))

    @classmethod
    def from_pymarl(cls, parameters: Mapping[str, npt.ArrayLike]) -> Mixer:
        """Of a ``QMixer``'s state dict. Raises ParameterError where a parameter is missing, as for two-layer hypernetworks."""
        wanted = ("hyper_w_1", "hyper_b_1", "hyper_w_final", "V.0", "V.2")
        missing = [f"{layer}.{part}" for layer in wanted for part in ("weight", "bias")]
        missing = [name for name in missing if name not in parameters]
        if missing:
            raise ParameterError(f"the mixer's parameters lack {', '.join(missing)}", "hypernet_layers must be 1")

        def layer(name: str) -> Floats:
            weight, bias = (np.asarray(parameters[f"{name}.{part}"], dtype=np.float64) for part in ("weight", "bias"))
            return np.vstack([weight.T, bias])

        bias_fh, last = layer("hyper_b_1"), layer("V.2")[:, 0]
        first_fnh = layer("hyper_w_1").reshape(len(bias_fh), -1, bias_fh.shape[1])
        return cls(first_fnh, bias_fh, layer("hyper_w_final"), layer("V.0"), last[:-1], float(last[-1]))

    def weights(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """``(W_1 [..., n, h], b_1 [..., h], w_2 [..., h], V [...])`` at states ``[..., f]``."""
        s = np.concatenate([state, np.ones((*state.shape[:-1], 1))], axis=-1)
        first = np.abs(np.einsum("...f,fnh->...nh", s, self.first_fnh))
        of_state = np.maximum(s @ self.value_fh, 0.0) @ self.value_h + self.value
        return first, s @ self.first_bias_fh, np.abs(s @ self.second_fh), of_state

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
        value_fh=np.zeros((2, 1)),
        value_h=np.zeros(1),
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
        r"Q_{tot} = w_2(s)^\top \mathrm{elu}(W_1(s)^\top q + b_1(s)) + V(s), \quad W_1, w_2 \ge 0, \quad "
        r"A_{k,n,t} = \frac{\partial Q_{tot}}{\partial Q_n} (Q_{k,n,t} - \mathrm{mean}_k Q_{n,t})"
    ),
    evidence=("code", "run"),
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
