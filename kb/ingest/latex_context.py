"""What running LaTeX is read with."""

from __future__ import annotations

from dataclasses import dataclass, field

from kb.ingest.latex_comments import Verbatim
from kb.ingest.latex_counters import Target
from kb.ingest.latex_macros import Macros


@dataclass(slots=True)
class TextContext:
    """Macros, what every label points to, verbatim pieces, the document's language.

    ``spelled_out`` holds the acronyms whose long form the text has given already.
    """

    macros: Macros = field(default_factory=Macros)
    labels: dict[str, Target] = field(default_factory=dict)
    verbatim: Verbatim = field(default_factory=Verbatim)
    chinese: bool = False
    spelled_out: set[str] = field(default_factory=set)

    def theorem_words(self) -> dict[str, str]:
        """The word that each theorem-like environment, or its counter, prints."""
        theorems = self.macros.theorems
        by_counter = {theorem.counter: theorem.shown for theorem in theorems.values() if theorem.counter}
        return by_counter | {name: theorem.shown for name, theorem in theorems.items()}
