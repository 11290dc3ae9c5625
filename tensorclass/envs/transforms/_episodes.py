"""Episodes in data that is at hand: where each begins, and sums within each; time is the last batch dim."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from .._entries import read


def time_dim(transform: str, tensordict: Any) -> int:
    """The last batch dim, which is time."""
    if not tensordict._batch:
        raise errors.ShapeError(
            f"{transform}: data without an environment must have time as its last batch dim; this has batch size []"
        )
    return len(tensordict._batch) - 1


def starts(tensordict: Any) -> Tensor:
    """Which steps are the first of an episode: [*B, T]."""
    time = len(tensordict._batch) - 1
    first = torch.zeros(tensordict._batch, dtype=torch.bool)
    done = read(tensordict, ("next", "done"))
    if done is not None:
        flags = done.reshape(*tensordict._batch, -1).any(-1)
        first = first.to(flags.device)
        first.narrow(time, 1, flags.shape[time] - 1).copy_(flags.narrow(time, 0, flags.shape[time] - 1))
    first.narrow(time, 0, 1).fill_(True)
    return first


def ages(first: Tensor) -> Tensor:
    """How many steps of its episode stand before each step: [*B, T].

    >>> ages(torch.tensor([True, False, False, True, False]))
    tensor([0, 1, 2, 0, 1])
    """
    place = torch.arange(first.shape[-1], device=first.device).expand(first.shape)
    return place - torch.where(first, place, 0).cummax(-1).values


def running_sum(values: Tensor, first: Tensor) -> Tensor:
    """Sums of the values up to each step of its episode, that step included; values are [*B, T, ...].

    >>> running_sum(torch.ones(5), torch.tensor([True, False, False, True, False]))
    tensor([1., 2., 3., 1., 2.])
    """
    time = first.ndim - 1
    if time and not bool((first == first.reshape(-1, first.shape[-1])[0]).all()):
        return torch.stack([running_sum(one, flags) for one, flags in zip(values, first)])
    begins = first.reshape(-1, first.shape[-1])[0].nonzero().flatten().tolist()
    return torch.cat([piece.cumsum(time) for piece in values.tensor_split(begins[1:], time)], time)


def sums_step_by_step(values: Tensor, first: Tensor) -> Tensor:
    """The same for one environment, [T, ...], with the rounding of adding step by step, which torch.cumsum has not."""
    import numpy

    begins = first.nonzero().flatten().tolist()
    array = values.numpy()
    out = numpy.empty_like(array)
    for start, stop in zip(begins, [*begins[1:], len(array)]):
        numpy.add.accumulate(array[start:stop], 0, array.dtype, out[start:stop])
    return torch.from_numpy(out)


def sums_before(sums: Tensor, first: Tensor) -> Tensor:
    """What the sums are before each step: 0 where an episode begins."""
    time = first.ndim - 1
    shifted = sums.roll(1, time)
    return shifted.masked_fill(first.reshape(*first.shape, *[1] * (sums.ndim - first.ndim)), 0)
