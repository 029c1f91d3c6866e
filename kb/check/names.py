"""Names in a statement: what an acronym stands for, titles, ids with versions, years, days, venues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kb.check.dossier import Dossier, claim_evidence, passage_evidence
from kb.check.values import CLAUSE_END, ClaimVerdict, Evidence, Statement, Verdict
from kb.citations import fold_title
from kb.search.tokens import word_stems

_WORDS = r"[A-Za-z][A-Za-z'’-]*(?:[ \t]+(?:and|of|for|with|in|from|the|to|via|by|on|&|\+|[A-Za-z][A-Za-z'’-]*)){1,14}"
_STANDS_FOR = r"\s*(?:stands for|is short for|short for|abbreviates|=|即|全称(?:是|为)?|是)\s*[“\"'‘]?"
_AUTHOR_YEAR = re.compile(
    r"[（(]\s?(?P<year>(?:19|20)\d\d)\s?(?:[,，]\s?(?P<author>[A-Z][\w'’-]+)(?P<more>\s+et al\.?|\s?等)?[^）)]*)?[）)]"
)
_DAY = r"(?P<y{0}>(?:19|20)\d\d)(?:\s?[-./年]\s?(?P<m{0}>\d{{1,2}})(?:\s?[-./月]\s?(?P<d{0}>\d{{1,2}}))?)?\s?[年月日]?"
_APPEARED = re.compile(
    _DAY.format("1") + r"\s?(?:的(?:工作|论文|文章)|发表|发布|提出|提交|挂出|公开|上线)"
    r"|(?:发表于|发布于|提交于|挂出于|(?:published|submitted|released|posted|proposed|introduced) (?:in|on)|appeared (?:in|on))\s?"
    + _DAY.format("2"),
    re.IGNORECASE,
)
_DATED = re.compile(
    r"(?:\s|它|这|该|本|篇|文|工作|论文|v\d+|第一版|初版|也|是|于|在|[（(]|\bit\b|\bthis\b|\bthe\b|\bpaper\b|\bwork\b|\bwas\b|\bis\b|\bfirst\b)*",
    re.I,
)
_VENUE = re.compile(
    r"[（(]\s?(?P<name>ICLR|ICML|NeurIPS|NIPS|ACL|EMNLP|NAACL|EACL|AAAI|AAMAS|IJCAI|TMLR|JMLR|COLM|CVPR)\s?(?:['’`]|\s)?\s?(?P<year>(?:20)?\d\d)\s?[）)]"
)
_ARXIV = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5})(?:v\d+)?(?![\d.]*\d)")
_SMALL = frozenset("and of for with in from the to via by on a an".split())


def names(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """The names, ids, years and venues that a statement gives to the papers that it mentions."""
    if statement.form == "formula":
        return
    for slug, start, stop in statement.mentions:
        if slug in dossiers:
            dossier = dossiers[slug]
            yield from _expansion(statement, dossier, start, stop)
            yield from _title(statement, dossier, stop)
            yield from _identifier(statement, dossier, stop)
            yield from _year(statement, dossier, stop)
            yield from _venue(statement, dossier, stop)
    yield from _appeared(statement, dossiers)


def _made(
    statement: Statement, dossier: Dossier, claim: str, verdict: Verdict, evidence: Evidence | None
) -> ClaimVerdict:
    return ClaimVerdict(
        dossier.slug, statement.line, "name", " ".join(claim.split()), statement.text, verdict, evidence
    )


# ---------------------------------------------------------------- what an acronym stands for


def expansions(text: str, acronym: str) -> list[str]:
    """What a text says that an acronym stands for: ``X (Long Name)``, ``Long Name (X)``, ``X stands for Long Name``."""
    name = re.escape(acronym)
    found = [match[1] for match in re.finditer(rf"(?<![A-Za-z0-9-]){name}\s?[（(]({_WORDS})[）)]", text)]
    found += [match[1] for match in re.finditer(rf"(?<![A-Za-z0-9-]){name}{_STANDS_FOR}({_WORDS})", text)]
    for match in re.finditer(rf"({_WORDS})\s?[（(]{name}[）)]", text):
        words = match[1].split()
        # The words before a bracket begin somewhere: the shortest end of them that spells the acronym best.
        ends = [" ".join(words[-count:]) for count in range(1, len(words) + 1)]
        best = max(spelled(end, acronym) for end in ends)
        found += [next(end for end in ends if spelled(end, acronym) == best)]
    return [long for long in dict.fromkeys(found) if spells(long, acronym)]


def spells(long: str, acronym: str) -> bool:
    """Whether an acronym may stand for these words: most of its letters come from them, in order."""
    return spelled(long, acronym) >= 0.75 and len(long.split()) + long.count("-") >= 2


def spelled(long: str, acronym: str) -> float:
    """The share of an acronym's letters that come, in order, as first or capital letters of the words."""
    letters = [char for char in acronym.lower() if char.isalpha()]
    heads = re.findall(r"(?<![A-Za-z])[A-Za-z]|[A-Z]", long)
    at = hits = 0
    for letter in letters:
        for place in range(at, len(heads)):
            if heads[place].lower() == letter:
                at, hits = place + 1, hits + 1
                break
    return hits / len(letters) if len(letters) > 1 else 0.0


