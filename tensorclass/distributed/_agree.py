"""Do all ranks hold the same structure? Found out before data move, and said by every rank in the same words."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch
import torch.distributed as dist

from .._rules import errors
from .._tree import walk
from .._tree.node import Node

Shape = tuple[list[int], str]
Structure = dict[str, Shape]  # By path, as JSON.


def structure(node: Node) -> Structure:
    """The shape and dtype of every tensor, by its path."""
    found: Structure = {}
    items = [((), node)] if node._items is None else [((str(n),), item) for n, item in enumerate(node._items)]
    for at, item in items:
        for path, leaf in walk.tensors_with_paths(item, at):
            found[json.dumps(path)] = (list(leaf.shape), str(leaf.dtype))
    return found


def check_agreement(op: str, node: Node, group: Any, device: torch.device) -> None:
    """Raise StructureError on every rank unless all hold the same keys, shapes and dtypes."""
    mine = structure(node)
    digest = hashlib.sha256(json.dumps(mine).encode()).digest()
    mark = torch.tensor([int.from_bytes(digest[n : n + 7], "little") for n in (0, 7)], device=device)
    marks = [torch.empty_like(mark) for _ in range(dist.get_world_size(group))]
    dist.all_gather(marks, mark, group)
    if all(torch.equal(one, mark) for one in marks):
        return
    # Every rank has compared the same marks, so all come here or none.
    all_of_them: list[Any] = [None] * len(marks)
    dist.all_gather_object(all_of_them, mine, group)
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    raise errors.StructureError(difference(op, dict(zip(ranks, all_of_them))))


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
