"""Specs side by side that differ: a stack of them, whose sizes read -1 where they are not the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from typing_extensions import Self

from ..._keys import NestedKey
from ..._lazystack import lazy_stack
from ..._rules import errors
from ..._rules.dims import new_dim_in
from ..._rules.keys import path
from ..._tensordict import TensorDict
from ..._tree.lazy import stacked_batch
from .asked import beside, stack, word
from .base import TensorSpec
from .composite import Composite
from .keyed import Entry, KeyedSpec


class Rows(TensorSpec):
    """What stacks of leaf specs and of Composites share."""

    _items: tuple[Any, ...]
    _dim: int

    def __init__(self, *specs: Any, dim: int = 0) -> None:
        if not specs:
            raise errors.ShapeError("stack: no specs were given; at least one would do")
        self._items = specs
        self._dim = new_dim_in("stack", dim, len(specs[0].shape))
        self._batch = stacked_batch(specs, self._dim)

    @property
    def dim(self) -> int:
        """The dim along which the specs lie."""
        return self._dim

    @property
    def specs(self) -> tuple[Any, ...]:
        """The specs."""
        return self._items

    @property
    def device(self) -> torch.device | None:
        """The device of all specs, or None where they differ."""
        found: torch.device | None = common([spec.device for spec in self._items])
        return found

    def _node(self) -> Any:
        return lazy_stack([spec._node() for spec in self._items], self._dim)

    def _each(self, specs: Iterable[Any]) -> Self:
        return type(self)(*specs, dim=self._dim)

    if TYPE_CHECKING:

        def unbind(self, dim: int = 0) -> tuple[Any, ...]: ...  # Along its own dim, the specs themselves.

    def clone(self) -> Self:
        """A spec of its own that is equal to this one."""
        return self._each(spec.clone() for spec in self._items)

    def _cast(self, device: torch.device | None, dtype: torch.dtype | None) -> Self:
        return self._each(spec._cast(device, dtype) for spec in self._items)

    def _composites(self) -> list[Composite]:
        return [part for spec in self._items for part in spec._composites()]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Rows)
            and type(self) is type(other)
            and self._dim == other._dim
            and self._items == other._items
        )

    def __hash__(self) -> int:
        return hash((type(self), self._dim, self._items))

    def __repr__(self) -> str:
        rows = "".join(f"    {spec!r},\n".replace("\n", "\n    ").rstrip(" ") for spec in self._items)
        return f"{type(self).__name__}(\n{rows}    dim={self._dim}, shape={tuple(self.shape)})"


class Stacked(Rows):
    """Leaf specs side by side that differ.

    >>> from tensorclass.envs import Unbounded
    >>> spec = torch.stack([Unbounded((3,)), Unbounded((4,))])
    >>> spec.shape, spec[1].shape
    (torch.Size([2, -1]), torch.Size([4]))
    >>> [row.shape for row in spec.rand()]
    [torch.Size([3]), torch.Size([4])]

    A value is one tensor where the shapes are the same, and a tuple of tensors, one for each spec, where they are not.
    """

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype of all specs, or None where they differ."""
        found: torch.dtype | None = common([spec.dtype for spec in self._items])
        return found


class StackedComposite(Rows, KeyedSpec):
    """Composites side by side that differ; the values are lazy stacks.

    >>> from tensorclass.envs import Unbounded
    >>> spec = torch.stack([Composite(a=Unbounded((3,))), Composite(a=Unbounded((4,)))])
    >>> spec["a"].shape
    torch.Size([2, -1])
    >>> spec.rand()[1]["a"].shape
    torch.Size([4])

    Its keys are those that all have.
    """

    def _names(self) -> list[str]:
        rest = self._items[1:]
        return [key for key in self._items[0]._names() if all(key in spec._names() for spec in rest)]

    def _entry(self, name: str) -> Entry:
        column = [spec._entry(name) for spec in self._items]
        return None if all(one is None for one in column) else stack(column[0], column, self._dim)

    def set(self, key: NestedKey, spec: Any) -> Self:
        """Put the rows of a spec under a key of each Composite."""
        for item, row in zip(self._items, spec.unbind(self._dim)):
            item.set(key, row)
        return self

    def __setitem__(self, key: NestedKey, spec: Any) -> None:
        self.set(key, spec)

    def __delitem__(self, key: NestedKey) -> None:
        for item in self._items:
            del item[key]

    def pop(self, key: NestedKey, *default: Any) -> Any:
        """Take the specs under a key out of each Composite."""
        if default and key not in self:
            return default[0]
        spec = self[path(key)]
        del self[key]
        return spec

    @property
    def is_locked(self) -> bool:
        """Whether entries can be added, replaced or deleted."""
        return any(item.is_locked for item in self._items)

    def lock_(self) -> Self:
        """Refuse new, replaced and deleted entries."""
        for item in self._items:
            item.lock_()
        return self

    def unlock_(self) -> Self:
        """Allow all writes again."""
        for item in self._items:
            item.unlock_()
        return self


@stack.register
def _(first: TensorSpec, specs: list[Any], dim: int) -> Any:
    for number, spec in enumerate(specs):
        if isinstance(spec, KeyedSpec) is not isinstance(first, KeyedSpec):
            kinds = [word(one) for one in (first, spec)]
            raise errors.KindError(
                f"stack: item 0 is {kinds[0]}, item {number} {kinds[1]}; one has keys, the other none"
            )
    if all(first._alike(spec) for spec in specs):
        return TensorSpec._of(TensorDict._join("stack", [spec._node() for spec in specs], dim), "stack")
    return beside(first, specs, dim)


@beside.register
def _(first: TensorSpec, specs: list[Any], dim: int) -> Stacked:
    return Stacked(*specs, dim=dim)


@beside.register
def _(first: KeyedSpec, specs: list[Any], dim: int) -> StackedComposite:
    return StackedComposite(*specs, dim=dim)


def common(values: list[Any]) -> Any:
    """The value that all of them are, or None."""
    return values[0] if all(value == values[0] for value in values) else None
