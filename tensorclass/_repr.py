"""One printer for every container."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._rules import errors
from ._tree.node import Node, is_tree

WIDTH = 80
RAGGED = object()  # Stands for an entry that cannot be read as one.
SHORT = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
    torch.bool: "bool", torch.complex64: "c64", torch.complex128: "c128", torch.complex32: "c32",
}  # fmt: skip


def show(node: Any) -> str:
    """A container as text: batch size, device, dim names, and for each entry its dtype and feature dims."""
    head = [f"batch_size={_sizes(node._batch)}"]
    if node._device is not None:
        head.append(f"device={node._device}")
    if node._names is not None and any(node._names):
        head.append(f"names={list(node._names)}")
    if node._locked:
        head.append("locked")
    line = f"{type(node).__name__}({', '.join(head)}, fields={_inline(node)})"
    if len(line) <= WIDTH:
        return line
    return f"{type(node).__name__}({', '.join(head)}, fields={_block(node, 1)})"


def _sizes(shape: Any) -> str:
    return "[" + ",".join(str(size) for size in shape) + "]"


def _inline(node: Node) -> str:
    return "{" + ", ".join(f"{key}: {_value(value, node)}" for key, value in _sorted(node)) + "}"


def _block(node: Node, depth: int) -> str:
    pad = "    " * depth
    lines = []
    for key, value in _sorted(node):
        text = _value(value, node)
        if is_tree(value) and len(pad) + len(key) + len(text) > WIDTH:
            text = f"{_extra(value, node)}{_block(value, depth + 1)}"
        lines.append(f"{pad}{key}: {text}")
    return "{\n" + ",\n".join(lines) + "}"


def _sorted(node: Node) -> list[tuple[str, Any]]:
    read = [(key, _entry(node, key)) for key in node._fields]
    shown = [(key, value) for key, value in read if not (value is None and node._none_is_unset)]
    return shown if node._none_is_unset else sorted(shown, key=lambda pair: pair[0])


def _entry(node: Node, key: str) -> Any:
    try:
        return node._fields[key]
    except (errors.RaggedError, errors.StructureError):  # Of a lazy stack, whose items differ there.
        return RAGGED


def _value(value: Any, parent: Node) -> str:
    if value is RAGGED:
        return "ragged"
    if isinstance(value, Tensor):
        kind = SHORT.get(value.dtype, str(value.dtype).removeprefix("torch."))
        if value.is_nested:
            return f"{kind}[nested]"
        return f"{kind}{_sizes(value.shape[len(parent._batch) :])}"
    if is_tree(value):
        return f"{_extra(value, parent)}{_inline(value)}"
    return type(value).__name__


def _extra(value: Node, parent: Node) -> str:
    rest = value._batch[len(parent._batch) :]
    kind = "" if type(value).__name__ == "TensorDict" else type(value).__name__
    return f"{kind}{_sizes(rest) if rest else ''}"
