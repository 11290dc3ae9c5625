"""broadcast, scatter, gather, reduce and their kin: one message with the sizes, one with the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

import torch
import torch.distributed as dist
from torch import Tensor

from .._container import Container
from .._rules import errors
from .._tree import walk
from ..io._load import typed_as
from ._agree import check_agreement, difference, structure
from ._payload import opened, payload

C = TypeVar("C", bound=Container)
Group = Any  # torch.distributed.ProcessGroup, or None for the whole world.
Op = Literal["sum", "mean", "min", "max", "product"]


# ---- from one to another --------------------------------------------------------------------------------------------


def send(container: Container, dst: int, *, group: Group = None, tag: int = 0) -> None:
    """Send a container to a rank, which calls `recv`."""
    message = payload(container, _device(group))
    dist.send(torch.tensor([len(message)], device=message.device), dst, group, tag)
    dist.send(message, dst, group, tag)


@overload
def recv(src: int, cls: type[C], *, group: Group = None, tag: int = 0) -> C: ...
@overload
def recv(src: int, cls: None = None, *, group: Group = None, tag: int = 0) -> Any: ...
def recv(src: int, cls: Any = None, *, group: Group = None, tag: int = 0) -> Any:
    """The container that a rank sends, as an instance of a class, or as what it was."""
    length = torch.zeros(1, dtype=torch.int64, device=_device(group))
    dist.recv(length, src, group, tag)
    message = torch.empty(int(length), dtype=torch.uint8, device=length.device)
    dist.recv(message, src, group, tag)
    return _as(cls, opened(message))


# ---- from one to all, from all to one, from all to all ---------------------------------------------------------------


def broadcast(container: C | None, src: int = 0, *, group: Group = None) -> C:
    """What rank src holds, on every rank; a rank that gives a container has it filled in place.

    Raises StructureError, on that rank, where the container given cannot hold what comes.
    """
    here = dist.get_rank() == src
    if here and container is None:
        raise errors.KindError(f"broadcast: rank {src} is the source and gives None; a container would do")
    message = payload(container, _device(group)) if here and container is not None else None
    device = _device(group)
    length = torch.tensor([0 if message is None else len(message)], device=device)
    dist.broadcast(length, src, group)
    if message is None:
        message = torch.empty(int(length), dtype=torch.uint8, device=device)
    dist.broadcast(message, src, group)
    if here:
        return container  # type: ignore[return-value]  # Not None at the source.
    came = opened(message)
    if container is None:
        return came  # type: ignore[no-any-return]  # Of the class that was sent.
    mine, theirs = structure(container), structure(came)
    if mine != theirs:
        raise errors.StructureError(difference("broadcast", {src: theirs, dist.get_rank(): mine}))
    for leaf, new in zip(walk.gather(container, []), walk.match("broadcast", container, came, [])):
        leaf.detach().copy_(new)
    return container


def all_gather(container: C, *, group: Group = None) -> list[C]:
    """What each rank holds, in the order of ranks; sizes and keys may differ."""
    message, lengths, longest = _padded(container, group)
    found = [torch.empty_like(longest) for _ in lengths]
    dist.all_gather(found, longest, group)
    return [opened(one[:length]) for one, length in zip(found, lengths)]


def gather(container: C, dst: int = 0, *, group: Group = None) -> list[C] | None:
    """What each rank holds, on rank dst; None on the others. Sizes and keys may differ."""
    message, lengths, longest = _padded(container, group)
    here = dist.get_rank() == dst
    found = [torch.empty_like(longest) for _ in lengths] if here else None
    dist.gather(longest, found, dst, group)
    return None if found is None else [opened(one[:length]) for one, length in zip(found, lengths)]


def scatter(parts: Sequence[C] | None, src: int = 0, *, group: Group = None) -> C:
    """Part number r of what rank src gives, on rank r; the other ranks give None."""
    size, device = dist.get_world_size(group), _device(group)
    here = dist.get_rank() == src
    messages = [] if not here else [payload(part, device) for part in parts or ()]
    sizes = [len(one) for one in messages] if len(messages) == size else [-1 if here else 0] * size
    lengths = torch.tensor(sizes, device=device)
    dist.broadcast(lengths, src, group)
    if int(lengths[0]) < 0:  # Said by every rank: those that wait would hang.
        raise errors.ShapeError(f"scatter: rank {src} gives another number of parts than the {size} ranks there are")
    longest = int(lengths.max())
    out = torch.empty(longest, dtype=torch.uint8, device=device)
    padded = [torch.nn.functional.pad(one, (0, longest - len(one))) for one in messages]
    dist.scatter(out, padded if here else None, src, group)
    return opened(out[: int(lengths[dist.get_rank(group)])])  # type: ignore[no-any-return]


def _padded(container: Container, group: Group) -> tuple[Tensor, list[int], Tensor]:
    message = payload(container, _device(group))
    mine = torch.tensor([len(message)], device=message.device)
    every = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(every, mine, group)
    lengths = [int(one) for one in every]
    return message, lengths, torch.nn.functional.pad(message, (0, max(lengths) - len(message)))


# ---- arithmetic -----------------------------------------------------------------------------------------------------


def all_reduce(container: C, op: Op = "sum", *, group: Group = None) -> C:
    """The sum (mean, min, max, product) over all ranks, in place, on every rank.

    Raises StructureError on every rank, naming the key, unless all hold the same structure. One message a dtype.
    """
    return _reduced(container, op, group, "all_reduce", lambda flat, how: dist.all_reduce(flat, how, group), True)


def reduce(container: C, dst: int = 0, op: Op = "sum", *, group: Group = None) -> C:
    """The sum (mean, min, max, product) over all ranks, in place, on rank dst alone."""
    here = dist.get_rank() == dst
    return _reduced(container, op, group, "reduce", lambda flat, how: dist.reduce(flat, dst, how, group), here)


def _reduced(container: C, op: Op, group: Group, name: str, call: Callable[[Tensor, Any], Any], keep: bool) -> C:
    how = {
        "sum": dist.ReduceOp.SUM,
        "mean": dist.ReduceOp.SUM,
        "min": dist.ReduceOp.MIN,
        "max": dist.ReduceOp.MAX,
        "product": dist.ReduceOp.PRODUCT,
    }.get(op)
    if how is None:
        raise errors.OptionError(f"{name}: {op!r} is none of 'sum', 'mean', 'min', 'max', 'product'")
    device = _device(group)
    check_agreement(name, container, group, device)
    leaves = walk.gather(container, [])
    by_dtype: dict[torch.dtype, list[Tensor]] = {}
    for leaf in leaves:
        by_dtype.setdefault(leaf.dtype, []).append(leaf)
    if op not in ("min", "max") and torch.bool in by_dtype:
        raise errors.KindError(f"{name}: there is no {op} of torch.bool; 'min' is logical and, 'max' logical or")
    if op == "mean":
        whole = [dtype for dtype in by_dtype if not (dtype.is_floating_point or dtype.is_complex)]
        if whole:
            raise errors.KindError(f"{name}: the mean of {whole[0]} is no whole number; cast first, or take the sum")
    for dtype, same in by_dtype.items():
        flat = torch.cat([leaf.detach().reshape(-1).to(device) for leaf in same])
        held = flat.view(torch.uint8) if dtype is torch.bool else torch.view_as_real(flat) if dtype.is_complex else flat
        call(held, how)
        if op == "mean":
            flat /= dist.get_world_size(group)
        if keep:
            for leaf, new in zip(same, flat.split([leaf.numel() for leaf in same])):
                leaf.detach().copy_(new.view(leaf.shape))
    return container


def _device(group: Group) -> torch.device:
    """Where messages must lie."""
    return (
        torch.device("cuda", torch.cuda.current_device()) if dist.get_backend(group) == "nccl" else torch.device("cpu")
    )


def _as(cls: Any, node: Any) -> Any:
    return node if cls is None else typed_as(cls, node)
