"""Numbers in a text as claims: ranges, percent, what they are a value of; numbers that are only part of a name are none.

Each keeps its place in the text. ``kb.drafting.numbers`` compares values alone, in any wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb.search.tokens import HAN

_NUMBER = r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_QUANTITY = re.compile(
    rf"(?<![A-Za-z0-9_.@])(?P<sign>[+\-−±~～≈≤≥]|(?<!-)[<>]|\\approx|\\sim|\\le(?:q)?|\\ge(?:q)?)?\s?(?P<low>{_NUMBER})(?P<unit1>\s?\\?%)?"
    rf"(?:\s?(?:~|～|–|—|--?|\bto\b|至|到)\s?[+\-−]?(?P<high>{_NUMBER}))?"
    r"\s?(?P<unit>\\?%|pp\b|个百分点|百分点|percentage points?\b|percent\b|points?\b|分(?!组|配|布|解|层|析|为|别|钟)|倍|[x×](?![A-Za-z0-9])|"
    r"秒|s\b|ms\b|小时|hours?\b|[kKMB]\b)?(?![A-Za-z0-9_])",
    re.ASCII,
)
# Numbers that are part of a name or a place: models, benchmarks with their year, ids, dates, versions, list places.
MODEL = re.compile(
    r"\b(?:GPT|Gemini|Claude|Qwen|Llama|LLaMA|Mistral|Mixtral|Gemma|Phi|DeepSeek|ReasonFlux|InternLM|ChatGLM|GLM|Kimi|Yi|OPT|T5|BERT)"
    r"(?:[\s-]?(?:v|V|R|o)?\d+(?:\.\d+)*[a-z]?)?(?:[\s-](?:mini|nano|flash|pro|turbo|opus|sonnet|haiku|base|Base|Instruct|Chat|Coder|Math|Zero|Distill|"
    r"Thinking|MoE|\d+(?:\.\d+)?[BbMm]\b|\d{4}\b))*",
    re.IGNORECASE | re.ASCII,
)
_NAMED = re.compile(
    r"<[^<>]*>|!\[[^\]]*\]\([^()]*\)|\]\([^()]*\)|`[^`]*`|^\s*\[\d+\].*$|[(（]\d{1,2}(?=[)）]|$)"  # pictures, addresses, code, references
    r"|(?<![\d.,])(?:19|20)[0-3]\d(?![\d.]|\s?(?:%|pp|分|steps?|tokens?|条|步|个))|(?<![\d.,])\d{8,}(?![\d.])"  # years, numbers of accounts
    r"|(?:problem|lecture|exercise|page|p\.)\s?\d+|第\s?\d+\s?页"
    r"|arXiv[:：]?\s*\d{4}\.\d{4,5}(?:v\d+)?|(?<![\d.])\d{4}\.\d{4,5}(?:v\d+)?(?![\d.])"  # ids
    r"|\d{4}\s?[-./年]\s?\d{1,2}\s?[-./月]\s?\d{1,2}日?(?:\s?[-–—~至]+\s?(?:\d{1,4}[-./月])*\d{1,2}日?)?|(?<![\d.+])(?:1[0-2]|[1-9])[./](?:[12]\d|3[01]|[1-9])\s?[-–~]\s?(?:1[0-2]|[1-9])[./](?:[12]\d|3[01]|[1-9])(?!\d|pp|\s?%)"  # days
    r"|(?<=[A-Za-z])[’'`]?\s?[’'`]?(?:19|20)\d\d\b|(?<=[A-Za-z])\s?['’]\d\d\b"  # AIME 2024, ICLR'26
    r"|[（(]\s?(?:19|20)\d\d[^）)]{0,40}[）)]|(?:19|20)\d\d\s?年"  # years are claims of their own
    r"|(?<![A-Za-z])[A-Za-z]\s?[-−]\s?1(?!\d)"
    r"|\[\d+(?:[,，\-–]\s?\d+)*\]|第\s?\d+\s?[章节步层轮个周]|[§#]\s?\d[\d.]*"
    r"|\b(?:agents?|steps?|turns?|stages?|node|tables?|figs?\.?|figures?|eqs?\.?|equations?|sections?|sec\.?|appendix|chapter|version|v|lemma|prop\.?|"
    r"gap|direction|claim)\s?[-#]?\d+(?:\.\d+)*\b"
    r"|(?:图|表|式|节|附录|方向|挑战)\s?\d+(?:\.\d+)*|\b\d+(?:\.\d+)?[BM]\b(?!\w)|https?://\S+",
    re.IGNORECASE | re.ASCII,
)
_WORD_WITH_DIGIT = re.compile(
    r"(?<![A-Za-z0-9.])(?:[A-Za-z]+[-_]?\d[A-Za-z0-9.-]*[A-Za-z0-9]|[A-Za-z]+\d|\d+[A-Za-z]+(?:-?\d+[A-Za-z]*)?)(?![A-Za-z0-9])"
)
_MATHS = re.compile(r"\$[^$]+\$")
_SYMBOL = re.compile(
    r"(?P<symbol>(?:\\?[A-Za-z]+|[\u0370-\u03ff\u03f5](?:low|high|min|max)?)(?:_\{?\\?(?:text|mathrm)?\{?[A-Za-z]+\}?\}?|@\d+)?)"
    r"\s*(?:=|＝|:=|\\approx|≈|\\le(?:q)?|\\ge(?:q)?|<|>|取|设为|固定[为在]|为|是|\bis fixed at\b|\bfixed at\b|\b(?:is )?set to\b|\bis\b|\bof\b)?\s*$"
)
_LABEL = re.compile(
    rf"([{HAN}]{{2,8}}?|[A-Za-z][A-Za-z-]*)\s*(?:=|＝|≈|[:：]|为|是|取|到|至|设为|约|\bof\b|\bis\b|\bto\b)?\s*$"
)
# Parameters by the words for them; what else is a bound of something is not a bound of the clip range.
_IN_WORDS = re.compile(
    r"(?:(?P<eps_high>clip\s?的?上界|(?<![\u3400-\u9fff])上界|clip[- ]higher)|(?P<eps_low>clip\s?的?下界|(?<![\u3400-\u9fff])下界)"
    r"|(?P<lr>学习率|learning rate|\blr\b)|(?P<group_size>group size|组大小|组大小)|(?P<temperature>temperature|温度))"
    r"\s*(?:放宽到?|保持|设为|提高到|=|＝|≈|[:：]|为|是|取|到|至|约|constant|fixed|of|is|to|at|as|\s)*$",
    re.IGNORECASE,
)
_POWER = re.compile(
    r"(?P<front>\d(?:\.\d+)?)\s?(?:×|\\times|x|\*|·|\\cdot)\s?10\s?\^?\s?\{?\s?[-−–]\s?(?P<power>\d{1,2})\s?\}?"
)
_WORDS = dict(
    zip(
        "two three four five six seven eight nine ten twelve 两 三 四 五 六 七 八 九 十".split(),
        "2 3 4 5 6 7 8 9 10 12 2 3 4 5 6 7 8 9 10".split(),
        strict=True,
    )
)
_SPELLED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b|[两三四五六七八九十](?=[个处种层条类步项轮次倍组])",
    re.IGNORECASE,
)
_GREEK = {"ε": "epsilon", "ϵ": "epsilon", "λ": "lambda", "γ": "gamma", "α": "alpha", "β": "beta", "δ": "delta", "η": "eta",
          "σ": "sigma", "μ": "mu", "ω": "omega", "τ": "tau", "ρ": "rho", "θ": "theta"}  # fmt: skip
_UNITS = {
    "%": "%", "\\%": "%", "percent": "%", "pp": "%", "个百分点": "%", "百分点": "%", "percentage point": "%",
    "percentage points": "%", "point": "%", "points": "%", "分": "%",
    "倍": "x", "x": "x", "×": "x", "秒": "s", "s": "s", "ms": "ms", "小时": "h", "hour": "h", "hours": "h",
    "k": "k", "K": "k", "M": "M", "B": "B",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or range. ``label`` is the symbol or word that it is a value of, ``unit`` a class of units, or empty."""

    text: str
    low: float
    high: float | None
    unit: str
    sign: str
    label: str
    start: int
    stop: int

    @property
    def values(self) -> tuple[float, ...]:
        return (self.low,) if self.high is None else (self.low, self.high)

    def same(self, other: Quantity) -> bool:
        """Whether both are the same number or range in units that can be compared."""
        return self.values == other.values and _comparable(self.unit, other.unit)


