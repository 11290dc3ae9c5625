"""Readers of gymnasium's info: numbers in it become observations."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tensorclass.envs import Composite, GymEnv, GymWrapper, Unbounded, check_env_specs, default_info_dict_reader
from tests.envs.gyms import Clock, Echo


def echo() -> GymWrapper:
    return GymWrapper(Echo(spaces.Box(0, 1, (2,))))


def test_keys_are_read_as_their_specs_say() -> None:
    env = echo().set_info_dict_reader(default_info_dict_reader(["count"], {"count": Unbounded((), dtype=torch.int64)}))
    steps = env.rollout(3)

    assert steps["count"].tolist() == [0, 1, 2] and steps["next", "count"].tolist() == [1, 2, 3]
    assert env.observation_spec["count"].dtype is torch.int64
    check_env_specs(env)


def test_keys_alone_are_numbers_of_float32() -> None:
    for reader in (["count"], default_info_dict_reader(["count"])):
        steps = echo().set_info_dict_reader(reader).rollout(3)
        assert steps["next", "count"].dtype is torch.float32 and steps["next", "count"].tolist() == [1, 2, 3]


def test_what_an_info_lacks_is_zero() -> None:
    env = echo().set_info_dict_reader(default_info_dict_reader(["pair"], [Unbounded((2,), dtype=torch.float64)]))
    steps = env.rollout(2)

    assert steps["pair"].tolist() == [[0, 0], [1, 1]]
    assert steps["next", "pair"].tolist() == [[1, 1], [1, 2]]


def test_all_numbers_can_be_registered() -> None:
    env = echo().auto_register_info_dict()
    steps = env.rollout(3)

    assert {"count", "pair"} <= set(env.observation_keys)
    assert steps["next", "count"].dtype is torch.int64
    assert steps["next", "pair"].tolist() == [[1, 1], [1, 2], [1, 3]]
    check_env_specs(env)


def test_a_function_of_the_user() -> None:
    def reader(info: dict[str, Any], tensordict: Any) -> Any:
        return tensordict.set("twice", torch.tensor([2.0 * info["count"]]))

    reader.info_spec = Composite(twice=Unbounded((1,)))  # type: ignore[attr-defined]  # As readers have it.
    env = echo().set_info_dict_reader(reader)

    assert env.rollout(3)["next", "twice"].flatten().tolist() == [2, 4, 6]
    check_env_specs(env)


def test_probabilities_of_frozen_lake() -> None:
    env = GymEnv("FrozenLake-v1").auto_register_info_dict()
    steps = env.rollout(4, break_when_any_done=False)

    assert steps["next", "prob"].tolist() == pytest.approx([1 / 3] * 4)


@pytest.mark.parametrize("mode", [AutoresetMode.DISABLED, AutoresetMode.SAME_STEP])
def test_infos_of_a_vector_are_those_of_its_own_steps(mode: AutoresetMode) -> None:
    vector = SyncVectorEnv([partial(Clock, length) for length in (2, 3)], autoreset_mode=mode)
    env = GymWrapper(vector).auto_register_info_dict()
    steps = env.rollout(4, break_when_any_done=False)
    steps["episode"] -= 1  # One reset was for the look.

    assert steps["next", "count"].tolist() == [[1, 2, 1, 2], [1, 2, 3, 1]]
    assert steps["count"].tolist() == [[0, 1, 0, 1], [0, 1, 2, 0]]
    assert [steps["episode"][at, start].item() for at, start in ((0, 0), (0, 2), (1, 0), (1, 3))] == [1, 2, 1, 2]


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^info reader: int will not do; a function of \(info, container\), or keys"):
        echo().set_info_dict_reader(3)
    with pytest.raises(ValueError, match="^info: 1 specs for 2 keys$"):
        default_info_dict_reader(["a", "b"], [Unbounded(())])
    with pytest.raises(KeyError, match="info: no spec for 'b'"):
        default_info_dict_reader(["a", "b"], {"a": Unbounded(())})
    reader = default_info_dict_reader(["a"], [Unbounded((2,))])
    with pytest.raises(RuntimeError, match=r"^info: 'a' has shape \[3\]; its spec has \[2\]$"):
        reader({"a": np.zeros(3)}, echo().reset())
