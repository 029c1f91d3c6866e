"""A note is cut into statements with lines, papers and moods."""

from __future__ import annotations

from kb.check.statements import statements
from kb.check.values import Statement
from kb.library import Library
from kb.links import Names

NOTE = """\
---
date: 2024-03-01
---
# 周报

## 1.1 TANDEM: training two agents

TANDEM 用 SOLO 的 critic。它在 AMC 上 +3.5pp。

```python
accuracy = 99  # TANDEM
```

$$
A = r - 1
$$

启发：
如果换成 SOLO，会到 50%。

## 别的

| 方法 | critic |
| --- | --- |
| SOLO | 有 |

SOLO 有 critic。它取 0.5。
"""


def read(library: Library, text: str = NOTE) -> list[Statement]:
    return statements(text, Names(library))


def find(found: list[Statement], part: str) -> Statement:
    (statement,) = [statement for statement in found if part in statement.text]
    return statement


def test_lines_are_those_of_the_file(library: Library) -> None:
    lines = NOTE.splitlines()
    for statement in read(library):
        if statement.form == "sentence":
            assert statement.text[:6] in lines[statement.line - 1]
    assert find(read(library), "A = r - 1").line == lines.index("$$") + 1


def test_code_is_left_out(library: Library) -> None:
    assert not any("accuracy" in statement.text for statement in read(library))


def test_the_heading_says_what_its_section_is_about(library: Library) -> None:
    statement = find(read(library), "AMC")
    assert (statement.subject, statement.topical) == ("tandem", True)
    assert find(read(library), "A = r - 1").subject == "tandem"


def test_without_a_heading_the_sentence_before_says_it_less_surely(library: Library) -> None:
    statement = find(read(library), "0.5")
    assert (statement.subject, statement.topical) == ("solo", False)
    assert not statement.is_sure_of("solo")


def test_suppositions_are_marked_until_the_section_ends(library: Library) -> None:
    found = read(library)
    assert find(found, "50%").musing
    assert not find(found, "AMC").musing
    assert not find(found, "0.5").musing


def test_a_row_is_about_the_paper_of_its_first_cell(library: Library) -> None:
    (row,) = [statement for statement in read(library) if statement.form == "row"]
    assert (row.paper_at(10), row.line) == ("solo", NOTE.splitlines().index("| SOLO | 有 |") + 1)


def test_drawn_tables_are_rows_too(library: Library) -> None:
    (row,) = read(library, "┌──┬──┐\n│ TANDEM (ICML'24) │ 需要 SOLO 的 critic │\n└──┴──┘\n")
    assert row.form == "row"
    assert row.paper_at(len(row.text)) == "tandem"


def test_a_paper_compared_with_is_not_spoken_of(library: Library) -> None:
    (statement,) = read(library, "这个方法比 SOLO 高 11.1%。\n")
    assert statement.paper_at(len(statement.text)) is None


def test_numbered_headings_of_plain_text_count_however_long(library: Library) -> None:
    long = "1.4 TANDEM: " + "training two agents by the shares of their work and more words " * 3 + "(arXiv:2402.00011)"
    assert find(read(library, f"{long}\n\n它用了 5 次。\n"), "5 次").subject == "tandem"


def test_a_numbered_label_about_no_known_paper_ends_what_was_spoken_of(library: Library) -> None:
    found = read(
        library, "（1）SOLO（2023, Hopper）\n\n有 critic。\n\n（2）Actor-Critic（1999）\n\n引入一个 critic。\n"
    )
    assert find(found, "有 critic").subject == "solo"
    assert find(found, "引入").subject is None


def test_a_sentence_without_end_is_cut_and_loses_nothing(library: Library) -> None:
    text = "SOLO 有 critic, " * 400
    found = read(library, f"# 别的\n\n{text}\n")[1:]
    assert len(found) > 1
    assert "".join(statement.text for statement in found).replace(" ", "") == text.replace(" ", "")
    assert {statement.line for statement in found} == {3}
