"""What a statement says that a method has, needs or does without, against the yes and no of the record.

Only plain predications count ("needs a critic", "无需 ground truth"); questions and suppositions are left alone. A cell
with a remark ("yes, in the loss only") makes the statement incomplete, never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kb.check.concepts import Reading, cover
from kb.check.dossier import Dossier, fact_evidence, passage_evidence
from kb.check.values import CLAUSE_END, RECORDED, ClaimVerdict, Evidence, Statement, Verdict
from kb.index.sentences import sentence_spans

# The traits of the record that sentences speak of, by the words that they use for them.
_TRAITS = {
    "critic": r"critic(?:\s?(?:network|model|网络))?(?!\s?LLM)|价值网络|value (?:network|head)",
    "process_reward": r"process rewards?|过程奖励(?!模型)",
    "tree_sampling": r"tree[\s-](?:sampling|search)|树采样|树搜索|MCTS",
    "counterfactual": r"反事实(?!基线)|counterfactual (?:rollouts?|trajector\w+|samples?|evaluations?)",
    "extra_rollouts": r"额外的?\s?(?:采样|rollouts?|轨迹)|(?:extra|additional) (?:rollouts?|samples|sampling)",
    "extra_llm_calls": r"额外的?\s?(?:LLM|大模型|语言模型)\s?(?:calls?|调用)?|(?:extra|additional) LLM calls?",
    "hierarchical_advantage": r"hierarchical advantages?|(?:分层|层次化?)优势",
    "reward_mixing": r"reward mixing|奖励混合",
}
_AFFIRMS = re.compile(
    r"(?:需要|必须有|要求|依赖于?|用了?|使用|采用|引入了?|训练了?|学习?了?一?个?|做了|带有?|(?<!没)(?<!只)有|\bneeds?|\brequires?|\buses?|\busing|\btrains?|\blearns?|"
    r"\bhas|\bhave|\bwith|\brelies on|\bdoes|\bdo)\s?(?:an?\s|the\s|一个|一套|显式的?|a learned\s|learned\s|独立的?)?\s*$",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"(?:无需|无须|不需要|不用|不依赖|不使用|不训练|不引入|没有用?|去掉了?|去除了?|免去了?|无|不生成|不调|"
    r"\bwithout|\bno|\bneeds no|\b(?:does|do) not (?:need|use|require|have|train)|\bdoesn't (?:need|use|require|have|train)|\bdrops|\bremoves|\beliminates)"
    r"\s?(?:an?\s|any\s|the\s|任何|额外的?)?\s*$",
    re.IGNORECASE,
)
_NEEDS_NOT = re.compile(
    r"(?:无需|无须|不需要|不依赖|without (?:any )?|needs? no |no need (?:for|of) (?:any )?|(?:does|do) not (?:need|require|rely on) (?:any )?|"
    r"doesn't (?:need|require|rely on) (?:any )?)(?P<object>[^，,。；;、()（）|│:：]{2,40})",
    re.IGNORECASE,
)
_NEEDS = re.compile(
    r"(?:(?<![不无])需要|必须有|依赖于?|\bneeds |\brequires |\brelies on |\bdepends on )(?!no\b|一些)(?P<object>[^，,。；;、()（）|│:：]{2,40})",
    re.IGNORECASE,
)
_LEAST_TEXT = 0.6
_NEEDED = re.compile(
    r"(?<![不无])(?:需要|必须有|要求)(?P<zh>[^，,。；;、()（）|│:：]{2,40})"
    r"|(?P<en>[A-Za-z][^，,。；;、()（）|│:：/]{2,40}?) (?:is|are) (?:needed|required)"
    r"|\b(?:needs|requires) (?!no\b)(?P<of>[^，,。；;、()（）|│:：/]{2,40})",
    re.IGNORECASE,
)
_RESTRICTS = re.compile(
    r"仅|只|可选|除|视|部分|默认|\bonly\b|option|\bexcept|\bunless|\bpartly\b|default|with process", re.IGNORECASE
)
_SINGLE = re.compile(
    r"(?:只|仅)(?:在|是|面向|针对|适用于)?\s?(?:单(?:智能体|\s?agent)|single[\s-]agent)|\bsingle[\s-]agent (?:method|only)|本身不是\s?(?:multi-agent|多智能体)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"其[他余]|除(?:自[己身])|留一|\bothers?\b|leave[\s-]one[\s-]out|(?<![A-Za-z])[KkGgNn]\s?-\s?1\b", re.IGNORECASE
)
_OWN_TOO = re.compile(
    r"(?<!不)(?<!不包)含自[身己]|(?<!不)包括自[身己]|own included|including (?:itself|its own)", re.IGNORECASE
)
_BASELINE = re.compile(r"baseline|基线|均值|平均", re.IGNORECASE)
# What may stand between a subject and its verb without another subject: pronouns, adverbs, a place or time.
_PLAIN = re.compile(
    r"(?:[\s“\"'*：:—-]|它们?|其|该方法|本文|这里|作者|方法|论文|这篇|该文|也|则|就|还|并|且|都|本身|同样|完全|其实|直接|只|仅|因此|所以|于是|会|要|显式地?|额外地?|"
    r"\bit\b|\bthis method\b|\bthe (?:method|paper|authors)\b|\bthe\b|\balso\b|\bthen\b|\bstill\b|\bitself\b|\band\b|\bwhich\b|"
    r"在[^，]{1,12}?(?:中|时|里|上|下|阶段))*",
    re.IGNORECASE,
)
_SPREADS = {
    "sample": re.compile(r"样本(?:标准差|方差)|\bsample (?:standard deviation|std|variance|one)\b|ddof\s?[=为]?\s?1|Bessel", re.IGNORECASE),
    "population": re.compile(r"总体(?:标准差|方差)|\bpopulation (?:standard deviation|std|variance)\b|ddof\s?[=为]?\s?0", re.IGNORECASE),
}  # fmt: skip
_NOT_BEFORE = re.compile(r"(?:而不是|不是|并非|不用|未用|\bnot (?:the |a )?)\s?$", re.IGNORECASE)
_LIST = re.compile(
    r"(?P<head>[^，,。；;：:│|（()]{2,40})[（(](?P<items>[^（()）]{1,40}?[+/、和与][^（()）]{1,40}?)[)）]"
)
_LIST_CUT = re.compile(r"\s*[+/、和与]\s*")


def properties(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """The traits, needs, levels and baselines that a statement speaks of."""
    if statement.form not in ("sentence", "row") or statement.musing:
        return
    yield from _traits(statement, dossiers)
    yield from _needs(statement, dossiers)
    yield from _lists(statement, dossiers)
    yield from _own_sample(statement, dossiers)
    yield from _spread(statement, dossiers)


def _made(statement: Statement, dossier: Dossier, claim: str, verdict: Verdict, evidence: Evidence) -> ClaimVerdict:
    shown = " ".join(claim.split()).strip(" │|")
    return ClaimVerdict(dossier.slug, statement.line, "property", shown, statement.text, verdict, evidence)


def _traits(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    for column, words in _TRAITS.items():
        for match in re.finditer(words, statement.text, re.IGNORECASE):
            before = _before(statement.text, match.start())
            denies = _DENIES.search(before)
            verb = denies or _AFFIRMS.search(before)
            dossier = dossiers.get(statement.owner(match.start()) or "") if verb else None
            if verb is None or dossier is None or column not in dossier.facts:
                continue
            start = match.start() - len(before) + verb.start()
            yield from _compared(statement, dossier, column, "no" if denies else "yes", (start, match.end()))
    for match in _SINGLE.finditer(statement.text):
        dossier = dossiers.get(statement.owner(match.start()) or "")
        if dossier is not None and "multi_agent" in dossier.facts:
            yield from _compared(statement, dossier, "multi_agent", "no", match.span())


def _is_plain(statement: Statement, place: int) -> bool:
    """Whether nothing but the paper can be the subject of the predicate that begins here."""
    before = _before(statement.text, place)
    left = place - len(before)
    named = [stop for _, start, stop in statement.mentions if left <= start < place]
    return bool(_PLAIN.fullmatch(statement.text[max(named, default=left) : place]))


def _before(text: str, place: int) -> str:
    """What stands before a place in its own clause."""
    left = max((match.end() for match in CLAUSE_END.finditer(text[:place])), default=0)
    return text[left:place]


def _compared(
    statement: Statement, dossier: Dossier, column: str, said: str, span: tuple[int, int]
) -> Iterator[ClaimVerdict]:
    fact = dossier.facts[column]
    answer, _, remark = fact.value("en").partition(",")
    if answer not in ("yes", "no"):
        return
    evidence = fact_evidence(fact)
    claim = statement.text[span[0] : span[1]]
    sure = (statement.is_sure_of(dossier.slug) or statement.form == "row") and _is_plain(statement, span[0])
    if answer == said:
        yield _made(statement, dossier, claim, "found", evidence)
    elif not sure:
        return
    elif not evidence.is_firm:
        yield _made(statement, dossier, claim, "not found", evidence)  # second hand, or not verified: shown, no more
    elif _RESTRICTS.search(remark):
        yield _made(statement, dossier, claim, "incomplete", evidence)
    else:
        yield _made(statement, dossier, claim, "contradicted", evidence)


# ---------------------------------------------------------------- needs


def _needs(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """What a method needs or does without, against what the record and the text say that it needs."""
    for pattern, denies in ((_NEEDS_NOT, True), (_NEEDS, False)):
        for match in pattern.finditer(statement.text):
            dossier = dossiers.get(statement.owner(match.start()) or "")
            if dossier is None or any(re.search(words, match["object"], re.IGNORECASE) for words in _TRAITS.values()):
                continue  # a trait has a cell of its own
            wanted = dossier.read(re.sub(r"\s*(?:at all|whatsoever)\s*\.?$", "", match["object"]))
            if wanted.concepts:
                yield from _need(statement, dossier, match, wanted, denies)


def _need(
    statement: Statement, dossier: Dossier, match: re.Match[str], wanted: Reading, denies: bool
) -> Iterator[ClaimVerdict]:
    claim = match[0]
    needed = next((piece for text, piece in _needed(dossier) if _all_in(wanted, dossier.read(text))), None)
    spared = _not_needed(wanted, dossier)
    if denies and needed and not _is_plain(statement, match.start()):
        return
    if denies and needed:
        yield _made(statement, dossier, claim, "contradicted", needed)
    elif found := spared if denies else needed:
        yield _made(statement, dossier, claim, "found", found)
    elif passage := _said_in_text(statement, dossier, claim, wanted, denies):
        yield _made(statement, dossier, claim, "found", passage)
    elif any(slug == dossier.slug for slug, _, _ in statement.mentions):
        yield ClaimVerdict(dossier.slug, statement.line, "property", claim.strip(), statement.text, "not found")


def _said_in_text(statement: Statement, dossier: Dossier, claim: str, wanted: Reading, denies: bool) -> Evidence | None:
    """A sentence of the paper's text that speaks of all of what is wanted, and denies it just where the note does."""
    asked = dossier.read(claim)
    for passage in dossier.about(claim):
        for start, stop in sentence_spans(passage.text):
            held = dossier.lexicon.read(passage.text[start:stop])
            tokens = held.denied if denies else held.affirmed
            if all(concept.held_by(tokens) for concept in wanted.concepts) and cover(asked, held) >= _LEAST_TEXT:
                return passage_evidence(passage, (start + stop) // 2)
    return None


def _all_in(wanted: Reading, held: Reading) -> bool:
    return all(concept.held_by(held.affirmed) for concept in wanted.concepts)


def _needed(dossier: Dossier) -> Iterator[tuple[str, Evidence]]:
    """What the method needs, by the record: the cell of needs, and what other cells say that it needs."""
    for column, fact in dossier.facts.items():
        evidence = fact_evidence(fact)
        if column not in ("needs", "idea") or not evidence.is_firm:
            continue  # other cells speak of other methods too
        if column == "needs":
            yield evidence.text, evidence
        for match in _NEEDED.finditer(evidence.text):
            yield match["zh"] or match["en"] or match["of"], evidence


def _not_needed(wanted: Reading, dossier: Dossier) -> Evidence | None:
    """A piece of the record that says of all of what is wanted that it is not needed."""
    for piece in dossier.pieces:
        for match in _NEEDS_NOT.finditer(piece.text):
            if _all_in(wanted, dossier.read(match["object"])):
                return piece
    return None


# ---------------------------------------------------------------- lists in brackets, own sample


def _lists(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """ "Two levels (token+task)" against the same words with another list."""
    for match in _LIST.finditer(statement.text):
        dossier = dossiers.get(statement.paper_at(match.start()) or "")
        if dossier is None:
            continue
        head, items = dossier.read(match["head"]), _items(match["items"], dossier)
        for piece in dossier.pieces:
            if not piece.is_firm or piece.where.startswith(RECORDED):
                continue
            for other in _LIST.finditer(piece.text):
                verdict = _same_list(head, items, dossier.read(other["head"]), _items(other["items"], dossier))
                if verdict:
                    yield _made(statement, dossier, match[0], verdict, piece)


def _items(text: str, dossier: Dossier) -> list[Reading]:
    return [reading for item in _LIST_CUT.split(text) if (reading := dossier.read(item)).concepts]


def _same_list(head: Reading, items: list[Reading], known_head: Reading, known: list[Reading]) -> Verdict | None:
    """How a list compares with a known one below the same words; None when the words are others."""
    if len(head.concepts) < 2 or not items or len(items) != len(known):
        return None
    if not all(known_head.holds(c) for c in head.concepts) or not all(head.holds(c) for c in known_head.concepts):
        return None
    shared = sum(any(all(other.holds(c) for c in item.concepts) for other in known) for item in items)
    return "found" if shared == len(items) else "incomplete" if shared else "contradicted"


def _own_sample(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """Whether a baseline is the mean of the others or of all, own sample included."""
    others, own, baseline = (pattern.search(statement.text) for pattern in (_OTHERS, _OWN_TOO, _BASELINE))
    denied = others and re.search(r"而不是|不是|并非|\bnot\b", statement.text[: others.start()])
    said = own or (None if denied else others)
    if not said or not baseline:
        return
    dossier = dossiers.get(statement.owner(said.start()) or "")
    if dossier is None or "comparison_group" not in dossier.facts:
        return
    evidence = fact_evidence(dossier.facts["comparison_group"])
    after = CLAUSE_END.search(statement.text, max(said.end(), baseline.end()))
    claim = statement.text[min(said.start(), baseline.start()) : after.start() if after else None]
    known_own, known_others = _OWN_TOO.search(evidence.text), _OTHERS.search(evidence.text)
    if (own and known_own) or (not own and known_others):
        yield _made(statement, dossier, claim, "found", evidence)
    elif evidence.is_firm and ((own and known_others) or (not own and known_own)):
        yield _made(statement, dossier, claim, "contradicted", evidence)


def _spread(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """Sample or population standard deviation; paper and code may differ, so a cell may name both."""
    for kind, pattern in _SPREADS.items():
        match = pattern.search(statement.text)
        dossier = dossiers.get(statement.owner(match.start()) or "") if match else None
        if match is None or dossier is None or "normalisation" not in dossier.facts:
            continue
        evidence = fact_evidence(dossier.facts["normalisation"])
        known = {name for name, other in _SPREADS.items() if other.search(evidence.text)}
        denied = _NOT_BEFORE.search(statement.text[: match.start()])
        if kind in known and not denied:
            yield _made(statement, dossier, match[0], "found", evidence)
        elif known and kind not in known and not denied and evidence.is_firm and statement.is_sure_of(dossier.slug):
            yield _made(statement, dossier, match[0], "contradicted", evidence)
