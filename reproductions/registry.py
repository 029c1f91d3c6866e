"""Discovery: every file of ``methods/`` is one method, named as its ``METHOD``. Nothing is registered anywhere else."""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType

from reproductions.core import Method, ReproductionError

FOLDER = Path(__file__).parent / "methods"
# Papers of the field without a numeric formula, and why: they are listed, and have a paper record but no method file.
WITHOUT_FORMULA = {
    "langmarl": "LangMARL (2604.00722): a language model writes each agent's credit as text; there is no formula to compute",
}


class RegistryError(ReproductionError):
    """The folder of methods holds something that is not a method, or a method is asked for that is not there."""


@cache
def methods() -> dict[str, Method]:
    """All methods by name, in alphabetical order. Raises RegistryError that names the file at fault and the fix."""
    return {name: _method(name) for name in method_names(FOLDER)}


def method_names(folder: Path) -> list[str]:
    """The slugs in a folder of methods. Raises RegistryError for anything that is not ``<slug>.py``."""
    names = []
    for path in sorted(folder.iterdir()):
        if path.name in ("__init__.py", "__pycache__"):
            continue
        if path.is_dir() or path.suffix != ".py":
            raise RegistryError(f"{path} is not a method", "methods/ holds one <slug>.py a method; move this elsewhere")
        if not path.stem.isidentifier() or path.stem != path.stem.lower():
            raise RegistryError(f"{path} has a name that is no slug", "rename it to lower case letters, digits and _")
        names.append(path.stem)
    return names


def get(name: str) -> Method:
    """One method. Raises RegistryError with the nearest names."""
    known = methods()
    if name in known:
        return known[name]
    if name in WITHOUT_FORMULA:
        raise RegistryError(WITHOUT_FORMULA[name], "kb show langmarl shows its record")
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "python -m reproductions list names them all"
    raise RegistryError(f"there is no method {name!r}", hint)


def module_of(name: str) -> ModuleType:
    """The module of a method, whose docstring explains it."""
    return importlib.import_module(f"reproductions.methods.{name}")


def check_method(path: Path, found: object) -> Method:
    """What a method's file must define. Raises RegistryError that says what to write in it."""
    if not isinstance(found, Method):
        raise RegistryError(f"{path} defines no METHOD", f"end it with METHOD = Method(name={path.stem!r}, ...)")
    if found.name != path.stem:
        raise RegistryError(f"{path}: METHOD.name is {found.name!r}", f"write name={path.stem!r}, or rename the file")
    return found


def _method(name: str) -> Method:
    return check_method(FOLDER / f"{name}.py", getattr(module_of(name), "METHOD", None))
