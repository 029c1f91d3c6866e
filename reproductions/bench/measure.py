"""The cells of one situation and seed, measured together: methods that need the same fields share the episodes they read.

A cell that fails becomes a row with its error, a method that the world cannot feed a row that names the field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from reproductions import metrics
from reproductions.bench.assigner import Assigner
from reproductions.bench.needs import Need, Probe
from reproductions.bench.quality import Known, quality
from reproductions.bench.rows import Row, row_of
from reproductions.bench.sampling import Play, cut
from reproductions.bench.suite import Cell, Situation, Sizes
from reproductions.registry import get
from reproductions.training import Training, train
from reproductions.worlds.base import Episodes, World, spec_hash


@dataclass(slots=True)
class Clock:
    """Seconds in worlds, methods and metrics (all of them numpy), and of the whole job, the runner's own part included."""

    worlds: float = 0.0
    methods: float = 0.0
    metrics: float = 0.0
    whole: float = 0.0

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        """Add the time of a block to a part."""
        start = perf_counter()
        try:
            yield
        finally:
            setattr(self, part, getattr(self, part) + perf_counter() - start)

    def __add__(self, other: Clock) -> Clock:
        return Clock(
            *(getattr(self, name) + getattr(other, name) for name in ("worlds", "methods", "metrics", "whole"))
        )


@dataclass(slots=True)
class _Job:
    """What the cells of one situation and seed share, and the rows so far."""

    cells: Sequence[Cell]
    world: World
    probe: Probe
    clock: Clock
    rows: list[Row] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)

    @property
    def rng(self) -> np.random.Generator:
        """A new stream of this spec and seed: the same for every set of fields, so that methods meet like episodes."""
        return np.random.default_rng([self.cells[0].seed, int(spec_hash(self.cells[0].situation.spec), 16)])


def measure(cells: Sequence[Cell]) -> tuple[list[Row], Clock]:
    """Rows of cells that differ in their method only. Never raises for what a world or a method does."""
    clock = Clock()
    with clock.on("whole"):
        try:
            situation = cells[0].situation
            probe = _probe(situation)
        except Exception as error:
            return [row_of(cell, error=error) for cell in cells], clock
        job = _Job(cells, probe.world, probe, clock)
        for group in _by_fields(job):
            if isinstance(situation.task, Training):
                _train_all(job, situation.task, group)
            else:
                _credit_all(job, situation.task, group)
    return job.rows, clock


def _probe(situation: Situation) -> Probe:
    """The situation's world and what methods need in it, kept for the next seeds: neither depends on the seed."""
    key = f"{spec_hash(situation.spec)} {situation.task.rollouts}"
    if key not in _PROBES:
        _PROBES[key] = Probe(situation.build(), situation.task.rollouts)
    return _PROBES[key]


_PROBES: dict[str, Probe] = {}


def _by_fields(job: _Job) -> list[list[tuple[Cell, Need]]]:
    """Cells with what they need, together where they need the same. Those that cannot run become rows here."""
    groups: dict[frozenset[str], list[tuple[Cell, Need]]] = defaultdict(list)
    for cell in job.cells:
        entry = cell.entry
        try:
            with job.clock.on("worlds"):
                need = job.probe.need(get(entry.method), entry.preset, entry.parameters)
        except Exception as error:
            job.rows.append(row_of(cell, error=error))
            continue
        if need.lacks:
            job.rows.append(row_of(cell, lacks=need.lacks))
        else:
            groups[need.fields].append((cell, need))
    return list(groups.values())


def _credit_all(job: _Job, sizes: Sizes, group: Sequence[tuple[Cell, Need]]) -> None:
    """Credit of one play by all methods that need its fields."""
    price = group[0][1].price(sizes.call_price)
    try:
        with job.clock.on("worlds"):
            free = job.probe.free_price(sizes.call_price)
            affordable = metrics.prompts_at_equal_cost(sizes.prompts * free, price)
            prompts = sizes.batches * max(sizes.prompts, affordable)
            played = job.world.play(job.rng, prompts, sizes.rollouts, fields=group[0][1].fields)
            play = cut(played, sizes.batches, sizes.prompts, affordable)
        with job.clock.on("metrics"):
            known = _known(job, play.whole)
    except Exception as error:
        job.rows += [row_of(cell, error=error) for cell, _ in group]
        return
    share = sizes.batches * sizes.prompts / prompts
    costs = {"relative_cost": price / free, "prompts_equal_cost": float(affordable)}
    for cell, need in group:
        try:
            found, seconds = _credit(job, cell, need, play, known)
        except Exception as error:
            job.rows.append(row_of(cell, error=error))
        else:
            job.rows.append(row_of(cell, found | costs, played.cost, share=share, seconds=seconds))


def _known(job: _Job, whole: Episodes) -> Known:
    """What is true of a play. Plays that differ only in fields on request have the same actions, and share it."""
    found = next((known for known in job.known if known.is_of(whole)), None)
    if found is None:
        found = Known.of(job.world, whole)
        job.known.append(found)
    return found


def _credit(job: _Job, cell: Cell, need: Need, play: Play, known: Known) -> tuple[dict[str, float], float]:
    """The metrics of one method, and the seconds that it took for all batches."""
    assign, second = _assigner(job, cell, need), _assigner(job, cell, need)
    with job.clock.on("methods"):
        assigned = assign.each(play.batches)
        again = play.batches_at_equal_cost is not play.batches
        at_cost = second.each(play.batches_at_equal_cost) if again else assigned
    with job.clock.on("metrics"):
        return quality(cell.entry.method, known, play, assigned, at_cost), assign.seconds


def _train_all(job: _Job, training: Training, group: Sequence[tuple[Cell, Need]]) -> None:
    """Training with each method; the first batch is the same for all that need the same fields."""
    for cell, need in group:
        assign, begun = _assigner(job, cell, need), perf_counter()
        fields = need.fields | ({"drift_p"} & set(assign.method.optional))
        try:
            curve = train(job.world, assign, training, job.rng, fields)
        except Exception as error:
            job.rows.append(row_of(cell, error=error))
        else:
            job.rows.append(row_of(cell, curve.metrics(), curve.spent, seconds=assign.seconds, curve=curve.points()))
        job.clock.methods += assign.seconds
        job.clock.worlds += perf_counter() - begun - assign.seconds


def _assigner(job: _Job, cell: Cell, need: Need) -> Assigner:
    method = get(cell.entry.method)
    with job.clock.on("methods"):
        trained = job.probe.fitted(method, need.fields)
    return Assigner(method, cell.entry.preset, {**trained, **cell.entry.parameters})
