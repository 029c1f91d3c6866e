"""The safetensors format: 8 bytes of header length, a JSON header, raw tensors. Read as views of a memory map.

Format: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

_TYPES = {
    "F32": "<f4", "F16": "<f2", "F64": "<f8", "U8": "|u1", "I32": "<i4", "U32": "<u4", "I64": "<i8", "U64": "<u8",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}


def read_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every tensor of the file as a read-only view: pages are read from disk when a tensor is used.

    Raises ValueError when the file is cut short, is no safetensors file, or holds a type that is not numpy's.
    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
        start = 8 + int.from_bytes(data[:8].tobytes(), "little")
        header = json.loads(data[8:start].tobytes())
        return {
            name: data[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]]
            .view(_TYPES[entry["dtype"]])
            .view(np.ndarray)
            .reshape(entry["shape"])
            for name, entry in header.items()
            if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or no safetensors file ({error})") from None


def write_tensors(stream: BinaryIO, tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a safetensors file. Eight-byte types come first, so that every tensor lies aligned."""
    ordered = sorted(tensors.items(), key=lambda item: -item[1].itemsize)
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in ordered:
        span = [end, end + tensor.nbytes]
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": span}
        end = span[1]
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    stream.write(len(text).to_bytes(8, "little"))
    stream.write(text)
    for _, tensor in ordered:
        stream.write(np.ascontiguousarray(tensor).data)
