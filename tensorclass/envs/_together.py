"""A rollout of the environment below, transformed as a whole: nobody looks at what transforms do at single steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .._rules import errors
from .._rules.keys import path
from ._entries import first
from ._policy import reads
from ._typed import view

if TYPE_CHECKING:
    from ._rollout import Options
    from ._stages import Stages
    from ._transform import Transform
    from ._transformed import TransformedEnv


def together(env: TransformedEnv[Any, Any], start: Any, asked: Options) -> Any:
    """The rollout from where the environment below starts, or None where some transform must see each single step."""
    found: Stages = env.__dict__["_stages"]
    stop = asked.break_when_any_done is not False or asked.break_when_all_done
    steps = asked.max_steps
    for one in found.members:
        steps = 0 if one._foreign else min(steps, one._most_at_once(steps, stop))
    if not steps or found.inverses or asked.callback is not None:
        return None
    asked = asked._replace(max_steps=steps)
    whole = env.base_env._at_once(start, asked) if asked.policy is None else below(env, found, start, asked)
    return whole if whole is None or not found.members else transformed(env, found.members, whole)


def below(env: TransformedEnv[Any, Any], found: Stages, start: Any, asked: Options) -> Any:
    """The rollout of the environment below with a policy that reads what no transform touches; else None."""
    from ._rollout import rollout

    if (
        start._batch
        or asked.auto_cast_to_device
        or asked.set_truncated
        or asked.out is not None
        or asked.storing_device is not None
    ):
        return None
    keys, written = reads(env, asked.policy), [path(key) for one in found.members for key in one._writes]
    if keys is None or any(overlap(path(key), at) for key in keys for at in written):
        return None
    if not all(key in env._keys.observations and key in env.base_env._keys.observations for key in keys):
        return None
    whole = rollout(env.base_env, asked._replace(tensordict=start, auto_reset=False))
    if whole._items is not None:
        raise errors.ShapeError(
            "rollout: the policy gives entries of different shapes from step to step; "
            "give it as a function: env.rollout(steps, lambda td: policy(td))"
        )
    return whole


def overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one of two paths leads to, or through, the entry of the other."""
    return all(mine == theirs for mine, theirs in zip(one, other))


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
