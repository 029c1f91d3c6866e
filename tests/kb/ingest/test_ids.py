"""arXiv ids in every form that people and reference lists use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import UsageError
from kb.ingest.ids import ArxivId, find_arxiv_ids, parse_arxiv_id

FORMS = [
    ("2503.14476", "2503.14476"),
    ("2503.14476v2", "2503.14476v2"),
    ("2503.14476V2", "2503.14476v2"),
    (" 2503.14476 ", "2503.14476"),
    ("arXiv:2503.14476", "2503.14476"),
    ("arxiv: 2503.14476v1", "2503.14476v1"),
    ("ARXIV：2503.14476", "2503.14476"),
    ("arXiv:2503.14476v2 [cs.LG]", "2503.14476v2"),
    ("２５０３.１４４７６", "2503.14476"),
    ("0704.0001", "0704.0001"),
    ("1412.6980", "1412.6980"),
    ("https://arxiv.org/abs/2503.14476", "2503.14476"),
    ("http://arxiv.org/abs/2503.14476v2", "2503.14476v2"),
    ("arxiv.org/abs/2503.14476", "2503.14476"),
    ("https://www.arxiv.org/abs/2503.14476", "2503.14476"),
    ("https://arxiv.org/abs/2503.14476/", "2503.14476"),
    ("https://arxiv.org/pdf/2503.14476", "2503.14476"),
    ("https://arxiv.org/pdf/2503.14476v2.pdf", "2503.14476v2"),
    ("https://arxiv.org/pdf/2503.14476.pdf#page=3", "2503.14476"),
    ("https://arxiv.org/html/2503.14476v2", "2503.14476v2"),
    ("https://arxiv.org/html/2503.14476v2#S3.E4", "2503.14476v2"),
    ("https://export.arxiv.org/abs/2503.14476?context=cs", "2503.14476"),
    ("https://export.arxiv.org/e-print/2503.14476v1", "2503.14476v1"),
    ("https://ar5iv.org/abs/2503.14476", "2503.14476"),
    ("https://ar5iv.labs.arxiv.org/html/2503.14476", "2503.14476"),
    ("https://www.alphaxiv.org/abs/2503.14476v1", "2503.14476v1"),
    ("https://alphaxiv.org/overview/2503.14476", "2503.14476"),
    ("https://huggingface.co/papers/2503.14476", "2503.14476"),
    ("10.48550/arXiv.2503.14476", "2503.14476"),
    ("https://doi.org/10.48550/arXiv.2503.14476", "2503.14476"),
    ("doi:10.48550/ARXIV.2503.14476", "2503.14476"),
    ("10.48550/arXiv.math/0309136", "math/0309136"),
    ("hep-th/9901001", "hep-th/9901001"),
    ("hep-th/9901001v3", "hep-th/9901001v3"),
    ("math.GT/0309136", "math/0309136"),
    ("math.GT/0309136v2", "math/0309136v2"),
    ("cs/0701188", "cs/0701188"),
    ("cs.CL/0701188", "cs/0701188"),
    ("arXiv:cond-mat/9706061", "cond-mat/9706061"),
    ("https://arxiv.org/abs/hep-th/9901001", "hep-th/9901001"),
    ("https://arxiv.org/pdf/math/0211159v1", "math/0211159v1"),
    ("https://arxiv.org/abs/math%2F0211159", "math/0211159"),
    ("math_0211159", "math/0211159"),
    ("2503.14476v2.pdf", "2503.14476v2"),
    ("<https://arxiv.org/abs/2503.14476>", "2503.14476"),
]
NOT_IDS = [
    "", "DAPO", "2503", "2503.144", "2513.14476", "2500.14476", "1412.69801", "1501.0001", "0703.0001", "9901.12345",
    "9912.00001", "abc/9901001", "hep-th/9013001", "hep-th/0901001", "2503.14476v0", "https://example.org/2503.14476",
    "10.1145/3292500.3330701", "https", "../2503.14476", "2503.14476/../..",
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), FORMS)
def test_every_form_of_an_id_is_read(text: str, wanted: str) -> None:
    assert str(parse_arxiv_id(text)) == wanted


@pytest.mark.parametrize("text", NOT_IDS)
def test_what_is_no_id_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_arxiv_id(text)
    assert "2503.14476" in caught.value.hint


@given(st.integers(2015, 2025), st.integers(1, 12), st.integers(0, 99999), st.one_of(st.none(), st.integers(1, 99)))
def test_an_id_survives_a_round_trip(year: int, month: int, serial: int, version: int | None) -> None:
    wanted = ArxivId("", f"{year - 2000:02}{month:02}.{serial:05}", version)
    assert parse_arxiv_id(str(wanted)) == wanted
    assert parse_arxiv_id(f"https://arxiv.org/pdf/{wanted}.pdf") == wanted


def test_the_slash_of_an_old_id_never_becomes_a_folder() -> None:
    assert parse_arxiv_id("math/0211159v1").file_stem == "math_0211159v1"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("arXiv preprint arXiv:1412.6980, 2014.", ["1412.6980"]),
        ("CoRR, abs/1707.06347, 2017", ["1707.06347"]),
        ("arXiv:2503. 14476", ["2503.14476"]),
        ("arXiv:\n2503.14476", ["2503.14476"]),
        ("arXiv:2503.\n14476v2", ["2503.14476"]),
        ("arXiv:1506.\u00ad02438", ["1506.02438"]),
        ("https://doi.org/10.48550/arXiv.2405.04517", ["2405.04517"]),
        ("https://huggingface.co/papers/2402.03300", ["2402.03300"]),
        ("hep-th/9901001 and math.GT/0309136v2", ["hep-th/9901001", "math/0309136"]),
        ("In KDD. 10.1145/3292500.3330701", []),
        ("version 2001.12345 of the Proc. 2001.12345", []),
        ("pages 2001.12345-2001.12399", []),
        ("a loss of 1234.56789 was seen", []),
        ("arXiv:2513.00001", []),
        ("see 2402.03300 for more", []),
    ],
)
def test_ids_in_prose(text: str, wanted: list[str]) -> None:
    assert [found.id for found in find_arxiv_ids(text, context="prose")] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("J. Schulman. Proximal policy optimization. 1707.06347, 2017", [("1707.06347", "low")]),
        ("1707.06347. Also arXiv:1707.06347v2", [("1707.06347", "high")]),
        ("Proc. 2001.12345", []),
        ("9901.12345", []),
        ("10.1109/5.771073", []),
        ("doi:10.1007/1234.20012.12345", []),
        ("ISBN 1234.56789", []),
    ],
)
def test_ids_in_a_reference_carry_their_confidence(text: str, wanted: list[tuple[str, str]]) -> None:
    assert [(found.id, found.confidence) for found in find_arxiv_ids(text, context="reference")] == wanted
