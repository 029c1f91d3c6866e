"""What a method's file must be: a module with its explanation, its record and its test."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from reproductions import registry
from reproductions.core import Batch, Method, ParameterError, Traits

SLUGS = registry.method_names(registry.FOLDER)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_method_has_its_test_and_its_explanation(slug: str) -> None:
    assert (Path(__file__).parent / f"test_{slug}.py").is_file()
    text = inspect.getdoc(registry.module_of(slug)) or ""
    for heading in ("As printed", "As computed", "Differs", "Evidence", "Traps", "Run"):
        assert f"\n{heading}\n" in f"\n{text}\n", f"{slug}.py has no section {heading!r} in its docstring"


@pytest.mark.parametrize("slug", SLUGS)
def test_the_example_runs_with_every_preset(slug: str) -> None:
    method = registry.get(slug)
    example = method.example()
    assert isinstance(example.batch, Batch) and example.batch.acted_pknt.any()
    method.run(example.batch, example.preset, **example.parameters)


@pytest.mark.parametrize(
    ("file", "message"),
    [("notes.txt", "not a method"), ("Dr-MAS.py", "no slug"), ("sub/x.py", "not a method")],
)
def test_surprises_in_the_folder_are_refused_by_name(tmp_path: Path, file: str, message: str) -> None:
    (tmp_path / "grpo.py").write_text("", encoding="utf-8")
    assert registry.method_names(tmp_path) == ["grpo"]
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("", encoding="utf-8")
    with pytest.raises(registry.RegistryError, match=message) as caught:
        registry.method_names(tmp_path)
    assert Path(file).parts[0] in str(caught.value) and caught.value.hint


def test_a_file_without_a_record_or_with_anothers_is_refused() -> None:
    with pytest.raises(registry.RegistryError, match=r"x\.py defines no METHOD"):
        registry.check_method(Path("x.py"), None)
    with pytest.raises(registry.RegistryError, match=r"x\.py: METHOD.name is 'grpo'"):
        registry.check_method(Path("x.py"), registry.get("grpo"))


def test_a_record_is_checked_when_it_is_made() -> None:
    grpo = registry.get("grpo")

    def record(**changes: object) -> Method:
        fields = {
            name: getattr(grpo, name) for name in ("name", "title", "assign", "paper", "formula", "evidence", "example")
        }
        return Method(**{**fields, "requires": ("reward_pk",), "traits": Traits("rollout", ""), **changes})  # type: ignore[arg-type]

    record()
    for wrong in (
        {"claims": {"fair"}},
        {"presets": {"mine": {"espilon": 1}}},
        {"presets": {"paper": {}}},
        {"evidence": ("rumour",)},
    ):
        with pytest.raises(ParameterError):
            record(**wrong)
