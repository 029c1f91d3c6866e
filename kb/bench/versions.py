"""Which version of its paper each method was written from, as its own text says."""

from __future__ import annotations

import re
from typing import Any

from kb.bench.methods import method_text, methods_data


def method_versions() -> list[dict[str, Any]]:
    """``name``, ``paper`` and ``version`` of every method that rests on a paper's text; the version may be None."""
    found = []
    for method in methods_data():
        if not {"paper", "abstract"} & set(method["evidence"]):
            continue
        identifier = str(method["paper"])
        text = method_text(str(method["name"]), latex=False)
        versions = [int(version) for version in re.findall(rf"{re.escape(identifier)}\s*v(\d+)", text)]
        found.append({"name": method["name"], "paper": identifier, "version": max(versions, default=None)})
    return found
