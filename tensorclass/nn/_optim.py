"""Parameter groups for torch.optim, by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from .._container import Container
from .._functional import from_module
from .._rules import errors
from .._rules.keys import Key, path, unravel
from .._tree import walk
from .._tree.node import Node


def param_groups(
    params: Container | nn.Module, options: Mapping[Key, Mapping[str, Any]]
) -> list[dict[str, Any]]:  # Any: the options of the optimizer.
    """The parameters below each key as a group of an optimizer, with options of its own.

    >>> net = torch.nn.ModuleDict({"actor": torch.nn.Linear(3, 2), "critic": torch.nn.Linear(3, 1)})
    >>> groups = param_groups(net, {"critic": {"lr": 0.1}, ("critic", "bias"): {"lr": 0.2}})
    >>> optimizer = torch.optim.SGD(groups, lr=0.01)
    >>> [(group["lr"], len(group["params"])) for group in optimizer.param_groups]
    [(0.1, 1), (0.2, 1), (0.01, 2)]

    A parameter belongs to the longest key that it is below, and one below no key to a last group without options. One
    that has several names is in the first group of those alone. A key that names no parameter is an error.
    """
    tree = params if isinstance(params, Node) else from_module(params)
    prefixes = {path(key): dict(given) for key, given in options.items()}
    groups: dict[tuple[str, ...], list[Tensor]] = {at: [] for at in [*prefixes, ()]}
    named: set[tuple[str, ...]] = set()
    seen: set[int] = set()
    for at, leaf in walk.tensors_with_paths(tree):
        if not (isinstance(leaf, nn.Parameter) or leaf.requires_grad):
            continue
        longest = next(at[:end] for end in range(len(at), -1, -1) if at[:end] in groups)
        named.update(at[:end] for end in range(len(at) + 1))
        if id(leaf) not in seen:
            seen.add(id(leaf))
            groups[longest].append(leaf)
    for at in prefixes:
        if at not in named:
            beside = [unravel(one) for one in named if len(one) == len(at)]
            raise errors.KeyMissing(f"param_groups: {errors.key_missing(unravel(at), sorted(beside, key=str))}")
    return [{"params": leaves, **prefixes.get(at, {})} for at, leaves in groups.items() if leaves]
