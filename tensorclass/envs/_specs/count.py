"""cardinality and enumerate: every value of a finite domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..._tensordict import TensorDict
from .asked import cardinality, enumerate_all
from .box import Bounded, is_continuous
from .choices import Categorical, OneHot, marks
from .composite import Composite
from .multi import Binary, MultiCategorical, MultiOneHot


@cardinality.register
def _(spec: Bounded) -> float:
    if is_continuous(spec.dtype):
        return math.inf
    return int(math.prod((spec.high.to(torch.int64) - spec.low.to(torch.int64) + 1).reshape(-1).tolist()))


@cardinality.register
def _(spec: Categorical) -> float:
    return int(spec.n ** spec.numel())


@cardinality.register
def _(spec: OneHot) -> float:
    return int(spec.n ** spec.shape[:-1].numel())


@cardinality.register
def _(spec: MultiCategorical) -> float:
    return int(math.prod(spec.nvec.reshape(-1).tolist()))


@cardinality.register
def _(spec: MultiOneHot) -> float:
    return int(math.prod(spec.nvec) ** spec.shape[:-1].numel())


@cardinality.register
def _(spec: Binary) -> float:
    return int(2 ** spec.numel())


@enumerate_all.register
def _(spec: Categorical, use_mask: bool) -> Tensor:
    every = _table([spec.n] * spec.numel(), spec.device).reshape(-1, *spec.shape).to(spec.dtype)
    return every[[spec.is_in(row) for row in every]] if use_mask and spec.mask is not None else every


@enumerate_all.register
def _(spec: OneHot, use_mask: bool) -> Tensor:
    every = enumerate_all(spec.to_categorical_spec(), use_mask)
    return marks(every, spec.n).to(spec.dtype)


@enumerate_all.register
def _(spec: MultiCategorical, use_mask: bool) -> Tensor:
    every = _table([int(n) for n in spec.nvec.reshape(-1)], spec.device).reshape(-1, *spec.shape).to(spec.dtype)
    return every[[spec.is_in(row) for row in every]] if use_mask and spec.allowed is not None else every


@enumerate_all.register
def _(spec: MultiOneHot, use_mask: bool) -> Tensor:
    numbers = spec.to_categorical_spec()
    return numbers.to_one_hot(enumerate_all(numbers, use_mask)).to(spec.dtype)


@enumerate_all.register
def _(spec: Binary, use_mask: bool) -> Tensor:
    return _table([2] * spec.numel(), spec.device).reshape(-1, *spec.shape).to(spec.dtype)


@enumerate_all.register
def _(spec: Composite, use_mask: bool) -> Any:
    parts = {key: enumerate_all(one, use_mask) for key, one in spec._specs.items() if one is not None}
    rows = _table([len(part) for part in parts.values()], torch.device("cpu"))
    fields = {key: part[rows[:, place]] for place, (key, part) in enumerate(parts.items())}
    return TensorDict(fields, (len(rows), *spec.shape), spec.device)


def _table(sizes: Sequence[int], device: torch.device) -> Tensor:
    """Every row of numbers below the sizes, the last one running fastest."""
    columns = [torch.arange(size, device=device) for size in sizes]
    if not columns:
        return torch.zeros(1, 0, dtype=torch.int64, device=device)
    return torch.stack(torch.meshgrid(*columns, indexing="ij"), -1).reshape(-1, len(columns))
