"""Numbers in a statement against results, facts and the paper's text.

Found: the same number, said of the same thing. Contradicted, only by what somebody read in the paper or its code: a
result of the same benchmark, metric and model with another value, or a parameter of the same name with another value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kb.check.concepts import Reading, cover
from kb.check.dossier import Dossier, passage_evidence, result_evidence
from kb.check.quantities import MODEL, Quantity, in_words, quantities
from kb.check.values import ClaimVerdict, Evidence, Statement, Verdict
from kb.facts import Result
from kb.search.tokens import query_tokens

_CUT = re.compile(r"[，。；;、（）()]|,(?!\d{3})|(?<=\w)\.\s|\band\b|\bwhile\b|但|而(?!且)")
_GAIN = re.compile(
    r"(?:提升|提高|提(?![升高])|涨|增[加长]|改进)(?![到至])|超过|高出|比.{1,40}高|\bgains?\b|improv\w*(?! (?:from|to))|\bover\b|\bby\b|increas\w*(?! (?:from|to))|\+",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"约|大约|左右|接近|近|几乎|将近|\babout\b|\bnearly\b|\bapprox|\baround\b", re.IGNORECASE)
_AT_LEAST = re.compile(r"超过|以上|至少|不低于|\bover\b|more than|at least|>", re.IGNORECASE)
# A number of a variant, a stage of the training, another subject or another report is not the paper's result.
_QUALIFIED = re.compile(
    r"去掉|加上|加了|只用|仅用|单用|没有|不用|换成|改成|时(?!间|长|刻|代)|不如|优于|好于|都试|之后|以后|训练到|步|变体|版本|消融|一半|报告|基线|朴素|原始|普通|其他|其余|另一|对照|传统|以往|之前|此前|"
    r"\bwith(?:out)?\b(?!\s*\x00)|\bafter\b|\bwhen\b|\balone\b|\bsteps\b|\brecipe|\bvariant|\bversion|\bablat|\bhalf\b|\breport|\bbaseline|\bvanilla|"
    r"\bnaive|\bplain\b|\bstandard\b|\bother\b|\bprevious|\bprior\b",
    re.IGNORECASE,
)
_METRIC = re.compile(
    r"(?:pass|avg|maj|cons|hit|acc|best)@\w+|\bF1\b|\bEM\b|exact match|best-of-n|准确率|accuracy|成功率|success",
    re.IGNORECASE,
)
# Symbols and words whose value a method fixes; a different value is a different method.
_PARAMETERS = frozenset(
    "eps eps_low eps_high lambda gamma beta omega delta clip lr temperature group_size epochs decay".split()
)
# Words that say no more than that there is a result.
_REPORTING = frozenset(
    token
    for word in "达到 做到 得到 取得 提高 提升 提到 涨到 增加 获得 分 分数 得分 成绩 结果 最终 最后 准确率 正确率 成功率 平均 个百分点 百分点 模型 上达到 绝对 "
    "reaches reach scores score points point percent gets achieves gains gain improves improve improvement accuracy result results finally final average "
    "at by on it model AIME2024 AIME24".split()
    for token in query_tokens(word)
)
_LEAST_CONTEXT = 0.3
_COMMON = 10
_COMMON_CONTEXT = 0.7


def numbers(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """Every quantity of a statement, judged against the paper that it is said of."""
    if statement.form in ("formula", "heading"):
        return
    for quantity in quantities(statement.text):
        if not _says_something(quantity):
            continue
        clause = clause_around(statement.text, quantity.start, quantity.stop)
        guesses = [slug for slug in _guesses(statement, quantity.start) if slug in dossiers]
        verdicts = [_judge(statement, quantity, clause, dossiers[slug]) for slug in guesses]
        best = next(
            (verdict for wanted in ("found", "contradicted") for verdict in verdicts if verdict.verdict == wanted), None
        )
        if best is not None:
            yield best
        elif verdicts and not statement.musing and statement.form != "row":
            sure = [verdict for verdict in verdicts if statement.is_sure_of(verdict.paper)]
            yield from sure[-1:]


def _guesses(statement: Statement, place: int) -> list[str]:
    """Whom a number may be said of: the paper named before it, and the one that the text around is about."""
    return list(dict.fromkeys(slug for slug in (statement.paper_at(place), statement.subject) if slug))


def _says_something(quantity: Quantity) -> bool:
    """0, 1 and 2 without unit or symbol are words more than numbers; ddof is checked with the standard deviation."""
    return quantity.label != "ddof" and (
        quantity.low > 2
        or quantity.low % 1 > 0
        or bool(quantity.unit)
        or (quantity.label.isascii() and bool(quantity.label))
    )


def clause_around(text: str, start: int, stop: int) -> str:
    """The part of a sentence, between commas and brackets, that holds a place; with the part before when it is short."""
    left = max((match.end() for match in _CUT.finditer(text[:start])), default=0)
    found = _CUT.search(text, stop)
    right = found.start() if found else len(text)
    if right - left < 8 and left:
        left = max((match.end() for match in _CUT.finditer(text[: left - 1])), default=0)
    return text[left:right]


def _judge(statement: Statement, quantity: Quantity, clause: str, dossier: Dossier) -> ClaimVerdict:
    verdict, evidence = _decide(statement, quantity, clause, dossier)
    claim = " ".join(clause.split()).strip(" ：:—-*")
    return ClaimVerdict(
        dossier.slug, statement.line, "number", _short(claim, quantity.text), statement.text, verdict, evidence
    )


def _short(clause: str, number: str) -> str:
    if len(clause) <= 60 or number not in clause:
        return clause[:80]
    at = clause.find(number)
    return clause[max(0, at - 40) : at + len(number) + 20]


def _decide(statement: Statement, quantity: Quantity, clause: str, dossier: Dossier) -> tuple[Verdict, Evidence | None]:
    by_result = _by_results(statement, quantity, clause, dossier)
    sure = statement.is_sure_of(dossier.slug) and statement.owner(quantity.start) in (dossier.slug, None)
    if by_result and (by_result[0] == "found" or (sure and _other_model(quantity, clause, statement, dossier))):
        return by_result
    said, local = dossier.read(statement.text), dossier.read(clause)
    found = _in_pieces(quantity, said, local, dossier) or _in_text(quantity, said, local, dossier)
    if found:
        return "found", found
    if statement.musing or not sure:
        return "not found", None
    if _is_qualified(statement, quantity):
        return "not found", by_result[1] if by_result else None
    if by_result and by_result[0] == "contradicted" and _says_more(local, dossier.lexicon.read(by_result[1].text)):
        return "not found", by_result[1]
    other = _other_value(quantity, statement, dossier)
    return by_result or (("contradicted", other) if other else ("not found", None))


# ---------------------------------------------------------------- results


def _by_results(
    statement: Statement, quantity: Quantity, clause: str, dossier: Dossier
) -> tuple[Verdict, Evidence] | None:
    """What the rows of the same benchmark say; None when no row is about it or they cannot be compared."""
    rows = [row for row in dossier.record.results if _names_benchmark(row.benchmark, clause)]
    near = rows or [row for row in dossier.record.results if _names_benchmark(row.benchmark, statement.text)]
    models = _models_near(clause, statement)
    for row in near:
        if _same_value(quantity, row, clause):
            fits = not models or any(_names_model(row.model, model) for model in models) or not MODEL.search(row.model)
            return ("found" if fits else "contradicted"), result_evidence(row)
    metric = _METRIC.search(clause)
    if metric:
        rows = [row for row in rows if metric[0].casefold() in row.metric.casefold()]
    if not rows or any(not _can_differ(quantity, row, clause, models) for row in rows):
        return None
    firm = [row for row in rows if row.level in ("paper", "code")]
    # A number that was only read second hand is shown, and decides nothing.
    return ("contradicted", result_evidence(firm[0])) if firm else ("not found", result_evidence(rows[0]))


def _is_qualified(statement: Statement, quantity: Quantity) -> bool:
    """Whether the number may be that of another setting or another subject than the record's result."""
    text = MODEL.sub(lambda match: "\x00" * len(match[0]), statement.text)
    begin = max((match.end() for match in re.finditer(r"[。；;]|(?<=\w)\.\s", text[: quantity.start])), default=0)
    end = _CUT.search(text, quantity.stop)
    return bool(_QUALIFIED.search(text[begin : end.start() if end else len(text)]))


