"""Suites and claims run into the experiment log: rows as they come, nothing twice, people's words never touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kb.bench.errors import reproduction_errors
from kb.bench.pictures import draw
from kb.bench.results import CLAIMS, language_of, write_claim, write_overview, write_suite
from kb.errors import KbError, UsageError, near_hint
from kb.experiments import RUNS_NAME, append_runs, experiments_folder, read_experiment
from kb.workspace import Workspace

CREDIT, LONG = "credit_v1", "full"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What to run. ``at`` is the time that goes into the rows; empty lists and None mean what the suite or claim says."""

    name: str
    at: str
    methods: tuple[str, ...] = ()
    worlds: tuple[str, ...] = ()
    seeds: int | None = None
    jobs: int = 2
    full: bool = False


@dataclass(slots=True)
class Report:
    """What a run did, by experiment: new rows, rows that failed, runs that were there already; and a line on speed."""

    slugs: list[str] = field(default_factory=list)
    added: int = 0
    failed: int = 0
    skipped: int = 0
    speed: str = ""


def runnable(language: str = "en") -> dict[str, str]:
    """Names that ``run`` takes, with the question that each is there for."""
    with reproduction_errors():
        from reproductions.claims import claims
        from reproductions.suites import SUITES

        zh = language == "zh"
        suites = {name: make() for name, make in SUITES.items()}
        found = {name: suite.question_zh if zh else suite.question for name, suite in suites.items()}
        found[CLAIMS] = "全部预登记论断" if zh else "all pre-registered claims, one after the other"
        return found | {slug: claim.statement_zh if zh else claim.statement for slug, claim in claims().items()}


def run(workspace: Workspace, request: Request, progress: Progress | None = None) -> Report:
    """Run a suite, a claim, or all claims. Raises UsageError for another name, KbError when another run is under way."""
    names = runnable()
    if request.name not in names:
        hint = near_hint(request.name, names, "kb bench list names them all", 0.4)
        raise UsageError(f"there is no suite or claim {request.name!r}", hint)
    with _alone(workspace), reproduction_errors():
        from reproductions.claims import claims

        if request.name in claims() or request.name == CLAIMS:
            return _run_claims(workspace, request, progress)
        report = _run_suite(workspace, request, progress)
        if request.name == CREDIT and request == Request(request.name, request.at, jobs=request.jobs):
            # The whole suite brings the verdicts on the claims up to date, which are about the same methods and worlds.
            of_claims = _run_claims(workspace, request, progress)
            report.slugs.append(CLAIMS)
            report.added, report.failed = report.added + of_claims.added, report.failed + of_claims.failed
            report.skipped += of_claims.skipped
        return report


def _run_suite(workspace: Workspace, request: Request, progress: Progress | None) -> Report:
    from reproductions.bench import run as run_cells
    from reproductions.suites import get

    whole = get(LONG if request.full else request.name)
    chosen = whole.narrowed(request.methods, request.worlds, request.seeds)
    report = Report([whole.name])
    add = _writer(workspace, request, report)
    ran = run_cells(chosen, done=_done(workspace, whole.name), jobs=request.jobs, on_row=add, progress=progress)
    report.skipped, report.speed = ran.skipped, ran.summary()
    _picture(workspace, whole.name, report)
    write_suite(workspace, whole.name, whole.question_zh if language_of(workspace) == "zh" else whole.question)
    return report


def _run_claims(workspace: Workspace, request: Request, progress: Progress | None) -> Report:
    from reproductions.claims import claims
    from reproductions.claims.running import run_claims

    if request.methods or request.worlds or request.full:
        raise UsageError(
            "a claim has its own methods and worlds", "leave out --method, --world and --full; --seeds is fine"
        )
    chosen = [request.name] if request.name in claims() else list(claims())
    report = Report(chosen if len(chosen) == 1 else [CLAIMS])
    done = frozenset().union(*(_done(workspace, slug) for slug in chosen))
    add = _writer(workspace, request, report)
    _, report.skipped = run_claims(
        chosen, seeds=request.seeds, done=done, jobs=request.jobs, on_row=add, progress=progress
    )
    for slug in chosen:
        write_claim(workspace, slug)
        _picture(workspace, slug, report)
    _picture(workspace, CLAIMS, report)
    write_overview(workspace)
    return report


def _picture(workspace: Workspace, slug: str, report: Report) -> None:
    """Draw what the runs allow, unless nothing is new and the pictures are there."""
    folder = experiments_folder(workspace) / slug / "pictures"
    if report.added or not folder.is_dir():
        draw(workspace, slug)


def _writer(workspace: Workspace, request: Request, report: Report) -> Callable[[Mapping[str, Any]], None]:
    def add(row: Mapping[str, Any]) -> None:
        append_runs(experiments_folder(workspace) / row["suite"] / RUNS_NAME, [{**row, "at": request.at}])
        report.added += 1
        report.failed += row["error"] is not None

    return add


def _done(workspace: Workspace, slug: str) -> frozenset[str]:
    if not (experiments_folder(workspace) / slug).is_dir():
        return frozenset()
    return read_experiment(workspace, slug).keys


@contextmanager
def _alone(workspace: Workspace) -> Iterator[None]:
    """One benchmark at a time; other commands may write meanwhile, since a run takes minutes."""
    from filelock import FileLock, Timeout

    workspace.derived.mkdir(parents=True, exist_ok=True)
    lock = FileLock(workspace.derived / "bench.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise KbError(
            "another benchmark is running in this workspace", "wait for it to end, then run this again"
        ) from None
    try:
        yield
    finally:
        lock.release()
