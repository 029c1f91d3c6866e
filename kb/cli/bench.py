"""``kb bench``: suites and claims run into the experiment log; what they came to as tables, pictures and files."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.choices import LangOption, choose, chosen_language
from kb.cli.output import JsonOption, print_json, print_table, say
from kb.errors import PARTIAL, UsageError
from kb.workspace import find_workspace

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from kb.bench.running import Report

app = typer.Typer(no_args_is_help=True, help="Formulas in worlds of known truth: run, compare, decide claims, draw.")

ExperimentArgument = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="As kb bench list names it.")]
MethodsOption = Annotated[
    list[str] | None, typer.Option("-m", "--methods", help="Only these methods, with commas or repeated.")
]
WorldsOption = Annotated[
    list[str] | None, typer.Option("--worlds", help="Only these worlds or situations, with commas or repeated.")
]


@app.command()
def run(
    name: Annotated[
        str, typer.Argument(metavar="SUITE|CLAIM", help="credit_v1, a claim's slug, or claims for all of them.")
    ],
    methods: MethodsOption = None,
    worlds: WorldsOption = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Only the first seeds.")] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Worker processes.")] = 2,
    full: Annotated[
        bool, typer.Option("--full", help="The suite full instead: every preset, 200 seeds, training; hours.")
    ] = False,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="The time written into the rows; else now.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run what has not been run yet. Stopping it loses nothing: the same command goes on."""
    from kb.bench.running import Request
    from kb.bench.running import run as run_request

    moment = _moment(at)
    request = Request(name, moment, _split(methods), _split(worlds), seeds, jobs, full)
    with _Bar() as bar:
        report = run_request(find_workspace(), request, bar.show)
    _tell(report, as_json)
    if report.failed:
        raise typer.Exit(PARTIAL)


