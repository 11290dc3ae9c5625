"""Reductions carried out: batch dims, feature dims, every dim, or the whole tree folded away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from .._rules import errors
from .._rules.dims import dims_in, place_of
from .._rules.folds import fold
from .._rules.shapes import names_after, result
from .explain import explain_dtype
from .node import Node
from .walk import gather

N = TypeVar("N", bound=Node)
Dim = Any  # An int or the name of a dim, a sequence of them, "feature" or None.


def reduce(op: str, node: N, dim: Dim, keepdim: bool, many: bool, options: dict[str, Any]) -> N:
    """Fold dims of every leaf away."""
    try:
        return _reduced(op, node, dim, keepdim, many, options)
    except RuntimeError as error:
        explain_dtype(op, node, error)
        raise


def _reduced(op: str, node: N, dim: Dim, keepdim: bool, many: bool, options: dict[str, Any]) -> N:
    call = function(op)
    if dim is None and not keepdim:
        if op in ("logsumexp", "norm"):
            return leafwise(node, lambda leaf: call(leaf, dim=tuple(range(leaf.ndim))), ())
        return leafwise(node, lambda leaf: call(leaf, **options), ())
    if isinstance(dim, str) and dim == "feature":
        return _features(node, call, keepdim, many, options)
    if isinstance(dim, str):
        dim = place_of(op, dim, node._names)
    elif isinstance(dim, (list, tuple)):
        dim = tuple([place_of(op, one, node._names) if isinstance(one, str) else one for one in dim])
    return along(op, node, dim, keepdim, many, options, call)


def function(op: str) -> Callable[..., Tensor]:
    """The function of torch for a reduction; torch.norm itself takes two dims for a matrix, and no more."""
    call: Callable[..., Tensor] = torch.linalg.vector_norm if op == "norm" else getattr(torch, op)
    return call


def along(
    op: str, node: N, dim: Dim, keepdim: bool, many: bool, options: dict[str, Any], call: Callable[..., Tensor]
) -> N:
    """Batch dims of every leaf folded away by call(leaf, dim=, keepdim=)."""
    batch = tuple(node._batch)
    dims = dims_in(op, dim, len(batch))
    moves = fold(batch, dims, keepdim)
    names = None if node._names is None else names_after(node._names, moves)
    return _along(node, call, dims, keepdim, many, options, result(batch, moves), names, len(batch))


def leafwise(node: N, call: Callable[[Tensor], Tensor], batch: tuple[int, ...]) -> N:
    """Every leaf folded whole; rows of data are dropped with their rows."""
    return node._rebuild(
        {
            key: call(value)
            if isinstance(value, Tensor)
            else leafwise(value, call, batch)
            if isinstance(value, Node) and not value._is_data
            else value
            for key, value in node._fields.items()
            if not (isinstance(value, Node) and value._is_data)
        },
        batch,
    )


def _along(
    node: N,
    call: Callable[..., Tensor],
    dims: tuple[int, ...],
    keepdim: bool,
    many: bool,
    options: dict[str, Any],
    batch: tuple[int, ...],
    names: Any,
    rank: int,
) -> N:
    fields: dict[str, Any] = {}
    for key, value in node._fields.items():
        if isinstance(value, Tensor):
            fields[key] = _fold_dims(value, call, dims, keepdim, many, options)
        elif isinstance(value, Node):
            if not value._is_data:
                inner = (*batch, *value._batch[rank:])
                fields[key] = _along(value, call, dims, keepdim, many, options, inner, None, rank)
        else:
            fields[key] = value
    return node._rebuild(fields, batch, names)


def _features(node: N, call: Callable[..., Tensor], keepdim: bool, many: bool, options: dict[str, Any]) -> N:
    rank = len(node._batch)

    def fold_features(leaf: Tensor) -> Tensor:
        if leaf.ndim == rank:
            return _fold_dims(leaf.unsqueeze(-1), call, (rank,), False, many, options)
        return _fold_dims(leaf, call, tuple(range(rank, leaf.ndim)), keepdim, many, options)

    return node._rebuild(
        {
            key: fold_features(value)
            if isinstance(value, Tensor)
            else _features(value, call, keepdim, many, options)
            if isinstance(value, Node) and not value._is_data
            else value
            for key, value in node._fields.items()
        },
        tuple(node._batch),
        node._names,
    )


def _fold_dims(
    leaf: Tensor, call: Callable[..., Tensor], dims: Sequence[int], keepdim: bool, many: bool, options: dict[str, Any]
) -> Tensor:
    if not dims:  # To torch an empty list of dims means all of them.
        return call(leaf.unsqueeze(-1), dim=-1, **options)
    if many:
        return call(leaf, dim=tuple(dims), keepdim=keepdim, **options)
    for dim in sorted(dims, reverse=True):
        leaf = call(leaf, dim=dim, keepdim=keepdim, **options)
    return leaf


def whole(op: str, node: Node, options: dict[str, Any]) -> Tensor:
    """One number for the whole tree: the fold of all elements of all leaves."""
    leaves = gather(node, [])
    if not leaves:
        raise errors.StructureError(f"{op}: there are no tensors to fold")
    call = function(op)
    if op in ("sum", "nansum", "prod", "amax", "amin", "any", "all"):
        folded = torch.stack([call(leaf, **options) for leaf in leaves])
        out: Tensor = call(folded)
        return out
    flat = torch.cat([leaf.reshape(-1) for leaf in leaves])
    out = call(flat, 0, **options) if op == "logsumexp" else call(flat, **options)
    return out


def truth(op: str, node: Node) -> bool:
    """any or all over every element of every leaf."""
    call = any if op == "any" else all
    return call([bool(getattr(torch, op)(leaf)) for leaf in gather(node, [])])
