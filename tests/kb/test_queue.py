"""The queue: what is read from lines that people write, and that an edit changes nothing else."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from note_papers import fill_with_papers, library_of

from kb.errors import KbError, UsageError
from kb.links import Names
from kb.queue import Queue, Task, papers_to_fetch, read_queue

TEXT = """\
# 我的队列

随便写的一段话。

- [ ] DAPO (2503.14476)：核对 2x  <!-- added 2026-04-12 -->
  - 看附录 D
* [x] 读 GRPO   <!-- added 2026-04-05, done 2026-04-11, 很快；真的，很快 -->
- [-] SHARP <!-- dropped 2026-04-20, added 2026-04-12 -->
1. [ ] 没有日期的事
   - [ ] 里面的一件
- 不是任务
- [ ] arXiv:2506.11902

```
- [ ] 代码里的
```
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Names:
    root = tmp_path_factory.mktemp("queue")
    (root / "kb.toml").write_text("", encoding="utf-8")
    (root / "notes").mkdir()
    fill_with_papers(root)
    return Names(library_of(root))


@pytest.fixture
def queue(names: Names) -> Queue:
    return Queue(TEXT, names)


def test_tasks_are_read_as_people_write_them(queue: Queue) -> None:
    assert [(task.text, task.state, task.added, task.closed, task.remark, task.papers) for task in queue.tasks] == [
        ("DAPO (2503.14476)：核对 2x", "open", "2026-04-12", "", "", ("dapo",)),
        ("读 GRPO", "done", "2026-04-05", "2026-04-11", "很快；真的，很快", ("grpo",)),
        ("SHARP", "dropped", "2026-04-12", "2026-04-20", "", ("sharp",)),
        ("没有日期的事", "open", "", "", "", ()),
        ("里面的一件", "open", "", "", "", ()),
        ("arXiv:2506.11902", "open", "", "", "", ("2506.11902",)),
    ]
    assert queue.tasks[0].below == ("  - 看附录 D",)
    assert [task.depth for task in queue.tasks] == [0, 0, 0, 0, 1, 0]


def test_age_is_counted_from_the_day_written(queue: Queue) -> None:
    task = queue.tasks[0]
    assert [task.age_days(dt.date(2026, 4, day)) for day in (12, 13, 26)] == [0, 1, 14]
    assert [task.age_weeks(dt.date(2026, 4, day)) for day in (18, 19, 26)] == [0, 1, 2]
    assert task.age_days(dt.date(2026, 4, 11)) is None
    assert queue.tasks[3].age_days(dt.date(2026, 4, 12)) is None


def test_a_day_that_does_not_exist_is_a_remark(names: Names) -> None:
    (task,) = Queue("- [ ] t <!-- added 2026-02-31 -->", names).tasks
    assert (task.added, task.remark) == ("", "added 2026-02-31")


def test_an_edit_changes_its_own_line_alone(queue: Queue) -> None:
    done = queue.with_state(queue.tasks[0], "done", "2026-04-26")
    assert done.text == TEXT.replace(
        "- [ ] DAPO (2503.14476)：核对 2x  <!-- added 2026-04-12 -->",
        "- [x] DAPO (2503.14476)：核对 2x  <!-- added 2026-04-12, done 2026-04-26 -->",
    )
    dropped = queue.with_state(queue.tasks[3], "dropped", "2026-04-26")
    assert dropped.text == TEXT.replace("1. [ ] 没有日期的事", "1. [-] 没有日期的事  <!-- dropped 2026-04-26 -->")
    assert done.with_state(done.tasks[0], "open", "").text == TEXT


def test_a_new_task_comes_behind_the_last_open_one(queue: Queue) -> None:
    added = queue.with_task(Task("新的", "open", added="2026-04-19"))
    assert added.text == TEXT.replace(
        "- [ ] arXiv:2506.11902\n", "- [ ] arXiv:2506.11902\n- [ ] 新的  <!-- added 2026-04-19 -->\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "- [ ] t\n"),
        ("# Q\n", "# Q\n- [ ] t\n"),
        ("no line feed", "no line feed\n- [ ] t\n"),
        ("- [ ] a\n  below\n- [x] b\n", "- [ ] a\n  below\n- [ ] t\n- [x] b\n"),
        ("- [ ] a\n  - [x] part\n\n## Done\n", "- [ ] a\n  - [x] part\n- [ ] t\n\n## Done\n"),
        ("- [ ] a\r\n- [x] b\r\n", "- [ ] a\r\n- [ ] t\r\n- [x] b\r\n"),
    ],
)
def test_where_a_new_task_goes(names: Names, before: str, after: str) -> None:
    assert Queue(before, names).with_task(Task("t", "open")).text == after


