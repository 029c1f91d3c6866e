"""Speed of the formulas against what numpy needs for the same sums, as ratios measured in one run.

    python tests/benchmarks/bench_reproductions.py [--repeats 7] [--small]

Candidates take turns, so that a busy machine slows all of them; the ratio of two medians is what to look at. Where verl and torch
are installed, verl's own functions are timed beside ours; where they are not, the script says so.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from reproductions import oracle
from reproductions.core import Batch
from reproductions.methods import gae, gigpo, grpo

Candidate = Callable[[], Any]


def timed(candidates: dict[str, Candidate], repeats: int) -> dict[str, float]:
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


def report(title: str, seconds: dict[str, float], target: str) -> None:
    """The candidates, each as a multiple of the first of them that is not ours, or alone against its target."""
    print(f"\n{title} (aim: {target})")
    ours, *others = seconds
    print(f"  {ours:<44} {seconds[ours]:9.4f} s")
    for name in others:
        print(f"  {name:<44} {seconds[name]:9.4f} s   {ours} takes {seconds[ours] / seconds[name]:.2f} times this")


def two_bincounts(reward: np.ndarray, group: np.ndarray, size: int) -> np.ndarray:
    """The least that group means and deviations by key cost: a pass for the sums, a pass for the squares."""
    centred = reward - (np.bincount(group, reward) / size)[group]
    spread = np.sqrt(np.bincount(group, centred * centred) / (size - 1))
    return centred / spread[group]


def bench_grpo(rollouts: int, repeats: int) -> None:
    size = 8
    reward = np.random.default_rng(0).normal(size=rollouts)
    group = np.repeat(np.arange(rollouts // size), size)
    batch = Batch.of(reward_pk=reward.reshape(-1, size))
    ours = grpo.METHOD.run(batch).advantage_pknt.ravel()
    np.testing.assert_allclose(ours, two_bincounts(reward, group, size), rtol=1e-9, atol=1e-9)
    candidates: dict[str, Candidate] = {
        "grpo": lambda: grpo.METHOD.run(batch),
        "two np.bincount passes": lambda: two_bincounts(reward, group, size),
    }
    candidates |= verl_grpo(reward, group)
    report(f"GRPO, {rollouts} rollouts in groups of {size}", timed(candidates, repeats), "within 2 times two bincounts")


def recurrence_in_place(reward_tb: np.ndarray, value_tb: np.ndarray, gamma: float, lam: float) -> np.ndarray:
    """GAE with time as the first axis, row by row into one result."""
    out = np.empty_like(reward_tb)
    after, carried = np.zeros(reward_tb.shape[1]), np.zeros(reward_tb.shape[1])
    for t in range(len(reward_tb) - 1, -1, -1):
        carried = out[t] = reward_tb[t] + gamma * after - value_tb[t] + gamma * lam * carried
        after = value_tb[t]
    return out


def bench_gae(rollouts: int, steps: int, repeats: int) -> None:
    reward_tb, value_tb = np.random.default_rng(1).normal(size=(2, steps, rollouts))
    reward_bt, value_bt = np.ascontiguousarray(reward_tb.T), np.ascontiguousarray(value_tb.T)
    expected = recurrence_in_place(reward_tb, value_tb, 0.99, 0.95)
    for reward, value in ((reward_tb.T, value_tb.T), (reward_bt, value_bt)):
        np.testing.assert_allclose(gae.advantage(reward, value, 0.99, 0.95), expected.T, atol=1e-9)
    candidates: dict[str, Candidate] = {
        "gae, time-major in memory": lambda: gae.advantage(reward_tb.T, value_tb.T, 0.99, 0.95),
        "in-place time-major recurrence": lambda: recurrence_in_place(reward_tb, value_tb, 0.99, 0.95),
    }
    report(f"GAE, {rollouts} x {steps}", timed(candidates, repeats), "within 2 times the recurrence")
    rows: dict[str, Candidate] = {
        "gae, rollout-major in memory": lambda: gae.advantage(reward_bt, value_bt, 0.99, 0.95),
        "in-place time-major recurrence": candidates["in-place time-major recurrence"],
    }
    rows |= verl_gae(reward_bt, value_bt)
    report(f"GAE, {rollouts} x {steps}, rows of rollouts", timed(rows, repeats), "none, for comparison")


def bench_gigpo(steps: int, repeats: int) -> None:
    length, size, states = 50, 8, 60
    tasks = steps // (length * size)
    rng = np.random.default_rng(2)
    names = np.array([f"You are in room {i}. The door is {'open' if i % 2 else 'shut'}." for i in range(states)])
    batch = Batch.of(
        reward_pk=rng.integers(0, 2, (tasks, size)),
        state_pknt=names[rng.integers(0, states, (tasks, size, 1, length))],
    )
    seconds = timed({"gigpo, states as text": lambda: gigpo.METHOD.run(batch, "authors_code_std")}, repeats)
    report(f"GiGPO, {batch.acted_pknt.size} steps: grouping and both advantages", seconds, "under 1 s")


def bench_shapley(agents: int, repeats: int) -> None:
    value_s = np.random.default_rng(3).normal(size=1 << agents)
    dividends = {frozenset(pair): 1.0 for pair in zip(range(agents * 50), range(1, agents * 50 + 1), strict=True)}
    report(
        f"Shapley, {agents} agents, all coalitions",
        timed({"shapley": lambda: oracle.shapley(value_s)}, repeats),
        "under 0.2 s",
    )
    closed = timed({"shapley_of_dividends": lambda: oracle.shapley_of_dividends(dividends, agents * 50 + 1)}, repeats)
    report(f"Shapley, {agents * 50 + 1} agents, {len(dividends)} pairs", closed, "any number of agents")


def verl_installed() -> bool:
    return all(importlib.util.find_spec(name) for name in ("verl", "torch"))


def verl_grpo(reward: np.ndarray, group: np.ndarray) -> dict[str, Candidate]:
    """verl's vectorised estimator on one token per rollout; its default loop takes minutes at this size."""
    if not verl_installed():
        return {}
    import torch
    from verl.trainer.ppo.core_algos import compute_grpo_vectorized_outcome_advantage as estimator

    token, mask = torch.tensor(reward, dtype=torch.float32)[:, None], torch.ones(len(reward), 1)
    return {"verl, vectorised": lambda: estimator(token_level_rewards=token, response_mask=mask, index=group)}


def verl_gae(reward_bt: np.ndarray, value_bt: np.ndarray) -> dict[str, Candidate]:
    """verl's GAE, which also masks and whitens."""
    if not verl_installed():
        return {}
    import torch
    from verl.trainer.ppo.core_algos import compute_gae_advantage_return as estimator

    reward, value = torch.tensor(reward_bt), torch.tensor(value_bt)
    mask = torch.ones_like(reward)
    return {"verl, with whitening": lambda: estimator(reward, value, mask, 0.99, 0.95)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="a hundredth of the size, to see that it runs")
    options = parser.parse_args()
    share = 100 if options.small else 1
    print(
        "verl is installed and timed beside" if verl_installed() else "verl and torch are not both installed: not timed"
    )
    bench_grpo(1_000_000 // share, options.repeats)
    bench_gae(4096 // share, 1024, options.repeats)
    bench_gigpo(1_000_000 // share, options.repeats)
    bench_shapley(12 if options.small else 20, options.repeats)


if __name__ == "__main__":
    main()
