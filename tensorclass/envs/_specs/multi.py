"""Several choices in one tensor: MultiCategorical, MultiOneHot, Binary."""

from __future__ import annotations

from typing import Any

import torch
from torch import Size, Tensor

from ..._rules import errors, spec_errors
from .choices import Categorical, Choices, ChoiceSpec, Marks, OneHot, as_mask, checked_mask, count_of, marks, place_of
from .leaf import LeafSpec, checked_shape, ends_in


class MultiCategorical(ChoiceSpec):
    """Several numbers, each with its own number of choices.

    >>> spec = MultiCategorical([2, 3, 4])
    >>> spec.project(torch.tensor([5, 5, 5]))
    tensor([1, 2, 3])
    >>> spec.to_one_hot(torch.tensor([0, 2, 1])).int()
    tensor([1, 0, 0, 0, 1, 0, 1, 0, 0], dtype=torch.int32)

    `nvec` has the shape of the spec, or one that broadcasts to it. The mask, like to_one_hot(value), has the choices
    of all slots side by side along its last dim.
    """

    nvec: Tensor
    _most: int  # The choices of the slot that has most.
    allowed: Tensor | None  # The mask with a dim for slots and one for choices: shape (*shape, most choices).

    def __init__(
        self,
        nvec: Any,
        shape: Any = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        mask: Tensor | None = None,
        *,
        allowed: Tensor | None = None,
    ) -> None:
        nvec, shape = slots_of("MultiCategorical", nvec, shape, device)
        self._set(shape, nvec.device, torch.int64 if dtype is None else dtype, nvec=nvec, allowed=allowed)
        vars(self)["_most"] = int(nvec.max()) if nvec.numel() else 1
        if mask is not None:
            vars(self)["allowed"] = split_mask(mask, self)

    def _moved(self, node: Any, op: str) -> MultiCategorical:
        moved = super()._moved(node, op)
        vars(moved)["_most"] = self._most  # An empty spec still knows how many choices a row would have.
        return moved  # type: ignore[no-any-return]

    def _arguments(self) -> dict[str, Any]:
        return {"nvec": self.nvec, **super()._arguments(), "allowed": self.allowed}

    def _tensors(self) -> dict[str, Tensor]:
        return {"nvec": self.nvec} if self.allowed is None else {"nvec": self.nvec, "allowed": self.allowed}

    @property
    def space(self) -> list[Choices]:
        """How many choices each slot has."""
        return [Choices(int(n)) for n in per_slot(self)]

    @property
    def mask(self) -> Tensor | None:
        """Which choices are allowed, those of all slots side by side."""
        return None if self.allowed is None else join_slots(self.allowed, self)

    def choices(self) -> Tensor:
        """Which of 0, 1, ... each slot may be, along a new last dim."""
        if self.allowed is not None:
            return self.allowed
        return torch.arange(self._most, device=self.device) < self.nvec.unsqueeze(-1)

    def _as_marks(self, value: Tensor) -> Tensor:
        return join_slots(marks(value, self._most), self)

    def to_one_hot_spec(self) -> MultiOneHot:
        """The spec of to_one_hot(value)."""
        nvec = per_slot(self)
        return MultiOneHot(nvec, (*self.shape[:-1], sum(nvec)), self.device, mask=self.mask)

    def to_categorical_spec(self) -> MultiCategorical:
        """This spec."""
        return self

    def slots(self) -> tuple[Categorical, ...]:
        """One Categorical for each slot."""
        rows = [None] * self.shape[-1] if self.allowed is None else list(self.allowed.unbind(-2))
        return tuple(
            Categorical(n, self.shape[:-1], self.device, self.dtype, None if row is None else row[..., :n])
            for n, row in zip(per_slot(self), rows)
        )


