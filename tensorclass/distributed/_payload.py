"""A container as one message of bytes: its outline, then its tensors side by side."""

from __future__ import annotations

import pickle
from typing import Any

import torch
from torch import Tensor

from .._tree.node import Node
from ..io import _meta
from ..io._bytes import storable
from ..io._outline import Outline, outline, rebuilt
from ..io._pack import ALIGN, Kind, kinds, pack_into, places, views

_HEAD = 8  # Bytes that hold the length of the outline.


def payload(node: Node, device: torch.device) -> Tensor:
    """The message for a container."""
    leaves: list[Tensor] = []
    # Pickled, as torch.distributed does with objects: the processes of a group trust each other.
    form = outline(node, leaves, form=lambda value: value)
    leaves = [storable(leaf) for leaf in leaves]
    text = pickle.dumps(form)
    start = _start(len(text))
    out = torch.empty(start + places(kinds(leaves))[1], dtype=torch.uint8, device=device)
    head = len(text).to_bytes(_HEAD, "little") + text
    out[: len(head)] = torch.frombuffer(bytearray(head), dtype=torch.uint8).to(device)
    pack_into(out[start:], leaves)
    return out


def opened(message: Tensor) -> Any:
    """The container of a message; its tensors lie in the message."""
    length = int.from_bytes(bytes(message[:_HEAD].tolist()), "little")
    text = message[_HEAD : _HEAD + length].cpu()
    form = pickle.loads(text.numpy().tobytes() if _has_numpy() else bytes(text.tolist()))
    of: list[Kind] = []
    _kinds(form, of)
    starts, _ = places(of)
    leaves = views(message[_start(length) :], of, starts)
    return rebuilt(form, leaves, read=lambda value: value)


def _start(length: int) -> int:
    return -(-(_HEAD + length) // ALIGN) * ALIGN


def _kinds(form: Outline, into: list[Kind]) -> None:
    for item in form.get("lazy", ()):
        _kinds(item, into)
    for entry in form.get("entries", {}).values():
        if "tensor" in entry:
            into.append((_meta.DTYPES[entry["dtype"]], tuple(entry["shape"])))
        elif "entries" in entry or "lazy" in entry:
            _kinds(entry, into)


def _has_numpy() -> bool:
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True
