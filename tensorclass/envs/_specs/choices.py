"""Categorical and OneHot: one of n choices, as a number or as a mark."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Size, Tensor
from typing_extensions import Self

from ..._rules import errors, spec_errors
from .asked import word
from .leaf import LeafSpec, checked_shape, ends_in


class Choices(NamedTuple):
    """How many choices there are."""

    n: int


class Categorical(LeafSpec):
    """A number from 0 to n - 1.

    >>> spec = Categorical(3, mask=torch.tensor([True, False, True]))
    >>> spec.is_in(torch.tensor(1))
    False
    >>> spec.project(torch.tensor(7))
    tensor(2)
    >>> spec.to_one_hot(torch.tensor(2))
    tensor([False, False,  True])

    The mask, of shape (*shape, n) or one that broadcasts to it, says which choices are allowed.
    """

    n: int
    mask: Tensor | None

    def __init__(
        self,
        n: int,
        shape: Any = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        mask: Tensor | None = None,
    ) -> None:
        shape = Size(()) if shape is None else checked_shape(shape)
        self._set(shape, device, torch.int64 if dtype is None else dtype, n=count_of("Categorical", n), mask=None)
        self.update_mask(mask)

    def update_mask(self, mask: Tensor | None) -> Self:
        """Allow other choices, in place: the one thing about a spec that changes while an episode runs."""
        vars(self)["mask"] = None if mask is None else as_mask(mask, (*self.shape, self.n), self.device)
        return self

    def _arguments(self) -> dict[str, Any]:
        return {"n": self.n, **super()._arguments(), "mask": self.mask}

    def _tensors(self) -> dict[str, Tensor]:
        return {} if self.mask is None else {"mask": self.mask}

    @property
    def space(self) -> Choices:
        """How many choices there are."""
        return Choices(self.n)

    def index(self, index: Tensor, tensor_to_index: Any) -> Any:
        """What a choice picks along the last dim of a tensor, be it a number or a mark.

        >>> Categorical(3).index(torch.tensor(1), torch.tensor([10, 20, 30]))
        tensor(20)
        """
        return row_of(self.to_categorical(index), tensor_to_index)

    def to_one_hot(self, value: Tensor, safe: bool = False) -> Tensor:
        """A number as a mark among n."""
        if safe:
            self.assert_is_in(value)
        return marks(value, self.n)

    def to_one_hot_spec(self) -> OneHot:
        """The spec of to_one_hot(value)."""
        return OneHot(self.n, (*self.shape, self.n), self.device, mask=self.mask)

    def to_categorical(self, value: Tensor, safe: bool = False) -> Tensor:
        """The value itself."""
        if safe:
            self.assert_is_in(value)
        return value

    def to_categorical_spec(self) -> Categorical:
        """This spec."""
        return self


class OneHot(LeafSpec):
    """One true entry among n, along the last dim.

    >>> spec = OneHot(4)
    >>> spec.encode(2)
    tensor([False, False,  True, False])
    >>> spec.to_categorical(spec.encode(2))
    tensor(2)
    >>> spec.is_in(spec.zero())
    False

    A shape op may not touch the last dim.
    """

    n: int
    mask: Tensor | None

    def __init__(
        self,
        n: int,
        shape: Any = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        use_register: bool = False,
        mask: Tensor | None = None,
    ) -> None:
        if use_register:
            raise errors.OptionError("OneHot: there is no register of values; encode numbers from 0 to n - 1")
        n = count_of("OneHot", n)
        shape = Size((n,)) if shape is None else checked_shape(shape)
        ends_in("OneHot", shape, n, "the number of choices")
        self._set(shape, device, torch.bool if dtype is None else dtype, n=n, mask=None)
        self.update_mask(mask)

    def update_mask(self, mask: Tensor | None) -> Self:
        """Allow other choices, in place: the one thing about a spec that changes while an episode runs."""
        vars(self)["mask"] = None if mask is None else as_mask(mask, self.shape, self.device)
        return self

    def _arguments(self) -> dict[str, Any]:
        return {"n": self.n, **super()._arguments(), "mask": self.mask}

    def _tensors(self) -> dict[str, Tensor]:
        return places(self) if self.mask is None else {**places(self), "mask": self.mask}

    def _moved(self, node: Any, op: str) -> Any:
        check_places(self, node, op)
        return self.replace(shape=node._batch, mask=node._fields.get("mask"))

    @property
    def space(self) -> Choices:
        """How many choices there are."""
        return Choices(self.n)

    def index(self, index: Tensor, tensor_to_index: Any) -> Any:
        """What a choice picks along the last dim of a tensor, be it a number or a mark.

        >>> OneHot(3).index(torch.tensor([False, True, False]), torch.tensor([10, 20, 30]))
        tensor(20)
        """
        return row_of(self.to_categorical(index), tensor_to_index)

    def to_one_hot(self, value: Tensor, safe: bool = False) -> Tensor:
        """The value itself."""
        if safe:
            self.assert_is_in(value)
        return value

    def to_one_hot_spec(self) -> OneHot:
        """This spec."""
        return self

    def to_categorical(self, value: Tensor, safe: bool = False) -> Tensor:
        """The place of the mark."""
        if safe:
            self.assert_is_in(value)
        return value.to(torch.int64).argmax(-1) if value.dtype is torch.bool else value.argmax(-1)

    def to_categorical_spec(self) -> Categorical:
        """The spec of to_categorical(value)."""
        return Categorical(self.n, self.shape[:-1], self.device, mask=self.mask)


def count_of(kind: str, n: Any) -> int:
    """A number of choices, which is at least 1."""
    count = int(n)
    if count < 1:
        raise errors.OptionError(f"{kind}: {n} choices; there must be at least 1")
    return count


def as_mask(mask: Any, shape: Any, device: torch.device) -> Tensor:
    """A mask of choices with its full shape, which allows at least one choice everywhere."""
    full: Tensor = torch.as_tensor(mask, dtype=torch.bool, device=device).clone()
    try:
        full = full.expand(shape)
    except RuntimeError:
        raise spec_errors.SpecShape(
            f"the mask has shape {list(full.shape)}, which does not broadcast to {list(shape)}"
        ) from None
    if not bool(full.any(-1).all()):
        raise errors.OptionError("the mask allows no choice somewhere; at least one must be allowed")
    return full


def marks(value: Tensor, n: int) -> Tensor:
    """Numbers as marks along a new last dim."""
    found: Tensor = value.unsqueeze(-1) == torch.arange(n, device=value.device)
    return found


def row_of(choice: Tensor, rows: Any) -> Any:
    """The entry of each choice along the last dim of a table (or the last batch dim of a container)."""
    table = rows.expand(*choice.shape, rows.shape[-1])
    return table.gather(-1, choice.unsqueeze(-1)).squeeze(-1)


def places(spec: LeafSpec) -> dict[str, Tensor]:
    """The place of every choice, to see after a shape op that they still are where they were."""
    return {"place": torch.arange(spec.shape[-1], device=spec.device).expand(spec.shape)}


def check_places(spec: Any, node: Any, op: str) -> None:
    """Refuse a shape op that has taken the last dim apart."""
    size, place = spec.shape[-1], node._fields["place"]
    want = torch.arange(size, device=spec.device)
    if place.shape[-1:] != (size,) or not torch.equal(place, want.expand(place.shape)):
        raise errors.ShapeError(spec_errors.last_dim_moved(word(spec), op, size))