def test_a_task_is_found_by_number_paper_or_words(queue: Queue) -> None:
    assert queue.find("2").text == "没有日期的事"
    assert queue.find("dapo").text == queue.find("2503.14476").text == queue.find("核对").text
    assert queue.find("里面").depth == 1
    assert queue.find("GRPO").state == "done"
    with pytest.raises(UsageError, match="fits 2 tasks"):
        queue.find("的")
    with pytest.raises(UsageError, match="no task"):
        queue.find("99")


def test_papers_whose_text_is_not_here_are_to_be_fetched(names: Names) -> None:
    library = names.library
    text = library.workspace.papers / "ppo" / "text.md"
    text.write_text("---\ntitle: x\n---\n", encoding="utf-8")
    queue = Queue(
        "- [ ] PPO\n- [ ] DAPO\n- [x] GRPO\n- [ ] (2506.11902) and arXiv:2503.14476\n- [ ] REINFORCE\n", names
    )
    assert papers_to_fetch(library, queue) == ["2503.14476", "2506.11902"]


def test_a_file_that_is_not_utf8_is_named(workspace: Path) -> None:
    (workspace / "notes" / "queue.md").write_bytes("- [ ] 优势\n".encode("gbk"))
    with pytest.raises(KbError, match="not UTF-8"):
        read_queue(library_of(workspace))


LINES = st.lists(
    st.one_of(
        st.builds(
            "{}{} [{}] {}{}{}".format,
            st.sampled_from(("", "  ", "\t")),
            st.sampled_from(("-", "*", "+", "3.")),
            st.sampled_from((" ", "x", "X", "-")),
            st.sampled_from(("读 DAPO", "a <b> -- c", "$x_i$ 公式", "t", "a <!-- b --> c", "a --> b")),
            st.sampled_from(("", "  <!-- added 2026-04-12 -->", " <!--note, added 2026-04-12-->", " <!-- -->")),
            st.sampled_from(("", "  ", "\r")),
        ),
        st.text(alphabet="ab \t#-`*|中\r", max_size=12),
        st.sampled_from(("```", "<!-- - [ ] hidden -->", "  below", "- [y] no task")),
    ),
    max_size=14,
)


@settings(max_examples=200, deadline=None)
@given(
    lines=LINES,
    end=st.sampled_from(("", "\n")),
    pick=st.integers(0, 20),
    state=st.sampled_from(("open", "done", "dropped")),
)
def test_whatever_the_file_an_edit_keeps_every_other_line(
    names: Names, lines: list[str], end: str, pick: int, state: str
) -> None:
    queue = Queue("\n".join(lines) + end, names)
    before = queue.text.split("\n")
    if queue.tasks:
        task = queue.tasks[pick % len(queue.tasks)]
        edited = queue.with_state(task, state, "2026-04-26")  # type: ignore[arg-type]
        after = edited.text.split("\n")
        assert after[: task.line] == before[: task.line] and after[task.line + 1 :] == before[task.line + 1 :]
        again = edited.tasks[queue.tasks.index(task)]
        closed = "" if state == "open" else "2026-04-26"
        assert again == replace(task, state=state, closed=closed)  # type: ignore[arg-type]
    added = queue.with_task(Task("真的新任务", "open", added="2026-04-26"))
    new = [line for line in added.text.split("\n") if "真的新任务" in line]
    assert len(new) == 1
    rest = added.text.split("\n")
    rest.remove(new[0])
    while rest and rest[-1] == "":
        rest.pop()
    while before and before[-1] == "":
        before.pop()
    assert [line.rstrip("\r") for line in rest] == [line.rstrip("\r") for line in before]
