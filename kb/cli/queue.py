"""``kb queue add``, ``next``, ``done``, ``drop``, ``list``: the reading queue in notes/queue.md."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.days import day_of
from kb.cli.output import JsonOption, print_json, say
from kb.errors import UsageError
from kb.library import Library
from kb.workspace import find_workspace

if TYPE_CHECKING:
    from kb.queue import State, Task

app = typer.Typer(
    no_args_is_help=True, help="The reading queue, a task list in notes/queue.md that you may edit by hand."
)

DayOption = Annotated[str | None, typer.Option("--date", metavar="YYYY-MM-DD", help="The day; today if left out.")]
TaskArgument = Annotated[
    str, typer.Argument(metavar="TASK", help="Its number in the list, its paper, or part of its text.")
]


@app.command()
def add(
    words: Annotated[list[str], typer.Argument(metavar="PAPER|WORDS...", help="A paper, words, or a paper and words.")],
    date: DayOption = None,
) -> None:
    """Add a task: a paper (slug, alias, arXiv id) with or without words on what to do, or any words."""
    from kb.queue import Task, writing_queue

    library = Library.load(find_workspace())
    with writing_queue(library) as held:
        queue = held[0]
        text, targets = _text_of(library, words)
        for task in queue.open:
            alone = len(words) == 1 and task.papers == targets and targets
            if alone or task.text.casefold() == text.casefold():
                say(f"already there since {task.added or 'some day'}: {task.text}")
                return
        held[0] = queue.with_task(Task(text, "open", added=day_of(date).isoformat()))
    print(text)


def _text_of(library: Library, words: list[str]) -> tuple[str, tuple[str, ...]]:
    """A task in words, and the papers that its first word names."""
    from kb.ingest.ids import try_arxiv_id
    from kb.queue import paper_text

    zh = library.workspace.option("language") == "zh"
    paper = library.find(words[0])
    identifier = try_arxiv_id(words[0])
    if paper is None and identifier is None:
        text = " ".join(" ".join(words).split())
        if not text:
            raise UsageError("nothing to add", "kb queue add 2603.21563, or kb queue add 'words'")
        return text, ()
    name = paper_text(paper) if paper else f"arXiv:{identifier.bare if identifier else ''}"
    rest = " ".join(" ".join(words[1:]).split())
    target = paper.slug if paper else identifier.bare if identifier else ""
    return f"{name}{'：' if zh else ': '}{rest}" if rest else name, (target,)


@app.command("next")
def next_task(date: DayOption = None, as_json: JsonOption = False) -> None:
    """Show the first open task of the file and how long it has waited."""
    from kb.queue import read_queue

    day = day_of(date)
    queue = read_queue(Library.load(find_workspace()))
    if as_json:
        print_json(queue.open[0].as_dict(day) if queue.open else None)
        return
    if not queue.open:
        say("the queue is empty; kb queue add PAPER puts something in")
        return
    task = queue.open[0]
    print(task.text)
    for line in task.below:
        print(line)
    say(f"{_age(task, day) or 'no day written'}; {len(queue.open) - 1} more open")


@app.command()
def done(task: TaskArgument, date: DayOption = None) -> None:
    """Tick a task and write the day beside it."""
    _close(task, "done", date)


@app.command()
def drop(task: TaskArgument, date: DayOption = None) -> None:
    """Give a task up: it stays in the file as [-] with the day."""
    _close(task, "dropped", date)


def _close(words: str, state: State, date: str | None) -> None:
    from kb.queue import writing_queue

    library = Library.load(find_workspace())
    with writing_queue(library) as held:
        task = held[0].find(words)
        if task.state == state:
            say(f"already {state}{f' on {task.closed}' if task.closed else ''}: {task.text}")
            return
        held[0] = held[0].with_state(task, state, day_of(date).isoformat())
    print(f"{state}: {task.text}")


@app.command("list")
def list_tasks(
    everything: Annotated[bool, typer.Option("--all", help="Also what is done or dropped.")] = False,
    date: DayOption = None,
    as_json: JsonOption = False,
) -> None:
    """List open tasks in the order of the file, with their age."""
    from kb.queue import read_queue

    day = day_of(date)
    queue = read_queue(Library.load(find_workspace()))
    tasks = [task for task in queue.tasks if everything or task.state == "open"]
    if as_json:
        print_json([task.as_dict(day) for task in tasks])
        return
    numbers = {task.line: number for number, task in enumerate(queue.open, start=1)}
    for task in tasks:
        number = f"{numbers[task.line]:>3}" if task.line in numbers else f"{'x' if task.done else '-':>3}"
        age = _age(task, day) if task.state == "open" else f"{task.state} {task.closed}".strip()
        print(f"{number}  {'  ' * task.depth}{task.text}{f'  ({age})' if age else ''}")
    if not tasks:
        say("nothing open; kb queue add PAPER puts something in")


def _age(task: Task, day: dt.date) -> str:
    days = task.age_days(day)
    if days is None:
        return f"added {task.added}" if task.added else ""
    weeks = f", {days // 7} week{'s' if days >= 14 else ''}" if days >= 7 else ""
    return f"added {task.added}{weeks}"
