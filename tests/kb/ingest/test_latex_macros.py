"""Definitions, expansion, conditions and comments: what TeX does before it reads text."""

from __future__ import annotations

import pytest

from kb.ingest.latex_comments import CommentStripper, Verbatim
from kb.ingest.latex_conditionals import Conditionals
from kb.ingest.latex_definitions import collect
from kb.ingest.latex_flatten import choose_main, flatten
from kb.ingest.latex_macros import MAX_LENGTH, Macros, expand, expand_environments


@pytest.mark.parametrize(
    ("definition", "use", "expanded"),
    [
        (r"\newcommand{\a}{x}", r"\a+\a{}b+\ab", r"x+xb+\ab"),
        (r"\newcommand\a[2]{#2#1}", r"\a{x}{y} \a x y", "yx yx"),
        (r"\newcommand{\a}[2][0]{#1:#2}", r"\a{x} \a[1]{y}", "0:x 1:y"),
        (r"\def\a#1#2{(#1,#2)}", r"\a xy \a{b}{c}", "(x,y) (b,c)"),
        (r"\def\a(#1;#2){#2#1}", r"\a(x;{y;z})", "y;zx"),
        (r"\let\a\alpha \newcommand{\b}{\a}", r"\b", r"\alpha"),
        (r"\DeclareMathOperator{\KL}{KL}\DeclareMathOperator*{\am}{arg\,min}", r"\KL \am", r"\operatorname{KL} \operatorname*{arg\,min}"),
        (r"\newcommand{\a}{1}\renewcommand{\a}{2}\providecommand{\a}{3}", r"\a", "2"),
        (r"\NewDocumentCommand{\a}{s O{d} m}{#2#3}", r"\a{x} \a*[y]{z}", "dx yz"),
        (r"\NewDocumentCommand\a{m m}{#1/#2}", r"\a{x}{y}", "x/y"),
        (r"\DeclarePairedDelimiter{\abs}{|}{|}", r"\abs{x} \abs*{y} \abs[\big]{z}", r"\left| x \right| \left| y \right| \left| z \right|"),
        (r"\newcommand{\a}{\b}\newcommand{\b}{c}", r"\a", "c"),
        (r"\newcommand{\R}{\mathbb{R}}\newcommand{\v}{\bar}", r"\v x \in \R^n", r"\bar x \in \mathbb{R}^n"),
        (r"\newcommand{\a}{\alpha}", r"\a b", r"\alpha b"),
        (r"\newcommand{\hl}[2]{\begingroup\color{#1}\expandafter\x#2\endgroup}", r"\hl{red}{y}", "y"),
        (r"\newcommand{\a}{\a x}", r"\a", r"\a"),
        (r"\newcommand{\a}[1]{<#1>}", r"\a", r"\a"),
    ],
)  # fmt: skip
def test_macros_expand(definition: str, use: str, expanded: str) -> None:
    macros = Macros()
    assert collect(definition, macros).strip() == ""
    assert expand(use, macros) == expanded


@pytest.mark.parametrize(
    "definition",
    [
        r"\def\a{\b\b}\def\b{\a\a}",
        r"\def\a{\b\b\b\b}\def\b{\c\c\c\c}\def\c{\d\d\d\d}\def\d{\e\e\e\e}\def\e{\f\f\f\f}\def\f{" + "x" * 1000 + "}",
    ],
)
def test_macros_that_grow_without_end_are_stopped(definition: str) -> None:
    macros = Macros()
    collect(definition, macros)
    assert len(expand(r"\a", macros)) < 2 * MAX_LENGTH


def test_environments_of_the_authors_become_what_they_stand_for() -> None:
    macros = Macros()
    collect(
        r"\newenvironment{eqn}[1][t]{\begin{equation}#1}{\end{equation}}\newenvironment{outer}{\begin{eqn}}{\end{eqn}}",
        macros,
    )
    assert expand_environments(r"\begin{outer}x\end{outer} \begin{eqn}[b]y\end{eqn}", macros) == (
        r"\begin{equation}tx\end{equation} \begin{equation}by\end{equation}"
    )


@pytest.mark.parametrize(
    ("tex", "kept"),
    [
        (r"a \iffalse b \iftrue c \fi d \fi e", "a  e"),
        (r"\iftrue a \else b \fi c", " a  c"),
        (r"\newif\ifx@ \newif\ifdraft \drafttrue \ifdraft a\else b\fi \draftfalse \ifdraft c\else d\fi", "    a   d"),
        (r"\iffalse x \ifx\a\b y \else z \fi \else w \fi", " w "),
        (r"if and only \iff x", r"if and only \iff x"),
        (r"\newtoggle{long}\toggletrue{long}\iftoggle{long}{a}{b}\togglefalse{long}\iftoggle{long}{c}{d}", "ad"),
        (r"a \fi b", "a  b"),
    ],
)
def test_switched_off_parts_are_gone(tex: str, kept: str) -> None:
    assert Conditionals().resolve(tex) == kept


@pytest.mark.parametrize(
    ("tex", "kept"),
    [
        ("a% comment\nb", "ab"),
        ("a % comment\n\nb", "a \n\nb"),
        ("a\n% comment\n  % another\nb", "a\nb"),
        (r"50\% and \\% comment", r"50\% and \\"),
        (r"\url{a%20b} % c", r"\url{a\%20b} "),
        ("\\begin{comment}\nx % y\n\\end{comment}z", "z"),
        ("\\excludecomment{long}\\begin{long}x\\end{long}z", "\\excludecomment{long}z"),
        ("\\verb|%{|x", "\\kbverb{0}x"),
        ("\\begin{lstlisting}\n% {\n\\end{lstlisting}x", "\\kbverbatim{0}x"),
        ("\\lstnewenvironment{code}{}{}\\begin{code}%\\end{code}x", "\\lstnewenvironment{code}{}{}\\kbverbatim{0}x"),
    ],
)
def test_comments_go_and_verbatim_text_is_kept_aside(tex: str, kept: str) -> None:
    assert CommentStripper([tex], Verbatim()).strip(tex) == kept


MAIN = "\\documentclass{article}\\title{T}\\begin{document}\\section{A}%s\\end{document}"


@pytest.mark.parametrize(
    ("files", "main"),
    [
        ({"a.tex": MAIN, "b.tex": "\\documentclass{subfiles}" + MAIN * 2}, "a.tex"),
        ({"a.tex": MAIN, "b.tex": MAIN + "longer", "a.bbl": ""}, "a.tex"),
        ({"a.tex": MAIN, "b.tex": MAIN + "longer", "00README.XXX": "a.tex toplevelfile"}, "a.tex"),
        (
            {"a.tex": MAIN.replace("\\title{T}", ""), "sub/b.tex": MAIN, "c.tex": "\\documentclass{article} only"},
            "sub/b.tex",
        ),
        ({"old.tex": "\\magnification 1 text", "macros.tex": "\\def\\x{}"}, "old.tex"),
    ],
)
def test_the_main_file_is_found(files: dict[str, str], main: str) -> None:
    assert choose_main(files) == main


def test_every_form_of_include_is_followed() -> None:
    files = {
        "main.tex": r"\input{a}\include{sub/b}\import{sub/}{c}\subfile{d.tex}\input E \input{missing}.",
        "a.tex": "A", "sub/b.tex": "B", "sub/c.tex": r"C\input{f}", "sub/f.tex": "F",
        "d.tex": r"\documentclass[main]{subfiles}\begin{document}D\end{document}", "e.tex": "E",
    }  # fmt: skip
    assert flatten(files, "main.tex") == "ABCFDE ."
