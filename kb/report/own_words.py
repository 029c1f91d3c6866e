"""What the author wrote in a report of the week that was imported: all that became no note of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kb.importing.outline import bare_title, outline_of
from kb.importing.todo import tasks_of
from kb.importing.weekly import role_of, take_apart
from kb.library import Library
from kb.links import Names
from kb.notes import Note, headings
from kb.queue import Task
from kb.report.quotes import quoted
from kb.report.values import OwnWords
from kb.weeks import Week

_LEVEL = 3
_LINK = re.compile(r"^→ \[\[[^\]\n]+\]\][ \t]*\r?$", re.MULTILINE)
_AGENDA = re.compile(r"^[#*\s]*(?:本周清单|清单|目录|this week|overview)[*:：\s]*$", re.MULTILINE | re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")


def own_words(
    library: Library, names: Names, notes: Sequence[Note], week: Week, language: str, folder: Path
) -> tuple[OwnWords, list[Task]]:
    """``(words, tasks of the to-do list)`` of the report whose days lie in the week; empty where none was imported.

    Its headings and its list stand for ours only in a draft of its own language.
    """
    note = next((note for note in notes if _is_of_week(note, week)), None)
    if note is None:
        return OwnWords(), []
    # The title is not in its text; with one in Markdown, sections that are all of one level are none of its parts.
    text = f"# .\n{note.text}" if headings(note.text) else note.text
    outline = outline_of(text)
    parts = take_apart(text, outline, names)

    def words(start: int, stop: int) -> str:
        return quoted(library.workspace, note, _LINK.sub("", text[start:stop]).strip(), _LEVEL, folder)

    lead, agenda = _parted(words(outline.body if text != note.text else 0, outline.lead))
    leads: dict[str, str] = {}
    titles: dict[str, list[str]] = {}
    for section in outline.sections:
        role = role_of(section)
        titles.setdefault(role, []).append(bare_title(section.title))
        if role == "list":
            agenda = agenda or f"{bare_title(section.title)}\n\n{words(section.body, section.stop)}"
            continue
        own = [(role, section.body, section.stop if role == "todo" else section.lead)]
        own += [("todo", part.body, part.stop) for part in section.parts if role != "todo" == role_of(part)]
        for place, start, stop in own:
            leads[place] = "\n\n".join(filter(None, (leads.get(place, ""), words(start, stop))))
    is_ours = bool(_HAN.search(note.title)) == (language == "zh")
    return OwnWords(
        path=note.path,
        title=note.title if is_ours else "",
        lead=lead,
        agenda=agenda if is_ours else "",
        leads={role: found for role, found in leads.items() if re.search(r"\w", found)},
        titles={role: found[0] for role, found in titles.items() if len(found) == 1} if is_ours else {},
    ), tasks_of(names, parts.todo, note.date)


def _is_of_week(note: Note, week: Week) -> bool:
    is_imported = note.kind == "report" and note.fields.get("imported_from")
    return bool(is_imported) and week.holds(note.date) and week.holds(note.end)


def _parted(text: str) -> tuple[str, str]:
    """The opening words and the list of the week below its own line."""
    match = _AGENDA.search(text)
    return (text[: match.start()].strip(), text[match.start() :].strip()) if match else (text, "")
