"""Evidence as people write it, to version, sections, equations and tables."""

from __future__ import annotations

import pytest

from kb.evidence_place import Place, read_place


@pytest.mark.parametrize(
    ("evidence", "place"),
    [
        ("v2, section 3.4", Place(None, 2, ("3.4",))),
        ("v2, sections 2 to 4", Place(None, 2, ("2", "3", "4"))),
        ("v5, sections 3 to 6", Place(None, 5, ("3", "4", "5", "6"))),
        ("v2, sections 3 and 5", Place(None, 2, ("3", "5"))),
        ("v3, equations 3 and 4", Place(None, 3, (), ("3", "4"))),
        ("v2, section 3.4, equation 13", Place(None, 2, ("3.4",), ("13",))),
        ("v3, section 1 and table 5", Place(None, 3, ("1",), (), ("5",))),
        ("v1 and v3, abstract", Place(None, 3, (), (), (), True)),
        ('v2, abstract: "critic-free"', Place(None, 2, (), (), (), True)),
        ("section 4 and authors' code", Place(None, None, ("4",))),
        ("restated in COMA (1705.08926 v2, section 4)", Place("1705.08926", 2, ("4",))),
        ("2604.17693 v2, abstract; 2312.01072 v1", Place("2604.17693", 2, (), (), (), True)),
        ("gigpo/core_gigpo.py at f56e190", Place(None, None)),
        ("weekly 2026-04-12, 2.1", Place(None, None)),
        ("v2+, abstract", Place(None, 2, (), (), (), True)),
        ("2401.00001v3", Place("2401.00001", 3)),
        ("v1, appendix B.2", Place(None, 1, ("B.2",))),
    ],
)
def test_places(evidence: str, place: Place) -> None:
    assert read_place(evidence) == place
    assert read_place(evidence).is_known == bool(place.sections or place.equations or place.tables or place.abstract)
