"""Containers made after the pattern of another, and state dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor
from typing_extensions import Self

from ._functions import cat, stack
from ._rules import errors
from ._tree.contract import as_size, full_device
from ._tree.node import Node, is_tree, kind

N = TypeVar("N", bound=Node)
BATCH = "__batch_size"
DEVICE = "__device"
ITEMS = "__items"


class CreateMethods(Node):
    """new_zeros and its kin, joins as class methods, state dicts."""

    __slots__ = ()

    def new_zeros(self, *size: int | Sequence[int], **options: Any) -> Self:
        """Zeros with the same entries and another batch size."""
        return _new(self, size, lambda leaf, shape: leaf.new_zeros(shape, **options))

    def new_ones(self, *size: int | Sequence[int], **options: Any) -> Self:
        """Ones with the same entries and another batch size."""
        return _new(self, size, lambda leaf, shape: leaf.new_ones(shape, **options))

    def new_empty(self, *size: int | Sequence[int], **options: Any) -> Self:
        """Uninitialised tensors with the same entries and another batch size."""
        return _new(self, size, lambda leaf, shape: leaf.new_empty(shape, **options))

    def new_full(self, size: int | Sequence[int], fill_value: float, **options: Any) -> Self:
        """One number everywhere, with the same entries and another batch size."""
        return _new(self, (size,), lambda leaf, shape: leaf.new_full(shape, fill_value, **options))

    def empty(self, recurse: bool = False, *, batch_size: Any = None, device: Any = ..., names: Any = None) -> Self:
        """A container without entries, with the same batch size, device and names; recurse keeps nested ones.

        Of a typed class: an instance with all fields unset, to be written later.
        """
        # Without recurse the entries are not looked at: compiled code need not be compiled again for others.
        nested = self._fields.items() if recurse else ()
        fields = {key: empty_node(value) for key, value in nested if is_tree(value)}
        batch = self._batch if batch_size is None else as_size(batch_size)
        new = self._bare(fields, batch, self._names if batch_size is None else None)
        if device is not ...:
            object.__setattr__(new, "_device", full_device(device))
        if names is not None:
            object.__setattr__(new, "names", names)
        return new  # type: ignore[return-value]  # See Node._bare.

    @classmethod
    def stack(cls, items: Sequence[Any], dim: int = 0) -> Any:
        """Join containers of one batch size along a new batch dim."""
        return stack(items, dim)

    @classmethod
    def cat(cls, items: Sequence[Any], dim: int = 0) -> Any:
        """Join containers along a batch dim that they have."""
        return cat(items, dim)

    @classmethod
    def lazy_stack(cls, items: Sequence[Any], dim: int = 0) -> Any:
        """Stack containers without copying them."""
        from ._lazystack import lazy_stack

        return lazy_stack(items, dim)

    def to_lazystack(self, dim: int = 0) -> Any:
        """A lazy stack of the rows along a batch dim."""
        from ._lazystack import lazy_stack, with_name

        rows: Any = list(type(self).unbind(self, dim))
        return with_name(lazy_stack(rows, dim), None if self._names is None else self._names[dim])

    @classmethod
    def maybe_dense_stack(cls, items: Sequence[Any], dim: int = 0) -> Any:
        """A dense stack where the items allow one, else a lazy stack."""
        try:
            return stack(items, dim)
        except (errors.ShapeError, errors.StructureError, errors.KeyMissing):
            return type(items[0]).lazy_stack(items, dim)

    def state_dict(self, **_: Any) -> dict[str, Any]:
        """The entries as nested dicts, with the batch size and device beside them; items that differ one by one."""
        state: dict[str, Any] = {}
        if self._items is not None and not _stacks(self):
            state[ITEMS] = [type(item).state_dict(item) for item in self._items]
        else:
            for key, value in self._fields.items():
                state[key] = type(value).state_dict(value) if is_tree(value) else value
        state[BATCH] = self._batch
        state[DEVICE] = self._device
        return state

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Self:
        """Put the entries of a state dict into this container, copied into the tensors that are there (or assigned).

        strict: keys that are missing, or unexpected, raise KeyMissing and nothing is written.
        """
        _check_state(self, state, strict, ())
        _load_state(self, state, assign)
        return self


def empty_node(node: Node) -> Any:
    """A nested container without its entries."""
    return type(node).empty(node, True)  # type: ignore[attr-defined]  # Every container has it.


def _new(node: N, size: tuple[Any, ...], make: Callable[[Tensor, tuple[int, ...]], Tensor]) -> N:
    batch = as_size(size[0] if len(size) == 1 and not isinstance(size[0], int) else size)
    rank = len(node._batch)

    def made(part: Any, batch: tuple[int, ...]) -> Any:
        return part._rebuild(
            {
                key: make(value, (*batch, *value.shape[rank:]))
                if isinstance(value, Tensor)
                else made(value, (*batch, *value._batch[rank:]))
                if is_tree(value)
                else value
                for key, value in part._fields.items()
            },
            batch,
        )

    out: N = made(node, batch)
    return out


def _stacks(stack: Any) -> bool:
    """Whether the entries of a lazy stack can be read: all items have them, in one shape."""
    try:
        keys = dict(stack._fields).keys()
    except (errors.RaggedError, errors.StructureError):
        return False
    return all(item._fields.keys() == keys for item in stack._items)


def _check_state(node: Any, state: Mapping[str, Any], strict: bool, at: tuple[str, ...]) -> None:
    node._check_thawed("load_state_dict()")
    if ITEMS in state:
        items, mine = state[ITEMS], node._items
        if mine is None or len(items) != len(mine):
            place = f"{errors.name_of(at)} is" if at else "this is"
            here = kind(node) if mine is None else f"a lazy stack of {errors.count(len(mine), 'item')}"
            raise errors.StructureError(
                f"load_state_dict: {place} {here}; the state is that of a lazy stack of "
                f"{errors.count(len(items), 'item')}"
            )
        for item, one in zip(mine, items):
            _check_state(item, one, strict, at)
        return
    given = [key for key in state if key not in (BATCH, DEVICE)]
    missing = [(*at, key) for key, value in node._fields.items() if key not in given and value is not None]
    extra = [(*at, key) for key in given if key not in node._fields]
    if strict and (missing or extra):
        said = [f"it has no {errors.some_names(missing)}"] if missing else []
        said += [f"{errors.some_names(extra)} is not here"] if extra else []
        raise errors.KeyMissing(
            f"load_state_dict: the state does not fit: {' and '.join(said)}; strict=False loads the rest"
        )
    for key, value in node._fields.items():
        if key not in state:
            continue
        wanted: Any = Mapping if is_tree(value) else Tensor if isinstance(value, Tensor) else object
        if not isinstance(state[key], wanted):
            raise errors.StructureError(
                f"load_state_dict: {errors.name_of((*at, key))} is {kind(value)}, the state has {kind(state[key])}"
            )
        if is_tree(value):
            _check_state(value, state[key], strict, (*at, key))
        elif isinstance(value, Tensor) and state[key].shape != value.shape:
            raise errors.ShapeError(
                f"load_state_dict: {errors.name_of((*at, key))} has shape {list(value.shape)}, "
                f"the state has {list(state[key].shape)}"
            )


def _load_state(node: Any, state: Mapping[str, Any], assign: bool) -> None:
    if ITEMS in state:
        for item, one in zip(node._items, state[ITEMS]):
            _load_state(item, one, assign)
        return
    for key, value in node._fields.items():
        if key not in state:
            continue
        if is_tree(value):
            _load_state(value, state[key], assign)
        elif node._items is not None:  # Its entries are copies: the items are to be written.
            with torch.no_grad():
                type(node).set(node, key, state[key], inplace=not assign)
        elif isinstance(value, Tensor) and not assign:
            with torch.no_grad():
                value.copy_(state[key])
        else:
            node._fields[key] = state[key]
