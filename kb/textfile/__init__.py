"""``text.md``: a paper's text as a Markdown file that people read, correct and diff, and that kb reads back.

Layout of the body: ``# title``; a heading per section; blocks apart by blank lines. Equations stand between ``$$``
lines, tables as pipe tables below their caption, captions as a bold label and text. A comment
``<!-- kb:KIND {json} -->`` right below a block or heading is its anchor: id, number, label, quality.
``<!-- kb:page N -->`` marks where a PDF
page begins. A person may change any text and leave anchors out: what they say is then read off the text itself.
"""

from kb.textfile.reader import LocatedBlock, TextFile, read, read_references
from kb.textfile.writer import body_hash, is_edited, render_body, write

__all__ = ["LocatedBlock", "TextFile", "body_hash", "is_edited", "read", "read_references", "render_body", "write"]