def _says_more(local: Reading, row: Reading) -> bool:
    """Whether a clause speaks of more than the row does: a setting, a subset, another system that the number is of."""
    strange = [c for c in local.concepts if not row.holds(c) and not re.fullmatch(r"[\d.,]+\w{0,2}", c.surface)]
    return any(not all(token in _REPORTING for token in min(c.wordings, key=len)) for c in strange)


def _models_near(clause: str, statement: Statement) -> list[str]:
    """The models that a clause names, else those of its sentence."""
    sentence = next(
        (part for part in re.split(r"[。；;]|(?<=\w)\.\s", statement.text) if clause.strip() in part), clause
    )
    for text in (clause, sentence):
        models = [match[0] for match in MODEL.finditer(text) if re.search(r"\d", match[0])]
        if models:
            return models
    return []


def _other_model(quantity: Quantity, clause: str, statement: Statement, dossier: Dossier) -> bool:
    """Whether a number is right, but of another model than the one named, which the record does not know."""
    models = _models_near(clause, statement)
    known = " ".join(piece.text for piece in dossier.pieces)
    return (
        bool(models)
        and not any(_names_model(known, model) for model in models)
        and any(_same_value(quantity, row, clause) for row in dossier.record.results)
    )


def _names_benchmark(benchmark: str, clause: str) -> bool:
    """Whether a clause names a benchmark: ``AIME`` does for ``AIME 2024``; ``MATH`` does not for ``MATH500``."""
    name = re.sub(r"\s*\(.*?\)", "", benchmark).strip()
    base = re.sub(r"[\s'’-]*(?:20)?\d\d$", "", name)
    year = name[len(base) :].strip(" '’-")[-2:]
    if not re.search(r"[A-Z]", base):
        return False
    match = re.search(
        rf"(?<![A-Za-z0-9]){re.escape(base)}(?![A-Za-z])[\s'’-]*((?:20)?\d\d(?!\d|\.|%|\s?分|\s?pp))?", clause
    )
    said = (match[1] or "")[-2:] if match else ""
    return match is not None and (said == year if said else True)


