"""Vector environments of gymnasium: nothing is lost at the end of an episode, whoever begins the next one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from tensorclass import TensorDict
from tensorclass.envs import GymEnv, GymWrapper, SerialEnv, check_env_specs, step_mdp
from tests.envs.gyms import Clock, Echo

DISABLED, SAME_STEP, NEXT_STEP = AutoresetMode.DISABLED, AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP
both_modes = pytest.mark.parametrize("mode", [DISABLED, SAME_STEP])


def clocks(mode: AutoresetMode, lengths: tuple[int, ...] = (2, 3), kind: Any = SyncVectorEnv) -> GymWrapper:
    return GymWrapper(kind([partial(Clock, length) for length in lengths], autoreset_mode=mode))


@both_modes
def test_the_last_observation_of_an_episode_is_its_own(mode: AutoresetMode) -> None:
    steps = clocks(mode).rollout(6, break_when_any_done=False)

    assert steps.shape == (2, 6)
    assert steps["observation"].squeeze(-1).tolist() == [[100, 101, 200, 201, 300, 301], [100, 101, 102, 200, 201, 202]]
    assert steps["next", "observation"].squeeze(-1).tolist() == [
        [101, 102, 201, 202, 301, 302],
        [101, 102, 103, 201, 202, 203],
    ]
    assert steps["next", "reward"].squeeze(-1).tolist() == [[1, 2, 1, 2, 1, 2], [1, 2, 3, 1, 2, 3]]
    assert steps["next", "done"].squeeze(-1).int().tolist() == [[0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 0, 1]]
    assert not steps["next", "truncated"].any() and not steps["done"].any()


@both_modes
def test_each_process_keeps_its_last_observation_too(mode: AutoresetMode) -> None:
    env = clocks(mode, kind=partial(AsyncVectorEnv, shared_memory=False))
    steps = env.rollout(4, break_when_any_done=False)
    env.close()

    assert steps["next", "observation"].squeeze(-1).tolist() == [[101, 102, 201, 202], [101, 102, 103, 201]]


def test_episodes_that_begin_at_the_step_after_the_last_one_are_refused() -> None:
    words = (
        "GymWrapper: SyncVectorEnv begins a new episode at the step after the last one, which hides where it began; "
        "make it with autoreset_mode=AutoresetMode.DISABLED, or with GymEnv(id, num_envs=n)"
    )
    with pytest.raises(TypeError) as caught:
        clocks(NEXT_STEP)
    assert str(caught.value) == words


def test_observations_that_gymnasium_writes_over_are_copied() -> None:
    makes: list[Callable[[], Any]] = [partial(Clock, 2), partial(Clock, 3)]
    steps = GymWrapper(SyncVectorEnv(makes, copy=False, autoreset_mode=SAME_STEP)).rollout(5, break_when_any_done=False)

    assert steps["observation"].squeeze(-1).tolist() == [[100, 101, 200, 201, 300], [100, 101, 102, 200, 201]]


@both_modes
def test_steps_up_to_the_last_of_all(mode: AutoresetMode) -> None:
    steps = clocks(mode).rollout(9, break_when_any_done=False, break_when_all_done=True)

    assert steps.shape == (2, 3)
    assert steps["next", "observation"].squeeze(-1).tolist() == [[101, 102, 102], [101, 102, 103]]


@both_modes
def test_a_partial_reset(mode: AutoresetMode) -> None:
    env = clocks(mode, (5, 5))
    td = step_mdp(env.rand_step(env.reset()))
    td["_reset"] = torch.tensor([[False], [True]])
    td = env.reset(td)

    assert td["observation"].flatten().tolist() == [101, 200]
    assert env.rand_step(td)["next", "observation"].flatten().tolist() == [102, 201]


def test_a_whole_reset_begins_anew_what_gymnasium_began() -> None:
    env = clocks(SAME_STEP, (2, 5))
    env.rollout(2, break_when_any_done=False)

    assert env.reset()["observation"].flatten().tolist() == [200, 200]
    assert env.reset(seed=3)["observation"].flatten().tolist() == [300, 300]


@both_modes
def test_truncation_is_no_termination(mode: AutoresetMode) -> None:
    makes: list[Callable[[], Any]] = [partial(Clock, 2, True), partial(Clock, 3)]
    steps = GymWrapper(SyncVectorEnv(makes, autoreset_mode=mode)).rollout(3, break_when_any_done=False)

    assert steps["next", "truncated"].squeeze(-1).tolist() == [[False, True, False], [False, False, False]]
    assert steps["next", "terminated"].squeeze(-1).tolist() == [[False, False, False], [False, False, True]]


SPACES = [
    spaces.Discrete(4, start=2),
    spaces.MultiDiscrete([2, 3]),
    spaces.Dict(pos=spaces.Box(-1, 1, (2,)), kind=spaces.Discrete(3)),
    spaces.Tuple([spaces.Box(-1, 1, (2,)), spaces.Box(-1, 1, (2,))]),
    spaces.Tuple([spaces.Discrete(3), spaces.Discrete(2)]),
    spaces.Tuple([spaces.Box(-1, 1, (2,)), spaces.MultiBinary(3)]),
    spaces.Dict(name=spaces.Text(4), pos=spaces.Box(-1, 1, (2,))),
]


@both_modes
@pytest.mark.parametrize("as_index", [True, False])
@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_vector_is_its_environments_side_by_side(space: Any, as_index: bool, mode: AutoresetMode) -> None:
    options: dict[str, Any] = {"categorical_action_encoding": as_index}
    done = spaces.Discrete(3, start=1)
    makes = [lambda length=length: Echo(space, done, length=length) for length in (2, 3)]
    vector = GymWrapper(SyncVectorEnv(makes, autoreset_mode=mode), **options)
    serial = SerialEnv(2, [lambda make=make: GymWrapper(make(), **options) for make in makes])
    seen = vector.reset(seed=5), serial.reset()
    for env, at in zip(serial.__dict__["_envs"], (5, 6)):
        env.set_seed(at)
    seen = seen[0], serial.reset()
    for _ in range(7):
        one, other = (td.clone() for td in seen)
        assert_same(one, other)
        action = vector.rand_action()["action"]
        after = []
        for env, td in ((vector, one), (serial, other)):
            td["action"] = action
            after.append(env.step_and_maybe_reset(td))
        assert_same(after[0][0]["next"], after[1][0]["next"])
        seen = after[0][1], after[1][1]


def assert_same(one: Any, other: Any) -> None:
    assert set(one.keys(True, True)) == set(other.keys(True, True))
    for key in one.keys(True, True):
        mine, theirs = one[key], other[key]
        assert torch.equal(mine, theirs) if isinstance(mine, torch.Tensor) else mine.tolist() == theirs.tolist()


# ---- num_envs -------------------------------------------------------------------------------------------------------


def test_num_envs_is_the_batch_size() -> None:
    env = GymEnv("CartPole-v1", num_envs=3)

    assert env.batch_size == (3,) and env.action_spec.shape == (3, 2)
    assert env.action_spec_unbatched.shape == (2,)
    assert env.rollout(20, break_when_any_done=False).shape == (3, 20)
    check_env_specs(env)


def test_num_envs_gives_the_numbers_of_gymnasium() -> None:
    env = GymEnv("CartPole-v1", num_envs=2, categorical_action_encoding=True)
    env.set_seed(8)
    steps = env.rollout(100, break_when_any_done=False)
    for at in range(2):
        raw = gymnasium.make("CartPole-v1")
        seen, _ = raw.reset(seed=8 + at)
        for step in range(100):
            assert torch.equal(steps["observation"][at, step], torch.as_tensor(seen))
            seen, reward, over, cut, _ = raw.step(steps["action"][at, step].item())
            assert torch.equal(steps["next", "observation"][at, step], torch.as_tensor(seen))
            assert steps["next", "done"][at, step].item() is bool(over or cut)
            seen = raw.reset()[0] if over or cut else seen


def test_num_envs_with_repeated_actions() -> None:
    steps = GymEnv("Pendulum-v1", num_envs=2, frame_skip=4, max_episode_steps=10).rollout(30)

    assert steps.shape == (2, 3)
    assert steps["next", "truncated"][:, -1].all()


def test_num_envs_in_processes() -> None:
    env = GymEnv("CartPole-v1", num_envs=2, vectorization_mode="async")
    env.set_seed(8)
    other = GymEnv("CartPole-v1", num_envs=2)
    other.set_seed(8)
    action = other.full_action_spec.rand()["action"]
    one, two = (each.step(each.reset().set("action", action))["next", "observation"] for each in (env, other))
    env.close()

    assert torch.equal(one, two)


def test_options_for_single_environments_are_refused_for_a_vector() -> None:
    vector = SyncVectorEnv([Clock], autoreset_mode=DISABLED)
    with pytest.raises(TypeError, match="frame_skip and from_pixels are for the environments in a vector"):
        GymWrapper(vector, frame_skip=2)


def test_attributes_of_a_vector() -> None:
    env = GymEnv("Pendulum-v1", num_envs=2, g=3.0)

    assert env.num_envs == 2
    assert env.get_attr("g") == (3.0, 3.0)
    assert isinstance(np.asarray(env.single_action_space.high), np.ndarray)


def test_a_mask_of_none() -> None:
    env = clocks(DISABLED)
    env.reset()
    td = env.reset(TensorDict({"_reset": torch.zeros(2, 1, dtype=torch.bool)}, [2]))

    assert td["observation"].flatten().tolist() == [100, 100]
