"""Discovery of methods: every file in ``methods/`` is one, named as its ``METHOD``; anything else is refused."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType

from reproductions.core import Method

FOLDER = Path(__file__).parent / "methods"
# Papers of the field whose method has no numeric formula, and why.
WITHOUT_FORMULA = {
    "langmarl": "LangMARL assigns credit in natural language: a critic model writes text for each agent, nothing is computed",
}


class RegistryError(RuntimeError):
    """The folder of methods holds something that is not one; the message names the file and the fix."""


@cache
def methods() -> dict[str, Method]:
    """All methods by name, in alphabetical order."""
    return {path.stem: _load(path) for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"}


def get(name: str) -> Method:
    """A method. Raises KeyError with the nearest names."""
    known = methods()
    if name in known:
        return known[name]
    if name in WITHOUT_FORMULA:
        raise KeyError(WITHOUT_FORMULA[name])
    import difflib

    near = difflib.get_close_matches(name, known, n=3)
    raise KeyError(f"no method {name!r}" + (f"; did you mean {', '.join(near)}?" if near else "; list names them all"))


def module(name: str) -> ModuleType:
    """The module of a method, for its docstring."""
    get(name)
    return importlib.import_module(f"reproductions.methods.{name}")


def _load(path: Path) -> Method:
    found = getattr(importlib.import_module(f"reproductions.methods.{path.stem}"), "METHOD", None)
    if not isinstance(found, Method):
        raise RegistryError(f"{path} defines no METHOD; give it METHOD = Method(name={path.stem!r}, ...) or move it away")
    if found.name != path.stem:
        raise RegistryError(f"{path}: METHOD.name is {found.name!r}; rename the file or the method so that they agree")
    return found
