"""The tokenizer of multilingual-e5-small without the half second of CPU that its 250,002 pieces take to load.

A sentence can only be cut into pieces that occur in it. So the pieces lie in a table sorted by hash on disk, those
that occur in the given texts are looked up, and the ordinary Rust tokenizer is made from them alone. Its best path
is the full tokenizer's best path: the same lattice, the same scores.

Who changes a rule here changes vectors: raise ``_E5_RULES`` in ``bundled``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kb.index.embedding.protocol import FloatArray, TokenIds
from kb.index.embedding.tensor_file import read_tensors

UNKNOWN = "<unk>"
SPECIAL = ("<s>", "<pad>", "</s>", UNKNOWN, "<mask>")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SPACE = "▁"
_GAP = "\n"  # the normaliser turns it into a space, so that no piece holds it

# What SentencePiece's nmt_nfkc rule does beside NFKC: controls vanish; separators, zero-width marks and the
# replacement character are spaces.
_DROPPED = r"[\x{00}-\x{08}\x{0B}\x{0E}-\x{1F}\x{7F}\x{8F}\x{9F}]"
_SPACES = r"[\t\n\f\r\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]"


def build_tokenizer(pieces: Sequence[str], scores: Iterable[float]) -> Any:
    """A ``tokenizers.Tokenizer`` over these pieces, which hold SPECIAL. Its ids are positions in ``pieces``."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = list(zip(pieces, scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=pieces.index(UNKNOWN), byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_DROPPED), ""),
            normalizers.Replace(Regex(_SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always", split=True)
    ends = [(name, pieces.index(name)) for name in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=ends
    )
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in SPECIAL])
    return tokenizer


def piece_table(pieces: Sequence[str], scores: FloatArray) -> dict[str, npt.NDArray[Any]]:
    """The tensors of the table: pieces by rising hash of their code points, with ids, scores and text.

    Raises ValueError when two pieces share a hash or one reaches over a word's start: the look-up rules both out.
    """
    if any(SPACE in piece[1:] for piece in pieces):
        raise ValueError("a piece holds a space inside")
    ids = [identity for identity, piece in enumerate(pieces) if piece not in SPECIAL]
    by_length: dict[int, list[int]] = {}
    for identity in ids:
        by_length.setdefault(len(pieces[identity]), []).append(identity)
    hashes = np.zeros(len(pieces), np.uint64)
    for length, group in by_length.items():
        points = _code_points("".join(pieces[identity] for identity in group)).reshape(-1, length)
        value = np.zeros(len(group), np.uint64)
        for column in points.T:
            value = _extend(value, column)
        hashes[group] = value
    order = np.array(ids)[np.argsort(hashes[ids])]
    if (np.diff(hashes[order]) == 0).any():
        raise ValueError("two pieces share a hash")
    text = [pieces[identity].encode("utf-8") for identity in order]
    return {
        "hash": hashes[order],
        "id": order.astype(np.int32),
        "score": scores[order],
        "offset": np.cumsum([0, *map(len, text)]).astype(np.uint32),
        "text": np.frombuffer(b"".join(text), np.uint8),
        "special_id": np.array([pieces.index(name) for name in SPECIAL], np.int32),
        "special_score": np.array([scores[pieces.index(name)] for name in SPECIAL], np.float32),
        "longest": np.array([max(by_length)], np.int32),
    }


class UnigramTokenizer:
    """Texts to token ids, equal to those of the full tokenizer, cut at ``max_tokens`` with both ends kept."""

    def __init__(self, table: Path, max_tokens: int) -> None:
        self._table = read_tensors(table)
        self._max_tokens = max_tokens
        self._special = list(zip(SPECIAL, self._table["special_score"].tolist(), strict=True))
        # The penalty of unknown characters hangs on the lowest score of the vocabulary: always keep that piece.
        self._lowest = int(np.argmin(self._table["score"]))
        self._splitter = build_tokenizer(*zip(*self._special, strict=True))

    def encode(self, texts: Sequence[str]) -> list[TokenIds]:
        """Token ids of each text, ``int64 [token]``, with ``<s>`` and ``</s>``."""
        # Knowing no piece, the splitter gives the text back as unknown tokens, normalised as it will be cut.
        split = self._splitter.encode_batch(list(texts), add_special_tokens=False)
        rows = self._rows_within({word for encoding in split for word in "".join(encoding.tokens).split(SPACE)})
        pieces = [name for name, _ in self._special] + [self._piece(row) for row in rows]
        scores = [score for _, score in self._special] + self._table["score"][rows].tolist()
        tokenizer = build_tokenizer(pieces, scores)
        tokenizer.enable_truncation(self._max_tokens)
        ids = np.concatenate([self._table["special_id"], self._table["id"][rows]]).astype(np.int64)
        return [ids[encoding.ids] for encoding in tokenizer.encode_batch(list(texts))]

    def _rows_within(self, words: set[str]) -> list[int]:
        """Rows of the table whose piece is part of one of the words, each begun by a space."""
        text = _GAP.join(SPACE + word for word in sorted(words))
        points = _code_points(text)
        hashes = self._table["hash"]
        value = np.zeros(len(points), np.uint64)
        found = {self._lowest}
        for length in range(1, min(int(self._table["longest"][0]), len(points)) + 1):
            value = _extend(value[: len(points) - length + 1], points[length - 1 :])
            row = np.minimum(np.searchsorted(hashes, value), len(hashes) - 1)
            starts = np.flatnonzero(hashes[row] == value)
            for hit, start in zip(row[starts].tolist(), starts.tolist(), strict=True):
                if hit not in found and self._piece(hit) == text[start : start + length]:
                    found.add(hit)
        return sorted(found)

    def _piece(self, row: int) -> str:
        begin, end = self._table["offset"][row : row + 2].tolist()
        return self._table["text"][begin:end].tobytes().decode("utf-8")


def _code_points(text: str) -> npt.NDArray[np.uint64]:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint64)


def _extend(value: npt.NDArray[np.uint64], points: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The hash of strings, each one code point longer (modulo 2**64)."""
    return value * _MULTIPLIER + points + np.uint64(1)
