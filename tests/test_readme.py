"""The two READMEs say the same things, and what they tell people to type exists."""

from __future__ import annotations

import re
from pathlib import Path

from typer.main import get_command

from kb.cli.app import app

FENCE = re.compile(r"```(?:sh|console)\n(.*?)```", re.DOTALL)


def commands(text: str) -> list[str]:
    """What a reader would type, without remarks."""
    lines = [line.removeprefix("$ ") for part in FENCE.findall(text) for line in part.splitlines()]
    return [line.split("#")[0].strip() for line in lines if line.startswith((".venv", "python3", "kb "))]


def test_both_languages_have_the_same_commands_sections_and_tables(root: Path) -> None:
    english = (root / "README.md").read_text(encoding="utf-8")
    chinese = (root / "README.zh-CN.md").read_text(encoding="utf-8")
    assert commands(english) == commands(chinese)
    for mark in ("## ", "| ", "```"):
        assert [line[:2] for line in english.splitlines() if line.startswith(mark)] == [
            line[:2] for line in chinese.splitlines() if line.startswith(mark)
        ]
    numbers = re.compile(r"\d\.\d{2,3}")
    assert numbers.findall(english) == numbers.findall(chinese)


def test_every_command_and_option_in_the_readme_exists(root: Path) -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    text = (root / "README.md").read_text(encoding="utf-8")
    typed = [line for line in commands(text) if line.startswith("kb ")]
    typed += [match[1] for match in re.finditer(r"`(kb [^`]+)`", text)]
    assert len(typed) > 8
    for line in typed:
        words = line.split(" && ")[0].split()
        assert words[1] in known or words[1].startswith("--"), line
        if words[1] in known:
            options = {name for parameter in known[words[1]].params for name in parameter.opts}
            for word in words[2:]:
                if re.fullmatch(r"--?[a-z-]+", word) and not hasattr(known[words[1]], "commands"):
                    assert word in options, line
