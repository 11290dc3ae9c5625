"""Chains of transforms: the classes that come out, however long they are; and where nothing is known, silence."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import assert_type

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    ActionDiscretizer,
    Bounded,
    CatTensors,
    Compose,
    Discrete,
    EnvBase,
    ExcludeTransform,
    InitTracker,
    MapObs,
    ObservationNorm,
    RenameTransform,
    RewardSum,
    SerialEnv,
    StepCounter,
    TensorDictPrimer,
    Transform,
    TransformedEnv,
    Unbounded,
)


class Pose(TensorClass):
    angle: Float[Tensor, "*batch 1"]
    speed: Float[Tensor, "*batch 1"]


class Torque(TensorClass):
    u: Annotated[Tensor, Bounded(-1.0, 1.0, (1,))]


class Vec(TensorClass):
    vector: Float[Tensor, "*batch 2"]


class Cart(EnvBase[Pose, Torque]):
    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return TensorDict(angle=torch.zeros(1), speed=torch.zeros(1))

    def _step(self, tensordict: Any) -> Any:
        return TensorDict(
            angle=tensordict["angle"], speed=tensordict["speed"], reward=torch.zeros(1), done=torch.tensor([False])
        )


class Doubles(Transform):
    """Writes an entry whose name is near that of another one."""

    def _call(self, next_tensordict: Any) -> Any:
        return next_tensordict.set("angles", next_tensordict["angle"] * 2)

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        observation_spec["angles"] = Unbounded((1,))
        return observation_spec


def to_vec(pose: Pose) -> Vec:
    return Vec(vector=torch.cat([pose.angle, pose.speed], -1), batch_size=pose.batch_size)


def to_pose(vec: Vec) -> Pose:
    return Pose(angle=vec.vector[..., :1], speed=vec.vector[..., 1:], batch_size=vec.batch_size)


def long() -> None:
    """Longer than overloads reach."""
    env = TransformedEnv(
        Cart(),
        Compose(MapObs(to_vec), MapObs(to_pose), MapObs(to_vec), RewardSum(), MapObs(to_pose), MapObs(to_vec)),
    )
    assert_type(env, TransformedEnv[Vec, Torque])
    assert_type(env.rollout(3).next.obs.vector, Tensor)


def nested() -> None:
    inner = Compose(StepCounter(), MapObs(to_vec))
    assert_type(TransformedEnv(Cart(), Compose(inner, ActionDiscretizer(5))), TransformedEnv[Vec, Discrete])
    whole = Compose(Compose(InitTracker(), CatTensors(["angle", "speed"], "vector", obs=Vec)), [RewardSum()][0])
    assert_type(TransformedEnv(Cart(), whole.clone()), TransformedEnv[Any, Any])
    assert_type(TransformedEnv(Cart(), Compose([RewardSum(), MapObs(to_vec)])), TransformedEnv[Vec, Torque])
    assert_type(Cart().append_transform(Compose(RewardSum(), MapObs(to_vec))), TransformedEnv[Vec, Torque])


def written_by_transforms() -> None:
    """Keys that a transform before has written are there."""
    TransformedEnv(
        Cart(),
        Compose(
            ObservationNorm(0.0, 1.0, in_keys=["angle"], out_keys=["angles"]),
            ObservationNorm(0.0, 1.0, in_keys=["angles"]),
            CatTensors(["angles", "speed"], "angle_", del_keys=False),
            StepCounter(step_count_key="speeds"),
            ObservationNorm(0.0, 1.0, in_keys=["angle_"]),
        ),
    )
    TransformedEnv(Cart(), Compose(Doubles(), ObservationNorm(0.0, 1.0, in_keys=["angles"])))
    TransformedEnv(
        Cart(), Compose(TensorDictPrimer(speeds=Unbounded((1,))), ObservationNorm(0.0, 1.0, in_keys=["speeds"]))
    )
    TransformedEnv(
        Cart(), Compose(RenameTransform(["angle"], ["angles"]), ObservationNorm(0.0, 1.0, in_keys=["angles"]))
    )
    TransformedEnv(Cart(), Compose(ExcludeTransform("speed"), ObservationNorm(0.0, 1.0, in_keys=["angle"])))
    TransformedEnv(Cart(), ObservationNorm(0.0, 1.0, in_keys=[("angle",)], out_keys=[("angles",)]))


def two() -> EnvBase[Pose, Torque]:
    return TransformedEnv(Cart(), ObservationNorm(0.0, 1.0, in_keys=["angle"], out_keys=["angles"]))


def written_inside(env: EnvBase[Pose, Torque]) -> None:
    """Transforms of the environment inside have written, too: no class tells what."""
    norm = ObservationNorm(0.0, 1.0, in_keys=["angles"])
    TransformedEnv(env, ObservationNorm(0.0, 1.0, in_keys=["angles"]))
    TransformedEnv(SerialEnv(1, two), ObservationNorm(0.0, 1.0, in_keys=["angles"]))
    TransformedEnv(TransformedEnv(Cart(), Doubles()), norm)
    doubled = TransformedEnv(Cart(), ObservationNorm(0.0, 1.0, in_keys=["angle"], out_keys=["angles"]))
    doubled.append_transform(ObservationNorm(0.0, 1.0, in_keys=["angles"]))
    Cart().append_transform(ObservationNorm(0.0, 1.0, in_keys=["angle"], out_keys=["angles"])).append_transform(
        ObservationNorm(0.0, 1.0, in_keys=["angles"])
    )


def unknown(keys: Any = ("angle",), chain: Any = None, last: bool = True) -> None:
    """Keys and members that come from elsewhere."""
    TransformedEnv(Cart(), ObservationNorm(0.0, 1.0, in_keys=list(keys)))
    norm: Any = ObservationNorm(0.0, 1.0, in_keys=["angles"])
    TransformedEnv(Cart(), Compose(Doubles(), norm))
    members = [Doubles()]
    members.append(ObservationNorm(0.0, 1.0, in_keys=["angles"]))  # type: ignore[arg-type]  # A list of Doubles.
    TransformedEnv(Cart(), Compose(*members))
    first = Doubles() if last else StepCounter()
    TransformedEnv(Cart(), Compose(first, ObservationNorm(0.0, 1.0, in_keys=["angles"])))
    TransformedEnv(Cart(), Compose(chain or StepCounter(), RewardSum()))


if __name__ == "__main__":
    long()
    nested()
    written_by_transforms()
    written_inside(two())
    unknown()
