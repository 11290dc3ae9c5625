"""Classes of a chain: MapObs, and what the transforms do to observation and action."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor
from typing_extensions import assert_type

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    ActionDiscretizer,
    CatTensors,
    Compose,
    Discrete,
    MapObs,
    ObservationNorm,
    RewardSum,
    StepCounter,
    Transform,
    TransformedEnv,
    Unbounded,
    check_env_specs,
)
from tests.envs.transforms.worlds import Pendulum, Pose, Torque, Vec
from tests.envs.worlds import Counter


def to_vec(pose: Pose) -> Vec:
    return Vec(vector=torch.cat([pose.angle, pose.speed], -1), batch_size=pose.batch_size)


A = TypeVar("A")


class Moving(Pose):
    """With one more field."""

    rate: Tensor


class Rate(Transform):
    """Says what comes out of it."""

    def __maps__(self, obs: Pose, action: A, /) -> tuple[Moving, A]:
        raise NotImplementedError

    def _call(self, next_tensordict: Any) -> Any:
        return next_tensordict.set("rate", torch.zeros_like(next_tensordict["angle"]))

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        observation_spec["rate"] = Unbounded(observation_spec["angle"].shape)
        return observation_spec


class Numbers(TensorClass):
    """Another class."""

    count: Tensor


def test_map_obs_goes_from_class_to_class() -> None:
    env = TransformedEnv(Pendulum((2,)), Compose(MapObs(to_vec), StepCounter()))
    steps = env.rollout(3)

    assert isinstance(steps.obs, Vec) and steps.obs.vector.shape == (2, 3, 2)
    assert steps["vector"].shape == (2, 3, 2) and "angle" not in steps.keys()
    assert isinstance(steps.next.obs, Vec) and isinstance(steps.action, Torque)
    assert steps.next.step_count.shape == (2, 3, 1)
    check_env_specs(env)


def test_map_obs_is_a_method_too() -> None:
    env = Pendulum().map_obs(to_vec)

    assert isinstance(env.reset().obs, Vec)
    assert isinstance(TransformedEnv(Pendulum(), StepCounter()).map_obs(to_vec).rollout(2).obs, Vec)


def test_map_obs_of_an_environment_without_classes_takes_a_tensordict() -> None:
    def twice(obs: TensorDict) -> Numbers:
        return Numbers(count=obs["observation"] * 2, batch_size=obs.batch_size)

    env = TransformedEnv(Counter(), MapObs(twice))

    assert env.rollout(3).obs.count.flatten().tolist() == [0, 2, 4]
    assert env.observation_spec["count"] == Unbounded((1,))
    check_env_specs(env)


def test_map_obs_at_each_reset_of_some_rows() -> None:
    limit = torch.tensor([[2], [3]])
    env = TransformedEnv(
        Counter(limit, batch_size=(2,)),
        MapObs(lambda obs: TensorDict(count=obs["observation"] * 2, batch_size=obs.batch_size)),
    )
    td = env.rollout(5, break_when_any_done=False)

    assert td["count"].squeeze(-1).tolist() == [[0, 2, 0, 2, 0], [0, 2, 4, 0, 2]]


def test_map_obs_names_the_function_that_gives_no_container() -> None:
    def angle(pose: Pose) -> Tensor:
        return pose.angle

    with pytest.raises(TypeError, match=r"MapObs: angle returned a tensor of shape \[1\]; a container would do"):
        TransformedEnv(Pendulum(), MapObs(angle))


def test_transforms_that_keep_the_classes() -> None:
    norm = ObservationNorm(0.0, 2.0, in_keys=["speed"])
    steps = TransformedEnv(Pendulum(), Compose(norm, StepCounter(), RewardSum())).rollout(2)

    assert isinstance(steps.obs, Pose) and isinstance(steps.action, Torque)
    assert steps.obs.speed.shape == (2, 1)


def test_an_action_in_intervals_is_discrete() -> None:
    chain = Compose(CatTensors(["angle", "speed"], obs=Vec), ActionDiscretizer(5), StepCounter(200))
    steps = TransformedEnv(Pendulum(), chain).rollout(3)

    assert isinstance(steps.obs, Vec) and isinstance(steps.action, Discrete)
    assert steps.action.action.dtype is torch.int64


def test_the_class_is_any_where_nobody_names_one() -> None:
    steps = TransformedEnv(Pendulum(), CatTensors(["angle", "speed"], "vector")).rollout(2)

    with pytest.raises(AttributeError, match="no class is declared for .obs"):
        _ = steps.obs


def test_a_transform_that_leaves_the_specs_as_they_are_leaves_the_classes() -> None:
    class Doubled(Transform):
        def _apply_transform(self, reward: Tensor) -> Tensor:
            return reward * 2

    steps = TransformedEnv(Pendulum((2,)), Compose(Doubled(in_keys=["reward"]), StepCounter())).rollout(3)

    assert isinstance(steps.obs, Pose) and isinstance(steps.action, Torque)
    assert steps.obs.batch_size == (2, 3)


def test_a_class_with_other_fields_is_refused() -> None:
    class Two(TensorClass):
        vector: Tensor
        more: Tensor

    with pytest.raises(ValueError, match="CatTensors: Two has 2 fields .* say with out_key which of them"):
        CatTensors(["angle", "speed"], obs=Two)
    with pytest.raises(KeyError, match="CatTensors: Two has a field 'more', which the observation after it lacks"):
        TransformedEnv(Pendulum(), CatTensors(["angle", "speed"], "vector", obs=Two))


def test_a_misspelt_field_is_named_with_its_class() -> None:
    with pytest.raises(KeyError) as error:
        TransformedEnv(Pendulum(), ObservationNorm(0.0, 1.0, in_keys=["angel"]))  # type: ignore[tensorclass-key]
    assert str(error.value) == (
        "ObservationNorm: Pose has no field 'angel'; did you mean 'angle'? Its fields are 'angle', 'speed'"
    )


def test_map_obs_of_the_wrong_class_is_refused() -> None:
    def from_vec(vec: Vec) -> Pose:
        return Pose(angle=vec.vector[..., :1], speed=vec.vector[..., 1:], batch_size=vec.batch_size)

    with pytest.raises(TypeError) as error:
        TransformedEnv(Pendulum(), MapObs(from_vec))  # type: ignore[tensorclass-module]
    assert str(error.value) == "MapObs: from_vec takes Vec; the observation is Pose here"


def test_a_transform_of_the_users_own_names_its_classes() -> None:
    env = TransformedEnv(Pendulum((2,)), Rate())
    steps = env.rollout(3)

    assert_type(steps.obs, Moving)
    assert_type(steps.action, Torque)
    assert isinstance(steps.next.obs, Moving) and steps.obs.rate.shape == (2, 3, 1)
    assert isinstance(steps.action, Torque)
    check_env_specs(env)


def test_a_transform_of_the_users_own_is_for_its_classes() -> None:
    with pytest.raises(TypeError) as error:
        TransformedEnv(Pendulum(), Compose(MapObs(to_vec), Rate()))  # type: ignore[arg-type]
    assert str(error.value) == "Rate: __maps__ takes Pose; the observation is Vec here"
