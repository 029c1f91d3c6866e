r"""MA-GiGPO: the team's trajectory against its task's, plus each action against those of the same agent and turn in the same state.

As printed
    Direction A of the landscape note on AT-GRPO, in words only: GiGPO's group in group for teams, the outer group the team
    trajectory, the inner group each agent and turn.

As computed
    GiGPO's two parts, A = A^E + omega A^S. A^E is the team's return less the mean over the task's rollouts. A^S is the discounted
    team return after an action, less the mean over the actions of the same agent at the same turn that started from the same
    anchor state. GiGPO's values are kept: gamma 0.95, omega 1, no division.

Differs
    ``any_turn`` leaves the turn out of the inner group, which is then GiGPO's rule for each agent: with one agent it *is*
    GiGPO. ``paper_std`` divides both parts, as ALFWorld's script of GiGPO does. AT-GRPO has the inner group without the state,
    because it samples all candidates from one; here rollouts are independent and the state makes them comparable.

Evidence
    Own proposal: there is no paper and no code to compare with. The identities are tested instead.

Traps
    - Every agent of a rollout gets the same A^E. Agents differ in A^S only, thus only where states recur.
    - What an agent saw must hold what the others did before it. If it does, A^S compares futures from one history; if not, the
      luck of those before it is back.
    - The return after an action still holds what teammates did later.
    - gamma discounts per action in the order of play, so that three agents discount a turn three times.
    - Histories of language-model agents hardly ever recur: look at the share of actions with A^S = 0, or take ``anchor="clustered"``.

Run
    python -m reproductions run ma_gigpo --example
"""

from __future__ import annotations

from reproductions.core import Batch, Credit, Example, Method, Traits
from reproductions.methods import gigpo


def assign(
    batch: Batch,
    *,
    omega: float = 1.0,
    gamma: float = 0.95,
    mean_only: bool = True,
    eps: float = 0.0,
    same_turn: bool = True,
    anchor: gigpo.Anchor = "exact",
    threshold: float = 0.95,
    distance: float = 0.1,
) -> Credit:
    """Both parts added. ``same_turn`` is whether the inner group keeps turns apart; agents it always does."""
    episode = gigpo.episode_advantage(batch, mean_only, eps, per_step=False, singleton="zero")
    key = gigpo.anchors(batch, anchor, threshold, distance, within="pnt" if same_turn else "pn")
    step = gigpo.step_advantage(batch, key, gamma, mean_only, eps)
    return Credit(episode + omega * step, diagnostics={"episode_pknt": episode, "step_pknt": step})


def example() -> Example:
    """One task, four rollouts, a planner and a worker: the worker saw plan "a" twice and plan "b" twice."""
    batch = Batch.of(
        reward_pk=[[1, 0, 0, 0]],
        state_pknt=[[[["task"], ["a"]], [["task"], ["a"]], [["task"], ["b"]], [["task"], ["b"]]]],
    )
    return Example(
        batch,
        parameters={"gamma": 1.0},
        source="by hand: planner 1.5, -0.5, -0.5, -0.5; worker 1.25, -0.75, -0.25, -0.25",
    )


METHOD = Method(
    name="ma_gigpo",
    title="MA-GiGPO: team trajectories outside, agent and turn at an anchor state inside",
    assign=assign,
    paper="own prototype, direction A of the landscape note on AT-GRPO",
    formula=(
        r"A_{p,k,n,t} = R_{p,k} - \mathrm{mean}(R_p) + \omega (G_{p,k,n,t} - \mathrm{mean}(G \text{ of } n, t \text{ at } s_{p,k,n,t})), "
        r"\quad G \text{ the discounted team return from the action on}"
    ),
    evidence=("own",),
    requires=("reward_pk", "state_pknt"),
    optional=("step_reward_pknt", "state_vector_pkntf"),
    signal=("reward_pk", "step_reward_pknt"),
    traits=Traits(
        granularity="action",
        group="same prompt, and same agent, turn and anchor state",
        flags=frozenset({"multi_agent"}),
    ),
    claims=frozenset({"scale_equivariant"}),
    presets={"any_turn": {"same_turn": False}, "paper_std": {"mean_only": False, "eps": 1e-6}},
    example=example,
)
