"""done, terminated, truncated: each is completed from the others, in every group of agents."""

from __future__ import annotations

from typing import Any

import torch

from .._rules import errors
from .._rules.nearest import nearest
from .._tensordict import TensorDict
from ._keys import Group


def complete(
    fields: dict[str, Any], groups: list[Group], batch: torch.Size, device: Any, after_step: bool = False
) -> None:
    """Put the flags that the spec has and a step has not given into its entries.

    done is terminated or truncated; what is not said at all is False.
    """
    for group in groups:
        at = fields
        for name in group.at:
            node = at.get(name)
            if node is None:
                node = at[name] = TensorDict(None, (*batch, *group.tail[:-1]), device)
            else:
                node = at[name] = node._like(dict(node._fields))  # What was given is not written to.
            at = node._fields
        complete_one(at, group, batch, device, after_step)


def complete_one(at: dict[str, Any], group: Group, batch: torch.Size, device: Any, after_step: bool) -> None:
    """Complete the flags of one group."""
    done, terminated, truncated = at.get("done"), at.get("terminated"), at.get("truncated")
    if terminated is not None:
        if done is None:
            at["done"] = done = terminated if truncated is None else terminated | truncated
    elif done is not None:
        terminated = done if truncated is None else done & ~truncated
        if "terminated" in group.names:
            at["terminated"] = terminated
    else:
        if after_step and not group.trusted:
            refuse_misspelt(at, group)
        no = torch.zeros((*batch, *group.tail), dtype=torch.bool, device=device)
        at["done"] = done = no if truncated is None else truncated
        terminated = no
        if "terminated" in group.names:
            at["terminated"] = terminated
    if truncated is None and "truncated" in group.names:
        at["truncated"] = done & ~terminated


def refuse_misspelt(at: dict[str, Any], group: Group) -> None:
    """Refuse a step without flags that has something very like one; asked once for each environment."""
    for name in at:
        meant = nearest(name, group.names)
        if meant is not None and name not in group.names and name not in group.beside:
            raise errors.KeyMissing(f"no flag is given, but there is {name!r}; did you mean {meant!r}?")
    group.trusted = True


def any_over(ends: list[Any]) -> bool:
    """Whether some episode is over, by the done flags of all groups."""
    return any(bool(end.any() if end.ndim else end) for end in ends)
