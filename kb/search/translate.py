"""Questions in one language turned into the terms of the other, word by word, with no model.

Chinese is cut into words and translated at once: of all ways to cover the text with terms of the user's glossary, of
ours, words of CC-CEDICT and stop words, the one with the fewest and best known words is taken, which prefers long
terms. A question of a page costs milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kb.search.glossary import BORDER_SPACE, Glossary
from kb.search.tokens import HAN, has_han, is_stop_stem, query_tokens, stem, words

# What one word costs by where it is known from; a tie goes to the longer word.
_OWN, _BUILT_IN, _STOP, _DICTIONARY, _ONE_CHARACTER, _UNKNOWN = 0.8, 1.0, 0.9, 1.5, 2.0, 4.0
_LONGEST_WORD = 8  # of CC-CEDICT; its longer entries are proverbs and names
_LATIN = re.compile(rf"[^\W{HAN}][^\s{HAN},;:?!，。；：？！、（）()《》“”\"]*|\\[A-Za-z]+")
_HAN_CHARACTER = re.compile(f"[{HAN}]")

_STOP_WORDS = frozenset(
    "的 了 着 过 地 得 是 在 和 与 及 或 或者 而 而且 且 但 但是 并 并且 也 都 就 还 还是 又 才 只 只有 很 更 更加 最 太 "
    "非常 十分 对 对于 关于 有关 从 到 由 由于 被 把 将 让 使 使得 令 给 用 以 以及 为 为了 为什么 为啥 为何 怎么 怎么办 "
    "怎样 怎么样 如何 什么 啥 是什么 什么是 有什么 哪些 有哪些 哪个 哪种 哪里 哪 谁 几 几个 几种 多少 多 吗 呢 吧 啊 么 "
    "会 会不会 能 能否 能不能 能够 可以 可 可能 应该 应当 需要 必须 要 想 不 没 没有 不会 不能 不用 不需要 无需 有 有没有 "
    "是否 是不是 这 这个 这些 这种 这样 那 那个 那些 那种 其 其中 其他 它 它们 他 他们 她 我 我们 你 你们 之 之间 之后 之前 "
    "中 里 里面 上 下 内 外 前 后 时 时候 当 每 每个 各 各个 各自 某 某个 某些 个 种 些 条 篇 次 一 一个 一种 一些 一下 两 "
    "两个 两种 二 三 三个 等 等等 来 去 做 所 所有 因为 所以 如果 那么 虽然 然后 于 于是 通过 根据 按照 基于 以上 请 请问 "
    "介绍 讲 讲讲 说 说说 解释 找 找到 看 看看 论文 文章 相关 好 大 小 比 比如 例如 同时 本 该 此 向 往 跟 同 下的 上的 中的 "
    "导致 造成 究竟 到底 区别 一般 通常 直接 进行 一样 怎么做 做到 不同 出现 出 出来 起来 下来 过来 很大 很多 很少 多大 较大 更好 "
    "更多 太多 太少 太大 太小 集 们 者 们的 哪一 哪篇 是怎么 是如何 靠 只是 仅 仅仅 不仅 真的 还有 另外 自己 式 型 性 化 器 下去 以后 以前".split()
)


class WordList(Protocol):
    """What translation asks of a dictionary; ``kb.search.cedict.Dictionary`` is one."""

    def glosses(self, word: str) -> tuple[str, ...]:
        """English of a simplified Chinese word; () when unknown."""
        ...

    def simplify(self, text: str) -> str:
        """Traditional characters folded one by one."""
        ...


@dataclass(frozen=True, slots=True)
class Translation:
    """A question in the other language.

    ``terms`` pairs each translated term with its translations, the usual one first. ``text`` is the question in the
    other language: the first translation of each term, and names (``GRPO``) as they stood. ``untranslated`` lists what
    nothing translates. ``has_han`` tells whether the question held Chinese.
    """

    terms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    text: str = ""
    untranslated: tuple[str, ...] = ()
    has_han: bool = False

    @property
    def variants(self) -> str:
        """All translations of all terms, as one text."""
        return " ".join(form for _, forms in self.terms for form in forms)

    def keyword_tokens(self) -> list[str]:
        """Tokens for the keyword index: of the usual translations twice, of the other ones once.

        FTS5 counts a repeated token twice, so that synonyms help to find and do not outweigh the usual term.
        """
        return query_tokens(self.text) + query_tokens(f"{self.text} {self.variants}")


class _Word(NamedTuple):
    end: int
    cost: float
    english: tuple[str, ...] | None  # None: dropped; (): not translated


def translate(query: str, glossary: Glossary, dictionary: WordList | None = None) -> Translation:
    """A Chinese or mixed question in English. One without Chinese comes back as it is, with no terms.

    ``dictionary`` is CC-CEDICT when not given. Raises KbError where that is not installed.
    """
    if not has_han(query):
        return Translation(text=query.strip())
    if dictionary is None:
        from kb.search.cedict import open_dictionary

        dictionary = open_dictionary()
    text = BORDER_SPACE.sub("", unicodedata.normalize("NFKC", query))
    return _assemble(text, _segment(text, glossary, dictionary))


def translate_to_chinese(query: str, glossary: Glossary) -> Translation:
    """An English question in the Chinese of the glossary: longest phrase first, compared by stems.

    Words that the glossary does not have stay in ``text`` as they are: Chinese notes keep many of them in English.
    """
    if has_han(query):
        return Translation(text=query.strip(), has_han=True)
    left = words(query)
    stems = [stem(word) for word in left]
    longest = max(map(len, glossary.by_stems), default=0)
    terms, text, untranslated = [], [], []
    at = 0
    while at < len(left):
        end = min(at + longest, len(left))
        while end > at and tuple(stems[at:end]) not in glossary.by_stems:
            end -= 1
        if end > at:
            chinese = glossary.by_stems[tuple(stems[at:end])]
            terms.append((" ".join(left[at:end]), chinese))
            text.append(_kept_or(left[at:end], chinese[0]))
        elif not is_stop_stem(stems[at]):
            text.append(left[at])
            untranslated.append(left[at])
        at = max(end, at + 1)
    return Translation(tuple(terms), " ".join(text), tuple(untranslated))


def _kept_or(surface: list[str], chinese: str) -> str:
    # Chinese notes write GRPO, not its long name.
    return surface[0] if len(surface) == 1 and surface[0][1:] != surface[0][1:].lower() else chinese


def _segment(text: str, glossary: Glossary, dictionary: WordList) -> list[tuple[str, _Word]]:
    """The cheapest cover of the text, as (what stands there, how it is known)."""
    lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    simple = dictionary.simplify(lowered)
    best: list[float] = [0.0] + [float("inf")] * len(text)
    came: list[tuple[int, _Word] | None] = [None] * (len(text) + 1)
    for at in range(len(text)):
        if best[at] == float("inf"):
            continue
        for word in _words_at(at, text, lowered, simple, glossary, dictionary):
            cost = best[at] + word.cost - 0.001 * (word.end - at) ** 2
            if cost < best[word.end]:
                best[word.end], came[word.end] = cost, (at, word)
    cover = []
    step = came[len(text)]
    while step:
        at, word = step
        cover.append((text[at : word.end], word))
        step = came[at]
    return cover[::-1]


def _words_at(
    at: int, text: str, lowered: str, simple: str, glossary: Glossary, dictionary: WordList
) -> Iterator[_Word]:
    latin = _LATIN.match(text, at)
    inside_latin = at > 0 and latin and _LATIN.match(text, at - 1)
    if not inside_latin:
        for end in range(at + 1, min(at + glossary.longest, len(text)) + 1):
            term = glossary.terms.get(lowered[at:end]) or glossary.terms.get(simple[at:end])
            if term:
                cost = _OWN if term.own else _BUILT_IN if end - at > 1 else _ONE_CHARACTER
                yield _Word(end, cost, term.english)
    if latin:
        yield _Word(latin.end(), _BUILT_IN, (latin.group(),))
    elif not _HAN_CHARACTER.match(text, at):
        yield _Word(at + 1, 0.0, None)
    else:
        yield _Word(at + 1, _UNKNOWN, ())
        for end in range(at + 1, min(at + _LONGEST_WORD, len(text)) + 1):
            if simple[at:end] in _STOP_WORDS:
                yield _Word(end, _STOP, None)
            elif end > at + 1 and (glosses := dictionary.glosses(simple[at:end])):
                yield _Word(end, _DICTIONARY, glosses)


def _assemble(text: str, cover: list[tuple[str, _Word]]) -> Translation:
    terms: list[tuple[str, tuple[str, ...]]] = []
    english: list[str] = []
    untranslated: list[str] = []
    joined = False  # whether the last word was not translated either
    for surface, word in cover:
        if word.english:
            english.append(word.english[0])
            if has_han(surface):
                terms.append((surface, word.english))
        elif word.english == ():
            if joined:
                untranslated[-1] += surface
            else:
                untranslated.append(surface)
        joined = word.english == ()
    return Translation(tuple(terms), " ".join(english), tuple(untranslated), has_han=True)
