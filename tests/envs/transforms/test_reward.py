"""Rewards scaled, clipped, or reduced to a sign; entries clipped; dtypes and devices cast."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    BinarizeReward,
    Binary,
    Bounded,
    ClipTransform,
    Compose,
    DeviceCastTransform,
    DoubleToFloat,
    DTypeCastTransform,
    PinMemoryTransform,
    RewardClipping,
    RewardScaling,
    SignTransform,
    TransformedEnv,
    Unbounded,
    check_env_specs,
)
from tests.envs.transforms.worlds import Pictures, Signed, Whole
from tests.envs.worlds import Agents, Counter


def rewards(env: Any, steps: int = 3) -> list[float]:
    return env.rollout(steps)["next", "reward"].flatten().tolist()  # type: ignore[no-any-return]  # Numbers.


# ---- scaled ---------------------------------------------------------------------------------------------------------


def test_scaling_multiplies_and_adds() -> None:
    assert rewards(TransformedEnv(Counter(), RewardScaling(loc=0.5, scale=2.0))) == [2.5, 2.5, 2.5]


def test_scaling_of_a_standard_normal_subtracts_and_divides() -> None:
    assert rewards(TransformedEnv(Counter(), RewardScaling(loc=0.5, scale=2.0, standard_normal=True))) == [0.25] * 3


def test_scaling_moves_bounds_and_turns_them_round() -> None:
    env = TransformedEnv(Counter(), Compose(RewardClipping(-1.0, 3.0), RewardScaling(1.0, -2.0)))

    assert env.reward_spec == Bounded(-5.0, 3.0, (1,))
    assert rewards(env) == [-1.0] * 3
    check_env_specs(env)


def test_scaling_under_another_key_adds_a_reward() -> None:
    env = TransformedEnv(Counter(), RewardScaling(0.0, 2.0, in_keys=["reward"], out_keys=["twice"]))

    assert env.reward_keys == ["reward", "twice"]
    assert env.rollout(1)["next", "twice"].item() == 2
    check_env_specs(env)


def test_scaling_finds_rewards_in_nested_containers() -> None:
    env = TransformedEnv(Agents(), RewardScaling(100.0, 0.0))

    assert (env.rollout(1)["next", "agents", "reward"] == 100).all()
    check_env_specs(env)


def test_scaling_keeps_gradients() -> None:
    reward = torch.ones(1, requires_grad=True)
    RewardScaling(0.0, 3.0)(reward=reward).sum().backward()

    assert reward.grad is not None and reward.grad.item() == 3


# ---- clipped --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high", "wanted"), [(-1.5, None, -1.5), (None, -3.0, -3.0), (-1.0, 1.0, -1.0)])
def test_clipping_on_one_side_or_both(low: Any, high: Any, wanted: float) -> None:
    env = TransformedEnv(Signed(), RewardClipping(low, high))

    assert rewards(env, 1) == [wanted]
    check_env_specs(env)


def test_clipping_narrows_the_spec() -> None:
    env = TransformedEnv(Counter(), RewardClipping(None, 1.0))

    assert env.reward_spec.high.item() == 1 and env.reward_spec.low.item() < -1e30
    assert TransformedEnv(Counter(), RewardClipping(-1.0, 1.0)).reward_spec == Bounded(-1.0, 1.0, (1,))
    with pytest.raises(ValueError, match="RewardClipping: give clamp_min, clamp_max or both"):
        RewardClipping()


def test_the_sign_of_a_reward() -> None:
    env = TransformedEnv(Signed(), SignTransform())

    assert rewards(env) == [-1, -1, -1] and env.reward_spec == Bounded(-1, 1, (1,), dtype=torch.float32)
    check_env_specs(env)


def test_a_binary_reward() -> None:
    env = TransformedEnv(Counter(), BinarizeReward())

    assert rewards(env) == [1, 1, 1] and isinstance(env.reward_spec, Binary)
    assert BinarizeReward()(reward=torch.tensor([-1.0, 0.0, 0.5])).tolist() == [0, 0, 1]
    check_env_specs(env)


def test_clip_of_observations_and_rewards() -> None:
    env = TransformedEnv(Counter(), ClipTransform(in_keys=["observation", "reward"], low=-1.0, high=0.5))

    assert env.rollout(3)["next", "observation"].flatten().tolist() == [0.5] * 3 and rewards(env) == [0.5] * 3
    assert env.observation_spec["observation"] == Bounded(-1.0, 0.5, (1,))
    check_env_specs(env)


def test_clip_of_an_action_on_its_way_in() -> None:
    base = Pictures()
    env = TransformedEnv(base, ClipTransform([], [], ["action"], low=-0.5, high=0.5))
    env.step(env.reset().set("action", torch.tensor([-2.0, 2.0])))

    assert base.taken[0].tolist() == [-0.5, 0.5]


def test_clip_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match="give low, high or both"):
        ClipTransform(["a"])
    with pytest.raises(ValueError, match=r"low \(2.0\) is above high \(1.0\)"):
        ClipTransform(["a"], low=2.0, high=1.0)


# ---- cast -----------------------------------------------------------------------------------------------------------


def test_double_to_float_casts_every_double_observation() -> None:
    env = TransformedEnv(Pictures(), DoubleToFloat())
    td = env.rollout(2)

    assert td["vec"].dtype is td["next", "vec"].dtype is torch.float32 and td["pixels"].dtype is torch.uint8
    assert env.observation_spec["vec"].dtype is torch.float32
    check_env_specs(env)


class DoubleAction(Pictures):
    """An environment that takes float64."""

    def __init__(self) -> None:
        super().__init__()
        self.action_spec = Bounded(-2.0, 2.0, (2,), dtype=torch.float64)


def test_an_action_is_cast_up_where_it_is_named() -> None:
    base = DoubleAction()
    env = TransformedEnv(base, DoubleToFloat(in_keys_inv=["action"]))

    assert env.action_spec.dtype is torch.float32
    assert env.rollout(1)["action"].dtype is torch.float32 and base.taken[0].dtype is torch.float64
    assert TransformedEnv(DoubleAction(), DoubleToFloat()).action_spec.dtype is torch.float64
    check_env_specs(env)


def test_cast_under_another_key() -> None:
    env = TransformedEnv(Whole(), DTypeCastTransform(torch.int64, torch.float32, ["observation"], ["number"]))

    assert env.rollout(2)["number"].dtype is torch.float32 and env.rollout(2)["observation"].dtype is torch.int64
    check_env_specs(env)


def test_everything_on_a_device() -> None:
    env = TransformedEnv(Counter(), DeviceCastTransform("cpu"))

    assert env.rollout(2).device == env.device == torch.device("cpu")
    assert env.observation_spec.device == torch.device("cpu")
    check_env_specs(env)


@pytest.mark.skipif(torch.accelerator.is_available(), reason="the error of a machine without an accelerator")
def test_pinned_memory_needs_an_accelerator() -> None:
    env = TransformedEnv(Counter(), PinMemoryTransform())

    with pytest.raises(RuntimeError, match="no accelerator to pin memory for"):
        env.reset()


def test_scaling_of_whole_numbers_gives_floats() -> None:
    class Points(Counter):
        def __init__(self) -> None:
            super().__init__()
            self.reward_spec = Unbounded((1,), dtype=torch.int64)

        def _step(self, tensordict: Any) -> TensorDict:
            out: TensorDict = super()._step(tensordict)
            return out.set("reward", out["reward"].long())

    env = TransformedEnv(Points(), RewardScaling(0.0, 0.5))

    assert rewards(env) == [0.5] * 3 and env.reward_spec.dtype is torch.float32
    check_env_specs(env)