def quantities(text: str, spelled: bool = False) -> list[Quantity]:
    """The quantities of a text, in order. In maths only values of symbols count (``$K=16$``).

    ``spelled`` counts numbers in words too, which are evidence more often than claims.
    """
    masked = _masked(_SPELLED.sub(_digits, text) if spelled else text)
    return [quantity for match in _QUANTITY.finditer(masked) if (quantity := _quantity(masked, match))]


def _digits(match: re.Match[str]) -> str:
    return _WORDS[match[0].lower()].ljust(len(match[0]))


def _masked(text: str) -> str:
    """The text, as long as before, with blanks for numbers in names and for maths that gives no value."""

    def blank(match: re.Match[str]) -> str:
        return "\x00" * len(match[0])

    text = _POWER.sub(lambda match: f"{match['front']}e-{match['power']}".ljust(len(match[0])), text)
    for pattern in (MODEL, _NAMED):
        text = pattern.sub(blank, text)
    text = _MATHS.sub(lambda match: _only_values(match[0]), text)
    return _WORD_WITH_DIGIT.sub(lambda match: match[0] if _is_value(match[0]) else blank(match), text)


def _only_values(maths: str) -> str:
    """Maths that says what one symbol is (``\\lambda = 0.95``) stays, all other maths goes."""
    inner = maths[1:-1].strip()
    simple = re.fullmatch(
        r"\\?[A-Za-z]+(?:_\{?\\?(?:text|mathrm)?\{?[A-Za-z]+\}?\}?|\^\d)?\s*(?:=|<|>|\\approx|\\le|\\ge|\\leq|\\geq)\s*-?\d+(?:\.\d+)?\s?%?",
        inner,
    )
    return (
        " " + inner.replace("^2", "\x00\x00") + " " * (len(maths) - len(inner) - 1) if simple else "\x00" * len(maths)
    )


