"""Environments of gymnasium and side by side: which classes their steps give."""

from __future__ import annotations

from torch import Tensor
from typing_extensions import assert_type

from tensorclass import TensorClass
from tensorclass.envs import BoxAction, BoxObs, EnvCreator, GymEnv, ParallelEnv, SerialEnv, Transition


class Angle(TensorClass):
    observation: Tensor


class Torque(TensorClass):
    action: Tensor


def swing(g: float = 9.8) -> GymEnv[Angle, Torque]:
    return GymEnv("Pendulum-v1", obs=Angle, action=Torque, g=g)


def train(env: SerialEnv[Angle, Torque]) -> Tensor:
    return env.rollout(3).next.obs.observation


# Without classes, those of a Box; one class, or both.
assert_type(GymEnv("CartPole-v1").rollout(3), Transition[BoxObs, BoxAction])
assert_type(GymEnv("CartPole-v1", num_envs=2).rollout(3).obs.observation, Tensor)
assert_type(GymEnv("Pendulum-v1", obs=Angle), GymEnv[Angle, BoxAction])
assert_type(GymEnv[Angle, Torque]("Pendulum-v1").rollout(3).action, Torque)

# Side by side they are what each of them is.
several = SerialEnv(2, swing, create_env_kwargs=[{"g": 1.0}, {"g": 2.0}])
assert_type(several, SerialEnv[Angle, Torque])
assert_type(several.reset().obs, Angle)
assert_type(several.step(several.rand_action(several.reset())).next.obs, Angle)
assert_type(train(SerialEnv(2, [swing, EnvCreator(swing)])), Tensor)
processes = ParallelEnv(2, EnvCreator(swing))
assert_type(processes, ParallelEnv[Angle, Torque])
