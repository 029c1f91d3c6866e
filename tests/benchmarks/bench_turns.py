"""Speed of the worlds with turns and tokens against the random numbers that they need at least, measured in one run.

    python tests/benchmarks/bench_turns.py [--repeats 5] [--small]

A uniform number for each action is what no world can do without; the discussion needs a second one for each answer, the tokens a normal one for
each length. Time goes by positions: the loop is over turns and agents, never over episodes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from bench_worlds import timed

from reproductions import registry
from reproductions.worlds.chain import Chain
from reproductions.worlds.process import Process
from reproductions.worlds.tokens import Tokens

ROLLOUTS = 8


def raw_draws(rng: np.random.Generator, world: Any, prompts: int) -> Callable[[], Any]:
    """As many uniform numbers as the longest episodes have actions."""
    shape = (world.agents * world.turns, prompts, ROLLOUTS)
    return lambda: rng.random(shape)


def line(world: Any, method: str, episodes: int, repeats: int) -> None:
    rng, prompts = np.random.default_rng(0), episodes // ROLLOUTS
    fields = frozenset(registry.get(method).requires)

    def credit() -> None:
        registry.get(method).run(world.play(rng, prompts, ROLLOUTS, fields=fields).batch)

    seconds = timed(
        {
            "both": credit,
            "play": lambda: world.play(rng, prompts, ROLLOUTS),
            "raw": raw_draws(rng, world, prompts),
            "step": lambda: world.play(rng, 8, ROLLOUTS, fields=fields),
        },
        repeats,
    )
    print(
        f"  {world.name + ' with ' + method:<28} {episodes / seconds['play']:10.0f} episodes/s, {seconds['play'] / seconds['raw']:6.1f} times "
        f"raw draws, {episodes / seconds['both']:10.0f} with credit; {seconds['step'] * 1e3:6.2f} ms a batch of 8 x {ROLLOUTS}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a hundredth of the size, to see that it runs")
    options = parser.parse_args()
    episodes = 1_000 if options.small else 100_000
    print(f"{episodes} episodes")
    for world, method in (
        (Chain(), "gae"),
        (Chain(), "gigpo"),
        (Chain(), "treerl"),
        (Chain(sampling="greedy"), "at_grpo"),
        (Process(), "cad_grpo"),
        (Process(), "cure"),
        (Tokens(), "dapo"),
    ):
        line(world, method, episodes, options.repeats)


if __name__ == "__main__":
    main()
