"""Run the cells of a suite in worker processes; rows come back as they are finished, so that a crash loses nothing."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from time import perf_counter

from threadpoolctl import threadpool_limits

from reproductions.bench.measure import Clock, measure
from reproductions.bench.rows import Row, row_of
from reproductions.bench.suite import Cell, Suite
from reproductions.core import ParameterError

Job = list[Cell]


@dataclass(slots=True)
class Ran:
    """What a run did. ``clock`` adds up the workers' seconds: in worlds, methods and metrics, and altogether."""

    wanted: int
    skipped: int
    measured: int = 0
    lacking: int = 0
    failed: int = 0
    seconds: float = 0.0
    clock: Clock = field(default_factory=Clock)

    @property
    def cells_per_second(self) -> float:
        """Cells that were run, over the time on the clock on the wall."""
        return (self.measured + self.lacking + self.failed) / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def numpy_share(self) -> float:
        """The part of the workers' time inside worlds, methods and metrics, by clocks around their calls; the rest is the runner's."""
        inside = self.clock.worlds + self.clock.methods + self.clock.metrics
        return inside / self.clock.whole if self.clock.whole > 0.0 else 0.0

    def summary(self) -> str:
        """One line for people."""
        parts = {"worlds": self.clock.worlds, "methods": self.clock.methods, "metrics": self.clock.metrics}
        whole = max(self.clock.whole, 1e-9)
        shares = ", ".join(f"{name} {seconds / whole:.0%}" for name, seconds in parts.items())
        return (
            f"{self.measured} measured, {self.lacking} not runnable, {self.failed} failed, {self.skipped} already there; "
            f"{self.seconds:.1f} s, {self.cells_per_second:.0f} cells/s; "
            f"of the workers' time: {shares}, runner {1.0 - self.numpy_share:.0%}"
        )


def run(
    suite: Suite,
    *,
    done: Collection[str] = frozenset(),
    jobs: int = 2,
    on_row: Callable[[Row], None],
    progress: Callable[[int, int], None] | None = None,
) -> Ran:
    """Run every cell whose key is not in ``done``; ``on_row`` gets each row in this process as soon as it exists.

    ``progress(finished, wanted)`` is called after every group of cells. With one job nothing is started. An exception of
    ``on_row`` (a full disk, Ctrl-C) stops the run. Raises ParameterError for a situation that its world refuses.
    """
    if jobs < 1:
        raise ParameterError(f"{jobs} jobs do nothing", "give a whole number from 1")
    begun, cells = perf_counter(), suite.cells()
    pending = [cell for cell in cells if cell.key not in done]
    ran = Ran(wanted=len(cells), skipped=len(cells) - len(pending))
    grouped = [list(group) for _, group in groupby(pending, key=lambda cell: (cell.seed, cell.situation.name))]
    with closing(_results(grouped, jobs)) as results:
        for rows, clock in results:
            for row in rows:
                on_row(row)
                ran.failed += row["error"] is not None
                ran.lacking += row["lacks"] is not None
                ran.measured += row["error"] is None and row["lacks"] is None
            ran.clock = ran.clock + clock
            ran.seconds = perf_counter() - begun
            if progress:
                progress(ran.skipped + ran.measured + ran.lacking + ran.failed, ran.wanted)
    return ran


def _results(grouped: Sequence[Job], jobs: int) -> Generator[tuple[list[Row], Clock], None, None]:
    if jobs == 1 or len(grouped) < 2:
        with threadpool_limits(1):
            yield from map(measure, grouped)
        return
    waiting = deque(grouped)
    while waiting:
        suspects: list[Job] = []
        for job, found in _in_pool(waiting, jobs):
            if found is None:
                suspects.append(job)
            else:
                yield found
        # A worker that dies takes the pool with it, and nobody can tell which job it was: those under way are tried alone.
        for job in suspects:
            yield from (found or (_crashed(job), Clock()) for _, found in _in_pool(deque([job]), 1))


def _in_pool(waiting: deque[Job], jobs: int) -> Iterator[tuple[Job, tuple[list[Row], Clock] | None]]:
    """Jobs taken from ``waiting`` with what they gave, as they end. Ends early when a worker dies: those under way give None."""
    running: dict[Future[tuple[list[Row], Clock]], Job] = {}
    others = {child.pid for child in multiprocessing.active_children()}
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_one_thread)
    try:
        whole = True
        while running or (waiting and whole):
            while whole and waiting and len(running) < 2 * jobs:
                job = waiting.popleft()
                running[pool.submit(measure, job)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                whole = whole and not isinstance(future.exception(), BrokenProcessPool)
                yield job, future.result() if whole else None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        # Nobody waits for what is still under way; a worker may be minutes from noticing that the pool is gone.
        for child in multiprocessing.active_children():
            if child.pid not in others:
                child.terminate()


def _crashed(job: Job) -> list[Row]:
    return [row_of(cell, error=RuntimeError("the worker process died (out of memory?)")) for cell in job]


def _one_thread() -> None:
    """Workers share the cores already; threads of the linear algebra would only get in their way."""
    threadpool_limits(1)
