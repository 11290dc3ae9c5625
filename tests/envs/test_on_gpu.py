"""Environments of gymnasium and side by side that give their entries on a GPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass.envs import GymEnv, ParallelEnv, SerialEnv, check_env_specs
from tests.envs.processes import cart_pole

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]


def on_gpu() -> GymEnv:
    return GymEnv("CartPole-v1", categorical_action_encoding=True, device="cuda")


def parallel(make: Any, **options: Any) -> ParallelEnv[Any, Any]:
    return ParallelEnv(2, make, mp_start_method="spawn", **options)


MAKES: dict[str, Any] = {
    "one": on_gpu,
    "vector": lambda: GymEnv("CartPole-v1", num_envs=2, device="cuda"),
    "inside": lambda: SerialEnv(2, on_gpu),
    "outside": lambda: SerialEnv(2, cart_pole, device="cuda"),
    "workers inside": lambda: parallel(on_gpu),
    "workers outside": lambda: parallel(cart_pole, device="cuda"),
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES.keys())
def test_all_entries_are_on_the_gpu(make: Any) -> None:
    env = make()
    steps = env.rollout(5, break_when_any_done=False)
    check_env_specs(env)

    assert all(leaf.is_cuda for leaf in steps.values(True, True))
    env.close()


def test_the_numbers_are_those_on_the_cpu() -> None:
    found = []
    for make in (on_gpu, cart_pole):
        env = make()
        env.set_seed(3)
        found.append(env.rollout(50, lambda td: td.set("action", (td["observation"][..., 2] > 0).long())))

    assert torch.equal(found[0]["next", "observation"].cpu(), found[1]["next", "observation"])
