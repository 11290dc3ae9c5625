"""Partial resets: which rows a mask resets, and how the new values are put beside those that stay."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._data import NonTensorStack
from .._rules import errors
from .._rules.keys import Key
from .._tensordict import TensorDict
from .._tree.node import is_tree
from ._keys import Group, Plan

Masks = dict[tuple[str, ...], Tensor]  # By the place of the container that they stand for.


def reset_masks(td: Any, plan: Plan) -> Masks:
    """The masks in a container, by the place that they stand for; none if it has none."""
    found: Masks = {}
    for group in plan.groups:
        node = td
        for name in group.at:
            node = node._fields.get(name)
            if node is None:
                break
        mask = None if node is None else node._fields.get("_reset")
        if mask is not None:
            found[group.at] = checked_mask(mask, group, td)
    if () not in found and "_reset" in td._fields:
        found[()] = td._fields["_reset"]
    return found


def checked_mask(mask: Any, group: Group, td: Any) -> Tensor:
    """A mask as one of bools with a last dim of size 1."""
    if not isinstance(mask, Tensor) or mask.dtype is not torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise errors.KindError(f"{errors.name_of(group.key('_reset'))} is a mask of bools, not {kind}")
    shape = (*td._batch, *group.tail)
    if mask.shape == shape[:-1]:
        return torch.unsqueeze(mask, -1)
    if mask.shape != shape:
        name = errors.name_of(group.key("_reset"))
        raise errors.ShapeError(f"{name} has shape {list(mask.shape)}; the flags beside it have {list(shape)}")
    return mask


def resets_all(masks: Masks) -> bool:
    """Whether there is one mask for one environment, and it says that it is reset."""
    if len(masks) != 1:
        return False
    (mask,) = masks.values()
    return mask.numel() == 1 and bool(mask)


def merged(
    new: dict[str, Any],
    old: dict[str, Any],
    mask: Tensor | None,
    masks: Masks,
    at: tuple[str, ...],
) -> dict[str, Any]:
    """Entries of `new` where the mask of their place is true, of `old` elsewhere; other entries of `old` stay."""
    mask = masks.get(at, mask)
    out = {key: value for key, value in old.items() if key not in ("_reset", "_step", "next")}
    for key, value in new.items():
        before = out.get(key)
        if is_tree(value) and is_tree(before):
            inner = merged(value._fields, before._fields, mask, masks, (*at, key))
            out[key] = value._like(inner)
        else:
            out[key] = value if before is None or mask is None else chosen(mask, value, before)
    return {key: without_mask(value) if is_tree(value) else value for key, value in out.items()}


def carried(old: dict[str, Any], states: list[Key]) -> dict[str, Any]:
    """The entries of the state that a reset was given: they stay where it does not give others."""
    names = [key if isinstance(key, str) else key[0] for key in states]
    return {name: old[name] for name in names if name in old}


def without_mask(node: Any) -> Any:
    """A nested container without its "_reset"."""
    if "_reset" not in node._fields:
        return node
    return node._like({key: value for key, value in node._fields.items() if key != "_reset"})


def chosen(mask: Tensor, new: Any, old: Any) -> Any:
    """Rows of one entry where a mask [*B, 1] is true, of another elsewhere; where all is true nothing is computed."""
    if mask.numel() == 1:
        return new if bool(mask) else old
    rows = mask.ndim - 1
    if isinstance(new, Tensor) and isinstance(old, Tensor):
        return torch.where(mask.reshape(*mask.shape[:rows], *[1] * (new.ndim - rows)), new, old)
    if isinstance(new, NonTensorStack) and isinstance(old, NonTensorStack):
        stay = ~mask.squeeze(-1)
        out = new.clone()
        out[stay] = old[stay]
        return out
    return new if bool(mask.any()) else old


def over_batch(masks: Masks, batch: torch.Size) -> Tensor | None:
    """One mask over the batch, from the one at the root or those of all groups."""
    if () in masks:
        return masks[()]
    rank = len(batch)
    flags = [mask.flatten(rank).any(-1, keepdim=True) for mask in masks.values()]
    return torch.stack(flags).any(0) if flags else None


def with_mask(td: TensorDict, plan: Plan) -> TensorDict:
    """A container with "_reset" beside every done, which says what is over."""
    out = td._like(dict(td._fields))
    for group in plan.groups:
        at = out._fields
        for name in group.at:
            at[name] = at[name]._like(dict(at[name]._fields))
            at = at[name]._fields
        at["_reset"] = is_over(td, group)
    return out


def is_over(td: TensorDict, group: Group) -> Tensor:
    """What is over in a group: what its flag says, or the flag of a group around it."""
    if group.above is None:
        return td[group.key("done")]  # type: ignore[return-value]  # A tensor, at any depth.
    over = is_over(td, group.above)
    shape = (*td._batch, *group.tail)
    return over.reshape(*over.shape[:-1], *[1] * (len(shape) - over.ndim + 1)).expand(shape)


__all__ = ["carried", "chosen", "is_over", "merged", "over_batch", "reset_masks", "resets_all", "with_mask"]
