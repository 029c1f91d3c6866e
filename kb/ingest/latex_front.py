"""Title, authors and abstract of a LaTeX source."""

from __future__ import annotations

import re

from kb.ingest.latex_context import TextContext
from kb.ingest.latex_groups import read_environment, read_group, read_groups, read_option, skip_options
from kb.ingest.latex_text import to_line, to_markdown

ABSTRACTS = frozenset(("abstract", "cnabstract", "enabstract", "abstract*", "abstractzh", "abstracten", "onecolabstract", "eabstract",
                       "cabstract", "chineseabstract", "englishabstract"))  # fmt: skip

# Commands of the front page, which are read by themselves: how many brace groups go with them.
FRONT_COMMANDS = {
    "title": 1, "Title": 1, "author": 1, "Author": 1, "authors": 1, "date": 1, "icmltitle": 1,
    "icmltitlerunning": 1, "icmlauthor": 2, "icmlaffiliation": 2, "icmlcorrespondingauthor": 2, "icmlsetsymbol": 2,
    "icmladdress": 1, "affil": 1, "affiliation": 1, "institute": 1, "address": 1, "email": 1, "ead": 1,
    "titlerunning": 1, "authorrunning": 1, "maketitle": 0, "subtitle": 1, "printAffiliationsAndNotice": 1,
    "corref": 1, "cortext": 1, "fntext": 1, "emails": 0, "affiliations": 0, "shortauthors": 0,
    "correspondingauthor": 1, "abstract": 1, "markboth": 2, "authornote": 1, "orcid": 1, "institution": 1,
    "runningtitle": 1, "runningauthor": 1, "aistatstitle": 1, "aistatsauthor": 1, "aistatsaddress": 1,
    "coltauthor": 1, "jmlrheading": 6, "editor": 1, "ShortHeadings": 2, "firstpageno": 1, "papertitle": 1,
}  # fmt: skip
_TITLES = ("title", "icmltitle", "Title", "papertitle", "aistatstitle")
_AUTHORS = re.compile(r"\\(?:author|icmlauthor|Author|authors|aistatsauthor|coltauthor)(?![a-zA-Z])\*?")
_LINE_BREAK = re.compile(r"\\\\(?:\[[^\]]*\])?|\\newline(?![a-zA-Z])")
_SIZES = ("Huge", "huge", "LARGE", "Large")
_TITLE_PAGE = 6000  # characters
_NOT_A_NAME = re.compile(
    r"\\(?:thanks|textsuperscript|footnote|footnotemark|footnotetext|inst|affil|orcidlink|orcidID|orcid|email|texttt|"
    r"url|href|"
    r"corref|fnref|vspace|hspace|small|IEEEauthorrefmark|IEEEauthorblockA|IEEEmembership|samethanks|ead|Email|addr|"
    r"equalcontrib)"
    r"\*?(?![a-zA-Z])"
)
_SEPARATOR = re.compile(
    r"\\(?:and|And|AND|AAnd|ANDs|quad|qquad|newline|par|sep|name)(?![a-zA-Z])|\\\\|&|,|;|、|，|\n\s*\n|\s+and\s+"
)
_INSTITUTION = re.compile(
    r"\b(?:univ|institut|college|school|depart|dept|lab\b|laborator|research|academy|center|centre|google|deepmind|"
    r"microsoft|"
    r"openai|meta\b|facebook|nvidia|amazon|tencent|alibaba|baidu|huawei|inc\b|ltd|corp|company|technology|team|equal|"
    r"contribut|"
    r"correspond|author|china|usa|ai\b|street|road|science|engineering|faculty|group|intelligence|computer|hospital|"
    r"mail|"
    r"foundation|polytechnic|eth\b|mit\b|cmu|kaist|inria)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][\w.'’ \-]{1,40}")
_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{2,4}")
_PARTICLES = frozenset("de van von der den di da la le el al bin ibn ter ten dos du del y".split())


def read_title(preamble: str, body: str, context: TextContext) -> str:
    """The title on one line; empty when there is none."""
    for command in _TITLES:
        for text in (body, preamble):
            for argument in _arguments(text, command):
                title = to_line(_LINE_BREAK.sub(" ", argument), context)
                if re.search(r"\w", title):
                    return title.replace("\\$", "$").strip(" *†")
    return _largest_print(body, context)


def _largest_print(body: str, context: TextContext) -> str:
    """What is set largest on a title page made by hand."""
    page = body[:_TITLE_PAGE]
    found = [match for size in _SIZES if (match := re.search(rf"\\(?:begin\s*\{{)?{size}(?![a-zA-Z])\}}?", page))]
    if not found:
        return ""
    match = found[0]
    group = read_group(page, match.start() - 1) if page.startswith("{", match.start() - 1) else None
    if group:
        return to_line(_LINE_BREAK.sub(" ", group[0]), context)
    rest = page[match.end() :]
    end = re.search(r"\\par(?![a-zA-Z])|\n\s*\n|\\vspace|\\end\s*\{|(?<!\\)\}", rest)
    return to_line(_LINE_BREAK.sub(" ", rest[: end.start()] if end else rest[:200]), context)


def _arguments(text: str, command: str) -> list[str]:
    found: list[str] = []
    for match in re.finditer(rf"\\{command}(?![a-zA-Z])\*?", text):
        option = read_option(text, match.end())
        group = read_group(text, option[1] if option else match.end())
        if group:
            found.append(group[0])
    return found


def read_abstract(preamble: str, body: str, context: TextContext) -> str:
    """An abstract given by a command, or before the document begins."""
    for match in re.finditer(r"\\begin\s*\{(abstract\*?)\}", preamble):
        return to_markdown(read_environment(preamble, match.end(), match[1])[0], context)
    for text in (body, preamble):
        for argument in _arguments(text, "abstract"):
            found = to_markdown(argument, context)
            if len(found) > 40:
                return found
    return ""


def read_authors(preamble: str, body: str, context: TextContext) -> tuple[str, ...]:
    """Author names where they can be told from institutions; arXiv's own record is better and goes first."""
    names: list[str] = []
    text = f"{preamble}\n\n{body}"
    for match in _AUTHORS.finditer(text):
        group = read_group(text, skip_options(text, match.end()))
        if group is None:
            continue
        for part in _SEPARATOR.split(_without_notes(group[0])):
            name = re.sub(r"[\d*†‡§¶∗\\$^{}()]+", " ", to_line(re.sub(r"\$[^$]*\$", " ", part), context)).strip(" .")
            name = re.sub(r"^and ", "", " ".join(name.split()))
            if is_name(name) and name not in names:
                names.append(name)
    return tuple(names)


def _without_notes(text: str) -> str:
    kept: list[str] = []
    position = 0
    while match := _NOT_A_NAME.search(text, position):
        kept.append(text[position : match.start()])
        position = read_groups(text, skip_options(text, match.end()), 1)[1]
    kept.append(text[position:])
    return "".join(kept)


def is_name(text: str) -> bool:
    """Whether a short text looks like the name of a person."""
    if _HAN_NAME.fullmatch(text):
        return True
    words = text.split()
    if not _NAME.fullmatch(text) or not 2 <= len(words) <= 5 or _INSTITUTION.search(text):
        return False
    return all(word[0].isupper() or word.lower() in _PARTICLES for word in words) and not text.isupper()
