"""arXiv's HTML (made by LaTeXML) as a document: macros are expanded and numbers counted there already.

A conversion may be of the wrong file, empty, or full of errors, so ``acceptable`` has to pass before it is believed.
"""

from __future__ import annotations

import difflib
import re
from typing import Any

from kb.ingest.latex_math import clean_math
from kb.ingest.reference_entry import parse_reference
from kb.model import Block, Cell, Document, Equation, Figure, Paragraph, Provenance, Reference, Section, Table
from kb.sections import section_kind
from kb.textfile.reader import parse_number

PARSER_VERSION = 1
_SECTIONS = (
    "ltx_chapter",
    "ltx_section",
    "ltx_subsection",
    "ltx_subsubsection",
    "ltx_paragraph",
    "ltx_subparagraph",
    "ltx_appendix",
)
_LEVELS = {"ltx_chapter": 1, "ltx_section": 1, "ltx_appendix": 1, "ltx_subsection": 2, "ltx_subsubsection": 3,
           "ltx_paragraph": 4, "ltx_subparagraph": 5}  # fmt: skip
_BLOCKS = ("p", "table", "figure", "div", "section", "ul", "ol", "li", "dl", "dd", "dt", "blockquote", "pre")


def parse_html(html: str | bytes) -> Document | None:
    """The document on a page; None when the page holds none (an error page, a placeholder)."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    article = tree.css_first("article.ltx_document")
    if article is None:
        return None
    reader = _Reader()
    title = article.css_first("h1.ltx_title_document")
    abstract = article.css_first(".ltx_abstract")
    reader.read(article)
    errors = len(article.css(".ltx_ERROR"))
    return Document(
        title=reader.inline(title) if title else "",
        authors=tuple(_authors(article, reader)),
        abstract=_abstract(abstract, reader),
        sections=reader.sections(),
        references=tuple(_references(article, reader)),
        provenance=Provenance("html", "", "", "arxiv-html", _generator(tree), PARSER_VERSION),
        quality="exact",
        flags=(f"html-errors:{errors}",) if errors else (),
    )


def acceptable(document: Document | None, title: str) -> str:
    """Why a page is not believed; empty when it is. ``title`` is the one of arXiv's record."""
    if document is None:
        return "the page holds no document"
    letters = sum(len(block.text) for _, block in document.blocks() if isinstance(block, Paragraph))
    if letters < 2000:
        return f"only {letters} letters of text"
    if len([section for section in document.sections if section.title]) < 3:
        return "fewer than 3 sections"
    if title:
        likeness = difflib.SequenceMatcher(None, _fold(document.title), _fold(title), autojunk=False).ratio()
        if likeness < 0.9:
            return f"its title is another: {document.title[:80]!r}"
    errors = next((int(flag.split(":")[1]) for flag in document.flags if flag.startswith("html-errors:")), 0)
    return f"{errors} conversion errors" if errors > 25 else ""


def _fold(text: str) -> str:
    return re.sub(r"\W+", " ", text).casefold().strip()


def _generator(tree: Any) -> str:
    meta = tree.css_first('meta[name="generator"]')
    return str(meta.attributes.get("content") or "")[:60] if meta else ""


def _classes(node: Any) -> list[str]:
    return str(node.attributes.get("class") or "").split()


def _abstract(node: Any, reader: _Reader) -> str:
    if node is None:
        return ""
    parts = [reader.inline(part) for part in node.css("p")]
    return "\n\n".join(part for part in parts if part)


def _authors(article: Any, reader: _Reader) -> list[str]:
    names: list[str] = []
    for node in article.css(".ltx_personname"):
        for part in re.split(r"\s*(?:,|\band\b|\n)\s*", reader.inline(node, notes=False)):
            name = re.sub(r"[\d*†‡§$^{}\\]+", "", part).strip()
            if 1 < len(name.split()) < 5 and len(name) < 50 and "@" not in name:
                names.append(name)
    return list(dict.fromkeys(names))


def _references(article: Any, reader: _Reader) -> list[Reference]:
    found: list[Reference] = []
    for node in article.css("li.ltx_bibitem"):
        blocks = [reader.inline(block) for block in node.css("span.ltx_bibblock")]
        raw = " ".join(block for block in blocks if block)
        links = " ".join(str(link.attributes.get("href") or "") for link in node.css("a"))
        entry = parse_reference(len(found) + 1, raw, str(node.attributes.get("id") or ""))
        if entry.arxiv_id is None and "arxiv.org" in links:
            entry = parse_reference(len(found) + 1, f"{raw} {links}", entry.key)
        found.append(entry)
    return found


