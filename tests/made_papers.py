"""Papers made on the fly: a PDF, an e-print and arXiv HTML of the same small text, all of them ours."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

SENTENCE = "Each agent gets the share of the reward that it has earned in the episode. "
SECTIONS = ("Introduction", "Method", "Experiments")
FORMULA = r"A_i = \frac{r_i - \mu}{\sigma}"


def make_pdf(title: str, stamp: str = "", words: str = SENTENCE, pages: int = 1) -> bytes:
    """A PDF with a title, three sections and, where ``stamp`` is given, arXiv's line in the margin."""
    import pymupdf

    pdf = pymupdf.open()
    for number in range(pages):
        page = pdf.new_page()
        if number == 0:
            page.insert_text((72, 90), title, fontsize=18)
            if stamp:
                page.insert_text((30, 600), f"arXiv:{stamp} [cs.MA] 1 Apr 2025", fontsize=14, rotate=90)
        top = 130
        for at, heading in enumerate(SECTIONS, start=1):
            page.insert_text((72, top), f"{at + 3 * number}  {heading}", fontsize=13, fontname="hebo")
            page.insert_textbox(
                (72, top + 10, 540, top + 170), f"{heading} on page {number + 1}. " + words * 8, fontsize=10
            )
            top += 190
    return bytes(pdf.tobytes())


def make_picture_pdf() -> bytes:
    """A PDF whose one page is a picture: no text layer."""
    import pymupdf

    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 80))
    picture.clear_with(200)
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_image(page.rect, pixmap=picture)
    return bytes(pdf.tobytes())


def make_tex(title: str) -> str:
    """A LaTeX source with a labelled equation behind an author's macro, and one reference."""
    body = "\n".join(f"\\section{{{heading}}}\n{heading} on page 1. {SENTENCE * 8}\n" for heading in SECTIONS)
    return (
        "\\documentclass{article}\n\\newcommand{\\adv}{A_i}\n"
        f"\\title{{{title}}}\n\\author{{Ada Example}}\n\\begin{{document}}\n\\maketitle\n{body}"
        "\\begin{equation}\\label{eq:adv}\n\\adv = \\frac{r_i - \\mu}{\\sigma}\n\\end{equation}\n"
        "\\begin{thebibliography}{1}\n\\bibitem{example} B. Example. Another title. arXiv:2202.00002, 2022.\n"
        "\\end{thebibliography}\n\\end{document}\n"
    )


def make_eprint(title: str) -> bytes:
    """The same source as arXiv serves it: a gzipped tar."""
    data = make_tex(title).encode("utf-8")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("main.tex")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def make_html(title: str) -> bytes:
    """arXiv's HTML of the fixture paper under another title."""
    page = (Path(__file__).parent / "fixtures" / "paper.html").read_text(encoding="utf-8")
    return page.replace("LONG", SENTENCE * 10).replace("Credit for Teams of Agents", title).encode("utf-8")
