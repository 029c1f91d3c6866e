"""Running LaTeX as Markdown, and maths as it is stored."""

from __future__ import annotations

import pytest

from kb.ingest.latex_context import TextContext
from kb.ingest.latex_counters import Target
from kb.ingest.latex_definitions import collect
from kb.ingest.latex_math import clean_math
from kb.ingest.latex_text import to_line, to_markdown


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        (r"G\"odel, Erd\H{o}s, \'Emile, na\"{\i}ve, \c{c}a, \v{S}i\v{c}, Stra\ss e, \O rsted, \L{}ukasz", "Gödel, Erdős, Émile, naïve, ça, Šič, Straße, Ørsted, Łukasz"),
        (r"one~two -- three---four, ``five'' `six' it's", "one two – three—four, “five” ‘six’ it’s"),
        (r"\emph{a} \textbf{b} \texttt{c} \textsc{d} {\em e} {\bf f}g \textit{h \textbf{i}}", "*a* **b** `c` d *e* **f**g *h i*"),
        (r"50\% of \$5 \& A\_B \#1 \{x\}", r"50% of \$5 & A_B #1 {x}"),
        (r"$\alpha  <  1$ and \(b\), costs 5$", r"$\alpha < 1$ and $b$, costs 5\$"),
        (r"\cite{a,b} \citep[p.~3]{c} \citet*[see][p. 4]{d} \parencite{e}", "[@a; @b] [@c, p. 3] [see @d, p. 4] [@e]"),
        (r"\href{https://x.org/a\_b\%20c}{here}, \url{https://y.org/~z}, \href{https://w.org}{w.org}", "[here](https://x.org/a_b%20c), https://y.org/~z, w.org"),
        (r"a\footnote{Note~1.}, b\thanks{gone}", "a (footnote: Note 1.), b"),
        (r"\textcolor{red}{kept} \colorbox{blue}{too} \vspace{-2mm}\hspace*{1em}\noindent\small end", "kept too end"),
        (r"\vskip 0.3in plus 1pt text \parskip=3pt more \penalty0 (3)", "text more (3)"),
        (r"1\textsuperscript{st}, H\textsubscript{2}O, \ding{51} \checkmark", "1st, H_2O, ✓ ✓"),
        ("first line\nsecond line\n\n  new paragraph", "first line second line\n\nnew paragraph"),
        ("中文\n换行 “引号”", "中文换行 “引号”"),
        (r"\unknown{kept} \another[option]{also}", "kept also"),
        (r"$x \text{ if $y$}$", r"$x \text{ if \(y\)}$"),
        (r"{\color{white}0}5.1", "5.1"),
        (r"unclosed \textbf{bold and \emph{more", "unclosed bold and more"),
    ],
)  # fmt: skip
def test_text_is_readable(tex: str, shown: str) -> None:
    assert to_markdown(tex, TextContext()) == shown


def test_a_line_has_no_emphasis_and_no_notes() -> None:
    assert to_line(r"\textbf{A} \emph{b*}\footnote{no}" + "\n\n" + r"\texttt{c}", TextContext()) == "A b* c"


def test_a_macro_in_text_does_not_swallow_its_space() -> None:
    context = TextContext()
    collect(r"\newcommand{\ours}{TeamCredit\xspace}\newcommand{\by}[1]{by #1}", context.macros)
    assert to_markdown(r"\ours is new, \ours{} too, \ours, \by{us} and \ours.", context) == (
        "TeamCredit is new, TeamCredit too, TeamCredit, by us and TeamCredit."
    )


def test_acronyms_are_spelled_out_once() -> None:
    context = TextContext()
    collect(
        r"\newacronym{rl}{RL}{reinforcement learning}\DeclareAcronym{kl}{short=KL, long=Kullback--Leibler}",
        context.macros,
    )
    assert to_markdown(r"\Gls{rl} and \gls{rl}; \acrfull{rl}; \ac{kl} \acs{kl} \acl{kl}; \glspl{rl}", context) == (
        "Reinforcement learning (RL) and RL; reinforcement learning (RL); Kullback–Leibler (KL) KL Kullback–Leibler; RLs"
    )


@pytest.mark.parametrize(
    ("tex", "english", "chinese"),
    [
        (r"\ref{fig:a}", "2a", "2a"),
        (r"\eqref{eq:b}", "(3)", "(3)"),
        (r"\cref{fig:a,eq:b}", "Figure 2a and Equation (3)", "图 2a、式 (3)"),
        (r"\Cref{sec:c,sec:d}", "Sections 4 and 4.1", "第 4、4.1 节"),
        (r"\autoref{app:e}", "Appendix B", "附录 B"),
        (r"\cref{thm:f}", "Theorem 1", "Theorem 1"),
        (r"\nameref{sec:c}", "Method", "Method"),
        (r"\ref{missing}", "??", "??"),
    ],
)
def test_references_print_what_cleveref_would(tex: str, english: str, chinese: str) -> None:
    context = TextContext()
    collect(r"\newtheorem{thm}{Theorem}", context.macros)
    context.labels = {
        "fig:a": Target("figure", "2a"), "eq:b": Target("equation", "3"), "sec:c": Target("section", "4", "Method"),
        "sec:d": Target("section", "4.1"), "app:e": Target("appendix", "B"), "thm:f": Target("thm", "1"),
    }  # fmt: skip
    assert to_markdown(tex, context) == english
    context.chinese = True
    assert to_markdown(tex, context) == chinese


@pytest.mark.parametrize(
    ("latex", "clean"),
    [
        (r"\displaystyle\frac{a}{b}\label{x}\nonumber", r"\frac{a}{b}"),
        (r"\alpha\!b \textcolor{red}{c} {\color{blue} d}", r"\alpha b {c} { d}"),
        (r"\resizebox{.9\hsize}{!}{$x+y$}", "{x+y}"),
        (r"x\tag{\ensuremath{*}} = y", "x = y"),
        (r"\colorbox{red}{$\textcolor{blue}{z}$}", "{{z}}"),
    ],
)
def test_maths_loses_what_only_steers_its_setting(latex: str, clean: str) -> None:
    assert clean_math(latex) == clean
