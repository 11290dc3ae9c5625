"""Transforms that step the environment themselves: NoopResetEnv, FrameSkipTransform."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from .._entries import read, write
from .._flags import any_over
from .._layout import Layout
from .._masks import merged
from .._numbers import at_least
from .._transform import Keeps


class Stepping(Keeps):
    """A transform that steps what is inside of it."""

    _layout: Layout

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._layout = layout

    def _ends(self) -> list[Any]:
        from .counters import done_keys

        return done_keys(self._layout)


class FrameSkipTransform(Stepping):
    """Each action is taken so many times, and the rewards are summed.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> TransformedEnv(GymEnv("CartPole-v1"), FrameSkipTransform(4)).rollout(1)["next", "reward"]
    tensor([[4.]])

    Where an episode is over in between, it is not stepped further.
    """

    def __init__(self, frame_skip: int = 1) -> None:
        super().__init__()
        self.frame_skip = at_least(1, "FrameSkipTransform", "frame_skip", frame_skip)

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        inside = self._env("a step")._inside(self)
        td, after = inside.enter(tensordict), next_tensordict
        for _ in range(self.frame_skip - 1):
            over = self._over(after)
            if bool(over.all()):
                break
            before = after
            td = inside.onward(td, before)
            if bool(over.any()):
                td._fields["_step"] = ~over
            after = inside.advance(td)
            td._fields.pop("_step", None)
            after = self._joined(before, after, ~over.unsqueeze(-1))
        return after

    def _over(self, after: Any) -> Tensor:
        """Which rows are over: [*B]."""
        rows = len(after._batch)
        return torch.stack([read(after, key).flatten(rows).all(-1) for key in self._ends()]).any(0)

    def _joined(self, before: Any, after: Any, going: Tensor) -> Any:
        """The later step where the episode went on, with the rewards of both; the earlier one elsewhere."""
        for key in self._layout.keys("reward"):
            reward = read(after, key)
            rows = going.reshape(*going.shape[:-1], *[1] * (reward.ndim - going.ndim + 1))
            write(after, key, read(before, key) + torch.where(rows, reward, torch.zeros_like(reward)))
        if bool(going.all()):
            return after
        sums = {key: read(after, key) for key in self._layout.keys("reward")}
        out = after._like(merged(after._fields, before._fields, going, {}, ()))
        for key, value in sums.items():
            write(out, key, value)
        return out


class NoopResetEnv(Stepping):
    """Some random actions after each reset, so that episodes begin in different states.

    noops: how many; with random=True less than that, drawn anew each time. Environments with a batch size are refused.
    """

    def __init__(self, noops: int = 30, random: bool = True) -> None:
        super().__init__()
        self.noops, self.random = at_least(0, "NoopResetEnv", "noops", noops), random

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        if layout.batch.numel() != 1:
            raise errors.ShapeError(
                f"NoopResetEnv: the environment has batch size {list(layout.batch)}; put the transform into each "
                "environment instead, as in SerialEnv(n, lambda: TransformedEnv(make(), NoopResetEnv()))"
            )

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        inside = self._env("a reset")._inside(self)
        for _ in range(100):
            td, after = tensordict_reset, None
            for _ in range(self._count()):
                for key, spec in self._layout.keys("action").items():
                    write(td, key, spec.rand())
                after = inside.advance(td)
                if any_over([read(after, key) for key in self._ends()]):
                    break
                td = inside.onward(td, after)
            else:
                return self._as_reset(td, tensordict_reset)
            tensordict_reset = inside.restart()
        raise errors.StructureError(
            f"NoopResetEnv: 100 episodes in a row were over within {self.noops} random actions; take fewer noops"
        )

    def _count(self) -> int:
        if self.noops == 0 or not self.random:
            return self.noops
        return int(torch.randint(self.noops, ()).item())

    def _as_reset(self, td: Any, tensordict_reset: Any) -> Any:
        """What came last, as a reset gives it: without action and reward."""
        from .._entries import drop

        for key in (*self._layout.keys("action"), *self._layout.keys("reward")):
            drop(td, key)
        tensordict_reset._fields = td._fields
        return tensordict_reset


__all__ = ["FrameSkipTransform", "NoopResetEnv"]
