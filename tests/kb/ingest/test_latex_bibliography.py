"""Reference lists of every style: natbib, IEEE, ACM, APS, Springer, biblatex, BibTeX files."""

from __future__ import annotations

import pytest

from kb.ingest.bib_file import read_bib, split_names
from kb.ingest.latex_bibliography import references_from_bbl, references_from_bib
from kb.ingest.latex_context import TextContext
from kb.model import Reference


def one(entry: str) -> Reference:
    (found,) = references_from_bbl("\\begin{thebibliography}{1}\n" + entry + "\n\\end{thebibliography}", TextContext())
    assert "\\" not in found.raw and "{" not in found.raw
    return found


@pytest.mark.parametrize(
    ("entry", "title", "authors", "year"),
    [
        (  # natbib, numbers
            "\\bibitem{a}\nAda First, Bo~Second, and Cy Third.\n\\newblock A title of words.\n\\newblock In \\emph{ICML}, 2020.",
            "A title of words", ("Ada First", "Bo Second", "Cy Third"), 2020,
        ),
        (  # natbib, author and year
            "\\bibitem[{First et~al.(2021{\\natexlab{a}})First and Second}]{a}\nFirst, A.~B. and Second, C.\n\\newblock {G}{RPO} at scale?\n\\newblock \\emph{arXiv preprint arXiv:2101.00001}, 2021{\\natexlab{a}}.",
            "GRPO at scale?", ("A. B. First", "C. Second"), 2021,
        ),
        (  # ACL
            "\\bibitem[{First(2022)}]{a}\nAda First. 2022.\n\\newblock \\href {https://doi.org/10.18653/v1/x} {A linked title}.\n\\newblock In \\emph{ACL}.",
            "A linked title", ("Ada First",), 2022,
        ),
        (  # IEEE
            "\\bibitem{a}\nA.~First and B.~Second, ``A quoted title,'' \\emph{IEEE Trans.}, vol.~1, pp. 2--3, 2019.",
            "A quoted title", ("A. First", "B. Second"), 2019,
        ),
        (  # ACM
            "\\bibitem[First(2018)]{a}\n\\bibfield{author}{\\bibinfo{person}{Ada First} {and} \\bibinfo{person}{Bo Second}.} \\bibinfo{year}{2018}\\natexlab{}.\n\\newblock \\showarticletitle{A shown title}. In \\bibinfo{booktitle}{\\emph{Proc. X}}.",
            None, ("Ada First", "Bo Second"), 2018,
        ),
        (  # APS
            "\\bibitem [{\\citenamefont {First}(2017)}]{a}\\BibitemOpen \\bibfield {author} {\\bibinfo {author} {\\bibfnamefont {A.}~\\bibnamefont {First}},\\ }\\bibinfo {title} {A marked title},\\ \\bibinfo {year} {2017} \\BibitemShut {NoStop}",
            "A marked title", ("A. First",), 2017,
        ),
        (  # Springer
            "\\bibitem{a}\nFirst, A., Second, B.C.: A title after a colon. In: Proc. X, pp. 1--2 (2016)",
            "A title after a colon", ("A. First", "B.C. Second"), 2016,
        ),
    ],
)  # fmt: skip
def test_titles_authors_and_years(entry: str, title: str | None, authors: tuple[str, ...], year: int) -> None:
    found = one(entry)
    assert (found.key, found.authors, found.year) == ("a", authors, year)
    if title:
        assert found.title == title


def test_ids_are_found_in_links_and_broken_lines() -> None:
    assert (
        one(
            "\\bibitem{a} A. B.\n\\newblock T of words.\n\\newblock \\href{https://arxiv.org/abs/2101.00001v2}{here}."
        ).arxiv_id
        == "2101.00001"
    )
    assert one("\\bibitem{a} A. B.\n\\newblock T of words.\n\\newblock arXiv:\n  2101.00002.").arxiv_id == "2101.00002"
    assert one("\\bibitem{a} A. B.\n\\newblock T of words.\n\\newblock pp. 1001--2020, 2020.").arxiv_id is None


def test_biblatex_lists() -> None:
    text = (
        "\\entry{key1}{article}{}\n\\name{author}{2}{}{%\n{{un=0,hash=1}{family={First},familyi={F\\bibinitperiod},given={Ada},giveni={A}}}%\n"
        "{{un=0,hash=2}{family={Cruz},given={Bo},prefix={de la}}}%\n}\n\\name{editor}{1}{}{%\n{{hash=3}{family={Editor},given={E}}}%\n}\n"
        "\\field{title}{A {GRPO} title}\n\\field{year}{2020}\n\\field{eprinttype}{arxiv}\n\\verb{eprint}\n\\verb 2001.00001\n\\endverb\n\\endentry\n"
    )
    (found,) = references_from_bbl(text, TextContext())
    assert (found.key, found.title, found.year, found.arxiv_id) == ("key1", "A GRPO title", 2020, "2001.00001")
    assert found.authors == ("Ada First", "Bo de la Cruz")


def test_bib_files_have_strings_joins_quotes_and_broken_entries() -> None:
    text = '@string{nips = "NeurIPS"}\n@article{a, title = {A {B}}, journal = nips # " 2020", year = 2020, author = "X {"}Y"}\n@broken{\n@misc{b, title={C}}'
    entries = {key: fields for _, key, fields in read_bib(text)}
    assert entries == {
        "a": {"title": "A {B}", "journal": "NeurIPS 2020", "year": "2020", "author": 'X {"}Y'},
        "b": {"title": "C"},
    }


def test_names_of_bib_files() -> None:
    assert split_names("First, Ada and Bo Second and {The Team} and de la Cruz, Cy and others") == [
        "Ada First", "Bo Second", "{The Team}", "Cy de la Cruz",
    ]  # fmt: skip


def test_only_cited_entries_in_the_order_of_citation() -> None:
    bib = "@misc{a, title={One title}}@misc{b, title={Two title}, eprint={hep-th/9901001}}@misc{c, title={Three}}"
    found = references_from_bib([bib], ["b", "a", "b", "missing"], TextContext())
    assert [(entry.index, entry.key, entry.arxiv_id) for entry in found] == [(1, "b", "hep-th/9901001"), (2, "a", None)]