class _Reader:
    """Walks a page in order and fills sections with blocks."""

    def __init__(self) -> None:
        self._sections: list[tuple[Section, list[Block]]] = [(Section("front", "", 1), [])]
        self._equations = 0

    def sections(self) -> tuple[Section, ...]:
        return tuple(
            Section(s.id, s.title, s.level, s.kind, s.number, tuple(blocks))
            for s, blocks in self._sections
            if s.title or blocks
        )

    def read(self, node: Any) -> None:
        for child in node.iter(include_text=False):
            self._visit(child)

    def _visit(self, node: Any) -> None:
        classes = _classes(node)
        kind = next((name for name in _SECTIONS if name in classes), None)
        if node.tag in ("nav", "header", "footer", "script", "style") or any(
            name in classes
            for name in ("ltx_abstract", "ltx_authors", "ltx_bibliography", "ltx_title_document", "ltx_dates")
        ):
            return
        if node.tag in ("section", "div") and kind:
            self._open(node, kind)
            self.read(node)
        elif re.fullmatch(r"h[1-6]", node.tag or ""):
            return
        elif any(name in classes for name in ("ltx_equation", "ltx_equationgroup", "ltx_eqn_table")):
            self._equation(node)
        elif node.tag == "figure":
            self._figure(node, classes)
        elif "ltx_tabular" in classes:
            self._add_table(node, "", None, None)
        elif node.tag == "p" or not any(child.tag in _BLOCKS for child in node.iter(include_text=False)):
            self._paragraph(node)
        elif node.tag == "li":
            self._item(node)
        else:
            self.read(node)

    def _open(self, node: Any, kind: str) -> None:
        heading = next(
            (child for child in node.iter(include_text=False) if re.fullmatch(r"h[1-6]", child.tag or "")), None
        )
        if heading is None:
            return
        tag = heading.css_first("span.ltx_tag")
        number = re.sub(r"^(?:Appendix|Chapter|Section)\s+", "", tag.text(strip=True)).strip(" .") if tag else None
        title = self.inline(heading, skip=("ltx_tag",))
        section = section_kind(title, number) if kind != "ltx_appendix" else "appendix"
        name = str(node.attributes.get("id") or f"s{len(self._sections)}")
        self._sections.append((Section(name, title, _LEVELS[kind], section, number or None), []))

    def _paragraph(self, node: Any) -> None:
        text = self.inline(node)
        if text:
            self._sections[-1][1].append(Paragraph(text))

    def _item(self, node: Any) -> None:
        before = len(self._sections[-1][1])
        self.read(node)
        blocks = self._sections[-1][1]
        first = blocks[before] if len(blocks) > before else None
        if isinstance(first, Paragraph):
            blocks[before] = Paragraph(f"- {first.text}")

    def _equation(self, node: Any) -> None:
        """A display: one row, or a group whose rows are split into cells that are joined again."""
        bodies = node.css("tbody") or [node]
        rows = [row for body in bodies for row in body.css("tr.ltx_eqn_row")] or [node]
        lines: list[str] = []
        numbers: list[str] = []
        for row in rows:
            cells = [_latex(math) for math in row.css("math")]
            line = " ".join(cell for cell in cells if cell)
            if line:
                lines.append(line)
            tag = row.css_first("span.ltx_tag_equation, span.ltx_tag_equationgroup")
            if tag:
                numbers.append(tag.text(strip=True).strip("() "))
        if not lines:
            return
        self._equations += 1
        latex = lines[0] if len(lines) == 1 else "\\begin{gathered}\n" + " \\\\\n".join(lines) + "\n\\end{gathered}"
        number = f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else numbers[0] if numbers else None
        identifier = f"eq-{numbers[0]}" if numbers else f"eq-n{self._equations}"
        before = self._sections[-1][1][-1] if self._sections[-1][1] else None
        sentence = re.split(r"(?<=[.!?])\s+", before.text)[-1][-400:] if isinstance(before, Paragraph) else ""
        self._sections[-1][1].append(Equation(identifier, latex, "exact", number, env="equation", before=sentence))

    def _figure(self, node: Any, classes: list[str]) -> None:
        caption_node = next(
            (child for child in node.css("figcaption") if child.parent == node), node.css_first("figcaption")
        )
        number, caption = None, ""
        if caption_node is not None:
            tag = caption_node.css_first("span.ltx_tag")
            label = tag.text(strip=True) if tag else ""
            match = re.search(r"([A-Z]?\.?\d+(?:\.\d+)*)", label)
            number = match[1] if match else None
            caption = self.inline(caption_node, skip=("ltx_tag",))
        grids = node.css("table.ltx_tabular, span.ltx_tabular, div.ltx_tabular")
        if "ltx_table" in classes or (grids and "ltx_float" not in classes):
            for index, grid in enumerate(grids):
                self._add_table(grid, caption, number, index)
            if grids:
                return
        if caption:
            name = "tab" if "ltx_table" in classes else "fig"
            self._sections[-1][1].append(Figure(f"{name}-{number}", caption, number))

    def _add_table(self, node: Any, caption: str, number: str | None, index: int | None) -> None:
        rows: list[tuple[tuple[Cell, ...], bool]] = []
        hanging: dict[int, tuple[int, Cell]] = {}
        for row in node.css("tr, span.ltx_tr"):
            cells: list[Cell] = []
            tags = [cell for cell in row.css("td, th, span.ltx_td") if cell.parent == row]
            for cell in tags:
                while len(cells) in hanging:
                    _take_hanging(cells, hanging)
                made = _cell(
                    self.inline(cell), bool(cell.css_first(".ltx_font_bold")) or "ltx_font_bold" in _classes(cell)
                )
                wide = _count(cell, "colspan", "ltx_colspan_")
                deep = _count(cell, "rowspan", "ltx_rowspan_")
                for _ in range(wide):
                    if deep > 1:
                        hanging[len(cells)] = (deep - 1, made)
                    cells.append(made)
            while len(cells) in hanging:
                _take_hanging(cells, hanging)
            header = bool(tags) and all(tag.tag == "th" or "ltx_th" in _classes(tag) for tag in tags)
            rows.append((tuple(cells), header))
        width = max((len(cells) for cells, _ in rows), default=0)
        if width < 2:
            return
        filled = [(cells + (Cell(""),) * (width - len(cells)), header) for cells, header in rows]
        count = 0
        while count < len(filled) - 1 and filled[count][1]:
            count += 1
        count = max(count, 1) if len(filled) > 1 else len(filled)
        suffix = f"-{index + 1}" if index else ""
        name = f"tab-{number or f'at-{len(self._sections[-1][1])}'}{suffix}"
        header_rows = tuple(cells for cells, _ in filled[:count])
        self._sections[-1][1].append(
            Table(name, caption, header_rows, tuple(cells for cells, _ in filled[count:]), number)
        )

    def inline(self, node: Any, skip: tuple[str, ...] = (), notes: bool = True) -> str:
        """The text of a node as Markdown on one line: maths as ``$...$``, citations as ``[@key]``."""
        parts: list[str] = []
        self._inline(node, parts, skip, notes)
        text = " ".join("".join(parts).split())
        return re.sub(r" ([,.;:)\]])", r"\1", text).replace("[ ", "[").strip()

    def _inline(self, node: Any, parts: list[str], skip: tuple[str, ...], notes: bool) -> None:
        for child in node.iter(include_text=True):
            if child.tag == "-text":
                parts.append(str(child.text_content or ""))
                continue
            classes = _classes(child)
            if any(name in classes for name in skip) or child.tag in ("script", "style", "annotation"):
                continue
            if child.tag == "math":
                latex = _latex(child)
                parts.append(f"${latex}$" if latex else "")
            elif child.tag == "cite":
                parts.append(_citation(child))
            elif "ltx_note" in classes:
                content = child.css_first(".ltx_note_content")
                if notes and content is not None:
                    inner = self.inline(content, ("ltx_note_mark", "ltx_tag", "ltx_note_type"))
                    parts.append(f" (footnote: {inner})")
            elif "ltx_font_bold" in classes and "ltx_text" in classes:
                inner = self.inline(child, skip, notes)
                parts.append(f"**{inner}**" if inner and "**" not in inner else inner)
            elif "ltx_font_typewriter" in classes:
                inner = self.inline(child, skip, notes)
                parts.append(f"`{inner}`" if inner and "`" not in inner else inner)
            elif child.tag == "br":
                parts.append(" ")
            else:
                self._inline(child, parts, skip, notes)


