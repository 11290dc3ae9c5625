"""functional_vmap: one module, called with many sets of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from .._container import Container
from .._rules import errors
from .._swap import Filled
from .._tree.node import kind


def functional_vmap(
    module: nn.Module,
    *,
    params: Container,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    in_dims: Mapping[str, int | None] | None = None,
    randomness: str = "error",
    loop: bool = False,
) -> Any:
    """Call a module with each set of parameters in a container; the outputs are stacked.

    >>> nets = [torch.nn.Linear(3, 1) for _ in range(4)]
    >>> functional_vmap(nets[0], params=TensorDict.from_modules(*nets), args=(torch.zeros(10, 3),)).shape
    torch.Size([4, 10, 1])

    Every set reads all of args and kwargs, but of those named in in_dims its own slice along that dim. The batch dims
    of the parameters come first in the outputs. randomness: as in torch.vmap. loop: one set after the other.
    """
    kwargs = dict(kwargs or {})
    dims = dict(in_dims or {})
    unknown = [name for name in dims if name not in kwargs]
    if unknown:
        given = errors.some_names(kwargs) or "none"
        raise errors.OptionError(f"in_dims: {unknown[0]!r} is not in kwargs, which are {given}")
    batch = params.batch_size
    if not batch:
        raise errors.ShapeError("functional_vmap: the parameters have no batch dims; from_modules makes some that have")
    flat = params if len(batch) == 1 else type(params).reshape(params, -1)
    if len(batch) > 1:
        kwargs = {
            name: value if (dim := dims.get(name)) is None else _flattened(name, value, dim, batch)
            for name, value in kwargs.items()
        }
        dims = {name: None if dim is None else 0 for name, dim in dims.items()}
    run = _looped if loop else _mapped
    out = run(module, flat, tuple(args), kwargs, dims, randomness)
    if len(batch) == 1:
        return out
    return pytree.tree_map(lambda leaf: leaf.reshape(*batch, *leaf.shape[1:]), out)


def _mapped(
    module: nn.Module, params: Any, args: Any, kwargs: dict[str, Any], dims: dict[str, Any], randomness: str
) -> Any:
    shared = {name: value for name, value in kwargs.items() if dims.get(name) is None}
    sliced = {name: value for name, value in kwargs.items() if dims.get(name) is not None}
    filled = Filled(params, module)
    if not sliced:
        return torch.vmap(lambda leaves: filled(leaves, *args, **kwargs), 0, randomness=randomness)(filled.leaves)
    places = (0, {name: dims[name] for name in sliced})
    call = torch.vmap(lambda leaves, own: filled(leaves, *args, **shared, **own), places, randomness=randomness)
    return call(filled.leaves, sliced)


def _looped(
    module: nn.Module, params: Any, args: Any, kwargs: dict[str, Any], dims: dict[str, Any], randomness: str
) -> Any:
    filled = Filled(params, module)
    outs = []
    for at in range(params.batch_size[0]):
        own = {
            name: value if dims.get(name) is None else _picked(value, dims[name], at) for name, value in kwargs.items()
        }
        outs.append(filled([leaf[at] for leaf in filled.leaves], *args, **own))
    leaves, spec = pytree.tree_flatten(outs[0])
    columns = zip(*[pytree.tree_leaves(out) for out in outs]) if leaves else iter(())
    stacked = [torch.stack(column) if isinstance(column[0], Tensor) else column[0] for column in columns]
    return pytree.tree_unflatten(stacked, spec)


def _picked(value: Any, dim: int, at: int) -> Any:
    return value.select(dim, at) if isinstance(value, Tensor) else value[(slice(None),) * dim + (at,)]


def _flattened(name: str, value: Any, dim: int, batch: Sequence[int]) -> Any:
    if not isinstance(value, (Tensor, Container)):
        raise errors.KindError(f"in_dims: {name!r} is {kind(value)}; a tensor or a container has dims")
    end = dim + len(batch)
    if tuple(value.shape[dim:end]) != tuple(batch):
        raise errors.ShapeError(
            f"in_dims: {name!r} has shape {list(value.shape)}; from dim {dim} on it must be {list(batch)}, "
            "the batch size of the parameters"
        )
    moved = value.movedim(tuple(range(dim, end)), tuple(range(len(batch))))
    return moved.reshape(-1, *moved.shape[len(batch) :])
