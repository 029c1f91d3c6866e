"""Templates to text. Templates only loop and print; the workspace's own come before those of the package."""

from __future__ import annotations

import re
from typing import Any

from kb.blocks import block
from kb.errors import KbError
from kb.search.tokens import has_han
from kb.table_formats import escape_markdown
from kb.tables import template_folders
from kb.workspace import Workspace


def render(workspace: Workspace | None, name: str, **values: Any) -> str:
    """A template filled. Raises KbError that names the template for one that is missing or broken."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, TemplateNotFound

    environment = Environment(
        loader=FileSystemLoader(template_folders(workspace)),
        undefined=StrictUndefined,
        autoescape=name.endswith((".html", ".html.j2")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["block"] = block
    environment.filters |= {"cell": escape_markdown, "formula": as_formula, "short": short_number}
    try:
        return environment.get_template(name).render(**values)
    except TemplateNotFound as error:
        raise KbError(f"no template {error.name}", "put it into templates/ of the workspace") from None
    except UnicodeDecodeError:
        raise KbError(f"template {name} is not UTF-8", f"save templates/{name} as UTF-8") from None
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise KbError(
            f"template {name}{f', line {line}' if line else ''}: {error.message}", f"correct templates/{name}"
        ) from None


def as_formula(text: str) -> str:
    """LaTeX that stands without dollars, as maths; other text as it is."""
    is_bare = "$" not in text and re.search(r"\\[A-Za-z]+|[_^]\{", text) and not has_han(text)
    return f"${text}$" if is_bare else text


def short_number(value: float) -> str:
    """A number with three digits that count."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
