"""Dead links and records at fault are named with their place."""

from __future__ import annotations

from pathlib import Path

from kb.check.library_checks import Finding, check_links, check_records
from kb.library import Library


def reload(library: Library) -> Library:
    return Library.load(library.workspace)


def test_a_sound_library_has_no_findings(library: Library, tmp_path: Path) -> None:
    (tmp_path / "notes" / "a.md").write_text("[[tandem]] [[SOLO]] [[2402.00011]] [[a]]\n", encoding="utf-8")
    assert check_links(library) == []
    assert check_records(library) == []


def test_dead_links_are_named_with_file_and_line(library: Library, tmp_path: Path) -> None:
    (tmp_path / "notes" / "a.md").write_text(
        "---\ndate: 2024-03-01\n---\n# 笔记\n\n见 [[不存在]] 与 [[tandem]]。\n\n```\n[[code]]\n```\n", encoding="utf-8"
    )
    record = tmp_path / "papers" / "solo" / "paper.md"
    text = record.read_text(encoding="utf-8") + "\n依 [[gone]]。\n"
    record.write_text(text, encoding="utf-8")
    assert check_links(reload(library)) == [
        Finding("notes/a.md", 6, "[[不存在]] leads nowhere"),
        Finding("papers/solo/paper.md", text.splitlines().index("依 [[gone]]。") + 1, "[[gone]] leads nowhere"),
    ]


def test_records_without_evidence_shared_names_and_damage_are_named(library: Library, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    for slug, head in (
        ("bare", "title: B\naliases: [TANDEM]\nfacts:\n  critic: {value: 'no', level: paper}"),
        ("broken", "title: [unclosed"),
        ("odd", "title: O\nfacts:\n  critic: {value: 'no', level: hearsay, evidence: x}"),
    ):
        (papers / slug).mkdir()
        (papers / slug / "paper.md").write_text(f"---\n{head}\n---\n", encoding="utf-8")
    found = [finding.what for finding in check_records(reload(library))]
    assert "facts.critic has no evidence" in found
    assert any("'tandem'" in what and "also" in what for what in found)
    assert any("broken" in what for what in found)
    assert any("hearsay" in what for what in found)
    assert len(found) == 4
