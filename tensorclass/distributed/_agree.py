"""Do all ranks make the same call, with the same structure? Found out before data move, and said by all alike."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from .._rules import errors
from .._tree import walk
from .._tree.node import Node, is_tree, kind

Group = Any  # torch.distributed.ProcessGroup, or None for the whole world.
Shape = tuple[list[Any], str]  # The shape of a nested tensor is a list of shapes.
Structure = dict[str, Shape]  # By path, as JSON.


def device_of(group: Group) -> torch.device:
    """Where messages must lie."""
    on_cuda = dist.get_backend(group) == "nccl"
    return torch.device("cuda", torch.cuda.current_device()) if on_cuda else torch.device("cpu")


def ranks_of(group: Group) -> list[int]:
    """The ranks of a group, as the world counts them."""
    return dist.get_process_group_ranks(group or dist.group.WORLD)


def structure(node: Node) -> Structure:
    """The shape and dtype of every tensor, by its path."""
    found: Structure = {}
    items = [((), node)] if node._items is None else [((str(n),), item) for n, item in enumerate(node._items)]
    for at, item in items:
        for path, leaf in walk.tensors_with_paths(item, at):
            found[json.dumps(path)] = (_shape(leaf), str(leaf.dtype))
    return found


def _shape(leaf: Tensor) -> list[Any]:
    return [list(row.shape) for row in leaf.unbind()] if leaf.is_nested else list(leaf.shape)


def digest(value: object) -> int:
    """A number that stands for a value made of JSON."""
    return int.from_bytes(hashlib.sha256(json.dumps(value).encode()).digest()[:7], "little")


def exchange(call: str, number: int, group: Group, device: torch.device) -> list[int]:
    """One number of every rank; StructureError on all of them unless all make the same call."""
    mine = torch.tensor([digest(call), number], device=device)
    every = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(every, mine, group)
    calls, numbers = zip(*[one.tolist() for one in every])
    if len(set(calls)) > 1:  # Every rank has compared the same numbers, so all come here or none.
        raise _calls_differ(call, group)
    return list(numbers)


def from_source(call: str, numbers: list[int], group: Group, device: torch.device) -> list[int]:
    """The numbers that one rank gives, the others give zeros; StructureError on all unless all make the same call.

    A maximum, which takes about as long as a broadcast, and ends where the ranks do not agree on the source.
    """
    mark = digest(call)
    header = torch.tensor([mark, -mark, *numbers], device=device)
    dist.all_reduce(header, dist.ReduceOp.MAX, group)
    most, least, *given = header.tolist()
    if most != -least:
        raise _calls_differ(call, group)
    return given


def _calls_differ(call: str, group: Group) -> Exception:
    (lead, said), *others = _told(call, group).items()
    rank, other = next((rank, other) for rank, other in others if other != said)
    return errors.StructureError(
        f"rank {lead} calls {said}, rank {rank} calls {other}; all ranks must make the same call"
    )


def check_agreement(call: str, op: str, node: Node, group: Group, device: torch.device) -> None:
    """Raise StructureError on every rank unless all hold the same keys, shapes and dtypes."""
    mine: Any = _structure_or_reason(op, node)
    if len(set(exchange(call, digest(mine), group, device))) == 1 and not isinstance(mine, str):
        return
    ranks = _told(mine, group)
    for rank, held in ranks.items():
        if isinstance(held, str):
            raise errors.StructureError(f"{op}: rank {rank} gives {held}")
    raise errors.StructureError(difference(op, ranks))


def _structure_or_reason(op: str, node: Any) -> Structure | str:
    """The structure of a container that an op is to write in, or what it is instead: the other ranks must know."""
    if not is_tree(node):
        return f"{kind(node)}; a TensorDict or a typed class would do"
    try:
        node._check_thawed(f"{op}()")
    except errors.RuleError as error:
        return f"what cannot be written: {error}"
    return structure(node)


def _told(mine: Any, group: Group) -> dict[int, Any]:
    all_of_them: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(all_of_them, mine, group)
    return dict(zip(ranks_of(group), all_of_them))


def difference(op: str, ranks: dict[int, Structure]) -> str:
    """The first difference between ranks, in words.

    >>> difference("reduce", {0: {'["a"]': ([3], "torch.int8")}, 1: {}})
    "reduce: rank 0 has 'a', rank 1 has not; all ranks must hold the same keys, shapes and dtypes"
    """
    must = "all ranks must hold the same keys, shapes and dtypes"
    (lead, first), *others = ranks.items()
    for rank, other in others:
        for path in [*first, *other]:
            name = errors.name_of(tuple(json.loads(path)))
            if path not in other or path not in first:
                has, lacks = (lead, rank) if path in first else (rank, lead)
                return f"{op}: rank {has} has {name}, rank {lacks} has not; {must}"
            if tuple(first[path]) != tuple(other[path]):
                (shape, dtype), (theirs, their_dtype) = first[path], other[path]
                here, there = f"{shape} of {dtype} on rank {lead}", f"{theirs} of {their_dtype} on rank {rank}"
                return f"{op}: {name} is {here}, {there}; {must}"
    return f"{op}: the keys stand in another order on some rank; {must}"
