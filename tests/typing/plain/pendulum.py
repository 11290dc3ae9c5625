"""What a checker without the plugin makes of a typed environment: observations, actions and rewards by name."""

from __future__ import annotations

import math
from typing import Annotated, Any

import torch
from torch import Tensor
from typing_extensions import assert_type

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import Bounded, EnvBase, Next, Transition, check_env_specs, step_mdp
from tensorclass.nn import TensorClassModuleBase


class PendObs(TensorClass):
    angle: Annotated[Tensor, Bounded(-math.pi, math.pi)]
    speed: Annotated[Tensor, Bounded(-8.0, 8.0)]


class Torque(TensorClass):
    u: Annotated[Tensor, Bounded(-2.0, 2.0, (1,))]


class PendulumEnv(EnvBase[PendObs, Torque]):
    batch_locked = False

    def _reset(self, tensordict: TensorDict | None = None, **kwargs: Any) -> PendObs:
        batch = self.batch_size if tensordict is None else tensordict.batch_size
        return PendObs(angle=torch.rand(batch) * 2 - 1, speed=torch.zeros(batch), batch_size=batch)

    def _step(self, tensordict: Transition[PendObs, Torque]) -> Next[PendObs]:
        assert_type(tensordict.action.u, Tensor)
        here, u = tensordict.obs, tensordict.action.u.squeeze(-1)
        speed = (here.speed + (15 * here.angle.sin() + 3 * u) * 0.05).clamp(-8, 8)
        angle = torch.remainder(here.angle + speed * 0.05 + math.pi, 2 * math.pi) - math.pi
        cost = here.angle**2 + 0.1 * here.speed**2 + 0.001 * u**2
        return Next(obs=here.replace(angle=angle, speed=speed), reward=-cost, terminated=cost > 1e9)

    def _set_seed(self, seed: int | None) -> None:
        pass


class Damp(TensorClassModuleBase[PendObs, Torque]):
    def forward(self, x: PendObs) -> Torque:
        return Torque(u=-x.speed.unsqueeze(-1).clamp(-2, 2), batch_size=x.batch_size)


def by_container(td: TensorDict) -> TensorDict:
    return td.set("u", -td["speed"].unsqueeze(-1).clamp(-2, 2))


def by_observation(obs: PendObs) -> Torque:
    return Torque(u=-obs.speed.unsqueeze(-1).clamp(-2, 2), batch_size=obs.batch_size)


def by_transition(tr: Transition[PendObs, Torque]) -> None:
    tr.action = by_observation(tr.obs)


def steps_of(env: EnvBase[PendObs, Torque]) -> Transition[PendObs, Torque]:
    return env.rollout(5, Damp())


def main() -> None:
    env = PendulumEnv()
    tr = steps_of(env)
    assert_type(tr, Transition[PendObs, Torque])
    assert_type(tr.obs, PendObs)
    assert_type(tr.obs.angle, Tensor)
    assert_type(tr.next.obs.angle, Tensor)
    assert_type(tr.next.reward, Tensor)
    assert_type(tr.next.done, Tensor)
    assert_type(tr.action, Torque)
    assert_type(tr[0].action.u, Tensor)
    assert_type(tr.reshape(5).next, Next[PendObs])
    assert_type(env.reset(), Transition[PendObs, Torque])
    assert_type(env.step(env.rand_action(env.reset())).next.obs.speed, Tensor)
    assert_type(step_mdp(tr).obs, PendObs)
    for policy in (by_container, by_observation, by_transition):
        assert env.rollout(5, policy).action.u.abs().max() <= 2
    env.rollout(3, callback=lambda given, after: assert_type(after.obs.angle, Tensor))
    check_env_specs(env)


if __name__ == "__main__":
    main()