def _take_hanging(cells: list[Cell], hanging: dict[int, tuple[int, Cell]]) -> None:
    left, cell = hanging.pop(len(cells))
    if left > 1:
        hanging[len(cells)] = (left - 1, cell)
    cells.append(cell)


def _count(cell: Any, attribute: str, prefix: str) -> int:
    given = str(cell.attributes.get(attribute) or "")
    given = given or next((name.removeprefix(prefix) for name in _classes(cell) if name.startswith(prefix)), "1")
    return max(1, int(given)) if given.isdigit() else 1


def _cell(text: str, bold: bool) -> Cell:
    bare = text.replace("**", "").strip("$ ").replace("\\%", "%")
    number = parse_number(bare)
    return Cell(bare if number is not None else text.replace("**", ""), number, bold)


def _latex(math: Any) -> str:
    """The LaTeX of a formula, without the line breaks that LaTeXML puts into long ones."""
    source = str(math.attributes.get("alttext") or "")
    if not source:
        note = math.css_first('annotation[encoding="application/x-tex"]')
        source = note.text() if note else ""
    source = re.sub(r"(?<!\\)%\n\s*", "", source)
    return " ".join(clean_math(source).split())


def _citation(node: Any) -> str:
    keys = [
        str(link.attributes.get("href") or "").rpartition("#")[2]
        for link in node.css("a")
        if "#bib" in str(link.attributes.get("href") or "")
    ]
    keys = list(dict.fromkeys(keys))
    return "[" + "; ".join(f"@{key}" for key in keys) + "]" if keys else str(node.text(strip=True))