def _expansion(statement: Statement, dossier: Dossier, start: int, stop: int) -> Iterator[ClaimVerdict]:
    acronym = statement.text[start:stop]
    if not re.fullmatch(r"[A-Za-z][\w.+-]{1,14}", acronym):
        return
    for long in expansions(statement.text[max(0, start - 120) : stop + 160], acronym):
        known = list(_known_expansions(dossier, acronym))
        same = next((evidence for other, evidence in known if _same_words(long, other)), None)
        claim = f"{acronym} = {long}"
        if same:
            yield _made(statement, dossier, claim, "found", same)
        elif any(evidence.is_firm for _, evidence in known):
            yield _made(statement, dossier, claim, "contradicted", next(e for _, e in known if e.is_firm))
        elif _within(long, dossier.record.paper.title):
            yield _made(statement, dossier, claim, "found", Evidence(dossier.record.paper.title, "title"))
        else:
            yield _made(statement, dossier, claim, "not found", None)


def _known_expansions(dossier: Dossier, acronym: str) -> Iterator[tuple[str, Evidence]]:
    """What the title, the record and the paper's text say that the acronym stands for."""
    paper = dossier.record.paper
    for part in re.split(r"[:：]", paper.title):
        if spells(part, acronym) and _initials(part) >= len([c for c in acronym if c.isalpha()]) - 1:
            yield part.strip(), Evidence(paper.title, "title")
    for claim in dossier.record.claims:
        if claim.verdict in ("contradicted", "incomplete"):
            for text in claim.correction.values():
                for match in re.finditer(rf"(?:全称(?:是|为)?|stands for|{re.escape(acronym)}\s*=)\s*({_WORDS})", text):
                    if spells(match[1], acronym):
                        yield match[1], claim_evidence(claim)
    for piece in dossier.pieces:
        for long in expansions(piece.text, acronym):
            yield long, piece
    for passage in dossier.passages([acronym]):
        for long in expansions(" ".join(passage.text.split()), acronym):
            yield long, passage_evidence(passage, passage.text.find(long.split()[0]))


def _initials(text: str) -> int:
    return len(re.findall(r"(?<![A-Za-z])[A-Za-z]|[A-Z]", text))


def _stems(text: str) -> set[str]:
    return {stem for stem in word_stems(text.replace("-", " ")) if stem not in _SMALL}


def _same_words(one: str, other: str) -> bool:
    """Whether two long forms are one. Where a long form begins in running text is a guess, so one may hold the other."""
    first, second = _stems(one), _stems(other)
    return min(len(first), len(second)) > 1 and len(first & second) >= 0.8 * min(len(first), len(second))


def _within(part: str, whole: str) -> bool:
    words = _stems(part)
    return bool(words) and words <= _stems(whole)


# ---------------------------------------------------------------- titles, ids, years, venues


def _title(statement: Statement, dossier: Dossier, stop: int) -> Iterator[ClaimVerdict]:
    """``DAPO: An Open-Source ...`` after a mention, up to a bracket: is that how the paper is called?"""
    match = re.match(r"\s?[:：]\s?([A-Z][A-Za-z0-9 ,:?’'&/-]{24,})", statement.text[stop:])
    if not match or statement.form != "heading":
        return
    said = set(fold_title(match[1]).split())
    title = dossier.record.paper.title
    known = set(fold_title(title).split())
    shared = len(said & known)
    own_name = set(fold_title(" ".join(dossier.record.paper.aliases)).split())
    evidence = Evidence(title, "title")
    if said - own_name == known - own_name or (said - own_name <= known and shared >= 0.9 * len(known - own_name)):
        yield _made(statement, dossier, f"title: {match[1].strip()}", "found", evidence)
    elif shared >= 0.5 * len(said):
        # Papers change titles between versions, so a difference is shown and not called wrong.
        yield _made(statement, dossier, f"title: {match[1].strip()}", "incomplete", evidence)


