"""A LaTeX source as a document: sections, numbered equations with their macros expanded, tables, captions, references.

No TeX is run: the text is scanned once, with LaTeX's counters simulated, so that numbers are those of the printed
paper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from kb import __version__
from kb.ingest.latex_bibliography import read_references
from kb.ingest.latex_blocks import RawBlock, RawText, finish_blocks
from kb.ingest.latex_comments import CommentStripper, Verbatim
from kb.ingest.latex_conditionals import Conditionals
from kb.ingest.latex_context import TextContext
from kb.ingest.latex_counters import counters_for
from kb.ingest.latex_definitions import collect
from kb.ingest.latex_flatten import choose_main, decode, flatten
from kb.ingest.latex_front import read_abstract, read_authors, read_title
from kb.ingest.latex_macros import expand, expand_environments
from kb.ingest.latex_scan import Scanner, read_counter_command
from kb.ingest.latex_text import to_line, to_markdown
from kb.ingest.section_tree import finish_sections
from kb.model import Document, Provenance, Section
from kb.sections import section_kind

PARSER_VERSION = 2
_LONGEST_STYLE = 400_000  # characters
# Styles of publishers define what they like; what authors add stands in small files of their own.
_PUBLISHERS = re.compile(
    r"neurips|nips|icml|iclr|acl|emnlp|naacl|aaai|ijcai|cvpr|iccv|eccv|ieee|acm|llncs|elsart|elsarticle|revtex|"
    r"natbib|fancyhdr|"
    r"algorithm|times|colm|tmlr|jmlr|interspeech|corl|rss|arxiv|hyperref|caption|subfig|cleveref|url|booktabs|ctex|"
    r"cas-",
    re.IGNORECASE,
)
_COUNTER_COMMAND = re.compile(r"\\(numberwithin|counterwithin|setcounter|renewcommand|def)(\*?)(?![a-zA-Z])")
_ADD_TO_RESET = re.compile(r"\\@addtoreset\s*\{(\w+)\}\s*\{(\w+)\}")


def parse_latex(files: Mapping[str, bytes]) -> Document:
    """Read a source given as file name -> bytes. Raises BadDocument when it has no main file."""
    context = TextContext(verbatim=Verbatim())
    texts, main, flat = _read_texts(files, context.verbatim)
    for name, text in texts.items():
        if name.endswith((".sty", ".cls")) and _is_own_style(name, text):
            collect(text, context.macros)
    preamble, body = _split(collect(flat, context.macros))
    context.chinese = _is_chinese(preamble, body)
    body = expand_environments(body, context.macros)
    structural = context.macros.structural()
    if structural:
        body = expand(body, context.macros, structural)
    counters = counters_for(preamble, body, context.macros)
    scanner = Scanner(context, counters, _numbered_depth(preamble, counters.parents["section"] == "chapter"))
    _set_counters(preamble, scanner)
    scanner.run(body)
    _finish_labels(context)
    abstract, sections = _sections(scanner, context)
    title = read_title(preamble, body, context)
    return Document(
        title=title,
        authors=read_authors(preamble, body, context),
        abstract=abstract or read_abstract(preamble, body, context),
        sections=sections,
        references=tuple(read_references(texts, main, flat, context)),
        provenance=Provenance("latex", main, "", "kb-latex", __version__, PARSER_VERSION),
        quality="exact" if any(section.blocks for section in sections) else "poor",
    )


def _read_texts(files: Mapping[str, bytes], verbatim: Verbatim) -> tuple[dict[str, str], str, str]:
    """``(texts without comments, name of the main file, its text with all includes and without dead branches)``."""
    decoded = {name: decode(data) for name, data in files.items()}
    stripper = CommentStripper(decoded.values(), verbatim)
    texts = {
        name: text if name.endswith(".bib") or "readme" in name.lower() else stripper.strip(text)
        for name, text in decoded.items()
    }
    main = choose_main(texts)
    conditionals = Conditionals()
    for name, text in texts.items():
        if name.endswith((".sty", ".cls")):
            conditionals.declare(text)
    flat = conditionals.resolve(flatten(texts, main))
    return texts, main, flat.split("\\end{document}")[0]


def _is_own_style(name: str, text: str) -> bool:
    return len(text) < _LONGEST_STYLE and not _PUBLISHERS.search(name.rsplit("/", 1)[-1]) and "\\LoadClass" not in text


def _split(flat: str) -> tuple[str, str]:
    preamble, _, body = flat.partition("\\begin{document}")
    return (preamble, body) if body else ("", flat)


def _is_chinese(preamble: str, body: str) -> bool:
    sample = body[:20_000]
    han = sum("\u4e00" <= char <= "\u9fff" for char in sample)
    return han > 0.2 * max(1, len(re.findall(r"[A-Za-z]{2,}", sample)))


def _numbered_depth(preamble: str, by_chapter: bool) -> int:
    """How deep headings have numbers: LaTeX's ``secnumdepth``."""
    found = re.findall(r"\\setcounter\s*\{secnumdepth\}\s*\{\s*(-?\d+)\s*\}", preamble)
    return int(found[-1]) if found else 2 if by_chapter else 3


def _set_counters(preamble: str, scanner: Scanner) -> None:
    for match in _COUNTER_COMMAND.finditer(preamble):
        read_counter_command(preamble, match[1], bool(match[2]), match.end(), scanner.counters)
    for match in _ADD_TO_RESET.finditer(preamble):
        scanner.counters.place_within(match[1], match[2], printed=False)


def _finish_labels(context: TextContext) -> None:
    """A ``\\tag`` may hold LaTeX, even a reference to another equation."""
    for label, target in list(context.labels.items()):
        if "\\" in target.number or "$" in target.number:
            context.labels[label] = replace(target, number=to_line(target.number, context))


def _sections(scanner: Scanner, context: TextContext) -> tuple[str, tuple[Section, ...]]:
    """``(abstract, sections)`` with every label resolved."""
    restated = scanner.restated()
    made: list[Section] = []
    for index, raw in enumerate(scanner.sections):
        for name, shown in restated.items():
            _restate(raw.blocks, name, shown)
        title = to_line(raw.title, context)
        blocks = finish_blocks(raw, context)
        kind = "appendix" if raw.appendix else section_kind(title)
        name = f"S{raw.number}" if raw.number else f"s{index + 1}"
        made.append(Section(name, title, raw.level, kind, raw.number, tuple(blocks)))
    abstract = "\n\n".join(to_markdown(part, context) for part in scanner.abstract)
    return finish_sections(abstract, made)


def _restate(blocks: list[RawBlock], name: str, shown: str) -> None:
    """``\\main*`` states a theorem again that stands elsewhere already."""
    for block in blocks:
        if isinstance(block, RawText):
            mark = rf"\\{re.escape(name)}\*?(?![a-zA-Z])"
            block.tex = re.sub(mark, lambda _: f"\n\n\\textbf{{{shown}}} (restated).\n\n", block.tex)
