"""PDFs that the tests draw themselves, line by line, so that what must come out of them is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf

STAMP = "arXiv:2503.14476v2 [cs.LG] 17 Mar 2025"
FULL_LINE = "the policy is improved with the group advantage of every sampled answer here"


class Draft:
    """A PDF under construction. Sizes and places are points from the top left of a page of 612 x 792."""

    def __init__(self) -> None:
        self.document = pymupdf.open()
        self.page: Any = None
        self.turn_page()

    def turn_page(self) -> None:
        self.page = self.document.new_page(width=612, height=792)

    def line(self, x: float, y: float, text: str, size: float = 10, font: str = "tiro") -> None:
        self.page.insert_text((x, y), text, fontsize=size, fontname=font)

    def lines(self, x: float, y: float, texts: Sequence[str], size: float = 10, font: str = "tiro") -> float:
        """Lines of one paragraph; returns the height below the last."""
        for text in texts:
            self.line(x, y, text, size, font)
            y += 1.2 * size
        return y

    def rule(self, x0: float, x1: float, y: float) -> None:
        self.page.draw_line((x0, y), (x1, y), width=0.6)

    def save(self, path: Path, **options: Any) -> Path:
        self.document.save(path, **options)
        self.document.close()
        return path


def paper(path: Path, outline: bool = False) -> Path:
    """A paper of two pages: stamp, abstract, sections, a formula, a table, a figure, references with markers."""
    draft = Draft()
    draft.page.insert_text((28, 560), STAMP, fontsize=16, fontname="tiro", rotate=90)
    draft.line(120, 100, "Group Advantage without a Critic", 18, "tibo")
    draft.line(240, 130, "Somebody Here", 11)
    draft.line(280, 170, "Abstract", 12, "tibo")
    draft.lines(100, 190, [
        "We study how a group of sampled answers can stand in for a learned value func-",
        "tion, and we show that a leave-one-out baseline keeps the gradient unbiased while",
        "the memory needed for training falls by half.",
    ])  # fmt: skip
    draft.line(90, 250, "1  Introduction", 13, "tibo")
    draft.lines(90, 275, [
        "A critic costs memory. The leave-one-out estimate needs none, and in the long run the",
        "variance of the estimate falls with the size of the group. We write the advantage of answer i",
        "as follows, where the mean is taken over the group of answers to one ques-",
        "tion:",
    ])  # fmt: skip
    draft.line(240, 345, "Ai = ri - mean(r)")
    draft.line(510, 345, "(1)")
    draft.lines(90, 370, ["The estimate needs no value model and is computed in one pass over the group."])
    draft.line(90, 410, "1.1  A smaller heading", 11, "tibo")
    draft.lines(90, 430, ["Text below the smaller heading says little, but it has to be found again."])
    draft.line(90, 770, "Under review by nobody")
    draft.line(300, 770, "1")
    draft.turn_page()
    draft.line(90, 80, "2  Experiments", 13, "tibo")
    draft.lines(90, 110, ["Table 1: Accuracy of the two methods on the test set."], 9)
    for y in (122, 140, 172):
        draft.rule(100, 400, y)
    for y, cells in ((134, ("Method", "Size", "Score")), (152, ("Critic", "64", "61.5")), (166, ("Group", "32", "72.1"))):
        for x, cell in zip((110, 220, 320), cells, strict=True):
            draft.line(x, y, cell, 10, "tibo" if cell == "72.1" else "tiro")
    draft.lines(90, 200, ["The group method wins on every question that we asked of both of the methods."])
    draft.lines(90, 230, ["Figure 1: Reward over training steps."], 9)
    draft.line(90, 262, "Limitations.", 10, "tibo")
    draft.line(152, 262, "One data set was used, and no more than three seeds were run for each.")
    draft.line(90, 290, "References", 13, "tibo")
    draft.lines(90, 310, ["[1] Ann Author and Bo Writer. Leave-one-out baselines for policy gradients. arXiv preprint"])
    draft.lines(105, 322, ["arXiv:1704. 01234, 2017."])
    draft.lines(90, 334, ["[2] Cy Scholar. A book of bandits. Some Press, 2011. doi:10.1000/xyz123."])
    draft.lines(90, 346, ["[3] Di Reader. Notes on variance. In Proceedings of Something, pages 12-19, 2005."])
    draft.line(90, 770, "Under review by nobody")
    draft.line(300, 770, "2")
    if outline:
        draft.document.set_toc([[1, "Introduction", 1], [2, "A smaller heading", 1], [1, "Experiments", 2], [1, "References", 2]])
    return draft.save(path)


def numbered_draft(path: Path) -> Path:
    """A two-column submission with line numbers in both margins."""
    draft = Draft()
    number = 1
    for column, x in enumerate((90, 325)):
        for row in range(40):
            y = 90 + 15 * row
            draft.line(60 if column == 0 else 575, y, str(number), 6, "helv")
            words = f"word{number}a and word{number}b stand in line {number} of this"
            draft.line(x, y, words + ("." if row == 39 else ""))
            number += 1
    return draft.save(path)


def draft_numbered_in_line(path: Path) -> Path:
    """A submission whose line numbers stand close enough to be taken for the first word of each line."""
    draft = Draft()
    for row in range(30):
        y = 90 + 15 * row
        draft.line(80, y, str(row + 1))
        draft.line(96, y, f"here the words of line {'abcdefghij'[row % 10]} go on to its end")
    return draft.save(path)


def with_contents(path: Path) -> Path:
    """A page that lists its contents, and one section below the list."""
    draft = Draft()
    draft.line(150, 60, "A Book of Group Baselines", 20, "tibo")
    draft.line(90, 90, "Contents", 13, "tibo")
    rows = ["1 Introduction 3", "1.1 Aims" + " ." * 40 + " 4", "1.2 Means" + " ." * 40 + " 5", "2 Proof" + "." * 60 + "7"]
    draft.lines(90, 110, rows)
    draft.line(90, 200, "1  Introduction", 13, "tibo")
    draft.lines(90, 220, [FULL_LINE, FULL_LINE])
    return draft.save(path)


def author_year_list(path: Path) -> Path:
    """A page with a reference list without markers: entries hang out to the left and stand close."""
    draft = Draft()
    draft.line(90, 80, "1  Introduction", 13, "tibo")
    draft.lines(90, 100, [FULL_LINE] * 3)
    draft.line(90, 160, "References", 13, "tibo")
    entries = [
        ("Foerster, J., Farquhar, G., and Whiteson, S. Counterfactual multi-agent policy gradients.", "In AAAI, 2018."),
        ("Lowe, R., Wu, Y., and Mordatch, I. Multi-agent actor-critic for mixed environments.", "In NIPS, 2017."),
        ("Schulman, J., Moritz, P., and Abbeel, P. High-dimensional continuous control using", "arXiv:1506.02438, 2015."),
        ("Sutton, R. and Barto, A. Reinforcement Learning: An Introduction. Second edition,", "MIT Press, 2018."),
        ("Williams, R. Simple statistical gradient-following algorithms for connectionist", "Machine Learning, 1992."),
    ]
    y = 180.0
    for first, second in entries:
        draft.line(90, y, first)
        draft.line(102, y + 12, second)
        y += 24
    return draft.save(path)


def chinese_two_columns(path: Path) -> Path:
    """A Chinese page in two columns with numbered headings in plain bold type."""
    draft = Draft()
    draft.line(200, 80, "群体优势估计综述", 18, "china-s")
    draft.lines(60, 110, ["摘 要: 本文综述了群体优势估计的方法，并比较了各种基线对梯度方差的影响。"], 10, "china-s")
    draft.line(60, 150, "一、引言", 13, "china-s")
    draft.lines(60, 175, ["强化学习需要估计每个动作的优势，群体方", "法用同一问题的多个回答代替价值网络，从", "而节省显存。"], 11, "china-s")
    draft.line(60, 230, "1.1 符号", 13, "china-s")
    draft.lines(60, 255, ["记回答的奖励为标量，组内均值作为基线。"], 11, "china-s")
    draft.line(330, 150, "二、实验", 13, "china-s")
    draft.lines(330, 175, ["实验在两个数据集上进行，结果表明留一基", "线的方差最小。"], 11, "china-s")
    return draft.save(path)


def picture_page(path: Path, text: str = "picture of a page", turn: int = 0, font: str = "helv") -> Path:
    """A page that is nothing but a picture of text, turned by a multiple of 90 degrees."""
    source = pymupdf.open()
    page = source.new_page(width=420, height=200)
    page.insert_text((30, 60), text, fontsize=22, fontname=font)
    page.insert_text((30, 100), text[: len(text) // 2], fontsize=22, fontname=font)
    picture = page.get_pixmap(dpi=150)
    target = pymupdf.open()
    width, height = (420, 200) if turn in (0, 180) else (200, 420)
    sheet = target.new_page(width=width, height=height)
    sheet.insert_image(sheet.rect, pixmap=picture, rotate=turn)
    target.save(path)
    return path
