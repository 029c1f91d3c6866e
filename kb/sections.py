"""What kind of section a heading opens, in English and Chinese."""

from __future__ import annotations

import re

from kb.model import SectionKind

_KINDS: tuple[tuple[SectionKind, tuple[str, ...]], ...] = (
    ("abstract", ("abstract", "summary", r"摘\s*要")),
    ("references", ("references?", "bibliography", "literature cited", "参考文献", "引用文献")),
    ("related", (
        r"(?:\w+ and )?related works?.*", r"(?:prior|previous|existing) work.*", "literature review",
        "相关工作.*", "研究现状.*", "文献综述",
    )),
    ("limitations", (r".*\blimitations?\b.*", "threats to validity", "局限.*", "不足.*")),
    ("intro", ("introduction.*", "motivation", r"[引绪前导]\s*[言论]", "[介简][绍介]", "研究背景")),
    ("conclusion", (
        r"(?:summary and |discussions? and )?conclusions?.*", "(?:concluding|closing) remarks", "discussion",
        "future work",
        r"总\s*结.*", r"结\s*[论语].*", "结束语", "讨论", "展望.*",
    )),
    ("experiments", (
        r".*\b(?:experiments?|experimental|evaluations?|results?|ablations?|benchmarks?|empirical)\b.*",
        ".*(?:实验|评测|消融|结果).*",
    )),
    ("method", (
        r".*\b(?:methods?|methodology|approach|algorithms?|models?|framework|preliminar(?:y|ies)|background)\b.*",
        r".*\b(?:formulation|architecture|objective|policy|optimization|training)\b.*",
        ".*(?:方法|算法|模型|框架|预备知识|问题定义|背景).*",
    )),
    ("appendix", ("(?:appendix|appendices|supplementary|supplemental).*", r"附\s*录.*")),
)  # fmt: skip
_COMPILED = [(kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, patterns in _KINDS]
_APPENDIX_NUMBER = re.compile(r"^[A-Z](?:\.\d+)*$")


def section_kind(title: str, number: str | None = None) -> SectionKind:
    """The kind of a section by its heading; a heading numbered ``A`` or ``B.1`` lies in the appendix."""
    bare = re.sub(r"^[\d.\s]+", "", title).strip(" .:：") or title.strip()
    if number and _APPENDIX_NUMBER.match(number):
        return "appendix"
    for kind, pattern in _COMPILED:
        if pattern.fullmatch(bare):
            return kind
    return "other"
