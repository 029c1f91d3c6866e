"""Speed of the worlds of one decision per agent against the random numbers that they need at least, measured in one run.

    python tests/benchmarks/bench_worlds.py [--repeats 5] [--small]

Candidates take turns, so that a busy machine slows all of them. The raw draws are what no world can do without: a uniform number for each
action, a normal one for each observed quality and each reward.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from reproductions.methods import grpo
from reproductions.worlds.degenerate import Degenerate
from reproductions.worlds.one_turn import OneTurn
from reproductions.worlds.roles import Roles
from reproductions.worlds.team import Team

ROLLOUTS = 8


def timed(candidates: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each, taken in turns after one run that is not counted."""
    for run in candidates.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(repeats):
        for name, run in candidates.items():
            start = perf_counter()
            run()
            seconds[name].append(perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}


def raw_draws(rng: np.random.Generator, world: OneTurn, prompts: int) -> None:
    shape = (world.agents, world.turns, prompts, ROLLOUTS)
    rng.random(shape)
    rng.standard_normal((world.agents, prompts, ROLLOUTS))
    rng.standard_normal((prompts, ROLLOUTS))


def play_and_credit(rng: np.random.Generator, world: OneTurn, prompts: int) -> None:
    grpo.METHOD.run(world.play(rng, prompts, ROLLOUTS).batch)


def large(world: OneTurn, episodes: int, repeats: int, what: str) -> None:
    rng, prompts = np.random.default_rng(0), episodes // ROLLOUTS
    seconds = timed(
        {
            "raw": lambda: raw_draws(rng, world, prompts),
            "play": lambda: world.play(rng, prompts, ROLLOUTS),
            "both": lambda: play_and_credit(rng, world, prompts),
        },
        repeats,
    )
    print(
        f"  {what:<36} {seconds['both']:8.3f} s with GRPO, {seconds['play']:8.3f} s play alone, "
        f"{seconds['raw']:8.3f} s raw draws: {seconds['both'] / seconds['raw']:5.1f} times these"
    )


def small(world: OneTurn, repeats: int) -> None:
    """What one step of a training loop costs, where Python counts more than numpy."""
    rng, policy = np.random.default_rng(0), world.start()

    def steps() -> None:
        for _ in range(100):
            world.play(rng, 8, ROLLOUTS, policy=policy)

    seconds = timed({"steps": steps}, repeats)["steps"] / 100
    print(f"  {world.name:<36} {seconds * 1e3:8.3f} ms a batch of 8 x {ROLLOUTS}")


def coalitions(agents: int, repeats: int) -> None:
    world, rng = Team(agents=agents, game="bottleneck"), np.random.default_rng(0)
    episodes = world.play(rng, 32, ROLLOUTS)
    candidates = {
        "coalitions": lambda: world.coalitions(rng, episodes),
        "closed form": lambda: world.rules.shapley(episodes.hidden["setting"].quality_pkn),
    }
    seconds = timed(candidates, repeats)
    print(
        f"  {agents} agents, 32 x {ROLLOUTS} episodes{'':<12} {seconds['coalitions']:8.3f} s for {2**agents} coalitions each, "
        f"{seconds['closed form'] * 1e3:8.3f} ms for exact Shapley values in closed form"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a hundredth of the size, to see that it runs")
    options = parser.parse_args()
    episodes = 10_000 if options.small else 1_000_000
    print(f"{episodes} episodes (aim for team with GRPO: under 5 s)")
    large(Team(agents=2), episodes, options.repeats, "team, 2 agents, additive")
    large(Team(agents=4, game="strong_weak"), episodes, options.repeats, "team, 4 agents, strong_weak")
    large(
        Team(agents=4, game="redundant", classes=3), episodes, options.repeats, "team, 4 agents, redundant, 3 classes"
    )
    large(Roles(), episodes, options.repeats, "roles, 3 agents, up to 3 calls")
    large(Degenerate(), episodes, options.repeats, "degenerate, 2 agents")
    print("\nsmall batches")
    for world in (Team(agents=4), Roles(), Degenerate()):
        small(world, options.repeats)
    print("\nall coalitions by replay")
    coalitions(6 if options.small else 12, options.repeats)


if __name__ == "__main__":
    main()