def _names_model(known: str, said: str) -> bool:
    def flat(text: str) -> str:
        return re.sub(r"[^a-z0-9.]", "", text.lower())

    return flat(said) in flat(known) or flat(known) in flat(said)


def _row_quantities(row: Result) -> list[Quantity]:
    return [q for raw in (row.value, row.baseline_value) if raw is not None for q in quantities(_with_unit(raw, row))]


def _with_unit(raw: float | str, row: Result) -> str:
    return f"{raw:g}{row.unit}" if isinstance(raw, int | float) else str(raw)


def _same_value(quantity: Quantity, row: Result, clause: str) -> bool:
    known = _row_quantities(row)
    if any(_equal(quantity, other, clause) for other in known):
        return True
    values = [row.value, row.baseline_value]
    if quantity.high is None and _GAIN.search(clause) and all(isinstance(value, int | float) for value in values):
        return abs(float(row.value) - float(row.baseline_value or 0) - quantity.low) < 1e-9  # a gain over the baseline
    return False


def _equal(quantity: Quantity, other: Quantity, clause: str) -> bool:
    if quantity.same(other):
        return True
    if quantity.high is None and other.high is not None:
        return quantity.low in other.values and _comparable_units(quantity, other)
    if quantity.high is not None:
        return False
    if _is_rough(quantity, clause) and quantity.unit == other.unit:
        return abs(quantity.low - other.low) <= 0.03 * abs(other.low)
    return bool(_AT_LEAST.search(clause)) and quantity.unit == other.unit == "%" and 0 <= other.low - quantity.low < 1


def _comparable_units(quantity: Quantity, other: Quantity) -> bool:
    return "" in (quantity.unit, other.unit) or quantity.unit == other.unit


def _is_rough(quantity: Quantity, clause: str) -> bool:
    return bool(_ABOUT.search(clause)) or quantity.sign in ("~", "～", "≈", "\\approx", "\\sim")


def _is_inside(quantity: Quantity, row: Result) -> bool:
    """Whether a number lies inside a range that the row gives: one of the results that the range sums up."""
    ranges = [other for other in _row_quantities(row) if other.high is not None]
    return quantity.high is None and any(other.low <= quantity.low <= (other.high or 0.0) for other in ranges)


