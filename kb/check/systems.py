"""Models and benchmarks in a statement, against what the record and the text of the paper name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kb.check.dossier import Dossier, claim_evidence, passage_evidence
from kb.check.quantities import MODEL, quantities
from kb.check.values import RECORDED, ClaimVerdict, Evidence, Statement, Verdict

_DENIED_MODEL = re.compile(r"(?:不是|并非|而非|\bnot)\s?$")
# Names that results of this field are reported on; those of the records' own results count too.
_BENCHMARK = re.compile(
    r"(?<![A-Za-z0-9-])(?:AIME(?:[\s'’-]?(?:20)?2\d)?|AMC(?:\s?23)?|MATH-?500|GSM8K|OlympiadBench|Minerva|GPQA|MMLU(?:-Pro)?|HumanEval\+?|MBPP\+?|"
    r"LiveCodeBench|LiveBench|CodeContests|Codeforces|SWE-?bench|ALFWorld|WebShop|Sokoban|HotpotQA|2Wiki(?:MultiHopQA)?|MuSiQue|Bamboogle|"
    r"TriviaQA|PopQA|GAIA|FRAMES|WebWalkerQA|DocMath-Eval|DSBench|LogiQA|ANLI|SMAC|StarCraft(?: II)?|MuJoCo|Atari|Overcooked(?:-AI)?|TruthfulQA)"
    r"(?![A-Za-z0-9])"
)


def _made(
    statement: Statement, dossier: Dossier, claim: str, verdict: Verdict, evidence: Evidence | None
) -> ClaimVerdict:
    return ClaimVerdict(
        dossier.slug, statement.line, "name", " ".join(claim.split()), statement.text, verdict, evidence
    )


def systems(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """The models and benchmarks that a statement says a paper uses."""
    if statement.form != "formula":
        yield from models(statement, dossiers)
        yield from benchmarks(statement, dossiers)


def benchmarks(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """Whether the paper reports on a benchmark; one that stands with a number is checked with the number."""
    numbers = quantities(statement.text)
    for match in _BENCHMARK.finditer(statement.text):
        slug = statement.paper_at(match.start())
        if slug not in dossiers or numbers or statement.musing or not statement.is_sure_of(str(slug)):
            continue
        dossier = dossiers[str(slug)]
        found = _naming(match[0], dossier)
        if found or dossier.has_text:
            yield _made(statement, dossier, match[0], "found" if found else "not found", found)


def models(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """A language model that a method is said to use, by what the record and the text say of the same role."""
    for match in MODEL.finditer(statement.text):
        slug = statement.paper_at(match.start())
        inside = any(start <= match.start() < stop for _, start, stop in statement.mentions)
        if slug is None or slug not in dossiers or inside or not re.search(r"\d", match[0]):
            continue
        dossier = dossiers[slug]
        found = _naming(match[0], dossier)
        if found:
            yield _made(statement, dossier, match[0], "found", found)
            continue
        other = _other_model(statement, match.start(), dossier)
        if other and not statement.musing:
            yield _made(statement, dossier, match[0], "contradicted", other)
        elif not statement.musing:
            yield _made(statement, dossier, match[0], "not found", None)


def _naming(model: str, dossier: Dossier) -> Evidence | None:
    wanted = _flat(model)
    for piece in dossier.pieces:
        if wanted in _flat(piece.text) and not _DENIED_MODEL.search(piece.text[: max(0, piece.text.find(model))]):
            return piece
    for passage in dossier.passages([model]):
        if wanted in _flat(passage.text):
            return passage_evidence(passage, passage.text.find(model))
    return None


def _other_model(statement: Statement, place: int, dossier: Dossier) -> Evidence | None:
    """A firm piece that names other models in the role that the statement speaks of: coach, judge, base model."""
    roles = _roles(_clause(statement.text, place))
    for piece, context in _pieces_with_context(dossier):
        if piece.is_firm and MODEL.search(piece.text) and roles & _roles(context):
            return piece
    return None


_ROLES = {
    "coach": r"coach|教练", "judge": r"\bjudge|\bgrader|裁判|评审|评判|评委", "verifier": r"verifier|验证器", "critic": r"critic|评论家",
    "teacher": r"teacher|教师", "base": r"\bbase model|backbone|基座|底座", "embedder": r"embedding model|嵌入模型",
    "reward": r"reward model|奖励模型",
}  # fmt: skip


def _roles(text: str) -> set[str]:
    return {role for role, pattern in _ROLES.items() if re.search(pattern, text, re.IGNORECASE)}


def _pieces_with_context(dossier: Dossier) -> Iterable[tuple[Evidence, str]]:
    """Pieces, with the note's words beside a correction, since a correction seldom repeats what it corrects."""
    facts = [(piece, piece.text) for piece in dossier.pieces if not piece.where.startswith(RECORDED)]
    claims: Sequence[tuple[Evidence, str]] = [
        (claim_evidence(claim), f"{claim.claim} {claim_evidence(claim).text}") for claim in dossier.record.claims
    ]
    return [*facts, *claims]


def _clause(text: str, place: int) -> str:
    """The clause around a place, with what stands in brackets right before it counted in."""
    left = max(text.rfind(mark, 0, place) for mark in "。；;")
    right = min((at for mark in "。；;，" if (at := text.find(mark, place)) >= 0), default=len(text))
    return text[left + 1 : right]


def _flat(text: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", text.lower())
