"""The parameters and buffers of a module as a container, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ._held import entries_of
from ._rules import errors
from ._swap import swap
from ._tensordict import TensorDict, plain
from ._tree import walk
from ._tree.node import Node, is_tree


def from_module(
    module: nn.Module,
    *,
    as_module: bool = False,
    lock: bool = False,
    use_state_dict: bool = False,
    filter_empty: bool = True,
) -> TensorDict:
    """The parameters and buffers of a module: the objects themselves, under the names of its submodules."""
    if use_state_dict:
        made: TensorDict = TensorDict(dict(module.state_dict())).unflatten_keys(".")
    else:
        made = plain(entries_of(module, filter_empty, plain))
    if as_module:
        from ._params import of_module

        made = of_module(made)
    return made.lock_() if lock else made


def from_modules(
    modules: tuple[nn.Module, ...],
    *,
    as_module: bool = False,
    lock: bool = True,
    use_state_dict: bool = False,
    lazy_stack: bool = False,
    expand_identical: bool = False,
) -> TensorDict:
    """The parameters of modules of one structure, stacked along a first batch dim; new parameters, to be trained."""
    if not modules:
        raise errors.OptionError("from_modules: there are no modules; one at least is needed")
    trees = [from_module(module, use_state_dict=use_state_dict) for module in modules]
    if lazy_stack:
        from ._lazystack import lazy_stack as stacked

        made: TensorDict = stacked(trees, 0)
        return made.lock_() if lock else made
    columns = [walk.gather(trees[0], [])]
    columns += [walk.match("from_modules", trees[0], tree, []) for tree in trees[1:]]
    stacked_leaves = [_stacked(leaves, expand_identical) for leaves in zip(*columns)]
    made = _refilled(trees[0], iter(stacked_leaves), (len(modules),))
    if as_module:
        from ._params import of_module

        made = of_module(made)
    return made.lock_() if lock else made


def _stacked(leaves: tuple[Tensor, ...], expand_identical: bool) -> Tensor:
    first = leaves[0]
    shapes = {tuple(leaf.shape) for leaf in leaves}
    if len(shapes) > 1:
        raise errors.ShapeError(f"from_modules: shapes {errors.some_names(map(list, shapes))} cannot be stacked")
    if expand_identical and all(leaf is first for leaf in leaves):
        return first.expand(len(leaves), *first.shape)
    together = torch.stack([leaf.detach() for leaf in leaves])
    if not isinstance(first, nn.Parameter):
        return together
    return nn.Parameter(together, requires_grad=any(leaf.requires_grad for leaf in leaves))


def _refilled(tree: Node, leaves: Iterator[Tensor], batch: tuple[int, ...]) -> TensorDict:
    new: TensorDict = TensorDict(batch_size=batch)
    for key, value in tree._fields.items():
        new._fields[key] = _refilled(value, leaves, batch) if is_tree(value) else next(leaves)
    return new


def to_module(
    params: Any,
    module: nn.Module,
    *,
    inplace: bool | None = None,
    return_swap: bool = True,
    swap_dest: Any = None,
    use_state_dict: bool = False,
    non_blocking: bool = False,
) -> Any:
    """Put the entries of a container into a module; the container of what was there, as a `with` block, undoes it."""
    if use_state_dict:
        module.load_state_dict(dict(type(params).flatten_keys(params, ".").items()), strict=False)
        return None
    if inplace:
        mine = from_module(module)
        for at, leaf in walk.tensors_with_paths(params):
            mine[at].data.copy_(leaf, non_blocking=non_blocking)
        return None
    swapped = swap(params, module)
    if swap_dest is not None:
        type(swap_dest).update(swap_dest, swapped)
        return swap_dest
    return swapped if return_swap else None