def _is_value(word: str) -> bool:
    return bool(re.fullmatch(r"\d+(?:e-?\d+|pp|x|s|ms|[kKMB])", word))


def _quantity(text: str, match: re.Match[str]) -> Quantity | None:
    low = float(match["low"].replace(",", ""))
    high = float(match["high"].replace(",", "")) if match["high"] else None
    unit = _UNITS.get((match["unit"] or match["unit1"] or "").strip(), "")
    sign = (match["sign"] or "").strip()
    if high is not None and high <= low and "-" in match[0]:
        return None  # a difference, not a range
    if sign in ("-", "−") and re.search(r"[\w)]\s*$", text[: match.start()]):
        sign = ""  # a hyphen between words
    shown = match[0].strip()
    return Quantity(
        shown,
        low,
        high,
        unit,
        sign,
        _label(text[: match.start("low")].rstrip("+-−±~～≈<>≤≥ ")),
        match.start(),
        match.end(),
    )


def _label(before: str) -> str:
    """The symbol or word right before a number: ``eps_low``, ``lambda``, ``ddof``; empty when there is none."""
    before = before[-40:]
    words = _IN_WORDS.search(before)
    if words:
        return next(name for name, match in words.groupdict().items() if match)
    symbol = _SYMBOL.search(before)
    if symbol:
        return fold_symbol(symbol["symbol"])
    label = _LABEL.search(before)
    return label[1].lower() if label else ""


def fold_symbol(symbol: str) -> str:
    """``\\epsilon_{\\text{low}}``, ``ε_low`` and ``eps_low`` are one name."""
    name = re.sub(r"\\(?:text|mathrm|hat|bar)|[{}\\]", "", symbol)
    name = "".join(_GREEK.get(char, char) for char in name).lower()
    name = re.sub(r"^(?:var)?eps(?:ilon)?", "eps", name)
    return re.sub(r"^([a-z]+?)(low|high)$", r"\1_\2", name) if name.startswith("eps") and "_" not in name else name


def _comparable(one: str, other: str) -> bool:
    return one == other or ("" in (one, other) and not {one, other} & {"x", "s", "ms", "h", "k", "M", "B"})


def in_words(quantity: Quantity) -> Iterator[str]:
    """The numbers of a quantity as a text writes them, for a keyword search."""
    for value in quantity.values:
        yield f"{value:.10g}" if value >= 1e-3 else f"{value:g}"