@app.command("list")
def list_experiments(as_json: JsonOption = False) -> None:
    """List suites and claims that can be run, and experiments with their runs."""
    from kb.bench.results import language_of
    from kb.bench.running import runnable
    from kb.experiments import read_experiment, slugs

    workspace = find_workspace()
    questions = runnable(language_of(workspace))
    rows = []
    logged = [read_experiment(workspace, slug) for slug in slugs(workspace)]
    for experiment in logged:
        runs = experiment.current()
        rows.append(
            {
                "name": experiment.slug,
                "runs": len(runs),
                "failed": sum(bool(run.error) for run in runs),
                "seeds": len({run.seed for run in runs}),
                "last": max((run.at for run in runs), default=""),
                "title": experiment.title,
            }
        )
        for problem in experiment.problems:
            say(f"warning: {problem}")
    known = {experiment.slug for experiment in logged}
    rows += [
        {"name": name, "runs": 0, "failed": 0, "seeds": 0, "last": "", "title": question}
        for name, question in questions.items()
        if name not in known
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(
            ["name", "runs", "failed", "seeds", "last run", "question"],
            ([str(value) for value in row.values()] for row in rows),
        )


@app.command()
def show(experiment: ExperimentArgument, as_json: JsonOption = False) -> None:
    """Show one experiment: its text with its results."""
    from kb.bench.claims import claim_data, claim_slugs, judged
    from kb.bench.fidelity import summaries_of, summary_rows
    from kb.experiments import read_experiment

    workspace = find_workspace()
    if as_json and experiment in claim_slugs():
        print_json(claim_data(judged(workspace, [experiment])[0]))
        return
    found = read_experiment(workspace, experiment)
    for problem in found.problems:
        say(f"warning: {problem}")
    if as_json:
        print_json(summary_rows(summaries_of(found)))
        return
    typer.echo(_without_marks(found.text).strip())
    for run in found.current():
        if run.error:
            say(f"failed: {run.method} {run.preset} {run.world} seed {run.seed}: {run.error}")


@app.command()
def compare(
    experiment: ExperimentArgument,
    methods: MethodsOption = None,
    worlds: WorldsOption = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metrics", help="Only these metrics, with commas or repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare methods: mean, 95% interval and seeds of each metric in each world."""
    from kb.bench.claims import estimate
    from kb.bench.fidelity import selected, summaries_of, summary_rows
    from kb.experiments import read_experiment

    found = summaries_of(read_experiment(find_workspace(), experiment))
    chosen = selected(found, _split(methods), _split(worlds), _split(metric))
    rows = summary_rows(chosen)
    if as_json:
        print_json(rows)
        return
    lines = (
        [
            row["world"],
            row["metric"],
            row["method"],
            row["preset"],
            estimate(row["mean"], row["low"], row["high"]),
            f"{row['n']}" if row["n"] >= row["wanted"] else f"{row['n']} of {row['wanted']}",
        ]
        for row in rows
    )
    print_table(["world", "metric", "method", "preset", "mean [95% interval]", "seeds"], lines)


@app.command()
def plot(
    experiment: ExperimentArgument,
    lang: LangOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Else the experiment's folder pictures/.")
    ] = None,
) -> None:
    """Draw an experiment's pictures, PNG and SVG (claims: the forest of all verdicts)."""
    from kb.bench.pictures import draw

    workspace = find_workspace()
    paths = draw(workspace, experiment, chosen_language(lang, workspace), output)
    if not paths:
        say(f"nothing to draw in {experiment}; kb bench list shows what was run, kb bench show EXPERIMENT its numbers")
    for path in paths:
        typer.echo(path)


@app.command()
def claims(as_json: JsonOption = False, lang: LangOption = None) -> None:
    """List all pre-registered claims with their verdicts and decisive numbers."""
    from kb.bench.claims import claim_data, judged
    from kb.bench.results import VERDICTS, decisive_numbers

    workspace = find_workspace()
    items = judged(workspace)
    if as_json:
        print_json([claim_data(item) for item in items])
        return
    tongue = chosen_language(lang, workspace)
    heading = ["no.", "判定", "论断", "数值"] if tongue == "zh" else ["no.", "verdict", "claim", "numbers"]
    rows = ([str(i.number), VERDICTS[tongue][i.verdict], i.statement(tongue), decisive_numbers(i)] for i in items)
    print_table(heading, rows)


@app.command()
def export(
    experiment: ExperimentArgument,
    form: Annotated[str, typer.Option("--format", help="csv or mlflow.")] = "csv",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file for csv (else stdout), a folder for mlflow.")
    ] = None,
) -> None:
    """Write every run for other tools: a CSV table, or a folder that MLflow opens as its tracking store."""
    from kb.experiment_export import as_csv, write_mlflow
    from kb.experiments import read_experiment
    from kb.workspace import write_atomic

    choose(form, "csv", "mlflow")
    found = read_experiment(find_workspace(), experiment)
    if form == "csv":
        text = as_csv(found)
        if output is None:
            sys.stdout.write(text)
        else:
            write_atomic(output, text)
            say(f"{len(found.runs)} runs written to {output}")
    else:
        if output is None:
            raise UsageError("an MLflow store is a folder", f"kb bench export {experiment} --format mlflow -o mlruns")
        say(f"{write_mlflow(found, output)} runs written to {output}; mlflow ui --backend-store-uri {output} opens it")


def _moment(at: str | None) -> str:
    """The time that an option names, else now. Raises UsageError for what is no time."""
    try:
        moment = dt.datetime.fromisoformat(at) if at else dt.datetime.now()
    except ValueError:
        raise UsageError(f"{at!r} is no time", "--at 2026-04-19T09:00:00") from None
    return moment.isoformat(timespec="seconds")


def _split(values: list[str] | None) -> tuple[str, ...]:
    """Options that may be repeated also take lists with commas."""
    return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())


def _tell(report: Report, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "experiments": report.slugs,
                "added": report.added,
                "failed": report.failed,
                "already_there": report.skipped,
            }
        )
        return
    if not report.added:
        say(f"nothing to do: all {report.skipped} runs are there already")
    else:
        say(f"{report.added} runs added, {report.failed} of them failed; {report.skipped} were there already")
    if report.speed:
        say(report.speed)
    for slug in report.slugs:
        typer.echo(f"notes/experiments/{slug}/experiment.md")
    if report.failed:
        say("hint: kb bench show EXPERIMENT names the failed runs; the same command runs them again")


def _without_marks(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("<!-- kb:"))


class _Bar:
    """Progress on a terminal, a line every tenth elsewhere."""

    def __init__(self) -> None:
        self._told = -1
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> _Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

            self._bar = Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True))
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, finished: int, wanted: int) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=finished, total=wanted)
        elif finished * 10 // max(wanted, 1) > self._told:
            self._told = finished * 10 // max(wanted, 1)
            say(f"{finished} of {wanted} runs")
