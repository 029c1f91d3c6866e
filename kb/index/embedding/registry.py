"""Model names of ``kb.toml`` ``[embedding]`` to embedders. Nothing is loaded before it is used."""

from __future__ import annotations

from pathlib import Path

from kb.errors import UsageError
from kb.index.embedding.protocol import Embedder
from kb.workspace import Workspace

DEFAULT_MODEL = "e5-small"
BUILT_IN = ("e5-small", "minilm", "hashing")


def open_embedder(
    name: str = DEFAULT_MODEL,
    root: Path | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
) -> Embedder:
    """``e5-small``, ``minilm``, ``hashing``, or any sentence-transformers model by folder or local hub name.

    ``root`` is where a relative folder starts; prefixes are for models that bring no prompts of their own.
    Raises UsageError for prefixes on a built-in model, whose prefixes are part of it.
    """
    if name in BUILT_IN and (query_prefix, passage_prefix) != (None, None):
        raise UsageError(
            f"the model {name} has its own prefixes", "remove query_prefix and passage_prefix from kb.toml"
        )
    if name == "hashing":
        from kb.index.embedding.hashing import HashingEmbedder

        return HashingEmbedder()
    if name in BUILT_IN:
        from kb.index.embedding.bundled import E5_SMALL, MINILM, BundledEmbedder

        return BundledEmbedder(E5_SMALL if name == DEFAULT_MODEL else MINILM)
    from kb.index.embedding.sentence import SentenceEmbedder

    return SentenceEmbedder(name, root, query_prefix, passage_prefix)


def embedder_of(workspace: Workspace) -> Embedder:
    """The embedder that ``[embedding]`` of the workspace's ``kb.toml`` names (``model``, prefixes)."""
    option = workspace.option
    return open_embedder(
        str(option("embedding.model", DEFAULT_MODEL)),
        workspace.root,
        option("embedding.query_prefix"),
        option("embedding.passage_prefix"),
    )


def pull_model(name: str) -> Path:
    """Make a model usable offline: unpack a built-in one, download any other. Returns its folder.

    Raises UsageError for ``hashing``; KbError and its network children as ``local_models.pull`` says.
    """
    if name == "hashing":
        raise UsageError("hashing has no files to pull", "it works as it is")
    if name in BUILT_IN:
        from kb.index.embedding.bundled import E5_SMALL, MINILM

        return (E5_SMALL if name == DEFAULT_MODEL else MINILM).folder()
    from kb.index.embedding.local_models import pull

    return pull(name)
