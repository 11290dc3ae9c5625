"""Environments for the tests of processes, where they can be imported by name."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import torch

from tensorclass import TensorDict
from tensorclass.envs import Composite, GymEnv, NonTensor, RewardSum, StepCounter, TransformedEnv, Unbounded
from tests.envs.worlds import Counter


class Trouble(Counter):
    """Gets into trouble when the action says so: 1 raises, 2 raises something odd, 3 dies, 4 leaves, -4 takes long."""

    def __init__(self, limit: Any = 100, at_start: bool = False) -> None:
        super().__init__(limit)
        if at_start:
            raise ValueError("no such thing as this environment")

    def _step(self, tensordict: Any) -> Any:
        trouble = round(4 * tensordict["action"].item())
        if trouble == 1:
            raise KeyError("a step too far")
        if trouble == 2:
            raise Odd(threading.Lock(), 2)
        if trouble == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if trouble == 4:
            os._exit(7)
        if trouble == -4:
            time.sleep(60)
        return super()._step(tensordict)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        if kwargs.get("raises"):
            raise OSError(2, "no such file")
        return super()._reset(tensordict)

    def identity(self) -> int:
        """The process that it is in."""
        return os.getpid()

    def add(self, one: int, other: int = 0) -> int:
        return one + other


class Odd(Exception):
    """Cannot be sent to another process."""

    def __init__(self, lock: Any, number: int) -> None:
        super().__init__(lock, number)


class Talker(Counter):
    """Says a word at each step, and a number that its specs do not tell of."""

    def __init__(self) -> None:
        super().__init__(3)
        self.observation_spec = Composite(observation=Unbounded((1,)), word=NonTensor(()))

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return super()._reset(tensordict).set("word", "start")

    def _step(self, tensordict: Any) -> Any:
        out = super()._step(tensordict)
        return out.set("word", f"step {int(self.count)}").set("more", 2 * self.count)


class Careless(Counter):
    """Gives doubles, and after three steps a reward without its last dim."""

    def _step(self, tensordict: Any) -> Any:
        out = super()._step(tensordict)
        out["observation"] = out["observation"].double()
        return out.set("reward", torch.ones(())) if self.count == 4 else out


class Hidden(Counter):
    """Has a state among its entries, which a step reads."""

    def __init__(self) -> None:
        super().__init__(4)
        self.state_spec = Composite(hidden=Unbounded((2,)))

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return super()._reset(tensordict).set("hidden", torch.zeros(2))

    def _step(self, tensordict: Any) -> Any:
        return super()._step(tensordict).set("hidden", tensordict["hidden"] + 1)


class Slow(Counter):
    """Takes a millisecond for a step."""

    def _step(self, tensordict: Any) -> Any:
        time.sleep(0.001)
        return super()._step(tensordict)


class Sampler(Counter):
    """Draws from torch's own generator."""

    def _step(self, tensordict: Any) -> TensorDict:
        out: TensorDict = super()._step(tensordict)
        return out.set("observation", torch.rand(1))


def transformed(limit: float = 3) -> Any:
    return TransformedEnv(Counter(limit), StepCounter(5)).append_transform(RewardSum())


def cart_pole() -> GymEnv:
    return GymEnv("CartPole-v1", categorical_action_encoding=True)
