"""StepCounter, RewardSum, InitTracker: what is counted and summed since an episode began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..._rules.keys import Key, path
from .._entries import beside, read, write
from .._layout import Layout
from .._numbers import at_least
from .._specs.box import Bounded, Unbounded
from .._specs.choices import Categorical
from .._transform import Keys
from ._carried import Carried
from ._episodes import ages, running_sum, starts, sums_before, sums_step_by_step, time_dim


class StepCounter(Carried):
    """The number of steps since the last reset, and the end of an episode after so many.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> steps = TransformedEnv(GymEnv("CartPole-v1"), StepCounter(max_steps=3)).rollout(9)
    >>> steps["next", "step_count"].flatten(), steps["next", "truncated"].flatten()
    (tensor([1, 2, 3]), tensor([False, False,  True]))

    After max_steps an episode is truncated and done, not terminated; update_done=False leaves done alone. Where there
    are several groups of flags, each has a count of its own.
    """

    step_count_key: str

    def __init__(
        self,
        max_steps: int | None = None,
        truncated_key: str | None = "truncated",
        step_count_key: str = "step_count",
        update_done: bool = True,
    ) -> None:
        if max_steps is not None:
            max_steps = at_least(1, "StepCounter", "max_steps", max_steps, ", or None for no end")
        self.step_count_key = step_count_key
        super().__init__([])
        self.max_steps, self.update_done = max_steps, update_done
        self.truncated_key = truncated_key
        self._places: tuple[tuple[Key, Key, Key], ...] = ()
        self._place_at(["done"])

    def _place_at(self, dones: Sequence[Key]) -> None:
        name = self.truncated_key or "truncated"
        counts = [beside(done, self.step_count_key) for done in dones]
        self._places = tuple([(done, count, beside(done, name)) for done, count in zip(dones, counts)])
        self._writes = tuple(counts)

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._place_at(done_keys(layout))

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        for done_key, count_key, truncated_key in self._places:
            done = read(tensordict_reset, done_key)
            zero = torch.zeros_like(done, dtype=torch.int64)
            self._put_at_reset(tensordict, tensordict_reset, count_key, zero)
            if self.max_steps is not None and read(tensordict_reset, truncated_key) is None:
                write(tensordict_reset, truncated_key, torch.zeros_like(done))
        return tensordict_reset

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        most = self.max_steps
        for done_key, count_key, truncated_key in self._places:
            count = self._last(tensordict, count_key)
            if count is None:
                count = torch.zeros_like(read(next_tensordict, done_key), dtype=torch.int64)
            count = count + 1
            self._put(next_tensordict, count_key, count)
            if most is not None:
                self._truncate(next_tensordict, done_key, truncated_key, count >= most)
        return next_tensordict

    def _truncate(self, next_tensordict: Any, done_key: Key, truncated_key: Key, over: Tensor) -> None:
        before = read(next_tensordict, truncated_key)
        write(next_tensordict, truncated_key, over if before is None else before | over)
        if self.update_done:
            write(next_tensordict, done_key, read(next_tensordict, done_key) | over)

    def _most_at_once(self, steps: int, stop: bool) -> int:
        if self._held or (self.max_steps is not None and not stop):
            return 0
        return steps if self.max_steps is None else min(steps, self.max_steps)

    def _transform_rollout(self, root: Any, after: Any, first: Tensor) -> None:
        for done_key, count_key, truncated_key in self._places:
            count = ages(first).unsqueeze(-1)
            write(root, count_key, count)
            write(after, count_key, count + 1)
            if self.max_steps is not None:
                if read(root, truncated_key) is None:
                    write(root, truncated_key, torch.zeros_like(read(root, done_key)))
                self._truncate(after, done_key, truncated_key, count + 1 >= self.max_steps)

    def forward(self, tensordict: Any) -> Any:
        """Count the steps of data with a time dim, at the root and under "next"."""
        time_dim(type(self).__name__, tensordict)
        count = ages(starts(tensordict)).unsqueeze(-1)
        write(tensordict, self.step_count_key, count)
        if read(tensordict, "next") is not None:
            write(tensordict, ("next", self.step_count_key), count + 1)
        return tensordict

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        """The specs with the count."""
        for key, flag in self._flags.items():
            observation_spec[key] = count_spec(flag)
        return observation_spec

    def transform_done_spec(self, done_spec: Any) -> Any:
        """The specs with a flag for truncation, if there are max_steps."""
        for done_key, _, truncated_key in self._places:
            if self.max_steps is not None:
                done_spec[truncated_key] = done_spec[done_key].clone()
        return done_spec

    def transform_output_spec(self, output_spec: Any) -> Any:
        """The specs of all that an environment gives, with count and flag."""
        done = output_spec["full_done_spec"]
        self._flags = {count: done[done_key] for done_key, count, _ in self._places}
        return super().transform_output_spec(output_spec)

    def transform_state_spec(self, state_spec: Any) -> Any:
        """The specs with the count: each step reads it."""
        return self.transform_observation_spec(state_spec)

    def extra_repr(self) -> str:
        """The end."""
        return "" if self.max_steps is None else f"max_steps={self.max_steps}"


class RewardSum(Carried):
    """The sum of the rewards since the last reset, as an observation.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> TransformedEnv(GymEnv("CartPole-v1"), RewardSum()).rollout(3)["next", "episode_reward"].flatten()
    tensor([1., 2., 3.])

    Where no keys are given: one for each reward, "episode_reward" beside it.
    """

    _group = "reward"
    _usual = ("reward",)

    def __init__(
        self,
        in_keys: Keys = None,
        out_keys: Keys = None,
        reset_keys: Sequence[Key] | None = None,
        *,
        reward_spec: bool = False,
    ) -> None:
        super().__init__(in_keys, out_keys)
        self.reset_keys, self.reward_spec = reset_keys, reward_spec

    def _named(self, reads: tuple[Key, ...]) -> Sequence[Key]:
        return [beside(key, path(key)[-1].replace("reward", "episode_reward", 1)
                       if "reward" in path(key)[-1] else f"episode_{path(key)[-1]}") for key in reads]  # fmt: skip

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._specs = {out_key: layout.keys("reward", "observation")[in_key] for in_key, out_key in self._pairs}

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        for key, spec in self._specs.items():
            batch = tensordict_reset._batch
            shape = spec.shape if spec.shape[: len(batch)] == batch else (*batch, *spec.shape)
            self._put_at_reset(
                tensordict, tensordict_reset, key, torch.zeros(shape, dtype=spec.dtype, device=spec.device)
            )
        return tensordict_reset

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        for in_key, out_key in self._pairs:
            reward, before = read(next_tensordict, in_key), self._last(tensordict, out_key)
            self._put(next_tensordict, out_key, reward if before is None else before + reward)
        return next_tensordict

    def _most_at_once(self, steps: int, stop: bool) -> int:
        return 0 if self._held else steps

    def _transform_rollout(self, root: Any, after: Any, first: Tensor) -> None:
        for in_key, out_key in self._pairs:
            sums = sums_step_by_step(read(after, in_key), first)
            write(after, out_key, sums)
            write(root, out_key, sums_before(sums, first))

    def forward(self, tensordict: Any) -> Any:
        """Sum the rewards of data: with ("next", "reward") along time, else those of this one step."""
        for in_key, out_key in self._pairs:
            rewards = read(tensordict, ("next", *path(in_key)))
            if rewards is not None:
                time_dim(type(self).__name__, tensordict)
                first = starts(tensordict)
                sums = running_sum(rewards, first)
                write(tensordict, ("next", *path(out_key)), sums)
                write(tensordict, out_key, sums_before(sums, first))
                continue
            reward, before = read(tensordict, in_key), read(tensordict, out_key)
            if reward is None:
                self._refuse_missing(in_key, tensordict)
            write(tensordict, out_key, reward if before is None else before + reward)
        return tensordict

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        """The specs with the sums."""
        for key, spec in self._specs.items():
            observation_spec[key] = Unbounded(spec.shape, device=spec.device, dtype=spec.dtype)
        return observation_spec

    def transform_state_spec(self, state_spec: Any) -> Any:
        """The specs with the sums: each step reads them."""
        return self.transform_observation_spec(state_spec)


class InitTracker(Carried):
    """Whether a step is the first of its episode.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> TransformedEnv(GymEnv("CartPole-v1"), InitTracker()).rollout(3)["is_init"].flatten()
    tensor([ True, False, False])
    """

    init_key: str

    def __init__(self, init_key: str = "is_init") -> None:
        self.init_key = init_key
        super().__init__([])
        self._places: tuple[tuple[Key, Key], ...] = (("done", init_key),)

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        self._places = tuple([(done, beside(done, self.init_key)) for done in done_keys(layout)])
        self._writes = tuple([init for _, init in self._places])

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        for done_key, init_key in self._places:
            write(tensordict_reset, init_key, torch.ones_like(read(tensordict_reset, done_key)))
        return tensordict_reset

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        for done_key, init_key in self._places:
            write(next_tensordict, init_key, torch.zeros_like(read(next_tensordict, done_key)))
        return next_tensordict

    def _most_at_once(self, steps: int, stop: bool) -> int:
        return steps

    def _transform_rollout(self, root: Any, after: Any, first: Tensor) -> None:
        for done_key, init_key in self._places:
            write(root, init_key, first.unsqueeze(-1))
            write(after, init_key, torch.zeros_like(read(after, done_key)))

    def forward(self, tensordict: Any) -> Any:
        """Mark the first steps of data with a time dim."""
        time_dim(type(self).__name__, tensordict)
        write(tensordict, self.init_key, starts(tensordict).unsqueeze(-1))
        return tensordict

    def transform_output_spec(self, output_spec: Any) -> Any:
        """The specs with the mark."""
        for done_key, init_key in self._places:
            flag = output_spec["full_done_spec"][done_key]
            output_spec["full_observation_spec"][init_key] = Categorical(
                2, flag.shape, device=flag.device, dtype=torch.bool
            )
        return output_spec


def done_keys(layout: Layout) -> list[Key]:
    """The "done" of each group of flags; where a group has none, another of its flags."""
    groups: dict[tuple[str, ...], Key] = {}
    for key in layout.keys("done"):
        at = path(key)
        if at[:-1] not in groups or at[-1] == "done":
            groups[at[:-1]] = key
    return list(groups.values())


def count_spec(flag: Any) -> Any:
    """The spec of a count of steps."""
    return Bounded(0, torch.iinfo(torch.int64).max, flag.shape, device=flag.device, dtype=torch.int64)
