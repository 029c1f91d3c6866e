"""Run claims: one row a seed, in worker processes, finished seeds skipped; and verdicts from rows."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from math import isfinite
from platform import python_version
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from reproductions import registry
from reproductions.bench.code import code_hash
from reproductions.claims import get
from reproductions.claims.claim import Claim, Decision
from reproductions.worlds.base import Cost

Row = dict[str, Any]


def code_of(claim: Claim) -> str:
    """The hash of all code behind a claim: its measurement with worlds and metrics, and its methods."""
    modules = [registry.module_of(method).__name__ for method in claim.methods]
    return code_hash(claim.measure.__module__, *modules)


def key_of(claim: Claim, seed: int) -> str:
    """Sixteen hex digits over everything that decides what a seed gives."""
    text = json.dumps([claim.slug, seed, code_of(claim)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def measure_seed(slug: str, seed: int) -> Row:
    """One seed of a claim as a row; what goes wrong is in its ``error``."""
    claim = get(slug)
    begun, metrics, cost, error = perf_counter(), {}, Cost(), None
    try:
        with threadpool_limits(1):
            measured = claim.measure(seed)
        metrics, cost = dict(measured.metrics), measured.cost
    except Exception as found:
        error = f"{type(found).__name__}: {found}".replace("\n", " ")
    return {
        "suite": slug,
        "method": "claim",
        "preset": "paper",
        "world": slug,
        "seed": seed,
        "metrics": {name: _finite(value) for name, value in metrics.items()},
        "cost": {**asdict(cost), "seconds": perf_counter() - begun},
        "error": error,
        "lacks": None,
        "inputs_hash": key_of(claim, seed),
        "code_hash": code_of(claim),
        "versions": {"python": python_version(), "numpy": np.__version__},
    }


def run_claims(
    slugs: Sequence[str],
    *,
    seeds: int | None = None,
    done: Collection[str] = frozenset(),
    jobs: int = 2,
    on_row: Callable[[Row], None],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, int]:
    """``(run, skipped)`` seeds of the claims. ``on_row`` gets every row in this process as soon as it exists."""
    tasks = [(slug, seed) for slug in slugs for seed in range(seeds or get(slug).seeds)]
    pending = [(slug, seed) for slug, seed in tasks if key_of(get(slug), seed) not in done]
    skipped = len(tasks) - len(pending)
    for finished, row in enumerate(_rows(pending, jobs), start=1):
        on_row(row)
        if progress:
            progress(skipped + finished, len(tasks))
    return len(pending), skipped


def decision(slug: str, rows: Iterable[Mapping[str, Any]]) -> Decision:
    """The verdict from a claim's rows: the last row of each seed, those that failed left out (and so missing)."""
    latest = {row["seed"]: row for row in rows if not row["error"]}
    metrics, cost = [], Cost()
    for seed in sorted(latest):
        row = latest[seed]
        metrics.append({name: float("nan") if value is None else value for name, value in row["metrics"].items()})
        cost = cost + Cost(row["cost"]["episodes"], row["cost"]["replays"], row["cost"]["coach_calls"])
    return get(slug).decide(metrics, cost)


def _rows(pending: Sequence[tuple[str, int]], jobs: int) -> Iterable[Row]:
    if jobs == 1 or len(pending) < 2:
        yield from (measure_seed(slug, seed) for slug, seed in pending)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(measure_seed, slug, seed) for slug, seed in pending]):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None
