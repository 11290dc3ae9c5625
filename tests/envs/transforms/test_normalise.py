"""ObservationNorm and VecNorm: given, measured and running statistics."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    Bounded,
    Compose,
    DoubleToFloat,
    GymEnv,
    ObservationNorm,
    RewardSum,
    SerialEnv,
    StepCounter,
    ToTensorImage,
    TransformedEnv,
    VecNorm,
    VecNormV2,
    check_env_specs,
)
from tests.envs.transforms.worlds import Pendulum, Pictures, Whole
from tests.envs.worlds import Counter

# ---- ObservationNorm: the numbers -----------------------------------------------------------------------------------


def test_scale_and_loc_are_applied() -> None:
    assert ObservationNorm(1.0, 2.0, in_keys=["a"])(a=torch.tensor([3.0])).item() == 7
    assert ObservationNorm(1.0, 2.0, in_keys=["a"], standard_normal=True)(a=torch.tensor([3.0])).item() == 1


def test_out_keys_keep_what_was_read() -> None:
    env = TransformedEnv(Counter(), ObservationNorm(1.0, 2.0, in_keys=["observation"], out_keys=["normal"]))

    assert env.rollout(2)["normal"].flatten().tolist() == [1, 3]
    assert env.rollout(2)["observation"].flatten().tolist() == [0, 1]
    check_env_specs(env)


def test_a_bounded_observation_stays_bounded() -> None:
    env = TransformedEnv(Pendulum(), ObservationNorm(1.0, 0.5, in_keys=["speed"]))

    assert env.observation_spec["speed"] == Bounded(-3.0, 5.0, (1,))
    check_env_specs(env)


def test_a_negative_scale_is_refused_and_a_small_one_raised() -> None:
    with pytest.raises(ValueError, match="ObservationNorm: scale is -2 somewhere; a scale is positive"):
        ObservationNorm(0.0, torch.tensor([1.0, -2.0]), in_keys=["a"])
    norm = ObservationNorm(0.0, 0.0, in_keys=["a"], eps=1e-3)

    assert norm.scale is not None and norm.scale.item() == pytest.approx(1e-3)


def test_in_keys_and_both_numbers_must_be_said() -> None:
    with pytest.raises(RuntimeError, match="ObservationNorm: give in_keys"):
        ObservationNorm(0.0, 1.0)
    with pytest.raises(ValueError, match="ObservationNorm: there is no scale; give both, or neither"):
        ObservationNorm(0.0, in_keys=["a"])


def test_an_action_goes_the_other_way() -> None:
    base = Pictures()
    norm = ObservationNorm(1.0, 2.0, in_keys=[], in_keys_inv=["action"])
    env = TransformedEnv(base, norm)
    env.step(env.reset().set("action", torch.tensor([3.0, 1.0])))

    assert base.taken[0].tolist() == [1, 0]


# ---- ObservationNorm: measured --------------------------------------------------------------------------------------


def normal(values: torch.Tensor, dims: Any = 0) -> None:
    assert torch.allclose(values.mean(dims), torch.zeros(()), atol=1e-5)
    assert torch.allclose(values.std(dims), torch.ones(()), atol=1e-5)


@pytest.mark.parametrize("standard_normal", [False, True])
@pytest.mark.parametrize("options", [{}, {"reduce_dim": 0, "cat_dim": 0}])
def test_init_stats_gives_mean_0_and_std_1(standard_normal: bool, options: Any) -> None:
    env = TransformedEnv(Counter(limit=999), ObservationNorm(in_keys=["observation"], standard_normal=standard_normal))
    env.transform.init_stats(100, **options)

    assert env.transform.loc.shape == (1,)
    normal(env.rollout(100)["observation"])


def test_init_stats_of_integers() -> None:
    env = TransformedEnv(Whole(limit=999), ObservationNorm(in_keys=["observation"]))
    env.transform.init_stats(50)

    normal(env.rollout(50)["observation"])
    assert env.observation_spec["observation"].dtype is torch.float32
    check_env_specs(env)


def test_init_stats_goes_on_over_the_end_of_episodes() -> None:
    env = TransformedEnv(Counter(limit=4), ObservationNorm(in_keys=["observation"], standard_normal=True))
    env.transform.init_stats(8)

    assert env.transform.loc.item() == 1.5  # 0 1 2 3 0 1 2 3


def test_init_stats_of_a_batch_averages_over_batch_and_time() -> None:
    env = TransformedEnv(Counter(limit=999, batch_size=(3,)), ObservationNorm(in_keys=["observation"]))
    env.transform.init_stats(90)

    assert env.transform.loc.shape == (1,)
    normal(env.rollout(30)["observation"], (0, 1))


def test_init_stats_of_pictures() -> None:
    env = TransformedEnv(
        Pictures(), Compose(ToTensorImage(), ObservationNorm(in_keys=["pixels"], standard_normal=True))
    )
    env.transform[1].init_stats(20, reduce_dim=(0, 2, 3), keep_dims=(2, 3), cat_dim=0)
    assert env.transform[1].loc.shape == (3, 1, 1)
    check_env_specs(env)

    each = TransformedEnv(Pictures(), Compose(ToTensorImage(), ObservationNorm(in_keys=["pixels"])))
    each.transform[1].init_stats(20)
    assert each.transform[1].loc.shape == (3, 6, 8)


def test_init_stats_of_one_of_several_keys() -> None:
    env = TransformedEnv(Pendulum(), ObservationNorm(in_keys=["angle", "speed"]))
    with pytest.raises(RuntimeError, match="init_stats: in_keys are 'angle', 'speed'; say with key= which one"):
        env.transform.init_stats(5)
    env.transform.init_stats(5, key="angle")

    assert env.transform.initialized


def test_init_stats_is_for_a_norm_without_numbers_in_an_environment() -> None:
    with pytest.raises(RuntimeError, match="has loc and scale already"):
        TransformedEnv(Counter(), ObservationNorm(0.0, 1.0, in_keys=["observation"])).transform.init_stats(5)
    with pytest.raises(RuntimeError, match="ObservationNorm: init_stats needs an environment"):
        ObservationNorm(in_keys=["observation"]).init_stats(5)
    with pytest.raises(RuntimeError, match=r"ObservationNorm has no loc and scale yet: give them, or call init_stats"):
        TransformedEnv(Counter(), ObservationNorm(in_keys=["observation"])).reset()


def test_init_stats_measures_what_the_transforms_before_give() -> None:
    double = ObservationNorm(0.0, 2.0, in_keys=["observation"])
    env = TransformedEnv(
        Counter(limit=4), Compose(double, ObservationNorm(in_keys=["observation"], standard_normal=True))
    )
    env.transform[1].init_stats(4)

    assert env.transform[1].loc.item() == 3  # 0 2 4 6


def test_the_state_of_a_measured_norm_is_loaded_into_one_that_is_not() -> None:
    env = TransformedEnv(Counter(), Compose(ObservationNorm(in_keys=["observation"])))
    env.transform[0].init_stats(10)
    other = TransformedEnv(Counter(), Compose(ObservationNorm(in_keys=["observation"])))
    loaded = other.load_state_dict(env.state_dict())

    assert not loaded.missing_keys and torch.equal(other.transform[0].loc, env.transform[0].loc)
    assert torch.equal(other.rollout(3)["observation"], env.rollout(3)["observation"])


def test_the_chain_that_everybody_writes() -> None:
    env = TransformedEnv(
        GymEnv("CartPole-v1"), Compose(ObservationNorm(in_keys=["observation"]), DoubleToFloat(), StepCounter())
    )
    env.transform[0].init_stats(num_iter=200, reduce_dim=0, cat_dim=0)
    check_env_specs(env)
    env.set_seed(0)
    td = env.rollout(50, break_when_any_done=False)

    assert td["observation"].shape == (50, 4) and td["observation"].dtype is torch.float32
    assert td["next", "step_count"].max() >= 8
    assert not list(env.parameters()) and set(env.state_dict()) == {"transforms.0.loc", "transforms.0.scale"}
    env.close()


# ---- VecNorm --------------------------------------------------------------------------------------------------------


def test_running_statistics_forget_nothing_with_a_decay_of_1() -> None:
    norm = VecNormV2(in_keys=["a"], decay=1.0)
    for value in (1.0, 2.0, 6.0):
        out = norm(a=torch.tensor([value]))

    assert norm.loc["a"].item() == pytest.approx(3.0)
    assert norm.scale["a"].item() == pytest.approx(torch.tensor([1.0, 2.0, 6.0]).std(correction=0).item())
    assert out.item() == pytest.approx((6.0 - 3.0) / norm.scale["a"].item())


def test_running_statistics_with_a_decay_are_weighted_means() -> None:
    norm = VecNormV2(in_keys=["a"], decay=0.5)
    for value in (1.0, 3.0):
        norm(a=torch.tensor([value]))

    assert norm.loc["a"].item() == pytest.approx((0.25 * 1 + 0.5 * 3) / 0.75)


def test_frozen_statistics_stay() -> None:
    env = TransformedEnv(Counter(limit=999), VecNormV2(in_keys=["observation"], decay=0.9))
    env.rollout(20)
    before = env.transform.freeze().loc["observation"].clone()
    env.rollout(20)
    assert torch.equal(env.transform.loc["observation"], before)
    env.transform.unfreeze()
    env.rollout(40)

    assert not torch.equal(env.transform.loc["observation"], before)
    check_env_specs(env)


def test_statistics_are_part_of_the_state_dict() -> None:
    env = TransformedEnv(Counter(limit=999), VecNormV2(in_keys=["observation"], decay=0.9))
    env.rollout(20)
    other = TransformedEnv(Counter(limit=999), VecNormV2(in_keys=["observation"], decay=0.9))
    other.load_state_dict(copy.deepcopy(env.state_dict()))

    assert torch.equal(other.transform.loc["observation"], env.transform.loc["observation"])
    assert "_extra_state" in env.state_dict()


def test_statistics_become_an_observation_norm() -> None:
    env = TransformedEnv(Counter(limit=999), VecNormV2(in_keys=["observation"], decay=0.9))
    env.rollout(20)
    norm = env.transform.freeze().to_observation_norm()
    value = torch.tensor([3.0])

    assert isinstance(norm, ObservationNorm)
    assert torch.allclose(norm(observation=value), env.transform(observation=value))


def test_the_older_name_is_the_same_and_has_observation_and_reward() -> None:
    assert VecNorm is VecNormV2
    env = TransformedEnv(Counter(limit=999), VecNorm())
    env.rollout(5)

    assert set(env.transform.loc.keys()) == {"observation", "reward"}


def test_rows_of_a_batch_have_their_own_statistics_or_share_them() -> None:
    own = TransformedEnv(Counter(limit=999, batch_size=(2,)), VecNormV2(["observation"]))
    shared = TransformedEnv(Counter(limit=999, batch_size=(2,)), VecNormV2(["observation"], reduce_batch_dims=True))
    own.rollout(3)
    shared.rollout(3)

    assert own.transform.loc["observation"].shape == (2, 1) and shared.transform.loc["observation"].shape == (1,)


def test_a_mask_leaves_the_statistics_of_other_rows() -> None:
    env = TransformedEnv(Counter(limit=999, batch_size=(2,)), VecNormV2(["observation"], decay=1.0))
    td = env.rollout(3)[..., -1]
    before = env.transform.loc["observation"].clone()
    env.reset(env.step_mdp(td).set("_reset", torch.tensor([[True], [False]])))

    assert env.transform.loc["observation"][1] == before[1] and env.transform.loc["observation"][0] != before[0]


def test_a_norm_around_a_batch_of_environments() -> None:
    env = TransformedEnv(SerialEnv(2, lambda: Counter(5)), Compose(RewardSum(), VecNorm(["observation"])))

    assert env.rollout(12, break_when_any_done=False).shape == (2, 12)
    check_env_specs(env)


def test_options_that_are_not_supported_are_refused() -> None:
    with pytest.raises(ValueError, match="VecNormV2: statistics shared by several transforms"):
        VecNormV2(["a"], shared_data=TensorDict())
    with pytest.raises(ValueError, match="VecNormV2: decay is 2.0"):
        VecNormV2(["a"], decay=2.0)


@pytest.mark.parametrize("chain_of", [lambda norm: norm, Compose])
def test_statistics_of_an_environment_that_is_gone_are_not_measured(chain_of: Callable[[Any], Any]) -> None:
    norm = ObservationNorm(in_keys=["observation"])
    chain = chain_of(norm)
    TransformedEnv(Counter(), chain)
    gc.collect()

    with pytest.raises(RuntimeError) as refused:
        norm.init_stats(10)
    assert str(refused.value) == (
        "ObservationNorm: init_stats needs its environment, which is no longer there; keep it in a variable"
    )