class MultiOneHot(Marks):
    """Several marks side by side along the last dim, each with its own number of choices.

    >>> spec = MultiOneHot([2, 3])
    >>> spec.encode([1, 2])
    tensor([False,  True, False, False,  True])
    >>> spec.to_categorical(spec.encode([1, 2]))
    tensor([1, 2])

    A shape op may not touch the last dim.
    """

    nvec: tuple[int, ...]
    _slots: tuple[OneHot, ...]

    def __init__(
        self,
        nvec: Any,
        shape: Any = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        mask: Tensor | None = None,
    ) -> None:
        nvec = tuple(count_of("MultiOneHot", n) for n in (nvec.tolist() if isinstance(nvec, Tensor) else nvec))
        shape = Size((sum(nvec),)) if shape is None else checked_shape(shape)
        ends_in("MultiOneHot", shape, sum(nvec), "the number of choices of all slots")
        self._set(shape, device, torch.bool if dtype is None else dtype, nvec=nvec)
        vars(self)["mask"] = None if mask is None else as_mask(mask, shape, self.device)
        rows = [None] * len(nvec) if self.mask is None else list(self.mask.split(nvec, -1))
        each = [OneHot(n, (*shape[:-1], n), self.device, self.dtype, mask=row) for n, row in zip(nvec, rows)]
        vars(self)["_slots"] = tuple(each)

    def _arguments(self) -> dict[str, Any]:
        return {"nvec": self.nvec, **super()._arguments(), "mask": self.mask}

    @property
    def space(self) -> list[Choices]:
        """How many choices each slot has."""
        return [Choices(n) for n in self.nvec]

    def to_one_hot_spec(self) -> MultiOneHot:
        """This spec."""
        return self

    def _as_numbers(self, value: Tensor) -> Tensor:
        return torch.stack([place_of(part) for part in value.split(self.nvec, -1)], -1)

    def to_categorical_spec(self) -> MultiCategorical:
        """The spec of to_categorical(value)."""
        return MultiCategorical(self.nvec, (*self.shape[:-1], len(self.nvec)), self.device, mask=self.mask)

    def slots(self) -> tuple[OneHot, ...]:
        """One OneHot for each slot."""
        return self._slots


class Binary(LeafSpec):
    """Zeros and ones.

    >>> Binary(3).is_in(torch.tensor([0, 1, 1], dtype=torch.int8))
    True
    """

    def __init__(self, n: int | None = None, shape: Any = None, device: Any = None, dtype: Any = None) -> None:
        if shape is None:
            shape = (1 if n is None else n,)
        shape = checked_shape(shape)
        if n is not None:
            ends_in("Binary", shape, n, "the number of entries")
        self._set(shape, device, torch.int8 if dtype is None else dtype)

    @property
    def n(self) -> int:
        """The size of the last dim."""
        return self.shape[-1] if self.shape else 1

    @property
    def space(self) -> Choices:
        """How many entries there are along the last dim."""
        return Choices(self.n)


def slots_of(kind: str, nvec: Any, shape: Any, device: Any) -> tuple[Tensor, Size]:
    """The number of choices of every slot, and the shape of the spec."""
    nvec = torch.as_tensor(nvec, dtype=torch.int64, device=device).clone()
    shape = nvec.shape if shape is None else checked_shape(shape)
    if nvec.numel() and int(nvec.min()) < 1:
        raise errors.OptionError(f"{kind}: {int(nvec.min())} choices; there must be at least 1")
    try:
        return nvec.expand(shape), shape
    except RuntimeError:
        raise spec_errors.SpecShape(
            f"{kind}: nvec has shape {list(nvec.shape)}, which does not broadcast to {list(shape)}"
        ) from None


def per_slot(spec: MultiCategorical) -> list[int]:
    """The number of choices of every slot along the last dim, which must be the same in every row."""
    nvec = spec.nvec
    if not nvec.ndim:
        return [int(nvec)]
    rows = nvec.reshape(-1, nvec.shape[-1])
    if not bool((rows == rows[:1]).all()):
        raise errors.StructureError("MultiCategorical: rows with other numbers of choices have no one-hot form")
    return [int(n) for n in rows[0]]


def join_slots(split: Tensor, spec: MultiCategorical) -> Tensor:
    """Slots and choices, two dims, as one: the choices of all slots side by side."""
    if not spec.shape:
        return split
    return torch.cat([row[..., :n] for row, n in zip(split.unbind(-2), per_slot(spec))], -1)


def split_mask(mask: Any, spec: MultiCategorical) -> Tensor:
    """The choices of all slots side by side as two dims: slots and choices."""
    nvec = per_slot(spec)
    whole = as_mask(mask, (*spec.shape[:-1], sum(nvec)), spec.device)
    most = max(nvec)
    parts = [torch.nn.functional.pad(part, (0, most - n)) for part, n in zip(whole.split(nvec, -1), nvec)]
    return checked_mask(torch.stack(parts, -2) if spec.shape else parts[0])
