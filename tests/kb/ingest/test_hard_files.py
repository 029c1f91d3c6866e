"""Files that go wrong: each is refused with its true reason, or read as far as it can be believed."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from sample_pdfs import Draft, chinese_two_columns, paper, picture_page

from kb.errors import BadDocument
from kb.ingest.pdf import page_texts, parse_pdf
from kb.model import Document, Paragraph


def reason(path: Path) -> tuple[str, bool]:
    """Why a file is refused, and whether it is worth another try."""
    with pytest.raises(BadDocument) as caught:
        parse_pdf(path)
    return caught.value.message, caught.value.transient


def text_of(document: Document) -> str:
    return "\n".join([document.abstract, *(b.text for _, b in document.blocks() if isinstance(b, Paragraph))])


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


# Files made here, so that every kind is covered where the corpus is absent.


def test_a_web_page_in_place_of_a_pdf(tmp_path: Path) -> None:
    page = written(tmp_path / "a.pdf", b"<!DOCTYPE html><html><title>Just a moment</title></html>")
    assert reason(page) == ("not a PDF (HTML)", True)


def test_an_empty_file(tmp_path: Path) -> None:
    assert reason(written(tmp_path / "a.pdf", b"")) == ("empty file", True)


def test_plain_text(tmp_path: Path) -> None:
    assert reason(written(tmp_path / "a.pdf", b"no such thing")) == ("not a PDF", False)


def test_a_missing_file(tmp_path: Path) -> None:
    assert reason(tmp_path / "gone.pdf")[0].startswith("cannot be read")


def test_a_pdf_cut_short_is_never_an_empty_paper(tmp_path: Path) -> None:
    whole = paper(tmp_path / "whole.pdf").read_bytes()
    message, transient = reason(written(tmp_path / "cut.pdf", whole[:60]))
    assert message.startswith("damaged")
    assert transient


def test_a_pdf_that_lost_its_end_is_flagged(tmp_path: Path) -> None:
    whole = paper(tmp_path / "whole.pdf").read_bytes()
    document = parse_pdf(written(tmp_path / "cut.pdf", whole[: whole.rindex(b"xref")]))
    assert document.page_count == 2
    assert document.flags == ("repaired", "truncated")


@pytest.mark.parametrize(("user", "readable"), [("secret", False), ("", True)])
def test_passwords(tmp_path: Path, user: str, readable: bool) -> None:
    draft = Draft()
    draft.line(90, 100, "A page that only its owner may print")
    path = draft.save(
        tmp_path / "a.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", user_pw=user
    )
    if readable:
        assert "only its owner may print" in text_of(parse_pdf(path))
    else:
        assert reason(path) == ("needs a password", False)


def test_a_scan_has_no_text_and_says_so(tmp_path: Path) -> None:
    document = parse_pdf(picture_page(tmp_path / "scan.pdf"))
    assert [page.reason.split(":")[0] for page in document.pages] == ["scan"]
    assert (document.quality, document.flags) == ("none", ("scan",))
    assert text_of(document).strip() == ""


def test_the_title_of_the_page_wins_over_the_file_s_own(tmp_path: Path) -> None:
    path = paper(tmp_path / "a.pdf")
    with pymupdf.open(path) as pdf:
        pdf.set_metadata({"title": "Microsoft Word - draft7.doc"})
        pdf.save(tmp_path / "b.pdf")
    assert parse_pdf(tmp_path / "b.pdf").title == "Group Advantage without a Critic"


def test_a_turned_page_reads_like_an_upright_one(tmp_path: Path) -> None:
    upright = parse_pdf(chinese_two_columns(tmp_path / "a.pdf"))
    with pymupdf.open(tmp_path / "a.pdf") as pdf:
        pdf[0].set_rotation(90)
        pdf.save(tmp_path / "b.pdf")
    assert text_of(parse_pdf(tmp_path / "b.pdf")) == text_of(upright)


def test_nothing_is_written_to_the_error_stream(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = paper(tmp_path / "whole.pdf").read_bytes()
    for share in (0.2, 0.5, 0.8, 0.95):
        try:
            parse_pdf(written(tmp_path / "cut.pdf", whole[: int(share * len(whole))]))
        except BadDocument:
            continue
    assert capfd.readouterr().err == ""


# Real files.


@pytest.mark.parametrize(
    ("name", "message", "transient"),
    [
        ("html-challenge-page-named.pdf", "not a PDF (HTML)", True),
        ("empty-0-bytes.pdf", "empty file", True),
        ("not-a-pdf-plain-text.pdf", "not a PDF", False),
        ("damaged-opens-with-0-pages.pdf", "damaged: 0 pages", True),
        ("encrypted-aes256-user-password.pdf", "needs a password", False),
        ("encrypted-4-pages.pdf", "needs a password", False),
        ("encrypted-libreoffice.pdf", "needs a password", False),
        ("encrypted-needs-password-paper-page.pdf", "needs a password", False),
    ],
)
def test_hard_files_are_refused(corpus: Path, name: str, message: str, transient: bool) -> None:
    assert reason(corpus / "hard" / name) == (message, transient)


def test_encrypted_and_damaged(corpus: Path) -> None:
    assert reason(corpus / "hard" / "encrypted-damaged-0-pages.pdf")[0].startswith("needs a password")


def test_no_hard_file_ends_in_another_error_or_writes_to_stderr(corpus: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read = 0
    for path in sorted((corpus / "hard").glob("*.pdf")):
        try:
            read += parse_pdf(path).page_count is not None
        except BadDocument as error:
            assert error.message
    assert read >= 20
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("share", "pages"), [(0.6, 0), (0.9, 16)])
def test_dapo_cut_short(corpus: Path, tmp_path: Path, share: float, pages: int) -> None:
    whole = (corpus / "papers" / "2503.14476.pdf").read_bytes()
    cut = written(tmp_path / "cut.pdf", whole[: int(share * len(whole))])
    if pages:
        document = parse_pdf(cut)
        assert (document.page_count, document.flags) == (pages, ("repaired", "truncated"))
    else:
        assert reason(cut) == ("damaged: 0 pages", True)


def test_owner_password_only_reads(corpus: Path) -> None:
    document = parse_pdf(corpus / "hard" / "encrypted-owner-password-only.pdf")
    assert document.page_count == 1
    assert text_of(document).strip()


def test_scans_are_flagged_page_by_page(corpus: Path) -> None:
    for name, pages in (("scanned-8-pages.pdf", 8), ("scanned-rotated-0-90-180-270.pdf", 4)):
        document = parse_pdf(corpus / "hard" / name)
        assert [page.reason.split(":")[0] for page in document.pages] == ["scan"] * pages


def test_garbage_is_flagged_and_not_kept(corpus: Path) -> None:
    document = parse_pdf(corpus / "hard" / "chinese-rl-survey-garbage-body.pdf")
    assert document.page_count == 15
    bad = [page for page in document.pages if page.reason.startswith("garbage")]
    assert len(bad) >= 12
    kept = {block.page for _, block in document.blocks()}
    assert not kept & {page.number for page in bad}


def test_chinese_two_columns_in_order(corpus: Path) -> None:
    document = parse_pdf(corpus / "hard" / "chinese-rl-survey-two-column.pdf")
    assert document.title == "强化学习研究综述"
    assert all(page.quality == "good" for page in document.pages)
    assert [(s.number, s.title) for s in document.sections if s.number] == [
        ("1", "强化学习基础"), ("2", "强化学习理论"), ("2.1", "时序差分学习的收敛性"),
        ("2.2", "表格型强化学习的收敛性"), ("2.3", "强化学习的泛化方法"), ("3", "强化学习算法"),
        ("3.1", "折扣型回报指标强化学习算法"), ("3.2", "平均型回报指标强化学习算法"),
        ("4", "强化学习应用"), ("5", "结束语"),
    ]  # fmt: skip
    assert len(document.references) == 67
    assert "机器学习是以知识的自动获取和产生为研究目标，是人工智能的核心问题之一。" in text_of(document)


@pytest.mark.parametrize(
    ("folder", "name", "title"),
    [
        ("hard", "type3-tex-shannon-55-pages.pdf", "A Mathematical Theory of Communication"),
        ("hard", "type3-tex-lstm.pdf", "LONG SHORT-TERM MEMORY"),
        ("hard", "wrong-title-metadata-word.pdf", "Primecoin: Cryptocurrency with Prime Number Proof-of-Work"),
        ("hard", "wrong-title-metadata-untitled.pdf", "Data Compression"),
        ("papers", "2501.10120.pdf", "PaSa: An LLM Agent for Comprehensive Academic Paper Search"),
    ],
)
def test_titles_come_from_the_page(corpus: Path, folder: str, name: str, title: str) -> None:
    document = parse_pdf(corpus / folder / name)
    assert document.title == title
    assert all(page.quality == "good" for page in document.pages)


def test_an_outline_that_loops_ends_at_once(corpus: Path) -> None:
    assert parse_pdf(corpus / "hard" / "circular-toc.pdf").page_count == 2


def test_dapo(corpus: Path) -> None:
    document = parse_pdf(corpus / "papers" / "2503.14476.pdf")
    assert (document.arxiv_id, document.version) == ("2503.14476", 2)
    assert "3.3" in {s.number for s in document.sections if s.title.startswith("Rebalancing Act")}
    equation = next(equation for equation in document.equations if equation.number == "4")
    assert (equation.quality, equation.latex, equation.page) == ("flattened", None, 3)
    assert "mean({Ri}G" in (equation.text or "")
    assert len(document.references) == 39


def test_coma_author_year_references(corpus: Path) -> None:
    document = parse_pdf(corpus / "papers" / "1705.08926.pdf")
    assert 40 <= len(document.references) <= 42
    ids = [reference.arxiv_id for reference in document.references if reference.arxiv_id]
    assert len(ids) == len(set(ids)) == 14
    assert {"1506.02438", "1703.06585"} <= set(ids)
    assert "COMA" not in {section.title for section in document.sections}


def test_page_texts_of_a_paper(corpus: Path) -> None:
    texts = page_texts(corpus / "papers" / "2503.14476.pdf")
    assert len(texts) == 16
    assert "Raise the Ceiling" in texts[3]
