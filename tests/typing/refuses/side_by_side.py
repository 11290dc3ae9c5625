"""Environments of gymnasium and side by side: the wrong environment, and fields that its classes have not."""

from __future__ import annotations

from torch import Tensor

from tensorclass import TensorClass
from tensorclass.envs import BoxObs, EnvBase, GymEnv, ParallelEnv, SerialEnv


class Angle(TensorClass):
    observation: Tensor


class Torque(TensorClass):
    action: Tensor


def swing() -> GymEnv[Angle, Torque]:
    return GymEnv("Pendulum-v1", obs=Angle, action=Torque)


def train(env: EnvBase[BoxObs, Torque]) -> None: ...


several, processes = SerialEnv(2, swing), ParallelEnv(2, swing)
train(several)  # E: Argument 1 to "train" has incompatible type "SerialEnv[Angle, Torque]"; expected "EnvBase[BoxObs, Torque]" [arg-type]
train(processes)  # E: Argument 1 to "train" has incompatible type "ParallelEnv[Angle, Torque]"; expected "EnvBase[BoxObs, Torque]" [arg-type]
several.rollout(3).obs.obervation  # E: "Angle" has no attribute "obervation"; maybe "observation"? [attr-defined]
processes.rollout(3).next.action  # E: "Next[Angle]" has no attribute "action" [attr-defined]
GymEnv("Pendulum-v1", obs=3)  # E: Argument "obs" to "GymEnv" has incompatible type "int"; expected "type[BoxObs] | None" [arg-type]
SerialEnv(2, 3)  # E: Argument 2 to "SerialEnv" has incompatible type "int"; expected "Callable[..., EnvBase[Any, Any]] | Sequence[Callable[..., EnvBase[Any, Any]]]" [arg-type]
