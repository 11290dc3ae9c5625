"""A container as one message of bytes: its outline, then its tensors side by side."""

from __future__ import annotations

import pickle
from typing import Any

import torch
from torch import Tensor

from .._rules import errors
from .._tree.node import Node, is_tree, kind
from ..io import _meta
from ..io._bytes import storable
from ..io._outline import Outline, outline, rebuilt
from ..io._pack import ALIGN, Kind, kinds, pack_into, places, views

_HEAD = 8  # Bytes that hold the length of the outline.


def described(node: Any, op: str) -> tuple[Outline, list[Tensor]]:
    """The outline of a container and its tensors, ready to be copied."""
    if not is_tree(node):
        raise errors.KindError(f"{op}: {kind(node)} is no container; a TensorDict or a typed class would do")
    leaves: list[Tensor] = []
    # Plain data stay objects, which are pickled, as torch.distributed does: the processes of a group trust each other.
    form = outline(node, leaves, form=lambda value: value)
    return form, [storable(leaf) for leaf in leaves]


def payload(node: Node, device: torch.device, op: str = "send") -> Tensor:
    """The message for a container."""
    return _message(*described(node, op), device)


def payload_or_failure(node: Any, device: torch.device, op: str, rank: int) -> tuple[Tensor, Exception | None]:
    """The message for a container; one that says what is wrong where there can be none: other ranks wait for it."""
    try:
        return payload(node, device, op), None
    except Exception as error:
        return failure(error, device, op, rank), error


def failure(error: Exception, device: torch.device, op: str, rank: int) -> Tensor:
    """The message of a rank that cannot give a container: who opens it raises."""
    said = str(error).removeprefix(f"{op}: ")
    return _message({"failed": f"{op}: rank {rank} cannot give what it should: {said}"}, [], device)


def _message(form: Outline, leaves: list[Tensor], device: torch.device) -> Tensor:
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
    if "failed" in form:
        raise errors.StructureError(form["failed"])
    return filled(form, message[_start(length) :])


def filled(form: Outline, data: Tensor) -> Any:
    """The container of an outline, whose tensors lie in these bytes."""
    of: list[Kind] = []
    _kinds(form, of)
    return rebuilt(form, views(data, of, places(of)[0]), read=lambda value: value)


def length_of(form: Outline) -> int:
    """How many bytes the tensors of an outline take."""
    of: list[Kind] = []
    _kinds(form, of)
    return places(of)[1]


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
