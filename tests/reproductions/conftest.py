"""Worked values that come from papers and from their authors' code, never from this package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]


@pytest.fixture(scope="session")
def single_agent(root: Path) -> Callable[[str], Case]:
    """A case of tests/golden/single_agent.json by its id: inputs, parameters, expected, source and tolerance."""
    cases = json.loads((root / "tests" / "golden" / "single_agent.json").read_text(encoding="utf-8"))
    return lambda name: cases[name]