def _identifier(statement: Statement, dossier: Dossier, stop: int) -> Iterator[ClaimVerdict]:
    match = re.match(
        r"[^（(\d]{0,100}[（(]\s?(?:arXiv[:：]?\s*)?(\d{4}\.\d{4,5})(?:v(\d+))?\s?[）)]", statement.text[stop:]
    )
    known = dossier.record.paper.arxiv_id
    if not match or not known or _other_before(statement, stop, stop + match.start(1)):
        return
    newest = dossier.record.paper.fields.get("version")
    evidence = Evidence(f"arXiv:{known}" + (f"v{newest}" if newest else ""), "metadata")
    claim = f"arXiv:{match[1]}" + (f"v{match[2]}" if match[2] else "")
    if match[1] != known:
        yield _made(statement, dossier, claim, "contradicted", evidence)
    else:
        # A version above the one that the record knows may be newer than the record.
        is_known = not match[2] or (str(newest or "").isdigit() and int(match[2]) <= int(str(newest)))
        yield _made(statement, dossier, claim, "found" if is_known else "not found", evidence)


def _other_before(statement: Statement, stop: int, place: int) -> bool:
    """Whether another paper is named by its name between a mention and a place."""
    return any(stop <= start < place and not _ARXIV.match(statement.text, start) for _, start, _ in statement.mentions)


def _year(statement: Statement, dossier: Dossier, stop: int) -> Iterator[ClaimVerdict]:
    """``TRPO（2015, Schulman et al.）``: year and first author against the record."""
    match = _AUTHOR_YEAR.match(statement.text[stop:].lstrip())
    paper = dossier.record.paper
    if not match or not paper.year.isdigit():
        return
    yield _of_year(statement, dossier, int(match["year"]))
    if match["author"] and match["more"] and paper.authors:
        families = [author.split()[-1].casefold() for author in paper.authors]
        verdict: Verdict = "found" if match["author"].casefold() in families else "not found"
        evidence = Evidence(", ".join(paper.authors), "metadata")
        yield _made(statement, dossier, f"{match['author']} et al.", verdict, evidence)


def _of_year(statement: Statement, dossier: Dossier, said: int) -> ClaimVerdict:
    paper = dossier.record.paper
    venue = str(paper.fields.get("venue") or "")
    years = {int(paper.year), *(int(year) for year in re.findall(r"(?:19|20)\d\d", venue))}
    evidence = Evidence(", ".join(part for part in (paper.date, venue) if part), "metadata")
    near = min(abs(said - year) for year in years)
    # A preprint and its proceedings are a year apart; the record may know only one of them.
    verdict: Verdict = "found" if near == 0 else "not found" if near == 1 else "contradicted"
    return _made(statement, dossier, str(said), verdict, evidence)


def _appeared(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """``2015 年的工作``, ``submitted on 2025-03-18``: the day or year that the paper spoken of appeared."""
    for match in _APPEARED.finditer(statement.text):
        slug = statement.owner(match.start())
        if slug not in dossiers or statement.form == "row" or not _is_dated(statement, match.start()):
            continue
        dossier = dossiers[str(slug)]
        year, month, day = (match["y1"] or match["y2"], match["m1"] or match["m2"], match["d1"] or match["d2"])
        date = dossier.record.paper.date
        if month is None or len(date) < 10:
            if dossier.record.paper.year.isdigit():
                yield _of_year(statement, dossier, int(year))
            continue
        said = "-".join(part.zfill(2) for part in (year, month, day) if part)
        same = date.startswith(said)
        # The record has the day of the first version; another day of a later year may be that of a later one.
        earlier = said < date[: len(said)]
        verdict: Verdict = "found" if same else "contradicted" if earlier else "not found"
        yield _made(statement, dossier, said, verdict, Evidence(date, "metadata"))


def _is_dated(statement: Statement, place: int) -> bool:
    """Whether the day is that of the paper spoken of: its clause names the paper, or nothing else that could be dated."""
    left = max((match.end() for match in CLAUSE_END.finditer(statement.text[:place])), default=0)
    named = [stop for _, start, stop in statement.mentions if left <= start < place]
    return bool(_DATED.fullmatch(statement.text[max(named, default=left) : place]))


def _venue(statement: Statement, dossier: Dossier, stop: int) -> Iterator[ClaimVerdict]:
    match = _VENUE.match(statement.text[stop:].lstrip())
    if not match:
        return
    known = str(dossier.record.paper.fields.get("venue") or "")
    claim = f"{match['name']} {match['year']}"
    if not known:
        yield _made(statement, dossier, claim, "not found", None)
        return
    name = "NeurIPS" if match["name"] == "NIPS" else match["name"]
    same = re.search(rf"(?<![A-Z]){name}(?![A-Z])", known) and known.endswith(match["year"][-2:])
    yield _made(statement, dossier, claim, "found" if same else "contradicted", Evidence(known, "metadata"))
