"""``kb models``: which embedding models are here, and making one usable offline."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.output import say
from kb.workspace import cache_dir, find_workspace

app = typer.Typer(no_args_is_help=True, help="Embedding models: what is here, and making one usable offline.")


@app.command("list")
def list_models() -> None:
    """List the model that kb.toml names, and the built-in ones."""
    from kb.index.embedding.registry import BUILT_IN, DEFAULT_MODEL

    chosen = str(find_workspace().option("embedding.model", DEFAULT_MODEL))
    words = {"e5-small": "English and Chinese, the default", "minilm": "English only, smaller", "hashing": "for tests"}
    for name in dict.fromkeys([*BUILT_IN, chosen]):
        print(f"{'*' if name == chosen else ' '} {name:<12} {words.get(name, 'sentence-transformers model')}")
    say(f"models are kept below {cache_dir()}")


@app.command()
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="e5-small, minilm, or a model's name on the hub.")],
) -> None:
    """Unpack a built-in model, or download another one, so that it works offline from then on."""
    from kb.index.embedding.registry import pull_model

    print(pull_model(name))
