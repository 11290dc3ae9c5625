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


class ChoiceSpec(LeafSpec):
    """Choices as numbers or as marks: either says how it is the other."""

    def to_one_hot(self, value: Tensor, safe: bool = False) -> Tensor:
        """A value as marks along the last dim; with `safe` it must be in the domain."""
        if safe:
            self.assert_is_in(value)
        return self._as_marks(value)

    def to_categorical(self, value: Tensor, safe: bool = False) -> Tensor:
        """A value as numbers; with `safe` it must be in the domain."""
        if safe:
            self.assert_is_in(value)
        return self._as_numbers(value)

    def _as_marks(self, value: Tensor) -> Tensor:
        return value

    def _as_numbers(self, value: Tensor) -> Tensor:
        return value


class SingleChoice(ChoiceSpec):
    """One of n choices; a mask may forbid some."""

    n: int
    mask: Tensor | None

    def update_mask(self, mask: Tensor | None) -> Self:
        """Allow other choices, in place: the one thing about a spec that changes while an episode runs."""
        vars(self)["mask"] = None if mask is None else checked_mask(as_mask(mask, self._mask_shape(), self.device))
        return self

    def _mask_shape(self) -> Size:
        return self.shape

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
        choice = self.to_categorical(index)
        table = tensor_to_index.expand(*choice.shape, tensor_to_index.shape[-1])
        return table.gather(-1, choice.unsqueeze(-1)).squeeze(-1)


class Categorical(SingleChoice):
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

    def __init__(
        self,
        n: int,
        shape: Any = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        mask: Tensor | None = None,
    ) -> None:
        shape = Size(()) if shape is None else checked_shape(shape)
        self._set(shape, device, torch.int64 if dtype is None else dtype, n=count_of("Categorical", n))
        self.update_mask(mask)

    def _mask_shape(self) -> Size:
        return Size((*self.shape, self.n))

    def _as_marks(self, value: Tensor) -> Tensor:
        return marks(value, self.n)

    def to_one_hot_spec(self) -> OneHot:
        """The spec of to_one_hot(value)."""
        return OneHot(self.n, (*self.shape, self.n), self.device, mask=self.mask)

    def to_categorical_spec(self) -> Categorical:
        """This spec."""
        return self


class Marks(ChoiceSpec):
    """Marks along the last dim, which carry their places along to see that a shape op leaves them where they are."""

    mask: Tensor | None

    def _tensors(self) -> dict[str, Tensor]:
        place = torch.arange(self.shape[-1], device=self.device).expand(self.shape)
        return {"place": place} if self.mask is None else {"place": place, "mask": self.mask}

    def _moved(self, node: Any, op: str) -> Any:
        size, place = self.shape[-1], node._fields["place"]
        want = torch.arange(size, device=self.device)
        if place.shape[-1:] != (size,) or not torch.equal(place, want.expand(place.shape)):
            raise errors.ShapeError(spec_errors.last_dim_moved(word(self), op, size))
        return self.replace(shape=node._batch, mask=node._fields.get("mask"))


class OneHot(Marks, SingleChoice):
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
        self._set(shape, device, torch.bool if dtype is None else dtype, n=n)
        self.update_mask(mask)

    def _as_numbers(self, value: Tensor) -> Tensor:
        return place_of(value)

    def to_one_hot_spec(self) -> OneHot:
        """This spec."""
        return self

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
    """A mask of choices with its full shape."""
    full: Tensor = torch.as_tensor(mask, dtype=torch.bool, device=device).clone()
    try:
        return full.expand(shape)
    except RuntimeError:
        raise spec_errors.SpecShape(spec_errors.mask_shape(tuple(full.shape), tuple(shape))) from None


def checked_mask(mask: Tensor) -> Tensor:
    """A mask that allows at least one choice everywhere."""
    if not bool(mask.any(-1).all()):
        raise errors.OptionError("the mask allows no choice somewhere; at least one must be allowed")
    return mask


def marks(value: Tensor, n: int) -> Tensor:
    """Numbers as marks along a new last dim."""
    found: Tensor = value.unsqueeze(-1) == torch.arange(n, device=value.device)
    return found


def place_of(marked: Tensor) -> Tensor:
    """The place of the mark along the last dim."""
    return (marked.to(torch.int64) if marked.dtype is torch.bool else marked).argmax(-1)
