"""A rollout that the environment below gives as a whole, transformed as a whole: nobody looks at single steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ._entries import first
from ._typed import view

if TYPE_CHECKING:
    from ._rollout import Options
    from ._transform import Transform
    from ._transformed import TransformedEnv


def together(env: TransformedEnv[Any, Any], start: Any, asked: Options) -> Any:
    """The rollout from where the environment below starts, or None where some transform must see each single step."""
    found = env.__dict__["_stages"]
    stop = asked.break_when_any_done is not False or asked.break_when_all_done
    steps = asked.max_steps
    for one in found.members:
        steps = min(steps, one._most_at_once(steps, stop))
    if not steps or found.inverses or asked.policy is not None or asked.callback is not None:
        return None
    whole = env.base_env._at_once(start, asked._replace(max_steps=steps))
    return whole if whole is None or not found.members else transformed(env, found.members, whole)


def transformed(env: TransformedEnv[Any, Any], members: list[Transform], whole: Any) -> Any:
    """What the transforms make of a rollout."""
    fields = whole._fields
    after = fields.pop("next")
    actions = {name: fields.pop(name) for name in {first(key) for key in env.base_env._keys.actions}}
    begins = firsts(after._fields["done"])
    for one in members:
        one._transform_rollout(whole, after, begins)
    out = view(env._transition, {**fields, **actions}, whole._batch, env.device, whole._names)
    out._fields["next"] = view(env._next, after._fields, whole._batch, env.device, whole._names)
    return out


def firsts(done: Tensor) -> Tensor:
    """Which steps are the first of their episode: [T]."""
    flags = done.reshape(done.shape[0], -1).any(-1)
    return torch.cat([torch.ones(1, dtype=torch.bool, device=flags.device), flags[:-1]])
