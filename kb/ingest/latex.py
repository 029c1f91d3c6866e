"""A LaTeX source as a document: sections, numbered equations with their macros expanded, tables, captions, references.

One linear scan over the flattened text. Counters are simulated, so that numbers are those of the printed paper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kb import __version__
from kb.ingest.bibliography import references_from_bbl, references_from_bib
from kb.ingest.latex_flatten import choose_main, decode, flatten, strip_comments
from kb.ingest.latex_macros import Macros, collect, expand, expand_environments, read_group, read_option
from kb.ingest.latex_scan import Scanner
from kb.ingest.latex_text import TextContext, to_line, to_markdown
from kb.model import Document, Provenance, Reference

PARSER_VERSION = 1
_CITED = re.compile(r"\\(?:no|full|foot|paren|text|auto)?[cC]ite[a-zA-Z]*\*?\s*(?:\[[^\]]*\]\s*){0,2}\{([^}]*)\}")


def parse_latex(files: Mapping[str, bytes]) -> Document:
    """Read a source given as file name -> bytes. Raises BadDocument when it has no main file."""
    texts = {name: decode(data) for name, data in files.items()}
    main = choose_main(texts)
    macros = Macros()
    for name, text in texts.items():
        if name.endswith((".sty", ".cls")) and len(text) < 400_000 and _is_own_style(name, text):
            collect(strip_comments(text), macros)
    flat = flatten(texts, main)
    body = collect(flat, macros)
    preamble, _, rest = body.partition("\\begin{document}")
    if not rest:
        preamble, rest = "", body
    rest = expand_environments(rest, macros)
    structural = frozenset(name for name in macros.commands if macros.is_structural(name))
    if structural:
        rest = expand(rest, macros, structural)
    context = TextContext(macros)
    scanner = Scanner(context, _equations_by_section(preamble))
    scanner.run(rest)
    sections = scanner.sections()
    abstract = scanner.abstract() or _early_abstract(preamble, context) or _command_text(rest, "abstract", context)
    return Document(
        title=_title(preamble, rest, context),
        authors=_authors(preamble, rest, context),
        abstract=abstract,
        sections=sections,
        references=tuple(_references(texts, main, flat, context)),
        provenance=Provenance("latex", main, "", "kb-latex", __version__, PARSER_VERSION),
        quality="exact" if sections and any(section.blocks for section in sections) else "poor",
    )


# Styles of publishers define what they like; what authors add stands in small files of their own.
_PUBLISHERS = re.compile(
    r"neurips|nips|icml|iclr|acl|emnlp|naacl|aaai|cvpr|iccv|eccv|ieee|acm|llncs|elsart|elsarticle|revtex|natbib|fancyhdr|"
    r"algorithm|times|colm|tmlr|jmlr|interspeech|corl|rss|arxiv|hyperref|caption|subfig|cleveref|url|booktabs",
    re.IGNORECASE,
)


def _is_own_style(name: str, text: str) -> bool:
    return not _PUBLISHERS.search(name.rsplit("/", 1)[-1]) and "\\LoadClass" not in text


def _equations_by_section(preamble: str) -> bool:
    pattern = (
        r"\\(?:numberwithin|counterwithin\*?)\s*\{equation\}\s*\{section\}|\\@addtoreset\s*\{equation\}\s*\{section\}"
    )
    return bool(re.search(pattern, preamble))


def _command_text(text: str, command: str, context: TextContext) -> str:
    """The argument of a command such as ``\\title``, as Markdown."""
    for match in re.finditer(rf"\\{command}(?![a-zA-Z])\*?", text):
        option = read_option(text, match.end())
        group = read_group(text, option[1] if option else match.end())
        if group and group[0].strip():
            return to_markdown(group[0], context)
    return ""


def _early_abstract(preamble: str, context: TextContext) -> str:
    """Some classes want the abstract before the document begins."""
    match = re.search(r"\\begin\s*\{abstract\}(.*?)\\end\s*\{abstract\}", preamble, re.DOTALL)
    return to_markdown(match[1], context) if match else _command_text(preamble, "abstract", context)


def _title(preamble: str, body: str, context: TextContext) -> str:
    for command in ("title", "icmltitle", "Title", "papertitle"):
        found = _command_text(body, command, context) or _command_text(preamble, command, context)
        if found:
            plain = re.sub(r"\s*\(footnote: .*?\)", "", found).replace("**", "").replace("\n\n", " ")
            return " ".join(plain.split())
    return ""


def _authors(preamble: str, body: str, context: TextContext) -> tuple[str, ...]:
    """Author names where they can be told apart; arXiv's own record is better and goes first."""
    names: list[str] = []
    for match in re.finditer(r"\\(?:icml)?author\s*(?:\[[^\]]*\])?\s*(?=\{)", preamble + "\n" + body):
        group = read_group(preamble + "\n" + body, match.end())
        if group is None:
            continue
        for part in re.split(r"\\(?:and|And|AND)(?![a-zA-Z])|\\\\|,(?![^{]*\})", group[0]):
            part = re.sub(
                r"\\thanks\s*\{.*?\}|\$[^$]*\$|\\(?:textsuperscript|footnotemark|inst|affil|orcidlink)\s*[\[{][^\]}]*[\]}]",
                "",
                part,
            )
            name = to_line(part, context).strip(" *,†‡")
            if (re.fullmatch(r"[^\W\d_][\w.'’ -]{2,40}", name) and 1 < len(name.split()) < 5 and name not in names) or (re.fullmatch(r"[\u4e00-\u9fff]{2,4}", name) and name not in names):
                names.append(name)
    return tuple(names)


def _references(texts: Mapping[str, str], main: str, flat: str, context: TextContext) -> list[Reference]:
    """From the ``.bbl`` of the main file, a list in the text, any ``.bbl``, or else the cited keys of a ``.bib``."""
    stem = main.rsplit(".", 1)[0]
    bbls = [text for name, text in texts.items() if name.endswith(".bbl")]
    for text in [texts.get(f"{stem}.bbl", ""), flat, *bbls]:
        if "\\bibitem" in text or "\\entry{" in text:
            macros = Macros(dict(context.macros.commands))
            clean = collect(strip_comments(text), macros)
            found = references_from_bbl(clean, TextContext(macros, context.labels))
            if found:
                return found
    cited = [key.strip() for match in _CITED.finditer(flat) for key in match[1].split(",") if key.strip()]
    return references_from_bib((text for name, text in texts.items() if name.endswith(".bib")), cited, context)
