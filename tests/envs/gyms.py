"""Environments of gymnasium that the tests wrap."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Echo(gymnasium.Env[Any, Any]):
    """Shows samples of any space, and notes the actions that it gets; the last step of an episode is the length-th."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 1}

    def __init__(
        self,
        seen: spaces.Space[Any],
        done: spaces.Space[Any] | None = None,
        length: int = 3,
        render_mode: str | None = None,
    ) -> None:
        self.observation_space = copy.deepcopy(seen)
        self.action_space = spaces.Discrete(2) if done is None else copy.deepcopy(done)
        self.length, self.count, self.render_mode = length, 0, render_mode
        self.actions: list[Any] = []
        self.options: list[Any] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.count = 0
        self.options.append(options)
        return self.observation_space.sample(), {"count": 0}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        self.actions.append(copy.deepcopy(action))
        self.count += 1
        over = self.count == self.length
        seen = self.observation_space.sample()
        return seen, self.count / 3, over, False, {"count": self.count, "pair": np.array([1.0, self.count])}

    def render(self) -> Any:
        return np.full((4, 6, 3), self.count, np.uint8)


class Reused(gymnasium.Env[Any, Any]):
    """Gives the same array at every step, and writes to it."""

    observation_space: spaces.Space[Any] = spaces.Box(-10, 10, (2,))
    action_space: spaces.Space[Any] = spaces.Box(-1, 1, (2,))

    def __init__(self) -> None:
        self.state = np.zeros(2, np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.state[:] = 0
        return self.state, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.state += 1
        action *= 0  # What belongs to the caller should not change.
        return self.state, 1.0, False, False, {}


class Clock(gymnasium.Env[Any, Any]):
    """Counts steps from 100 times the number of the episode; terminated, or truncated, at the length-th."""

    observation_space: spaces.Space[Any] = spaces.Box(0, 10_000, (1,))
    action_space: spaces.Space[Any] = spaces.Discrete(2)

    def __init__(self, length: int = 3, truncates: bool = False) -> None:
        self.length, self.truncates, self.episode, self.count = length, truncates, 0, 0

    def _seen(self) -> Any:
        return np.array([100 * self.episode + self.count], np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.episode, self.count = self.episode + 1, 0
        return self._seen(), {"count": self.count, "episode": self.episode}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        over = self.count >= self.length
        return (
            self._seen(),
            float(self.count),
            over and not self.truncates,
            over and self.truncates,
            {"count": self.count},
        )
