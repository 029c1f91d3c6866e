"""How fast the benchmark goes, and how much of its time is numpy's.

    python tests/benchmarks/bench_suite.py [--suite credit_v1] [--seeds 2] [--jobs 2]

Two measures of the share of numpy. By clocks: the workers' seconds inside worlds, methods and metrics, over all of their seconds; the
rest is the runner (finding needs, cutting batches, rows, hashes). By profile, of one seed in this process: the time inside
compiled functions over all of it; worlds, methods and metrics have Python of their own, which a small batch feels most.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
from dataclasses import replace
from time import perf_counter, process_time

from threadpoolctl import threadpool_limits

from reproductions import suites
from reproductions.bench import Row, Suite, run


def timed(suite: Suite, jobs: int) -> None:
    rows: list[Row] = []
    wall, own = perf_counter(), process_time()
    ran = run(suite, jobs=jobs, on_row=rows.append)
    wall, own = perf_counter() - wall, process_time() - own
    print(
        f"{suite.name}: {len(suite.situations)} situations, {len(suite.entries)} methods and presets, {len(suite.seeds)} seeds"
    )
    print(f"  {ran.summary()}")
    print(f"  numpy's share by clocks: {ran.numpy_share:.1%}; this process took {own:.1f} s of {wall:.1f} s")
    whole = wall / len(suite.seeds) * len(suites.get(suite.name).seeds)
    print(f"  at this pace all {len(suites.get(suite.name).seeds)} seeds take {whole:.0f} s")


def slowest(rows: list[Row], count: int = 5) -> list[tuple[str, float]]:
    """Methods by their own seconds a cell."""
    seconds: dict[str, list[float]] = {}
    for row in rows:
        if row["metrics"]:
            seconds.setdefault(row["method"], []).append(row["cost"]["seconds"])
    means = {name: sum(values) / len(values) for name, values in seconds.items()}
    return sorted(means.items(), key=lambda item: -item[1])[:count]


def profiled(suite: Suite) -> None:
    """A first seed warms up what all seeds share; the second is looked at."""
    run(suite.narrowed(seeds=1), jobs=1, on_row=lambda row: None)
    rows: list[Row] = []
    profile = cProfile.Profile()
    profile.enable()
    run(replace(suite, seeds=(1,)), jobs=1, on_row=rows.append)
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    compiled = sum(own for (file, _, _), (_, _, own, _, _) in stats.items() if file == "~")
    library = sum(own for (file, _, _), (_, _, own, _, _) in stats.items() if "numpy" in file)
    whole = sum(own for _, _, own, _, _ in stats.values())
    print(
        f"  by profile of one seed: compiled functions {compiled / whole:.0%}, numpy's own Python {library / whole:.0%}"
    )
    print("  slowest methods: " + ", ".join(f"{name} {1e3 * seconds:.0f} ms a cell" for name, seconds in slowest(rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="credit_v1")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    suite = suites.get(options.suite).narrowed(seeds=options.seeds)
    timed(suite, options.jobs)
    with threadpool_limits(1):
        profiled(suite)


if __name__ == "__main__":
    main()
