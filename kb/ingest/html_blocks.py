"""The body of arXiv's HTML walked in order: sections, paragraphs, lists, displays, floats, listings, theorems."""

from __future__ import annotations

import re
from typing import Any

from kb.ingest.html_inline import MAX_DEPTH, children, classes_of, inline, source_of
from kb.ingest.html_tables import parse_grid
from kb.model import Block, Equation, Figure, Paragraph, Section, Table
from kb.sections import section_kind

_LEVELS = {
    "ltx_part": 1, "ltx_chapter": 1, "ltx_section": 1, "ltx_appendix": 1, "ltx_subsection": 2,
    "ltx_subsubsection": 3, "ltx_paragraph": 4, "ltx_subparagraph": 5,
}  # fmt: skip
_DROPPED = frozenset(
    "ltx_abstract ltx_authors ltx_bibliography ltx_title_document ltx_dates ltx_TOC ltx_pubnotes ltx_classification "
    "ltx_page_footer ltx_ERROR ltx_subtitle".split(" ")
)
_ROWS = frozenset(("ltx_eqn_row", "ltx_equation"))
_DISPLAYS = frozenset(("ltx_equation", "ltx_equationgroup", "ltx_eqn_table"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCK_TAGS = frozenset(
    ("p", "table", "figure", "div", "section", "ul", "ol", "li", "dl", "dd", "dt", "blockquote", "pre")
)
_NUMBER = re.compile(r"(?:^|\s)([A-Z]{0,3}[.-]?\d+(?:\.\d+)*[a-z]?|[IVXLC]+|[A-Z])\s*[:.]?\s*$")
_TAG_WORD = re.compile(r"^(?:Appendix|Chapter|Section|Part|附录|第)\s*")
_BULLETS = frozenset("•∙◦▪‣⁃–—-∗*·◆■►▶✓")


class BlockReader:
    """Walks a page and fills sections with blocks."""

    def __init__(self) -> None:
        self._sections: list[tuple[Section, list[Block]]] = [(Section("front", "", 1), [])]
        self._displays = 0
        self._depth = 0

    def sections(self) -> list[Section]:
        """What has been read so far."""
        return [Section(s.id, s.title, s.level, s.kind, s.number, tuple(blocks)) for s, blocks in self._sections]

    @property
    def _blocks(self) -> list[Block]:
        return self._sections[-1][1]

    def read(self, node: Any) -> None:
        """Read the children of a node."""
        if self._depth > MAX_DEPTH:
            self._paragraph(str(node.text(separator=" ", strip=True)))
            return
        self._depth += 1
        for child in children(node):
            self._visit(child)
        self._depth -= 1

    def _visit(self, node: Any) -> None:
        classes = classes_of(node)
        if node.tag in ("nav", "header", "footer", "script", "style") or not _DROPPED.isdisjoint(classes):
            return
        heading = next((name for name in _LEVELS if name in classes), None)
        if heading and node.tag in ("section", "div"):
            self._open(node, heading)
            self.read(node)
        elif node.tag in _HEADINGS:
            self._head(node, classes)
        elif not _DISPLAYS.isdisjoint(classes):
            self._display(node)
        elif "ltx_listing" in classes or "ltx_verbatim" in classes or node.tag == "pre":
            self._listing(node)
        elif node.tag == "figure" or "ltx_float" in classes:
            self._float(node, classes)
        elif "ltx_tabular" in classes:
            self._table(node, "", None, "tab")
        else:
            self._text(node, classes)

    def _text(self, node: Any, classes: list[str]) -> None:
        if node.tag in ("li", "dt", "dd"):
            self._item(node)
        elif node.tag == "blockquote":
            before = len(self._blocks)
            self.read(node)
            self._blocks[before:] = [
                Paragraph(f"> {b.text}") if isinstance(b, Paragraph) else b for b in self._blocks[before:]
            ]
        elif "ltx_keywords" in classes:
            self._paragraph(f"**Keywords.** {inline(node, ('ltx_title',))}")
        elif "ltx_acknowledgements" in classes:
            self._sections.append((Section(f"s{len(self._sections)}", "Acknowledgments", 1), []))
            self.read(node)
        elif node.tag == "p" or not any(child.tag in _BLOCK_TAGS for child in children(node)):
            self._paragraph(inline(node))
        else:
            self.read(node)

    def _open(self, node: Any, kind: str) -> None:
        heading = next((child for child in children(node) if child.tag in _HEADINGS), None)
        if heading is None:
            return
        tag = heading.css_first("span.ltx_tag")
        number = _TAG_WORD.sub("", tag.text(strip=True)).strip(" .节章") if tag else ""
        title = inline(heading, skip=("ltx_tag", "ltx_note"), plain=True).rstrip(".:：" if _LEVELS[kind] > 3 else "")
        section = "appendix" if kind == "ltx_appendix" else section_kind(title)
        name = str(node.attributes.get("id") or f"s{len(self._sections)}")
        self._sections.append((Section(name, title, _LEVELS[kind], section, number or None), []))

    def _head(self, node: Any, classes: list[str]) -> None:
        """A heading that opens no section: of a theorem, a proof, or a box."""
        if not ("ltx_runin" in classes or "ltx_title_theorem" in classes or "ltx_title_proof" in classes):
            return
        text = inline(node, plain=True).strip()
        if text:
            self._blocks.append(Paragraph(f"**{text if text.endswith('.') else text + '.'}**"))

    def _paragraph(self, text: str) -> None:
        if not re.search(r"\w", text):
            return
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, Paragraph) and re.fullmatch(r"\*\*[^*]+\.\*\*", last.text):
            self._blocks[-1] = Paragraph(f"{last.text} {text}")
        else:
            self._blocks.append(Paragraph(text))

    def _item(self, node: Any) -> None:
        """A list item: its mark, then what stands in it."""
        tag = next((child for child in children(node) if "ltx_tag" in classes_of(child)), None)
        mark = inline(tag) if tag is not None else ""
        if node.tag == "dd":
            mark = ""
        elif not mark or mark.strip("*") in _BULLETS:
            mark = "-"
        elif node.tag == "dt":
            mark = f"- **{mark.strip('*')}**"
        before = len(self._blocks)
        for child in children(node):
            if "ltx_tag" not in classes_of(child):
                self._visit(child)
        if not any(child.tag in _BLOCK_TAGS for child in children(node)) and len(self._blocks) == before:
            self._paragraph(inline(node, ("ltx_tag",)))
        first = self._blocks[before] if len(self._blocks) > before else None
        if isinstance(first, Paragraph) and mark:
            self._blocks[before] = Paragraph(f"{mark} {first.text}")
        elif node.tag == "dt" and mark:
            self._blocks.append(Paragraph(f"{mark}."))

    def _display(self, node: Any) -> None:
        """One display; a group's rows are split into cells, which are joined again."""
        rows = [row for row in node.css("tr") if not _ROWS.isdisjoint(classes_of(row))] or [node]
        lines: list[str] = []
        numbers: list[str] = []
        for row in rows:
            cells = [source for math in row.css("math") if (source := source_of(math))]
            if cells:
                lines.append(" &".join(cells[:2]) + "".join(f" {cell}" for cell in cells[2:]))
            tag = row.css_first(".ltx_tag") or row.css_first(".ltx_eqn_eqno")
            if tag is not None and (number := inline(tag).strip("() ")):
                numbers.append(number)
        if not lines:
            return
        self._displays += 1
        group = len(lines) > 1 or "ltx_equationgroup" in classes_of(node)
        latex = lines[0].replace(" &", " ", 1) if len(lines) == 1 else ""
        latex = latex or "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
        shown = f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else numbers[0] if numbers else None
        identifier = f"eq-{numbers[0]}" if numbers else f"eq-n{self._displays}"
        self._blocks.append(Equation(identifier, latex, "exact", shown, env="align" if group else "equation"))

    def _listing(self, node: Any, head: str = "") -> None:
        lines = node.css(".ltx_listingline")
        text = "\n".join(_listing_line(line) for line in lines) if lines else str(node.text())
        text = "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
        if re.search(r"\w", text):
            self._blocks.append(Paragraph(f"{head}\n{text}" if head else text))

    def _float(self, node: Any, classes: list[str]) -> None:
        captions = node.css("figcaption") or node.css(".ltx_caption")
        own = [caption for caption in captions if caption.parent == node]
        numbered = [caption for caption in captions if not _label(caption).startswith("(") and _label(caption)]
        if not own and len(numbered) != 1:
            self.read(node)
            return
        main = own[0] if own else numbered[0]
        match = _NUMBER.search(_label(main))
        number = match[1] if match else None
        parts = [part for caption in captions if caption != main and (part := _part(caption))]
        caption = " ".join([inline(main, ("ltx_tag",), plain=True), *parts])
        word = _label(main).split(" ")[0].strip(":") if _label(main) else ""
        if "ltx_algorithm" in classes or "ltx_float_algorithm" in classes or word in ("Algorithm", "Listing"):
            self._code(node, word or "Algorithm", number, caption)
            return
        name = "tab" if "ltx_table" in classes else "fig"
        grids = [grid for grid in _grids(node) if name == "tab" or grid.css_first("img") is None]
        beside = name == "fig" and node.css_first("img") is not None
        made = [self._table(grid, "" if beside else caption, None if beside else number, name) for grid in grids]
        if any(made) and not beside:
            return
        if caption and name == "tab":
            self._blocks.append(Table(f"tab-{number}", caption, (), (), number, None, "none"))
        elif caption:
            self._blocks.append(Figure(f"fig-{number or f'at-{len(self._blocks)}'}", caption, number))

    def _code(self, node: Any, word: str, number: str | None, caption: str) -> None:
        head = f"**{word} {number}.** {caption}" if number else f"**{word}.** {caption}"
        listing = node.css_first(".ltx_listing")
        if listing is not None:
            self._listing(listing, head.strip())
            return
        self._blocks.append(Paragraph(head.strip()))
        for child in children(node):
            if child.tag != "figcaption" and "ltx_caption" not in classes_of(child):
                self._visit(child)

    def _table(self, node: Any, caption: str, number: str | None, name: str) -> bool:
        grid = parse_grid(node)
        if grid is None:
            return False
        identifier = f"{name}-{number or f'at-{len(self._blocks)}'}"
        self._blocks.append(Table(identifier, caption, grid[0], grid[1], number))
        return True


def _label(caption: Any) -> str:
    tag = caption.css_first(".ltx_tag")
    return str(tag.text(strip=True)) if tag is not None else ""


def _part(caption: Any) -> str:
    """The caption of a part of a figure: ``(a) Left``."""
    text = inline(caption, ("ltx_tag",), plain=True)
    return f"{_label(caption)} {text}".strip() if text else ""


def _grids(node: Any) -> list[Any]:
    """The outermost tables inside a float."""
    found = []
    for grid in node.css(".ltx_tabular"):
        above = grid.parent
        while above is not None and above != node and "ltx_tabular" not in classes_of(above):
            above = above.parent
        if above == node:
            found.append(grid)
    return found


def _listing_line(line: Any) -> str:
    """One line of code or pseudocode with its indentation, without its number."""
    text = inline(line, ("ltx_tag_listingline", "ltx_tag"))
    raw = str(line.text())
    number = line.css_first(".ltx_tag")
    raw = raw.removeprefix(str(number.text())) if number is not None else raw
    indent = len(raw) - len(raw.lstrip()) if raw.strip() else 0
    return " " * indent + text
