"""Arguments of every op, made from the roles of its parameters."""

from __future__ import annotations

import itertools
import random
from typing import Any

import torch

from tensorclass._rules.table import EMPTY, Op, Param

BATCH = (4, 3)
Arguments = dict[str, Any]


def values(op: Op, param: Param, batch: tuple[int, ...]) -> list[Any]:
    """Some good arguments for one parameter."""
    rank = len(batch)
    role = param.role.name
    every_dim = list(range(-rank, rank))
    if op.name == "movedim":
        return [0, -1, (0, 1), (1, 0)] if rank == 2 else [0, -1]
    if role == "dim":
        return every_dim
    if role == "new_dim":
        return list(range(-rank - 1, rank + 1))
    if role == "dims":
        if op.name == "roll":
            return [0, (0,), (0, 1)] if rank == 2 else [0, (0,)]
        several = [(0,), (0, rank - 1), (-1, 0), (1,)] if rank > 1 else [(0,)]
        none = [None] if param.default is None else []
        return [*none, *every_dim[:2], *[dims for dims in several if len({d % rank for d in dims}) == len(dims)]]
    if role == "permutation":
        return list(itertools.permutations(range(rank))) + [tuple(range(-rank, 0))]
    if role == "flag":
        return [False, True]
    if op.name in ("reshape", "view"):
        total = torch.Size(batch).numel()
        return [(-1,), (total,), (2, -1), (total // 2, 1, 2), (1, *batch), (*batch, 1), (*batch[:-1], 1, batch[-1])]
    if op.name == "expand":
        return [batch, (-1,) * rank, (2, *batch), (2, 3, *batch)]
    if op.name == "repeat":
        return [(1,) * rank, (2,) * rank, (3, *(1,) * (rank - 1)), (0,) * rank]
    if op.name == "unflatten":
        return [(2, 2), (-1, 2), (4, 1)]
    if role == "shifts":
        return [1, -2, (1,), (2, 1)]
    if role == "repeats":
        return [2, 0, 3, torch.tensor([1, 0, 2, 3])]
    if role == "pieces":
        return [1, 2, 5, [1, 3], [4, 0]]
    if param.name == "chunks":
        return [1, 2, 3, 7]
    if param.name == "start":
        return [0, 1, -1]
    if param.name == "length":
        return [0, 1, 2]
    if op.name == "gather":
        return [torch.tensor([[0, 1, 2], [1, 1, 0]]), torch.zeros(4, 3, dtype=torch.long)]
    if role == "ints":
        return [torch.tensor([0, 2, 1, 1]), torch.tensor([], dtype=torch.long)]
    raise NotImplementedError(f"no arguments for {op.name}({param.name}: {role})")


def every(op: Op, batch: tuple[int, ...] = BATCH, most: int = 24) -> list[Arguments]:
    """Arguments for an op: all combinations, or a fixed sample of them, and the defaults."""
    names = [param.name for param in op.params]
    table = [values(op, param, batch) for param in op.params]
    out = [dict(zip(names, row)) for row in itertools.product(*table)]
    if len(out) > most:
        out = random.Random(0).sample(out, most)
    defaults = [param for param in op.params if param.default is EMPTY]
    if len(defaults) < len(op.params):
        out.append({param.name: values(op, param, batch)[0] for param in defaults})
    return out


def called(op: Op, arguments: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """The arguments as a caller writes them: starred ones by place."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for param in op.params:
        if param.name not in arguments:
            continue
        if param.role.star:
            value = arguments[param.name]
            args += value if isinstance(value, (tuple, list)) else [value]
        else:
            kwargs[param.name] = arguments[param.name]
    return args, kwargs
