"""broadcast, scatter, gather, all_gather: one message with the sizes, one with the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import pad

from .._container import Container
from .._rules import errors
from .._tree import walk
from ._agree import Group, device_of, difference, exchange, from_source, ranks_of, structure
from ._payload import failure, opened, payload_or_failure

C = TypeVar("C", bound=Container)


def broadcast(container: C | None, src: int = 0, *, group: Group = None) -> C:
    """What rank src holds, on every rank; a rank that gives a container has it filled in place.

    Raises StructureError, on that rank, where the container given cannot hold what comes.
    """
    here, device = dist.get_rank() == src, device_of(group)
    message, failed = payload_or_failure(container, device, "broadcast", src) if here else (None, None)
    (length,) = from_source(f"broadcast(src={src})", [0 if message is None else len(message)], group, device)
    if message is None:
        message = torch.empty(length, dtype=torch.uint8, device=device)
    dist.broadcast(message, src, group)
    if failed is not None:
        raise failed
    if here:
        return container  # type: ignore[return-value]  # Not None at the source.
    came = opened(message)
    return came if container is None else fill("broadcast", container, came, src)


def fill(op: str, container: C, came: Any, src: int) -> C:
    """Copy what came from a rank into a container; StructureError where it does not fit."""
    container._check_thawed(f"{op}()")
    mine, theirs = structure(container), structure(came)
    if mine != theirs:
        raise errors.StructureError(difference(op, {src: theirs, dist.get_rank(): mine}))
    for leaf, new in zip(walk.gather(container, []), walk.match(op, container, came, [])):
        leaf.detach().copy_(new)
    return container


def all_gather(container: C, *, group: Group = None) -> list[C]:
    """What each rank holds, in the order of ranks; sizes and keys may differ."""
    mine, lengths, failed = _padded("all_gather", "all_gather()", container, group)
    found = [torch.empty_like(mine) for _ in lengths]
    dist.all_gather(found, mine, group)
    if failed is not None:
        raise failed
    return [opened(one[:length]) for one, length in zip(found, lengths)]


def gather(container: C, dst: int = 0, *, group: Group = None) -> list[C] | None:
    """What each rank holds, on rank dst; None on the others. Sizes and keys may differ."""
    mine, lengths, failed = _padded("gather", f"gather(dst={dst})", container, group)
    found = [torch.empty_like(mine) for _ in lengths] if dist.get_rank() == dst else None
    dist.gather(mine, found, dst, group)
    if failed is not None:
        raise failed
    return None if found is None else [opened(one[:length]) for one, length in zip(found, lengths)]


def _padded(op: str, call: str, container: Any, group: Group) -> tuple[Tensor, list[int], Exception | None]:
    message, failed = payload_or_failure(container, device_of(group), op, dist.get_rank())
    lengths = exchange(call, len(message), group, message.device)
    return pad(message, (0, max(lengths) - len(message))), lengths, failed


def scatter(parts: Sequence[C] | None, src: int = 0, *, group: Group = None) -> C:
    """Part number r of what rank src gives, on rank r of the group; the other ranks give None."""
    size, device = dist.get_world_size(group), device_of(group)
    here = dist.get_rank() == src
    messages, failed = _parts(parts, src, size, device) if here else ([], None)
    lengths = from_source(f"scatter(src={src})", [len(one) for one in messages] or [0] * size, group, device)
    longest = max(lengths)
    out = torch.empty(longest, dtype=torch.uint8, device=device)
    dist.scatter(out, [pad(one, (0, longest - len(one))) for one in messages] if here else None, src, group)
    if failed is not None:
        raise failed
    return opened(out[: lengths[ranks_of(group).index(dist.get_rank())]])  # type: ignore[no-any-return]


def _parts(parts: Any, src: int, size: int, device: torch.device) -> tuple[list[Tensor], Exception | None]:
    """The message for each rank; where something is wrong, all of them say so: those that wait would hang."""
    given = parts if isinstance(parts, (list, tuple)) else [] if parts is None else list(parts)
    pairs = [payload_or_failure(part, device, "scatter", src) for part in given]
    failed = next((error for _, error in pairs if error is not None), None)
    if len(given) != size:
        said = f"{errors.count(len(given), 'part')} for {errors.count(size, 'rank')}"
        failed = errors.ShapeError(f"scatter: {said}; one for each would do")
    if failed is None:
        return [message for message, _ in pairs], None
    return [failure(failed, device, "scatter", src)] * size, failed