def _can_differ(quantity: Quantity, row: Result, clause: str, models: list[str]) -> bool:
    """Whether a row speaks of just what the number is said of, so that another value is a contradiction."""
    if quantity.unit not in ("", "%") or quantity.label in ("k", "n", "g"):
        return False
    is_gain = bool(quantity.sign == "+" or _GAIN.search(clause))
    row_gain = "gain" in row.metric or str(row.value).lstrip("over ").startswith("+")
    said, known = _METRIC.search(clause), _METRIC.search(row.metric)
    if said and (known is None or said[0].lower() != known[0].lower()):
        return False
    if any(not _names_model(row.model, model) for model in models):
        return False
    if _is_rough(quantity, clause) or _AT_LEAST.search(clause) or _is_inside(quantity, row):
        return False
    return (is_gain == row_gain and quantity.high is None) or bool(is_gain and row_gain and quantity.sign == "+")


# ---------------------------------------------------------------- facts and text


def _in_pieces(quantity: Quantity, said: Reading, local: Reading, dossier: Dossier) -> Evidence | None:
    """The piece of the record that has the same number and most of the same context."""
    best: tuple[float, Evidence] | None = None
    for piece in dossier.pieces:
        here = [other for other in quantities(piece.text, spelled=True) if quantity.same(other)]
        if not here:
            continue
        held = dossier.read(piece.text)
        context = _context(said, local, held)
        if any(quantity.label and quantity.label == other.label for other in here):
            context += 0.5
        least = _least_context(quantity, here)
        if context >= least and (best is None or context > best[0]):
            best = (context, piece)
    return best[1] if best else None


def _least_context(quantity: Quantity, here: Sequence[Quantity]) -> float:
    """A number of many digits is hardly there by chance; small whole numbers are, unless they are of one symbol."""
    common = quantity.high is None and not quantity.unit and quantity.low % 1 == 0 and quantity.low <= _COMMON
    if common and not any(quantity.label == other.label for other in here):
        return _COMMON_CONTEXT
    digits = min(len(word.replace(".", "").strip("0")) for word in in_words(quantity))
    return _LEAST_CONTEXT if digits < 3 else _LEAST_CONTEXT / 2


def _context(said: Reading, local: Reading, held: Reading) -> float:
    """How much of what surrounds a number another text speaks of too; the number itself does not count."""

    def without_numbers(reading: Reading) -> Reading:
        kept = tuple(c for c in reading.concepts if not c.surface.replace(".", "").isdigit())
        return Reading(kept, reading.affirmed, reading.denied)

    return max(cover(without_numbers(local), held), cover(without_numbers(said), held))


def _in_text(quantity: Quantity, said: Reading, local: Reading, dossier: Dossier) -> Evidence | None:
    best: tuple[float, Evidence] | None = None
    words = [
        *in_words(quantity),
        *(word for concept in local.concepts for wording in concept.wordings for word in wording),
    ]
    for passage in dossier.passages(words):
        here = [other for other in quantities(passage.text, spelled=True) if quantity.same(other)]
        if not here and not _in_row(quantity, passage.text):
            continue
        context = _context(said, local, dossier.lexicon.read(f"{' '.join(passage.heading)}\n{passage.text}"))
        context += 0.5 * any(quantity.label and quantity.label == other.label for other in here)
        if context >= _least_context(quantity, here) and (best is None or context > best[0]):
            best = (context, passage_evidence(passage, here[0].start if here else 0))
    return best[1] if best else None


def _in_row(quantity: Quantity, text: str) -> bool:
    """Whether a table has every number of the quantity as a cell."""
    cells = {cell.strip(" *%") for line in text.splitlines() if line.startswith("|") for cell in line.split("|")}
    return bool(cells) and all(word in cells for word in in_words(quantity))


def _other_value(quantity: Quantity, statement: Statement, dossier: Dossier) -> Evidence | None:
    """A firm piece that gives a parameter of the same name another value, when the record gives it one value only."""
    if quantity.label not in _PARAMETERS or quantity.high is not None or quantity.sign:
        return None
    if len({other.low for other in quantities(statement.text) if other.label == quantity.label}) > 1:
        return None  # several values of one parameter are a comparison
    known = [
        (other.low, piece)
        for piece in dossier.firm
        for other in quantities(piece.text)
        if other.label == quantity.label and other.unit == quantity.unit
    ]
    values = {value for value, _ in known}
    ranged = any(q.high is not None and q.label == quantity.label for p in dossier.firm for q in quantities(p.text))
    if len(values) != 1 or ranged or quantity.low in values:
        return None
    return known[0][1]
