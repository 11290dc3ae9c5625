"""Where episodes end for other reasons than the environment's: at a random length, or with a life."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from ..._rules.keys import Key
from .._entries import read, write
from .._layout import Layout
from .._specs.box import Unbounded
from .._transform import Keeps
from ._carried import over, reset_mask


class RandomTruncationTransform(Keeps):
    """Episodes cut off at random lengths, so that environments side by side do not all end at once.

    The first episode of each has a length from 1 to max_horizon; later ones, with probability `prob`, one from
    min_horizon to max_horizon, else max_horizon. It reads the count of a StepCounter before it.
    """

    def __init__(
        self,
        min_horizon: int,
        max_horizon: int,
        prob: float = 0.0,
        first_episode_prob: float | None = None,
        *,
        step_count_key: Key = "step_count",
        truncated_key: Key = "truncated",
        done_key: Key = "done",
    ) -> None:
        super().__init__([step_count_key], [step_count_key])
        if not 1 <= min_horizon <= max_horizon:
            raise errors.OptionError(
                f"RandomTruncationTransform: from {min_horizon} to {max_horizon} is no range of lengths; "
                "1 <= min_horizon <= max_horizon would do"
            )
        self.min_horizon, self.max_horizon, self.prob = min_horizon, max_horizon, prob
        self.first_episode_prob = prob if first_episode_prob is None else first_episode_prob
        self.truncated_key, self.done_key = truncated_key, done_key
        self._horizon: Tensor | None = None
        self._episode: Tensor | None = None

    def _drawn(self, count: Tensor) -> Tensor:
        """A length for each environment that begins an episode."""
        low, high = self.min_horizon, self.max_horizon
        if self._episode is None:
            self._episode = torch.zeros_like(count)
            return torch.randint(1, high + 1, count.shape, device=count.device)
        chance = torch.where(self._episode == 1, self.first_episode_prob, self.prob)
        short = torch.rand(count.shape, device=count.device) < chance
        lengths = torch.randint(low, high + 1, count.shape, device=count.device)
        return torch.where(short, lengths, torch.full_like(lengths, high))

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        count = read(tensordict_reset, self._reads[0])
        mask = reset_mask(tensordict, self._reads[0], tensordict_reset)
        rows = torch.ones_like(count, dtype=torch.bool) if mask is None else over(mask, count)
        fresh = self._drawn(count)
        self._horizon = fresh if self._horizon is None else torch.where(rows, fresh, self._horizon)
        self._episode = self._episode + rows  # type: ignore[operator]  # Set when the first was drawn.
        if read(tensordict_reset, self.truncated_key) is None:
            write(tensordict_reset, self.truncated_key, torch.zeros_like(read(tensordict_reset, self.done_key)))
        return tensordict_reset

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        count = read(next_tensordict, self._reads[0])
        if self._horizon is None:
            self._horizon = torch.full_like(count, self.max_horizon)
        ended = count >= self._horizon
        for key in (self.truncated_key, self.done_key):
            before = read(next_tensordict, key)
            write(next_tensordict, key, ended if before is None else before | ended)
        return next_tensordict

    def transform_done_spec(self, done_spec: Any) -> Any:
        """The specs with a flag for truncation."""
        done_spec[self.truncated_key] = done_spec[self.done_key].clone()
        return done_spec


class EndOfLifeTransform(Keeps):
    """Whether a life was lost in a step, for games that have several of them; episodes go on.

    eol_attribute: where the environment has the number of lives, as an attribute or a function.
    """

    def __init__(
        self,
        eol_key: Key = "end-of-life",
        lives_key: Key = "lives",
        done_key: Key = "done",
        eol_attribute: str = "unwrapped.ale.lives",
    ) -> None:
        super().__init__([], [])
        self.eol_key, self.lives_key, self.done_key, self.eol_attribute = eol_key, lives_key, done_key, eol_attribute
        self._writes = (eol_key, lives_key)

    def _lives(self, flag: Tensor) -> Tensor:
        env = self._env("the number of lives").base_env
        try:
            found = functools.reduce(getattr, self.eol_attribute.split("."), env)
        except AttributeError as error:
            raise errors.KindError(
                f"EndOfLifeTransform: {type(env).__name__} has no {self.eol_attribute!r} ({error}); say with "
                "eol_attribute= where it has the number of lives"
            ) from error
        lives = torch.as_tensor(found() if callable(found) else found, device=flag.device)
        return lives.to(torch.int64).expand(flag.shape).clone()

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        flag = read(tensordict_reset, self.done_key)
        write(tensordict_reset, self.eol_key, torch.zeros_like(flag))
        write(tensordict_reset, self.lives_key, self._lives(flag))
        return tensordict_reset

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        flag, before = read(next_tensordict, self.done_key), read(tensordict, self.lives_key)
        lives = self._lives(flag)
        lost = flag.clone() if before is None else flag | (lives < before)
        write(next_tensordict, self.eol_key, lost)
        write(next_tensordict, self.lives_key, lives)
        return next_tensordict

    def transform_output_spec(self, output_spec: Any) -> Any:
        """The specs with the mark and the count."""
        flag, group = output_spec["full_done_spec"][self.done_key], output_spec["full_observation_spec"]
        group[self.eol_key] = flag.clone()
        group[self.lives_key] = Unbounded(flag.shape, device=flag.device, dtype=torch.int64)
        return output_spec

    def _settle(self, layout: Layout) -> None:
        super()._settle(layout)
        layout.check_reads(type(self).__name__, [self.done_key])
