"""The batch contract, and the door through which every value comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Size, Tensor

from .._rules import errors
from .._rules.errors import Key
from .node import Node, kind

NUMBERS = (bool, int, float, complex)


def as_size(batch: Any) -> Size:
    """A batch size as the user gives it: a sequence of ints, one int, or None for none."""
    if batch.__class__ is Size:
        return batch
    if batch is None:
        return Size(())
    if isinstance(batch, torch.SymInt):
        return Size((batch,))  # type: ignore[arg-type]  # A SymInt is an int to torch.
    if isinstance(batch, Tensor) or (type(batch).__module__ == "numpy" and batch.ndim):
        batch = batch.reshape(-1).tolist()
    elif hasattr(batch, "__index__"):
        batch = (batch,)
    if not isinstance(batch, Sequence) or isinstance(batch, str):
        raise errors.KindError(f"batch_size: {batch!r} is no batch size; a sequence of ints, an int or None would do")
    for size in batch:
        if not isinstance(size, torch.SymInt) and not hasattr(size, "__index__"):
            raise errors.KindError(f"batch_size: {list(batch)} has {size!r}, {kind(size)}; sizes are ints")
        if isinstance(size, int) and size < 0:
            raise errors.ShapeError(f"batch_size: {list(batch)} has a negative size")
    return Size(batch)


def fits(shape: Sequence[int], batch: Size) -> bool:
    """Whether the leading dims of a shape are the batch size."""
    return tuple(shape[: len(batch)]) == tuple(batch)


def check_tensor(key: Key, value: Tensor, batch: Size) -> None:
    """Refuse a tensor whose leading dims are not the batch size."""
    if value.is_nested:
        if len(batch) > 1 or (len(batch) == 1 and value.size(0) != batch[0]):
            raise errors.ShapeError(errors.batch_mismatch(key, (value.size(0), "*"), batch, "nested tensor"))
        return
    if value.shape[: len(batch)] != batch:
        raise errors.ShapeError(errors.batch_mismatch(key, tuple(value.shape), tuple(batch)))


def check_tree(key: Key, node: Node, batch: Size) -> None:
    """Refuse a node with an entry whose leading dims are not the batch size."""
    at = key if isinstance(key, tuple) else (key,) if key else ()
    for name, value in node._fields.items():
        if isinstance(value, Tensor):
            check_tensor((*at, name), value, batch)
        elif isinstance(value, Node):
            check_node((*at, name), value, batch)


def check_node(key: Key, node: Node, batch: Size) -> None:
    """Refuse a node whose batch size does not start with the batch size around it."""
    if node._batch[: len(batch)] != batch:
        raise errors.ShapeError(errors.node_mismatch(key, tuple(node._batch), tuple(batch)))


def rebatched(key: Key, node: Any, batch: Size) -> Any:
    """A node fit to sit inside a batch: itself, or (all entries allowing it) the same entries with that batch size."""
    if node._batch[: len(batch)] == batch:
        return node
    if len(node._batch) > len(batch) or node._batch != batch[: len(node._batch)]:
        raise errors.ShapeError(errors.node_mismatch(key, tuple(node._batch), tuple(batch)))
    check_resize(key, node, batch)
    return resized(key, node, batch)


def check_resize(key: Key, node: Node, batch: Size) -> None:
    """Refuse a larger batch size that some entry does not have."""
    at = key if isinstance(key, tuple) else (key,) if key else ()
    for name, value in node._fields.items():
        if isinstance(value, Tensor):
            check_tensor((*at, name), value, batch)
        elif isinstance(value, Node) and value._batch[: len(batch)] != batch:
            if value._batch != batch[: len(value._batch)]:
                raise errors.ShapeError(errors.node_mismatch((*at, name), tuple(value._batch), tuple(batch)))
            check_resize((*at, name), value, batch)


def resized(key: Key, node: Any, batch: Size) -> Any:
    """The same entries with another batch size, nested nodes as well."""
    fields = {
        name: resized(key, value, batch) if isinstance(value, Node) and value._batch[: len(batch)] != batch else value
        for name, value in node._fields.items()
    }
    return node._rebuild(fields, batch)


def as_tensor(key: Key, value: Any, device: torch.device | None) -> Tensor | None:
    """A number, a numpy array or a list of numbers as a tensor; None if it is none of these."""
    if isinstance(value, NUMBERS):
        return torch.tensor(value, device=device)
    module = type(value).__module__
    if module == "numpy" and hasattr(value, "dtype") and value.dtype.kind in "biufc":
        return torch.as_tensor(value, device=device)
    if isinstance(value, (list, tuple)) and value and _numeric(value):
        try:
            return torch.tensor(value, device=device)
        except (ValueError, TypeError):
            return None
    return None


def _numeric(value: Any) -> bool:
    while isinstance(value, (list, tuple)):
        if not value:
            return False
        value = value[0]
    return isinstance(value, NUMBERS) or (type(value).__module__ == "numpy" and hasattr(value, "dtype"))


def moved(value: Any, device: torch.device | None) -> Any:
    """A tensor or a node on the device of its container."""
    if device is None:
        return value
    if isinstance(value, Tensor):
        return value if value.device == device else value.to(device)
    return value if value._device == device else type(value).to(value, device)


def full_device(device: Any) -> torch.device | None:
    """A device as the user gives it, its index filled in, so that it compares equal to that of a tensor."""
    if device is None:
        return None
    device = torch.device(device)
    if device.index is None and device.type not in ("cpu", "meta"):
        return torch.empty(0, device=device).device
    return device  # type: ignore[no-any-return]  # torch.device of Any.


Wrap = Callable[[Key, Mapping[Any, Any], Size], Node]
