"""A hash of the code that decides a result: of a module and all modules of this package that it imports, as they mean.

Comments, docstrings and layout do not count, so that a finished run stays finished when words are mended.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PACKAGE = "reproductions"
# They find modules by name, or write results down, and compute nothing.
_LEFT_OUT = frozenset(
    {"reproductions.worlds", "reproductions.registry", "reproductions.bench", "reproductions.bench.rows"}
)


@cache
def code_hash(*modules: str) -> str:
    """Twelve hex digits over the modules and everything of the package that they import."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found and name not in _LEFT_OUT:
            found.add(name)
            waiting += _read(name)[1]
    text = "\n".join(f"{name} {_read(name)[0]}" for name in sorted(found))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """``(hash, modules of the package that it imports)`` of one module."""
    path = _path(module)
    if path is None:
        raise ModuleNotFoundError(f"no source file of {module}")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [name for node in ast.walk(tree) for name in _imports(node)]
    return hashlib.sha256(_meaning(tree).encode()).hexdigest(), tuple(sorted(set(imported)))


def _path(module: str) -> Path | None:
    """The file of a module; None for a name that is no module, such as that of a function."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec and spec.origin else None


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return []
    return [name for name in names if name.split(".")[0] == _PACKAGE and _path(name)]


def _meaning(value: Any) -> str:
    """A syntax tree as text, without positions and docstrings; the same under every version of Python that parses it."""
    if isinstance(value, list):
        return "[" + ",".join(_meaning(item) for item in value if not _is_docstring(item)) + "]"
    if not isinstance(value, ast.AST):
        return repr(value)
    parts = [f"{name}={_meaning(part)}" for name, part in ast.iter_fields(value) if part not in (None, [])]
    return f"{type(value).__name__}({','.join(parts)})"


def _is_docstring(item: Any) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)
