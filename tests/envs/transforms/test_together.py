"""A random rollout of gymnasium is transformed as a whole where that gives what step by step gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tensorclass.envs import (
    CatFrames,
    CatTensors,
    Compose,
    ExcludeTransform,
    GymEnv,
    InitTracker,
    ObservationNorm,
    RenameTransform,
    RewardScaling,
    RewardSum,
    SelectTransform,
    StepCounter,
    TransformedEnv,
    UnsqueezeTransform,
)

CHAINS: dict[str, Callable[[], Any]] = {
    "none": lambda: Compose(),
    "rounding": lambda: Compose(RewardScaling(0.1, 0.7), RewardSum()),
    "counters": lambda: Compose(RewardScaling(0.5, 2.0), StepCounter(), RewardSum(), InitTracker()),
    "limit": lambda: Compose(StepCounter(5), RewardSum()),
    "norm": lambda: ObservationNorm(1.0, 2.0, in_keys=["observation"]),
    "keys": lambda: Compose(
        RewardSum(),
        RenameTransform(["observation", "reward"], [("agent", "seen"), ("agent", "reward")]),
        ExcludeTransform("episode_reward"),
    ),
    "select": lambda: Compose(StepCounter(), SelectTransform("observation")),
    "cat": lambda: Compose(RewardSum(), CatTensors(["observation", "episode_reward"], "vector", del_keys=False)),
    "shape": lambda: UnsqueezeTransform(-1, in_keys=["observation"]),
    "frames": lambda: CatFrames(2, -1, ["observation"]),
    "function": lambda: Compose(lambda td: td.set("observation", td["observation"] * 2)),
}


@pytest.mark.parametrize("options", [{}, {"break_when_any_done": False}], ids=["stops", "goes_on"])
@pytest.mark.parametrize("name", CHAINS)
def test_a_rollout_is_the_same_as_a_whole_and_step_by_step(name: str, options: Any) -> None:
    quick, slow = [TransformedEnv(GymEnv("CartPole-v1"), CHAINS[name]()) for _ in range(2)]
    quick.set_seed(3)
    whole = quick.rollout(60, **options)
    actions = iter(whole["action"].unbind(0))
    slow.set_seed(3)
    steps = slow.rollout(len(whole), lambda td: td.set("action", next(actions)), **options)

    assert set(whole.keys(True, True)) == set(steps.keys(True, True))
    for key in whole.keys(True, True):
        assert torch.equal(whole.get(key), steps.get(key)), key
    quick.close()
    slow.close()


def test_a_rollout_goes_on_after_one_as_a_whole() -> None:
    env = TransformedEnv(GymEnv("CartPole-v1"), Compose(StepCounter(), RewardSum()))
    env.set_seed(0)
    first = env.rollout(4)
    second = env.rollout(3, auto_reset=False, tensordict=env.step_mdp(first[-1]))

    assert second["step_count"].flatten().tolist() == [4, 5, 6]
    assert second["episode_reward"].flatten().tolist() == [4, 5, 6]
    env.close()
