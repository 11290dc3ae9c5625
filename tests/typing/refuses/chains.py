"""Chains of transforms: keys that the observation has not, functions for another class, what comes out used wrongly."""

from __future__ import annotations

from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    ActionDiscretizer,
    CatTensors,
    Compose,
    DoubleToFloat,
    EnvBase,
    GymEnv,
    MapObs,
    ObservationNorm,
    RewardScaling,
    RewardSum,
    StepCounter,
    TransformedEnv,
    UnsqueezeTransform,
)


class Wheel(TensorClass):
    turns: Float[Tensor, "*batch 1"]


class Pose(TensorClass):
    angle: Float[Tensor, "*batch 1"]
    speed: Float[Tensor, "*batch 1"]
    wheel: Wheel


class Torque(TensorClass):
    u: Float[Tensor, "*batch 1"]


class Vec(TensorClass):
    vector: Float[Tensor, "*batch 2"]


class Cart(EnvBase[Pose, Torque]):
    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return TensorDict(angle=torch.zeros(1), speed=torch.zeros(1), wheel=TensorDict(turns=torch.zeros(1)))


def to_vec(pose: Pose) -> Vec:
    return Vec(vector=torch.cat([pose.angle, pose.speed], -1), batch_size=pose.batch_size)


def train(env: EnvBase[Vec, Torque]) -> None: ...


WRONG: Final = "sped"


def keys() -> None:
    TransformedEnv(Cart(), ObservationNorm(0.0, 1.0, in_keys=["angel"]))  # E: ObservationNorm: Pose has no field 'angel'; did you mean 'angle'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    TransformedEnv(Cart(), Compose(StepCounter(), DoubleToFloat(in_keys=["speeed"]), RewardSum()))  # E: DoubleToFloat: Pose has no field 'speeed'; did you mean 'speed'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    TransformedEnv(Cart(), Compose(StepCounter(), ObservationNorm(0.0, 1.0, [WRONG])))  # E: ObservationNorm: Pose has no field 'sped'; did you mean 'speed'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    TransformedEnv(Cart(), UnsqueezeTransform(-1, in_keys=[("wheel", "turn")]))  # E: UnsqueezeTransform: Pose has no field ('wheel', 'turn'); did you mean ('wheel', 'turns')? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    TransformedEnv(base_env=Cart(), transform=Compose([CatTensors(["angle", "spead"], "both")]))  # E: CatTensors: Pose has no field 'spead'; did you mean 'speed'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    TransformedEnv(Cart(), Compose(MapObs(to_vec), StepCounter(), ObservationNorm(0.0, 1.0, in_keys=["vectro"])))  # E: ObservationNorm: Vec has no field 'vectro'; did you mean 'vector'? Its fields are 'vector' [tensorclass-key]
    TransformedEnv(GymEnv("Pendulum-v1", obs=Pose, action=Torque), ObservationNorm(in_keys=["anglee"]))  # E: ObservationNorm: Pose has no field 'anglee'; did you mean 'angle'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    Cart().append_transform(ObservationNorm(0.0, 1.0, in_keys=["angl"]))  # E: ObservationNorm: Pose has no field 'angl'; did you mean 'angle'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    Cart().append_transform(StepCounter()).append_transform(ObservationNorm(0.0, 1.0, in_keys=["angl"]))  # E: ObservationNorm: Pose has no field 'angl'; did you mean 'angle'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    TransformedEnv(TransformedEnv(Cart(), StepCounter()), ObservationNorm(0.0, 1.0, in_keys=["angl"]))  # E: ObservationNorm: Pose has no field 'angl'; did you mean 'angle'? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]
    TransformedEnv(Cart(), UnsqueezeTransform(-1, in_keys=[("wheel", "speed"), ("whel", "turns")]))  # E: UnsqueezeTransform: Pose has no field ('whel', 'turns'); did you mean ('wheel', 'turns')? Its fields are 'angle', 'speed', 'wheel', ('wheel', 'turns') [tensorclass-key]


def classes() -> None:
    TransformedEnv(Cart(), Compose(MapObs(to_vec), StepCounter(), MapObs(to_vec)))  # E: MapObs: to_vec takes Pose; the observation is Vec here [tensorclass-module]
    Cart().map_obs(to_vec).append_transform(MapObs(to_vec))  # E: MapObs: to_vec takes Pose; the observation is Vec here [tensorclass-module]
    train(TransformedEnv(Cart(), StepCounter()))  # E: Argument 1 to "train" has incompatible type "TransformedEnv[Pose, Torque]"; expected "EnvBase[Vec, Torque]" [arg-type]
    train(TransformedEnv(Cart(), Compose(MapObs(to_vec), ActionDiscretizer(5))))  # E: Argument 1 to "train" has incompatible type "TransformedEnv[Vec, Discrete]"; expected "EnvBase[Vec, Torque]" [arg-type]
    TransformedEnv(Cart(), CatTensors(["angle", "speed"], obs=Vec)).rollout(3).obs.angle  # E: "Vec" has no attribute "angle" [attr-defined]
    TransformedEnv(Cart(), Compose(RewardScaling(0.0, 1.0), MapObs(to_vec))).reset().obs.speed  # E: "Vec" has no attribute "speed" [attr-defined]
    TransformedEnv(Cart(), 3)  # E: No overload variant of "TransformedEnv" matches argument types "Cart", "int" [call-overload]
