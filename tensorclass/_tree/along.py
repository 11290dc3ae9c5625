"""What ops along a batch dim need on a leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def wide(index: Tensor, shape: tuple[int, ...], batch_dims: int) -> Tensor:
    """A batch-shaped index for torch.gather on a leaf of this shape: the same row for all its features."""
    features = shape[batch_dims:]
    if not features:
        return index
    return index.reshape(*index.shape, *[1] * len(features)).expand(*index.shape, *features)


def rows_after(batch: tuple[int, ...], dim: int, repeats: int | Tensor) -> tuple[int, ...]:
    """The batch size after repeat_interleave, whose numbers may sit in a tensor."""
    if not isinstance(repeats, Tensor):
        rows = batch[dim] * repeats
    elif repeats.numel() == 1:
        rows = batch[dim] * int(repeats)
    else:
        rows = int(repeats.sum())
    return (*batch[:dim], rows, *batch[dim + 1 :])


def with_tensor(call: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Any], Tensor]:
    """A function of two tensors that takes a number as well."""

    def either(leaf: Tensor, other: Any) -> Tensor:
        return call(leaf, other if isinstance(other, Tensor) else torch.as_tensor(other, device=leaf.device))

    return either
