"""The embedding step of ``kb index``: every text that has no vector yet, a batch at a time into the cache."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.index.drafts import embedded_text
from kb.index.passages import PassageStore
from kb.index.vectors import VectorCache
from kb.model import Kind

if TYPE_CHECKING:
    from kb.index.embedding.protocol import Embedder

BATCH = 64
EQUAL_ERRORS = 3  # so many texts with the same error one after another, and it is the model that is at fault
Progress = Callable[[str, int, int, str], None]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text without a vector: its hash, the row of one passage that has it, and whose that is."""

    digest: str
    row: int
    owner: str


@dataclass(slots=True)
class Embedded:
    """``count`` texts got a vector; ``failures`` are texts that the model refuses, by owner."""

    count: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    _last_error: str = ""
    _equal: int = 0

    def fail(self, text: _Text, error: Exception) -> None:
        """Note a refused text. Raises KbError when the model has refused several in the same way."""
        reason = f"{type(error).__name__}: {error}"
        self.failures[text.owner] = f"the model refuses a passage: {reason}"
        self._equal = self._equal + 1 if reason == self._last_error else 1
        self._last_error = reason
        if self._equal >= EQUAL_ERRORS:
            raise KbError(
                f"embedding stopped: {EQUAL_ERRORS} texts in a row failed with {reason}",
                f"{self.count} vectors are kept; correct the model in kb.toml and run kb index again",
            ) from error

    def succeed(self, count: int) -> None:
        self.count += count
        self._equal = 0


def embed_missing(store: PassageStore, cache: VectorCache, embedder: Embedder, progress: Progress) -> Embedded:
    """Embed what has no vector yet. References are left out: they are found by keyword alone.

    Texts go in by length, so that a batch has little padding, long ones first, so that the time left is not
    understated. One text goes alone first: a model that cannot work says so at once. Raises KbError then, and when
    ``EQUAL_ERRORS`` texts in a row fail alike; a single text that fails is noted and stops nothing.
    """
    done = Embedded()
    todo = _missing(store, cache)
    for batch in _batches(todo):
        progress("embedding", done.count, len(todo), batch[0].owner)
        texts = _read(store, batch)
        try:
            cache.put([text.digest for text in batch], embedder.embed_passages(texts))
            done.succeed(len(batch))
        except KbError:
            raise
        except Exception as error:
            _one_by_one(batch, texts, cache, embedder, done, error)
    if todo:
        progress("embedding", done.count, len(todo), "")
    return done


def _one_by_one(
    batch: Sequence[_Text], texts: Sequence[str], cache: VectorCache, embedder: Embedder, done: Embedded, error: Exception
) -> None:
    """Find the text that a batch failed for; the others get their vectors."""
    if len(batch) == 1:
        done.fail(batch[0], error)
        return
    for text, content in zip(batch, texts, strict=True):
        try:
            cache.put([text.digest], embedder.embed_passages([content]))
            done.succeed(1)
        except KbError:
            raise
        except Exception as single:
            done.fail(text, single)


def _missing(store: PassageStore, cache: VectorCache) -> list[_Text]:
    known = cache.known()
    rows = store.connection.execute(
        "SELECT hash, n, owner FROM passages WHERE kind <> ? GROUP BY hash ORDER BY length(text) DESC, hash",
        (str(Kind.REFERENCE),),
    )
    return [_Text(*row) for row in rows if row[0] not in known]


def _batches(todo: Sequence[_Text]) -> Iterator[Sequence[_Text]]:
    if todo:
        yield todo[:1]
    for start in range(1, len(todo), BATCH):
        yield todo[start : start + BATCH]


def _read(store: PassageStore, batch: Sequence[_Text]) -> list[str]:
    marks = ", ".join("?" * len(batch))
    rows = store.connection.execute(
        "SELECT p.n, d.title, p.heading, p.text FROM passages p JOIN documents d ON d.owner = p.owner"
        f" WHERE p.n IN ({marks})",
        [text.row for text in batch],
    )
    found = {row: embedded_text(title, json.loads(heading), text) for row, title, heading, text in rows}
    return [found[text.row] for text in batch]
