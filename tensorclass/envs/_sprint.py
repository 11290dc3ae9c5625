"""A random rollout of one environment of gymnasium in arrays: torch does nothing at a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ._columns import entry, put, tensors
from ._typed import view

if TYPE_CHECKING:
    from ._columns import Column
    from ._gym import GymWrapper
    from ._rollout import Options

FIRST, MOST = 32, 1024  # Steps that there is room for: twice as many with each lap.


class Lap:
    """Room for some steps, and what happened in them."""

    def __init__(self, columns: list[Column], steps: int) -> None:
        self.columns = columns
        self.rooms = [column.room(steps) for column in columns]
        self.rewards = np.empty((steps, 1), np.float32)
        self.ends = np.empty((2, steps, 1), bool)  # terminated, truncated
        self.begun: dict[int, list[Any]] = {}  # Where an episode begins: its first observation, by column.
        self.steps = 0

    def run(self, env: GymWrapper[Any, Any], actions: list[Any], begin: bool, stop: bool) -> bool:
        """Take the steps, up to the end of the episode if asked to stop there; whether it ended with the last one."""
        driver, rewards, (terminations, truncations) = vars(env)["_driver"], self.rewards, self.ends
        writers = [(room, column.steps, column.encode) for room, column in zip(self.rooms, self.columns)]
        step, at = driver.step, -1
        for at, action in enumerate(actions):
            if begin:
                raw, _ = driver.reset(None, None, None)
                self.begun[at] = [column.value(raw) for column in self.columns]
            raw, rewards[at], terminated, truncated, _ = step(action)
            for room, path, encode in writers:
                value = raw
                for name in path:
                    value = value[name]
                room[at] = value if encode is None else encode(value)
            terminations[at], truncations[at] = terminated, truncated
            begin = terminated or truncated
            if begin and stop:
                break
        self.steps = at + 1
        return begin


def sprint(env: GymWrapper[Any, Any], first: Any, asked: Options, stop: bool) -> Any:
    """A rollout of so many steps, or of as many as the episode has."""
    laps: list[Lap] = []
    actions: list[Any] = []
    left, size, begin = asked.max_steps, FIRST, False
    while left:
        size = min(size, left)
        actions.append(env.full_action_spec.rand((size,)))
        laps.append(Lap(vars(env)["_columns"], size))
        begin = laps[-1].run(env, env._raw_actions(actions[-1]), begin, stop)
        if begin and stop:
            break
        left, size = left - size, min(2 * size, MOST)
    return together(env, first, laps, torch.cat(actions) if len(actions) > 1 else actions[0])


def together(env: GymWrapper[Any, Any], first: Any, laps: list[Lap], actions: Any) -> Any:
    """The steps of all laps, as a rollout gives them."""
    total = sum(lap.steps for lap in laps)
    batch, names = torch.Size([total]), ("time",)
    root: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for at, column in enumerate(vars(env)["_columns"]):
        seen = joined([lap.rooms[at][: lap.steps] for lap in laps])
        put(root, column.key, tensors(begun(at, seen, laps, entry(first._fields, column.key))), batch)
        put(after, column.key, tensors(seen), batch)
    terminated, truncated = joined([lap.ends[:, : lap.steps] for lap in laps], 1)
    flags = {"done": terminated | truncated, "terminated": terminated, "truncated": truncated}
    for name, flag in flags.items():
        root[name] = torch.zeros(total, 1, dtype=torch.bool)
        root[name][0] = first._fields[name]
        after[name] = torch.from_numpy(flag)
    after["reward"] = torch.from_numpy(joined([lap.rewards[: lap.steps] for lap in laps]))
    root.update(actions[:total]._fields)
    root["next"] = view(env._next, after, batch, env.device, names)
    return view(env._transition, root, batch, env.device, names)


def begun(at: int, seen: Any, laps: list[Lap], first: Any) -> Any:
    """What a column holds before each step: what it holds after the one before, or what an episode begins with."""
    before = np.empty_like(seen)
    before[0] = first
    before[1:] = seen[:-1]
    offset = 0
    for lap in laps:
        for step, values in lap.begun.items():
            before[offset + step] = values[at]
        offset += lap.steps
    return before


def joined(arrays: list[Any], axis: int = 0) -> Any:
    """The arrays of all laps in one."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis)
