r"""MARFT: GAE through a chain of agents, then on to the next step of the environment, whitened over the minibatch.

As printed
    MARFT (2504.16129). The body's equations were not read; what follows is the authors' code.

As computed
    The authors' code (SII-MARFT/MARFT at 4a734e3, ``ActionBuffer``): delta_{t,i} = r_{t,i} + gamma V_{t,i+1} - V_{t,i} inside a step, and for its last agent
    gamma V_{t+1,1}; A = delta + gamma lambda A_next, gamma 0.99, lambda 0.95. That is ``gae`` in the order of play. Then (A - mean) / (std + 1e-8),
    population, where entries that are exactly 0 count as missing, as in the authors' trainer.

Differs
    ``raw`` leaves the whitening out. The token level (TPPO) is the same chain over tokens, with the reward on an agent's last one:
    ``token_batch`` lays tokens out as turns. Clip 0.2, Huber value loss (``losses.value_loss``, delta 10) and the update that is skipped
    beyond a KL of 1e-3 (actions) or 1.7e-6 (tokens) belong to the loss.

Evidence
    Abstract read; code read and run.

Traps
    - A real advantage of 0 is left out of the statistics, and is then moved by the mean like all others.
    - In the authors' mathematics environment only the last agent is paid; what the first gets is the critic's doing.
    - The discount applies from agent to agent, so that the order of speaking is time.

Run
    python -m reproductions run marft --example
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reproductions.core import AxisGroups, Batch, Credit, Example, Method, Traits, normalise
from reproductions.methods import gae


def token_batch(reward_pkn: npt.ArrayLike, value_pkntl: npt.ArrayLike) -> Batch:
    """A batch whose turns are tokens: every step's agents one after the other, each with ``l`` tokens.

    ``reward_pkn[t]`` of shape ``[p, k, n, t]`` is paid on the last token of agent n at step t.
    """
    value, reward = np.asarray(value_pkntl, dtype=np.float64), np.asarray(reward_pkn, dtype=np.float64)
    prompts, rollouts, agents, steps, tokens = value.shape
    shape = (prompts, rollouts, agents, steps, agents, tokens)
    acted, laid, paid = np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape)
    for agent in range(agents):
        acted[:, :, agent, :, agent] = True
        laid[:, :, agent, :, agent] = value[:, :, agent]
        paid[:, :, agent, :, agent, -1] = reward[:, :, agent]
    flat = (prompts, rollouts, agents, steps * agents * tokens)
    return Batch.of(
        acted_pknt=acted.reshape(flat),
        value_pknt=laid.reshape(flat),
        step_reward_pknt=paid.reshape(flat),
        reward_pk=reward.sum(axis=(2, 3)),
    )


def assign(batch: Batch, *, gamma: float = 0.99, lam: float = 0.95, whiten: bool = True, eps: float = 1e-8) -> Credit:
    """The chain's GAE; the critic's targets are the diagnostic ``target_pknt``, whitening comes after them."""
    advantage = gae.over_actions(batch, gamma, lam)
    target = np.where(batch.acted_pknt, advantage + batch.need("value_pknt"), 0.0)
    if whiten:
        counted = AxisGroups(batch.acted_pknt & (advantage != 0), (0, 1, 2, 3))
        mean = counted.mean(advantage)
        spread = np.sqrt(counted.mean((advantage - mean) ** 2)) + eps
        varied = normalise(advantage, counted, ddof=0).any()
        advantage = np.where(batch.acted_pknt, (advantage - mean) / spread, 0.0) if varied else 0.0 * advantage
    return Credit(advantage, diagnostics={"target_pknt": target})


def example() -> Example:
    """Two steps of two agents, of whom the last one is paid at the end."""
    value_tn, reward_tn = np.array([[0.5, 0.6], [0.4, 0.7]]), np.array([[0, 0], [0, 1.0]])
    batch = Batch.of(reward_pk=[[1]], step_reward_pknt=[[reward_tn.T]], value_pknt=[[value_tn.T]])
    return Example(batch, source="SII-MARFT/MARFT 4a734e3: 0.048668, -0.651355, 1.603602, -1.000914")


METHOD = Method(
    name="marft",
    title="MARFT: GAE chained through agents and steps",
    assign=assign,
    paper="2504.16129",
    formula=(
        r"\delta_q = r_q + \gamma V_{q+1} - V_q, \quad A_q = \delta_q + \gamma \lambda A_{q+1}, \quad "
        r"q \text{ over agents inside a step, then steps}"
    ),
    evidence=("abstract", "code", "run"),
    requires=("reward_pk", "value_pknt"),
    optional=("step_reward_pknt", "final_value_pkn"),
    signal=("reward_pk", "step_reward_pknt", "value_pknt", "final_value_pkn"),
    traits=Traits(
        granularity="action", group="whole batch", critic=True, flags=frozenset({"multi_agent", "group_free"})
    ),
    presets={"raw": {"whiten": False}},
    example=example,
)
