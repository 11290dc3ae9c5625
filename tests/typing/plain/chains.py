"""Chains of transforms, folded by any type checker: what comes out, and what is refused.

Each `type: ignore` stands at a line that a checker refuses; one that is not needed is an error itself.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from typing_extensions import assert_type

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    ActionDiscretizer,
    CatTensors,
    Compose,
    Discrete,
    DoubleToFloat,
    EnvBase,
    InitTracker,
    MapObs,
    ObservationNorm,
    RenameTransform,
    RewardScaling,
    RewardSum,
    StepCounter,
    Transform,
    TransformedEnv,
    Transition,
)


class Pose(TensorClass):
    angle: Tensor
    speed: Tensor


class Torque(TensorClass):
    u: Tensor


class Vec(TensorClass):
    vector: Tensor


class Pendulum(EnvBase[Pose, Torque]):
    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return TensorDict({"angle": torch.zeros(1), "speed": torch.zeros(1)}, [])


class Untyped(EnvBase):
    pass


def to_vec(pose: Pose) -> Vec:
    return Vec(vector=torch.cat([pose.angle, pose.speed], -1), batch_size=pose.batch_size)


def to_pose(vec: Vec) -> Pose:
    return Pose(angle=vec.vector[..., :1], speed=vec.vector[..., 1:], batch_size=vec.batch_size)


def add_1(data: TensorDict) -> TensorDict:
    return data.set("angle", data["angle"] + 1)


def train(env: EnvBase[Vec, Torque]) -> None: ...


# ---- what comes out -------------------------------------------------------------------------------------------------


def single() -> None:
    assert_type(TransformedEnv(Pendulum()), TransformedEnv[Pose, Torque])
    assert_type(TransformedEnv(Pendulum(), None), TransformedEnv[Pose, Torque])
    assert_type(TransformedEnv(Pendulum(), StepCounter(200)), TransformedEnv[Pose, Torque])
    assert_type(TransformedEnv(base_env=Pendulum(), transform=RewardSum()), TransformedEnv[Pose, Torque])
    assert_type(TransformedEnv(Pendulum(), CatTensors(["angle", "speed"], obs=Vec)), TransformedEnv[Vec, Torque])
    assert_type(TransformedEnv(Pendulum(), ActionDiscretizer(5)), TransformedEnv[Pose, Discrete])
    assert_type(TransformedEnv(Pendulum(), MapObs(to_vec)), TransformedEnv[Vec, Torque])
    assert_type(TransformedEnv(Pendulum(), add_1), TransformedEnv[Pose, Torque])
    assert_type(TransformedEnv(Pendulum(), lambda td: td), TransformedEnv[Pose, Torque])


def chains() -> None:
    two = Compose(StepCounter(), CatTensors(["angle", "speed"], obs=Vec))
    assert_type(TransformedEnv(Pendulum(), two), TransformedEnv[Vec, Torque])
    norm = ObservationNorm(0.0, 1.0, in_keys=["angle"])
    assert_type(
        TransformedEnv(
            Pendulum(), Compose(norm, CatTensors(["angle", "speed"], obs=Vec), ActionDiscretizer(5), StepCounter(200))
        ),
        TransformedEnv[Vec, Discrete],
    )
    assert_type(
        TransformedEnv(Pendulum(), Compose(RewardScaling(0.0, 1.0), MapObs(to_vec), MapObs(to_pose), MapObs(to_vec))),
        TransformedEnv[Vec, Torque],
    )
    keeping = Compose(RewardScaling(0.0, 1.0), StepCounter(), RewardSum(), InitTracker(), DoubleToFloat())
    assert_type(TransformedEnv(Pendulum(), keeping), TransformedEnv[Pose, Torque])
    assert_type(
        TransformedEnv(TransformedEnv(Pendulum(), MapObs(to_vec)), MapObs(to_pose)), TransformedEnv[Pose, Torque]
    )


def appended() -> None:
    assert_type(Pendulum().append_transform(StepCounter()), TransformedEnv[Pose, Torque])
    assert_type(Pendulum().append_transform(MapObs(to_vec)), TransformedEnv[Vec, Torque])
    assert_type(Pendulum().map_obs(to_vec), TransformedEnv[Vec, Torque])
    assert_type(Pendulum().map_obs(to_vec).append_transform(RewardSum()).map_obs(to_pose), TransformedEnv[Pose, Torque])


def rolled_out() -> None:
    env = TransformedEnv(Pendulum(), Compose(MapObs(to_vec), StepCounter()))
    steps = env.rollout(100)
    assert_type(steps, Transition[Vec, Torque])
    assert_type(steps.obs.vector, Tensor)
    assert_type(steps.next.obs, Vec)
    assert_type(steps.next.step_count, Tensor)
    assert_type(steps.action.u, Tensor)
    train(env)


# ---- where nobody names a class, it is Any and all is allowed -----------------------------------------------------------


class Mine(Transform):
    pass


def unknown() -> None:
    assert_type(TransformedEnv(Untyped(), Compose(StepCounter(), RewardSum())), TransformedEnv[Any, Any])
    assert_type(TransformedEnv(Pendulum(), Mine()), TransformedEnv[Any, Any])
    assert_type(TransformedEnv(Pendulum(), RenameTransform(["angle"], ["a"])), TransformedEnv[Any, Any])
    assert_type(TransformedEnv(Pendulum(), Compose([StepCounter(), RewardSum()])), TransformedEnv[Any, Any])
    assert_type(TransformedEnv(Pendulum(), Compose(StepCounter(), add_1)), TransformedEnv[Any, Any])
    train(TransformedEnv(Pendulum(), Compose(Mine(), StepCounter())))
    train(TransformedEnv(Pendulum(), Compose(CatTensors(["angle", "speed"]), StepCounter())))
    train(TransformedEnv(Pendulum(), Compose(Compose(MapObs(to_vec), StepCounter()), RewardSum())))
    some: Compose = Compose(StepCounter(), RewardSum())
    TransformedEnv(Pendulum(), some)


# ---- what is refused ------------------------------------------------------------------------------------------------


def refused() -> None:
    TransformedEnv(Pendulum(), MapObs(to_pose))  # type: ignore[misc]
    TransformedEnv(Pendulum(), Compose(StepCounter(), MapObs(to_pose)))  # type: ignore[arg-type]
    TransformedEnv(Pendulum(), Compose(MapObs(to_vec), StepCounter(), MapObs(to_vec)))  # type: ignore[arg-type]
    TransformedEnv(Pendulum(), Compose(MapObs(to_vec), MapObs(to_pose), MapObs(to_pose)))  # type: ignore[arg-type]
    Pendulum().append_transform(MapObs(to_pose))  # type: ignore[arg-type]
    Pendulum().map_obs(to_pose)  # type: ignore[arg-type]
    train(TransformedEnv(Pendulum(), StepCounter()))  # type: ignore[misc]
    train(TransformedEnv(Pendulum(), ActionDiscretizer(5)))  # type: ignore[arg-type]
    TransformedEnv(Pendulum(), MapObs(to_vec)).rollout(9).obs.angle  # type: ignore[attr-defined]
    TransformedEnv(Pendulum(), 3)  # type: ignore[call-overload]
