"""Columns: the leaves of gymnasium's observations as arrays and tensors, for a step or for many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._data import NonTensorStack
from .._rules import errors
from .._tensordict import TensorDict
from ._typed import view

if TYPE_CHECKING:
    from .gymnasium import Leaf, Raw

Path = tuple[str, ...]


class Column(NamedTuple):
    """A leaf of the observations: where it is, and how it is read."""

    key: Path
    steps: tuple[Any, ...]  # The way to it in what gymnasium gives.
    encode: Callable[[Any], Any] | None
    dtype: Any  # Of arrays: object, for what is no number.
    shape: tuple[int, ...]  # With the number of environments, if there are many.
    batch: torch.Size

    def pick(self, raw: Raw) -> Any:
        """The value in what gymnasium gives."""
        for step in self.steps:
            raw = raw[step]
        return raw if self.encode is None else self.encode(raw)

    def value(self, raw: Raw) -> Any:
        """The value as an array, a copy: gymnasium may write to its own later."""
        if self.dtype is object:
            return self.pick(raw)
        return np.array(self.pick(raw), self.dtype).reshape(self.shape)

    def tensor(self, raw: Raw) -> Any:
        """The value as a container keeps it."""
        for step in self.steps:
            raw = raw[step]
        if self.encode is not None:
            raw = self.encode(raw)
        if self.dtype is object:
            return NonTensorStack(*raw) if self.batch else raw
        value = np.array(raw, self.dtype)
        return torch.from_numpy(value if value.shape == self.shape else value.reshape(self.shape))

    def room(self, steps: int) -> Any:
        """An array for the values of many steps."""
        return np.empty((steps, *self.shape), self.dtype)


def column(leaf: Leaf, batch: torch.Size) -> Column:
    """How a leaf is read, for one environment or for a batch of them."""
    spec = leaf.coding.spec
    dtype = object if spec.dtype is None else torch.empty(0, dtype=spec.dtype).numpy().dtype
    return Column(leaf.key, leaf.steps, leaf.coding.encode, dtype, (*batch, *spec.shape), batch)


def given(fields: Mapping[str, Any], key: Path, shape: tuple[int, ...]) -> Any:
    """The entry at a path of what a step is given, as an array."""
    try:
        return array(entry(fields, key), key, shape)
    except (KeyError, AttributeError):
        raise errors.KeyMissing(f"step: {errors.key_missing(key, list(fields))}") from None


def entry(fields: Mapping[str, Any], key: Path) -> Any:
    """The entry at a path."""
    for name in key[:-1]:
        fields = fields[name]._fields
    return fields[key[-1]]


def put(fields: dict[str, Any], key: Path, value: Any, batch: torch.Size) -> None:
    """Put an entry at a path, unchecked."""
    for name in key[:-1]:
        node = fields.get(name)
        if node is None:
            node = fields[name] = view(TensorDict, {}, batch)
        fields = node._fields
    fields[key[-1]] = value


def tensors(values: Any) -> Any:
    """The values of many steps, or of many environments, as a container keeps them."""
    return NonTensorStack(*values) if values.dtype == object else torch.from_numpy(values)


def array(value: Any, key: Path, shape: tuple[int, ...]) -> Any:
    """A tensor of this shape as an array; plain data as it is."""
    if not isinstance(value, Tensor):
        return value.tolist() if isinstance(value, NonTensorStack) else value
    if value.shape != shape:
        raise errors.ShapeError(f"{errors.name_of(key)} has shape {list(value.shape)}; its spec has {list(shape)}")
    return value.numpy(force=True)
