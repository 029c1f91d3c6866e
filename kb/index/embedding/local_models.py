"""Sentence-transformers models on this computer: find, describe, fingerprint, and pull on request."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb.errors import KbError, NetworkError, OfflineError
from kb.workspace import is_offline

_EDGE_BYTES = 1 << 20
_NO_LIMIT = 1_000_000  # tokenizers write 1e30 for "none"
_WEIGHTS_TWICE = ["*.onnx", "onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot"]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a folder's own files say. 0 stands for a dimension or a limit that they do not tell."""

    dimension: int
    max_tokens: int
    query_prompt: str
    passage_prompt: str


def quiet_libraries(offline: bool = False) -> None:
    """Call before importing Hugging Face libraries, which read these settings then: no telemetry, no network."""
    names = ["HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_UPDATE_CHECK", "TRANSFORMERS_NO_ADVISORY_WARNINGS"]
    for name in [*names, "HF_HUB_OFFLINE"] if offline else names:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def locate(name: str, root: Path | None = None) -> Path:
    """The folder of a model given as a path or as a name in the local Hugging Face cache. No network.

    Raises KbError that says how to get it.
    """
    given = Path(name).expanduser()
    path = root / given if root and not given.is_absolute() else given
    if path.is_dir():
        return path.resolve()
    if given.is_absolute() or name.startswith(("./", "../", "~")):
        raise KbError(f"there is no model folder {path}", "correct [embedding] model in kb.toml")
    for repository in _repositories(name):
        folder = _snapshot(repository)
        if folder is not None:
            return folder
    raise KbError(f"the model {name} is not on this computer", f"kb models pull {name}, or give a folder's path")


def pull(name: str) -> Path:
    """Download a model into the local Hugging Face cache: the only function here that uses the network.

    Raises OfflineError, NetworkError (what came is kept, the next run goes on) or KbError for an unknown name.
    """
    if is_offline():
        raise OfflineError(f"cannot pull {name}: the offline switch is on", "unset KB_OFFLINE or drop --offline")
    quiet_libraries()
    from huggingface_hub import constants, errors, snapshot_download

    if constants.HF_HUB_OFFLINE:
        raise OfflineError(
            f"cannot pull {name}: HF_HUB_OFFLINE is set", "unset HF_HUB_OFFLINE (and TRANSFORMERS_OFFLINE)"
        )
    missing: Exception | None = None
    for repository in _repositories(name):
        try:
            return Path(snapshot_download(repository, ignore_patterns=_WEIGHTS_TWICE))
        except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
            missing = error
        except (OSError, errors.HfHubHTTPError) as error:  # the hub's own errors are kinds of OSError
            reason = str(error).strip().splitlines() or [type(error).__name__]
            hint = "what came is kept; run it again when the network is back"
            raise NetworkError(f"cannot pull {name}: {reason[0][:200]}", hint) from error
    raise KbError(f"the hub has no public model {name}", "write it as OWNER/MODEL") from missing


def revision(folder: Path) -> str:
    """The commit of a hub snapshot, else a digest over the folder's files.

    Of large files only the size and the first and last MiB count: weights differ in both, and a query must not
    read gigabytes to learn its model's name.
    """
    if folder.parent.name == "snapshots" and re.fullmatch(r"[0-9a-f]{40}", folder.name):
        return f"commit {folder.name}"
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in relative.parts) or path.suffix == ".md":
            continue
        size = path.stat().st_size
        digest.update(f"{relative.as_posix()}\0{size}\0".encode())
        with path.open("rb") as stream:
            digest.update(stream.read(_EDGE_BYTES))
            if size > _EDGE_BYTES:
                stream.seek(max(_EDGE_BYTES, size - _EDGE_BYTES))
                digest.update(stream.read())
    return f"files {digest.hexdigest()[:32]}"


def read_card(folder: Path) -> ModelCard:
    """Dimension, limit and prompts as the folder's JSON files give them."""
    modules = _json(folder / "modules.json") or []
    configs = [_json(folder / module.get("path", "") / "config.json") for module in reversed(modules)]
    configs.append(_json(folder / "config.json"))
    keys = ("out_features", "embedding_dimension", "word_embedding_dimension", "hidden_size")
    dimension = next((config[key] for config in configs for key in keys if isinstance(config.get(key), int)), 0)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    limits = (
        _json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
    )
    return ModelCard(
        dimension=dimension,
        max_tokens=next((int(limit) for limit in limits if limit and limit < _NO_LIMIT), 0),
        query_prompt=prompts.get("query") or "",
        passage_prompt=prompts.get("passage") or prompts.get("document") or "",
    )


def _repositories(name: str) -> list[str]:
    return [name] if "/" in name else [f"sentence-transformers/{name}", name]


def _snapshot(repository: str) -> Path | None:
    quiet_libraries(offline=True)
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except (errors.LocalEntryNotFoundError, errors.HFValidationError, OSError):
        return None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise KbError(f"{path} cannot be read: {error}", "get the model again") from None
