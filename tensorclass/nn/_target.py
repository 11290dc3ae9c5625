"""Target networks: parameters that follow other parameters slowly."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .._container import Container
from .._functional import from_module
from .._rules import errors
from .._tree import inplace, walk
from .._tree.node import Node


@torch.no_grad()
def soft_update(target: Container | nn.Module, source: Container | nn.Module, tau: float) -> None:
    """Move a target by a part of the way to its source, in place: target + tau * (source - target).

    >>> net, target = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    >>> soft_update(target, net, tau=1)
    >>> torch.equal(target.weight, net.weight)
    True

    Both are modules, or containers of parameters such as the params_td of an ensemble. What is no floating point number
    (a count of batches, a mask) is copied. Both must have the same keys and shapes; nothing is written otherwise.
    """
    if not 0 <= tau <= 1:
        raise errors.OptionError(f"soft_update: tau is {tau}; it is a part of the way, between 0 and 1")
    mine, theirs = _tree(target), _tree(source)
    targets = walk.gather(mine, [])
    sources = walk.match("soft_update", mine, theirs, [])
    if any(one.shape != other.shape for one, other in zip(targets, sources)):
        _refuse_shapes(mine, sources)
    inplace.check("soft_update", targets)
    # A parameter under two names moves once.
    pairs = list({id(one): (one, other) for one, other in zip(targets, sources)}.values())
    moving = [(one, other) for one, other in pairs if one.is_floating_point() or one.is_complex()]
    if moving:
        torch._foreach_lerp_([one for one, _ in moving], [other.to(one) for one, other in moving], tau)
    for one, other in pairs:
        if not (one.is_floating_point() or one.is_complex()):
            one.copy_(other)


def _tree(given: Container | nn.Module) -> Node:
    if isinstance(given, Node):
        return given
    if isinstance(given, nn.Module):
        return from_module(given)
    raise errors.KindError(f"soft_update: {type(given).__name__} has no parameters; give a module or a container")


def _refuse_shapes(mine: Node, sources: list[Tensor]) -> None:
    for (at, one), other in zip(walk.tensors_with_paths(mine), sources):
        if one.shape != other.shape:
            raise errors.ShapeError(
                f"soft_update: {errors.name_of(at)} has shape {list(one.shape)} in the target and {list(other.shape)} "
                "in the source"
            )
