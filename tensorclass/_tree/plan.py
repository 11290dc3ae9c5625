"""Moves carried out on a node of any kind: at most one permute, one reshape, one expand."""

from __future__ import annotations

from typing import Any

from .._rules.shapes import Grow, Keep, Merge, Moves, New, Part, Sized, result
from .._rules.sizes import Batch


def apply(node: Any, moves: Moves) -> Any:
    """The node after the moves."""
    batch: Batch = tuple(node._batch)
    if moves == [Keep(dim) for dim in range(len(batch))]:
        return node
    kind = type(node)
    if any(isinstance(move, (Merge, Part)) for move in moves):
        return kind.reshape(node, *result(batch, moves))
    order = [move.dim for move in moves if isinstance(move, (Keep, Grow, Sized))]
    dropped = [dim for dim in range(len(batch)) if dim not in order]
    out = kind.permute(node, *order, *dropped) if order != list(range(len(batch))) else node
    if dropped:
        out = kind.reshape(out, *[batch[dim] for dim in order])
    for place, move in enumerate(moves):
        if isinstance(move, New):
            out = kind.unsqueeze(out, place)
    wanted = result(batch, moves)
    return out if tuple(out._batch) == wanted else kind.expand(out, *wanted)
