"""Environments of gymnasium of one kind, side by side: their steps go into common arrays, and then into tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from typing_extensions import TypeIs

from ._columns import put, tensors
from ._gym import CPU, GymWrapper
from ._typed import view


def are_lanes(envs: Sequence[Any]) -> TypeIs[Sequence[GymWrapper[Any, Any]]]:
    """Whether environments are of gymnasium, of one kind, and nobody looks at their single steps."""
    if not all(isinstance(env, GymWrapper) and is_lane(env) for env in envs):
        return False
    first = vars(envs[0])
    kinds = [[column[:1] + column[3:] for column in vars(env)["_columns"]] for env in envs]
    return all(kind == kinds[0] for kind in kinds) and all(
        vars(env)["_action"].space == first["_action"].space
        and vars(env)["_action"].as_index == first["_action"].as_index
        for env in envs
    )


def is_lane(env: GymWrapper[Any, Any]) -> bool:
    """Whether a step of an environment is what gymnasium does, and no more."""
    own = vars(env)
    whole = type(env)._advance is GymWrapper._advance and own["_plain"] and not own["_readers"]
    return whole and own["_driver"].count is None and (env.device or CPU).type == "cpu"


def advance(cls: Any, envs: Sequence[GymWrapper[Any, Any]], tensordict: Any) -> Any:
    """A step of all of them."""
    count = len(envs)
    columns = [vars(env)["_columns"] for env in envs]
    rooms = [column.room(count) for column in columns[0]]
    rewards, ends = np.empty((count, 1), np.float32), np.empty((2, count, 1), bool)
    actions = envs[0]._raw_actions(tensordict)
    for at, (env, action) in enumerate(zip(envs, actions)):
        raw, rewards[at], ends[0, at], ends[1, at], _ = vars(env)["_driver"].step(action)
        for room, column in zip(rooms, columns[at]):
            room[at] = column.pick(raw)
    batch = torch.Size((count,))
    fields: dict[str, Any] = {}
    for room, column in zip(rooms, columns[0]):
        put(fields, column.key, tensors(room), batch)
    terminated, truncated = ends
    fields["reward"] = torch.from_numpy(rewards)
    fields["done"] = torch.from_numpy(terminated | truncated)
    fields["terminated"], fields["truncated"] = torch.from_numpy(ends).unbind(0)
    return view(cls, fields, batch)
