"""A report as one page: maths set, pictures inside, nothing that runs or loads, whatever the notes hold."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import KbError
from kb.page import html_page, print_pdf
from kb.page.chromium import find_browser
from kb.page.clean import clean
from kb.page.markdown import to_html, with_formulas
from kb.page.maths import formula_html, to_mathml
from kb.workspace import Workspace

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def nothing(_: str) -> tuple[str, str]:
    return "", "not there"


def rendered(text: str) -> str:
    page, formulas = to_html(text, nothing, nothing)
    return with_formulas(clean(page), formulas)


def page(workspace: Path, text: str) -> str:
    return html_page(Workspace(workspace), text, workspace / "notes" / "reports", "zh").html


def body(whole: str) -> str:
    return whole.split("<main>")[1].split("</main>")[0]


# ---------------------------------------------------------------- maths


@pytest.mark.parametrize(
    ("latex", "holds"),
    [
        (r"\frac{r - \mu}{\sigma}", "<mfrac>"),
        (r"\sum_{i=1}^N x_i", "<munderover>"),
        (r"\begin{cases}1 & a\\0 & b\end{cases}", "<mtable"),
        (r"\cases{1, & $a>0$ \\ 0, & b}", "<mtable"),
        (r"a = b \\ c = d", "<mtable"),
        (r"\begin{align} a &= b \\ c &= d \end{align}", "<mtable"),
        (r"\frac{\part L}{\part w}", "∂"),
        (r"\gamma*V", "γ"),
        (r"\text{item_tags}", "item_tags"),
        (r"\mathop{\text{minimize}}\limits_\theta L", "<munder"),
        (r"R_团队", "团"),
    ],
)
def test_formulas_as_note_apps_take_them_become_mathml(latex: str, holds: str) -> None:
    found = formula_html(latex, True)
    assert "<math" in found and holds in found
    assert "\\" not in re.sub(r"<[^>]*>", "", found)


def test_a_formula_that_is_not_known_is_shown_as_it_was_typed() -> None:
    assert to_mathml(r"\unheardof{x} < y", False) is None
    assert formula_html(r"\unheardof{x} < y", False) == r'<code class="latex inline">\unheardof{x} &lt; y</code>'


def test_the_number_of_a_formula_stands_beside_it() -> None:
    assert '<span class="number">(4.1)</span>' in formula_html(r"x = y \tag{4.1}", True)


def test_no_formula_of_the_records_is_left_as_latex(root: Path) -> None:
    seen = 0
    for record in sorted((root / "papers").glob("*/paper.md")):
        _, formulas = to_html(record.read_text(encoding="utf-8"), nothing, nothing)
        seen += len(formulas)
        assert not [formula for formula in formulas.values() if "<math" not in formula], record
    assert seen > 50


def test_no_formula_of_real_notes_is_lost_and_none_is_left_as_latex(corpus: Path) -> None:
    from kb.markup import markup_of

    counted = shown = 0
    for path in sorted((corpus / "notes-zh").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        found, formulas = to_html(text, nothing, nothing)
        counted += len(markup_of(text).formulas(text))
        shown += with_formulas(clean(found), formulas).count("<math")
    assert counted == shown > 2000


def test_prices_are_no_maths_and_code_keeps_its_dollars() -> None:
    found = rendered("It costs $50 to $150. `$x$` and\n\n```\n$y$\n```\n\n但是$ x $和$z$是公式。")
    assert found.count("<math") == 2
    assert "$50 to $150" in found and "<code>$x$</code>" in found and "$y$" in found


def test_a_formula_in_a_table_a_list_and_a_quotation() -> None:
    found = rendered("| a | b |\n| --- | --- |\n| $P(A|B)$ | x |\n\n- item\n  $$\n  y\n  $$\n\n> $$\n> z\n> $$\n")
    assert found.count("<math") == 3 and found.count("<td>") == 2
    assert re.search(r"<li>.*?<math.*?</li>", found, re.DOTALL) and re.search(r"<blockquote>.*?<math", found, re.DOTALL)


def test_the_font_of_formulas_is_in_the_page_and_only_where_there_are_some(workspace: Path) -> None:
    assert "font/woff;base64," in page(workspace, "$x$")
    assert "font/woff" not in page(workspace, "x")


def test_the_font_has_the_radical_sign_which_stands_in_no_text(workspace: Path) -> None:
    import base64
    import io

    from fontTools.ttLib import TTFont

    data = page(workspace, r"$\sqrt{x}$").partition("font/woff;base64,")[2].partition(")")[0]
    assert 0x221A in TTFont(io.BytesIO(base64.b64decode(data))).getBestCmap()


# ---------------------------------------------------------------- Markdown as people write it


def test_chinese_bold_beside_signs_single_line_ends_tasks_and_typed_bullets() -> None:
    found = rendered(
        "**核心idea：**把它拆开\n第二行\n\n- [x] 做完\n- [ ] 没做\n\n然后\n\n• 一点\n• 两点\n\nEnglish wrapped\nby hand"
    )
    assert "<strong>核心idea：</strong>把它拆开<br>" in found
    assert "☑ 做完" in found and "☐ 没做" in found
    assert "<li>一点</li>" in found
    assert "wrapped\nby hand" in found


def test_box_drawn_tables_and_drawings_keep_their_spaces() -> None:
    found = rendered("表：\n┌──┬──┐\n│ a │  b │\n└──┴──┘\n后文\n\nState → Node A\n          ↘ Node B\n")
    assert re.search(r"<pre><code>┌──┬──┐\n│ a │  b │\n└──┴──┘\n</code></pre>", found)
    assert "State → Node A\n          ↘ Node B" in found and "<p>后文" in found


def test_numbered_lines_alone_are_headings_and_sentences_are_not() -> None:
    found = rendered("3.1 LangGraph——把agent看成状态机\n\n正文。\n\n1.5 倍的开销。\n")
    assert "<h4>3.1 LangGraph" in found and "<p>1.5 倍的开销。</p>" in found


def test_names_in_double_brackets_lead_to_the_paper(workspace: Path) -> None:
    folder = workspace / "papers" / "dapo"
    folder.mkdir()
    (folder / "paper.md").write_text('---\nid: "2503.14476"\ntitle: T\naliases: [DAPO]\n---\n', encoding="utf-8")
    found = body(page(workspace, "见 [[dapo]] 与 [[别处|那里]]，代码 `[[dapo]]`。"))
    assert '<a href="https://arxiv.org/abs/2503.14476">DAPO</a>' in found
    assert "与 那里" in found and "<code>[[dapo]]</code>" in found


def test_marks_front_matter_and_comments_are_not_shown(workspace: Path) -> None:
    found = page(
        workspace, "---\ndate: 2026-04-19\n---\n<!-- kb:begin a 0123456789ab -->\nx<!-- mine -->y\n<!-- kb:end a -->\n"
    )
    assert "<p>xy</p>" in found and "kb:" not in found and "mine" not in found and "2026-04-19" not in found


# ---------------------------------------------------------------- pictures


def test_pictures_are_inside_and_those_that_cannot_be_are_named(workspace: Path) -> None:
    (workspace / "notes" / "a 图.png").write_bytes(PNG)
    (workspace / "notes" / "no.png").write_bytes(b"<html>")
    outside = workspace.parent / "outside.png"
    outside.write_bytes(PNG)
    text = (
        "![甲](../a%20图.png) <img src='../a 图.png' style='zoom:50%'> ![乙](../gone.png) ![丙](https://example.org/x.png)"
        " ![丁](../no.png) ![戊](../../../outside.png)"
    )
    made = html_page(Workspace(workspace), text, workspace / "notes" / "reports", "zh")
    assert made.html.count("data:image/png;base64,") == 2 and 'width="50%"' in made.html
    assert (
        "[乙: not there]" in made.html and "[丁: not a picture]" in made.html and "outside the workspace" in made.html
    )
    assert '<a href="https://example.org/x.png">丙</a>: on the web, not fetched' in made.html
    assert len(made.remarks) == 4
    outside.unlink()


def test_a_page_loads_nothing(workspace: Path) -> None:
    found = page(workspace, "![x](https://example.org/x.png)\n\n<link rel=stylesheet href=//e.org/a.css>$x$")
    assert "default-src 'none'" in found
    assert not re.search(r"<(?:link|script|iframe|object|embed|base)\b|@import|src=\"(?!data:)|url\((?!data:)", found)


# ---------------------------------------------------------------- what must not run

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "[x](javascript:alert(1))",
    "<a href='java\nscript:alert(1)'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<math><mtext></p><style><!--</style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<style>body{display:none}</style>",
    "<p style='background:url(https://e.org/x)' onclick=alert(1)>x</p>",
    "<form action=https://e.org><button>go</button></form>",
    "<meta http-equiv=refresh content='0;url=https://e.org'>",
    "<img src='data:text/html,<script>alert(1)</script>'>",
    r"$\text{<script>alert(1)</script>}$",
    r"$\href{javascript:alert(1)}{x}$",
    "<details open ontoggle=alert(1)>x</details>",
]
SAFE = re.compile(
    r"<(?:script|style|iframe|svg|form|meta|object|embed|link|base|button|input)\b|\son\w+\s*=|javascript:|srcdoc",
    re.IGNORECASE,
)


def tags(found: str) -> str:
    """The tags of a page alone: its text may say anything."""
    return "".join(re.findall(r"<[^>]*>", found))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_note_can_run(text: str) -> None:
    found = rendered(f"before {text} after\n\n{text}\n")
    assert not SAFE.search(tags(found)), found
    assert "before" in found


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([*HOSTILE, "<p>", "</div>", "<b", "'", '"', "-->", "<!--", "text", "`", "<table>", "&lt;"]),
        max_size=8,
    )
)
def test_no_mixture_of_them_can_run_either(parts: list[str]) -> None:
    found = rendered("".join(parts))
    assert not SAFE.search(tags(found)), found
    assert clean(found) is not None and not SAFE.search(tags(clean(found)))


def test_harmless_html_of_notes_stays() -> None:
    found = rendered('H<sub>2</sub>O<br>下一行 <u>重点</u> <a href="#ref1">注</a>\n\n<span id="ref1">1</span>')
    assert "H<sub>2</sub>O<br>" in found and "<u>重点</u>" in found
    assert 'href="#at-ref1"' in found and 'id="at-ref1"' in found


# ---------------------------------------------------------------- printing


def test_printing_without_a_browser_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.page.chromium.shutil.which", lambda _: None)
    with pytest.raises(KbError, match="no PDF") as caught:
        print_pdf("<p>x</p>", tmp_path / "x.pdf")
    assert "--format html" in caught.value.hint and not (tmp_path / "x.pdf").exists()


def test_a_browser_that_prints_nothing_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(KbError, match="did not print"):
        print_pdf("<p>x</p>", tmp_path / "x.pdf", sys.executable)
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_printed_with_its_text(workspace: Path, tmp_path: Path) -> None:
    if find_browser() is None:
        pytest.skip("no browser to print with")
    import pymupdf

    print_pdf(page(workspace, "# 研究周报\n\n优势 $A_i$ 与 DAPO"), tmp_path / "x.pdf")
    with pymupdf.open(tmp_path / "x.pdf") as printed:
        text = "".join(sheet.get_text() for sheet in printed)
    assert "DAPO" in text and "file://" not in text
