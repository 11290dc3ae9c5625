"""reduce and all_reduce: arithmetic over ranks, one message a dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from .._container import Container
from .._rules import errors
from .._tree import walk
from ._agree import Group, check_agreement, device_of

C = TypeVar("C", bound=Container)
Op = Literal["sum", "mean", "min", "max", "product"]

_OPS: dict[str, Any] = {
    "sum": dist.ReduceOp.SUM,
    "mean": dist.ReduceOp.SUM,
    "min": dist.ReduceOp.MIN,
    "max": dist.ReduceOp.MAX,
    "product": dist.ReduceOp.PRODUCT,
}


def all_reduce(container: C, op: Op = "sum", *, group: Group = None) -> C:
    """The sum (mean, min, max, product) over all ranks, in place, on every rank.

    Raises StructureError on every rank, naming the key, unless all hold the same structure. One message a dtype.
    """
    call = f"all_reduce({op!r})"
    return _reduced(container, op, group, call, lambda flat, how: dist.all_reduce(flat, how, group), True)


def reduce(container: C, dst: int = 0, op: Op = "sum", *, group: Group = None) -> C:
    """The sum (mean, min, max, product) over all ranks, in place, on rank dst alone."""
    call, here = f"reduce({dst}, {op!r})", dist.get_rank() == dst
    return _reduced(container, op, group, call, lambda flat, how: dist.reduce(flat, dst, how, group), here)


def _reduced(container: C, op: str, group: Group, call: str, reduction: Callable[[Tensor, Any], Any], keep: bool) -> C:
    name = call.partition("(")[0]
    if op not in _OPS:
        raise errors.OptionError(f"{name}: {op!r} is none of 'sum', 'mean', 'min', 'max', 'product'")
    device = device_of(group)
    check_agreement(call, name, container, group, device)
    by_dtype: dict[torch.dtype, list[Tensor]] = {}
    for leaf in walk.gather(container, []):
        by_dtype.setdefault(leaf.dtype, []).append(leaf)
    _check_meaning(name, op, by_dtype)
    for dtype, same in by_dtype.items():
        flat = torch.cat([leaf.detach().reshape(-1).to(device) for leaf in same])
        held = flat.view(torch.uint8) if dtype is torch.bool else torch.view_as_real(flat) if dtype.is_complex else flat
        try:
            reduction(held, _OPS[op])
        except (RuntimeError, TypeError) as error:
            if "scalar type" not in str(error) and "data type" not in str(error):
                raise
            raise errors.KindError(f"{name}: {dist.get_backend(group)} has no {op} of {dtype}; cast first") from error
        if op == "mean":
            flat /= dist.get_world_size(group)
        if keep:
            for leaf, new in zip(same, flat.split([leaf.numel() for leaf in same])):
                leaf.detach().copy_(new.view(leaf.shape))
    return container


def _check_meaning(name: str, op: str, by_dtype: dict[torch.dtype, list[Tensor]]) -> None:
    """Refuse what has no meaning; all ranks hold the same dtypes, so all refuse."""
    if op not in ("min", "max") and torch.bool in by_dtype:
        raise errors.KindError(f"{name}: there is no {op} of torch.bool; 'min' is logical and, 'max' logical or")
    twisted = [dtype for dtype in by_dtype if dtype.is_complex] if op not in ("sum", "mean") else []
    if twisted:
        raise errors.KindError(f"{name}: there is no {op} of {twisted[0]} between ranks; 'sum' and 'mean' there are")
    whole = [dtype for dtype in by_dtype if not (dtype.is_floating_point or dtype.is_complex)] if op == "mean" else []
    if whole:
        raise errors.KindError(f"{name}: the mean of {whole[0]} is no whole number; cast first, or take the sum")
    if any(leaf.is_nested for same in by_dtype.values() for leaf in same):
        raise errors.KindError(f"{name}: a nested tensor has no one shape; its .values() can be reduced")
