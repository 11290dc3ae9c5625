"""A pendulum whose state is in its entries, as tutorials build it: transforms, loops by hand, a policy that learns."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import TensorDict
from tensorclass.envs import (
    Bounded,
    CatTensors,
    Transform,
    TransformedEnv,
    UnsqueezeTransform,
    check_env_specs,
    step_mdp,
)
from tensorclass.nn import TensorDictModule
from tests.envs.worlds import Pendulum


class Sin(Transform):
    def _apply_transform(self, obs: Tensor) -> Tensor:
        return obs.sin()

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        for in_key, out_key in zip(self.in_keys, self.out_keys):
            spec = observation_spec[in_key]
            observation_spec[out_key] = Bounded(-1.0, 1.0, spec.shape, dtype=spec.dtype)
        return observation_spec


class Cos(Sin):
    def _apply_transform(self, obs: Tensor) -> Tensor:
        return obs.cos()


@pytest.fixture
def env() -> Any:
    env: Any = TransformedEnv(
        Pendulum(), UnsqueezeTransform(dim=-1, in_keys=["th", "thdot"], in_keys_inv=["th", "thdot"])
    )
    env.append_transform(Sin(in_keys=["th"], out_keys=["sin"]))
    env.append_transform(Cos(in_keys=["th"], out_keys=["cos"]))
    env.append_transform(CatTensors(["sin", "cos", "thdot"], "observation", dim=-1, del_keys=False))
    return env


def test_the_chain_keeps_to_its_specs(env: Any) -> None:
    check_env_specs(env)
    assert set(env.observation_spec.keys()) == {"th", "thdot", "params", "sin", "cos", "observation"}
    assert env.reset()["observation"].shape == (3,)


def test_a_loop_by_hand_fills_a_container(env: Any) -> None:
    data, start = TensorDict({}, [5]), env.reset()
    for at in range(5):
        start["action"] = env.action_spec.sample()
        start = env.step(start)
        data[at] = start
        start = step_mdp(start, keep_other=True)

    assert data["next", "reward"].shape == (5, 1)
    assert torch.equal(data["next", "observation"][:-1], data["observation"][1:])


def test_any_batch_size_goes_through_the_chain(env: Any) -> None:
    td = env.rand_step(env.reset(env.gen_params(batch_size=[10])))
    assert td.batch_size == (10,) and td["action"].shape == (10, 1) and td["next", "observation"].shape == (10, 3)

    start = env.reset(env.gen_params(batch_size=[10]))
    assert env.rollout(3, auto_reset=False, tensordict=start).batch_size == (10, 3)


def test_a_policy_learns_through_the_steps(env: Any) -> None:
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    policy = TensorDictModule(net, in_keys=["observation"], out_keys=["action"])
    optimizer = torch.optim.Adam(policy.parameters(), 1e-2)
    start = env.reset(env.gen_params(batch_size=[16]))
    returns = []
    for _ in range(10):
        mean = env.rollout(10, policy, tensordict=start.copy(), auto_reset=False)["next", "reward"].mean()
        (-mean).backward()
        optimizer.step()
        optimizer.zero_grad()
        returns.append(mean.item())

    assert returns[-1] > returns[0]
