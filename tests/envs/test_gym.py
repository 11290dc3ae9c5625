"""GymEnv and GymWrapper give exactly what gymnasium gives for the same seed and actions."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    BoxAction,
    BoxObs,
    Categorical,
    EnvBase,
    GymEnv,
    GymWrapper,
    OneHot,
    SerialEnv,
    StepCounter,
    TransformedEnv,
    Transition,
    check_env_specs,
    set_gym_backend,
    step_mdp,
)
from tests.envs.gyms import Clock, Echo, Reused
from tests.meta.test_layers import imported, modules, within

CLASSIC = ["CartPole-v1", "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1"]
TEXT = ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1"]
every_id = pytest.mark.parametrize("name", [*CLASSIC, *TEXT])


def same(seen: Tensor, raw: Any) -> bool:
    """Whether a tensor holds what gymnasium shows (a tuple of numbers as a stack)."""
    return torch.equal(seen, torch.as_tensor(np.array(raw)))


def replay(name: str, seed: int, steps: Any) -> None:
    """Compare the steps of a rollout with those of gymnasium."""
    raw = gymnasium.make(name)
    seen, _ = raw.reset(seed=seed)
    for at in range(len(steps)):
        assert same(steps["observation"][at], seen)
        action = steps["action"][at].numpy()
        seen, reward, terminated, truncated, _ = raw.step(action if action.ndim else action.item())
        after = steps["next"][at]
        assert same(after["observation"], seen)
        assert after["reward"].dtype is torch.float32
        assert after["reward"].item() == np.float32(reward)
        assert after["terminated"].item() is bool(terminated)
        assert after["truncated"].item() is bool(truncated)
        assert after["done"].item() is bool(terminated or truncated)
        if terminated or truncated:
            seen, _ = raw.reset()


@every_id
def test_a_random_rollout_is_what_gymnasium_does_with_its_actions(name: str) -> None:
    env = GymEnv(name, categorical_action_encoding=True)
    env.set_seed(3)

    replay(name, 3, env.rollout(300, break_when_any_done=False))


@every_id
def test_a_rollout_with_a_policy_is_what_gymnasium_does_with_its_actions(name: str) -> None:
    env = GymEnv(name, categorical_action_encoding=True)
    env.set_seed(4)

    replay(name, 4, env.rollout(120, env.rand_action, break_when_any_done=False))


@every_id
def test_steps_one_by_one_are_those_of_gymnasium(name: str) -> None:
    env = GymEnv(name, categorical_action_encoding=True)
    env.set_seed(5)
    td, rows = env.reset(), []
    for _ in range(40):
        row, td = env.step_and_maybe_reset(env.rand_action(td))
        rows.append(row)

    replay(name, 5, torch.stack(rows))


@every_id
@pytest.mark.parametrize("as_index", [True, False])
def test_specs_hold(name: str, as_index: bool) -> None:
    check_env_specs(GymEnv(name, categorical_action_encoding=as_index), seed=0)


def test_a_rollout_stops_with_the_episode() -> None:
    env = GymEnv("CartPole-v1")
    for _ in range(3):
        steps = env.rollout(1000)
        assert steps["next", "done"].flatten().tolist() == [False] * (len(steps) - 1) + [True]
        assert not steps["done"].any()


def test_a_rollout_goes_on_from_a_container() -> None:
    env = GymWrapper(Clock(length=10))
    first = env.rollout(4)
    second = env.rollout(4, auto_reset=False, tensordict=step_mdp(first[-1]))

    assert second["next", "observation"].flatten().tolist() == [105, 106, 107, 108]


@pytest.mark.parametrize("steps", [1, 31, 32, 33, 100])
def test_a_rollout_resets_between_its_steps_only(steps: int) -> None:
    env = GymWrapper(Clock(length=3))
    found = env.rollout(steps, break_when_any_done=False)
    start = [100 * (1 + at // 3) + at % 3 for at in range(steps)]

    assert found["observation"].flatten().tolist() == start
    assert found["next", "observation"].flatten().tolist() == [one + 1 for one in start]
    assert env.episode == 1 + (steps - 1) // 3


def test_truncation_is_no_termination() -> None:
    steps = GymEnv("Pendulum-v1").rollout(300)

    assert steps.shape == (200,)
    assert steps["next", "truncated"][-1] and steps["next", "done"][-1] and not steps["next", "terminated"].any()


def test_what_gymnasium_writes_to_later_is_copied() -> None:
    env = GymWrapper(Reused())
    quick = env.rollout(4)
    slow = env.rollout(4, env.rand_action)

    for steps in (quick, slow):
        assert steps["next", "observation"][:, 0].tolist() == [1, 2, 3, 4]
        assert steps["observation"][:, 0].tolist() == [0, 1, 2, 3]
        assert steps["action"].abs().sum() > 0


def test_one_file_imports_gymnasium_when_it_is_needed() -> None:
    importers = {name for name, path in modules() for _, target in imported(name, path) if within(target, "gymnasium")}
    program = "import sys, tensorclass.envs as envs; envs.SerialEnv, envs.GymEnv; sys.exit('gymnasium' in sys.modules)"

    assert importers == {"tensorclass.envs.gymnasium"}
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# ---- seeds and resets -----------------------------------------------------------------------------------------------


def test_the_first_reset_after_a_seed_is_gymnasiums_first() -> None:
    env, raw = GymEnv("CartPole-v1"), gymnasium.make("CartPole-v1")
    env.set_seed(11)
    raw_seen = [raw.reset(seed=11)[0], raw.reset()[0]]

    assert same(env.reset()["observation"], raw_seen[0])
    assert same(env.reset()["observation"], raw_seen[1])


def test_the_next_seed_is_always_the_same() -> None:
    env = GymEnv("CartPole-v1")

    assert env.set_seed(0) == 795726461
    assert env.set_seed(0) == 795726461
    assert env.set_seed(0, static_seed=True) == 0
    assert env.set_seed(None) is None


def test_reset_passes_seed_and_options_on() -> None:
    env = GymWrapper(Echo(spaces.Box(0, 1, (2,))))
    first = env.reset(seed=9, options={"level": 2})["observation"]

    assert torch.equal(first, env.reset(seed=9)["observation"])
    assert env.options == [{"level": 2}, None]
    with pytest.raises(TypeError, match="^reset takes seed= and options= of gymnasium, not 'speed'$"):
        env.reset(speed=3)


def test_a_mask_that_is_false_resets_nothing() -> None:
    env = GymWrapper(Clock(length=10))
    td = step_mdp(env.rand_step(env.reset()))
    td["_reset"] = torch.zeros(1, dtype=torch.bool)

    assert env.reset(td)["observation"].item() == 101
    assert env.reset(TensorDict({"_reset": torch.zeros(1, dtype=torch.bool)}))["observation"].item() == 101
    assert env.reset(TensorDict({"_reset": torch.ones(1, dtype=torch.bool)}))["observation"].item() == 200


# ---- options --------------------------------------------------------------------------------------------------------


def test_actions_are_marks_or_numbers() -> None:
    marks, numbers = GymEnv("CartPole-v1"), GymEnv("CartPole-v1", categorical_action_encoding=True)

    assert isinstance(marks.action_spec, OneHot) and marks.action_spec.dtype is torch.int64
    assert isinstance(numbers.action_spec, Categorical) and numbers.action_spec.n == 2
    assert marks.rollout(5)["action"].sum(-1).tolist() == [1] * 5
    assert numbers.rollout(5)["action"].shape == (5,)


def test_frame_skip_repeats_an_action_and_adds_the_rewards() -> None:
    steps = GymWrapper(Clock(length=5), frame_skip=2).rollout(10)

    assert steps["next", "observation"].flatten().tolist() == [102, 104, 105]
    assert steps["next", "reward"].flatten().tolist() == [1 + 2, 3 + 4, 5]
    assert GymEnv("Pendulum-v1", frame_skip=4).rollout(300).shape == (50,)


def test_pixels_in_place_of_observations_or_beside_them() -> None:
    only = GymWrapper(Echo(spaces.Box(0, 1, (2,)), render_mode="rgb_array"), from_pixels=True)
    both = GymWrapper(Echo(spaces.Box(0, 1, (2,)), render_mode="rgb_array"), from_pixels=True, pixels_only=False)

    assert only.observation_keys == ["pixels"]
    assert only.rollout(2)["next", "pixels"][:, 0, 0, 0].tolist() == [1, 2]
    assert only.observation_spec["pixels"].shape == (4, 6, 3) and only.observation_spec["pixels"].dtype is torch.uint8
    assert sorted(map(str, both.observation_keys)) == ["observation", "pixels"]
    check_env_specs(both)


def test_arguments_and_attributes_of_gymnasium() -> None:
    env = GymEnv("Pendulum-v1", g=5.0, max_episode_steps=7)

    assert env.unwrapped.g == 5.0 and env.max_torque == 2.0
    assert env.action_space.shape == (1,)
    assert env.rollout(20).shape == (7,)
    with pytest.raises(AttributeError, match="no_such_thing"):
        env.no_such_thing  # noqa: B018
    with pytest.raises(gymnasium.error.NameNotFound, match="NoSuchEnv"):
        GymEnv("NoSuchEnv-v0")


def test_closing_closes_gymnasiums_environment() -> None:
    closed = []

    class Closing(Clock):
        def close(self) -> None:
            closed.append(1)

    env = GymWrapper(Closing())
    env.close()
    env.close()

    assert env.is_closed and closed == [1]


def test_only_environments_of_gymnasium_are_wrapped() -> None:
    with pytest.raises(TypeError, match="^GymWrapper: int is not an environment of gymnasium; gymnasium.make"):
        GymWrapper(3)  # type: ignore[arg-type]  # What is refused.


def test_an_action_of_another_shape_is_refused() -> None:
    env = GymEnv("CartPole-v1", categorical_action_encoding=True)
    td = env.reset()
    td["action"] = torch.zeros(1, dtype=torch.int64)
    with pytest.raises(RuntimeError, match=r"^GymEnv._step failed; 'action' has shape \[1\], its spec has \[\]$"):
        env.step(td)


@pytest.mark.parametrize("marks", [[0, 0], [1, 1]])
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_a_one_hot_action_has_one_mark(marks: list[int], dtype: torch.dtype) -> None:
    action = torch.tensor(marks, dtype=dtype)
    env = GymEnv("CartPole-v1")
    with pytest.raises(ValueError) as refused:
        env.rollout(3, lambda td: td.set("action", action))
    assert str(refused.value) == (
        f"step: {action.tolist()} is no one-hot action: exactly one of its numbers is 1; encode(index) of the action "
        "spec makes one"
    )

    many = GymEnv("CartPole-v1", num_envs=2)
    with pytest.raises(ValueError, match=r"^step: .* is no one-hot action"):
        many.step(many.reset().set("action", torch.stack([torch.tensor([0, 1], dtype=dtype), action])))


def test_of_scores_as_an_action_the_highest_is_meant() -> None:
    env, raw = GymEnv("CartPole-v1"), gymnasium.make("CartPole-v1")
    env.set_seed(3)
    raw.reset(seed=3)
    seen = env.step(env.reset().set("action", torch.tensor([0.3, 0.7])))["next", "observation"]

    assert np.array_equal(seen.numpy(), raw.step(1)[0])


def test_each_slot_of_a_multi_one_hot_action_has_one_mark() -> None:
    env = GymWrapper(Echo(spaces.Discrete(2), spaces.MultiDiscrete([2, 3])))
    with pytest.raises(ValueError, match=r"^step: \[1, 0, 1\] is no one-hot action"):
        env.step(env.reset().set("action", torch.tensor([1, 0, 1, 0, 1])))


def test_a_step_without_an_action_is_refused() -> None:
    for env in (GymEnv("CartPole-v1"), SerialEnv(2, lambda: GymEnv("CartPole-v1"))):
        td = env.reset()
        td["actoin"] = torch.zeros(*env.batch_size, 2)
        with pytest.raises(KeyError, match="step: no key 'action'; did you mean 'actoin'?"):
            env.step(td)


def test_a_step_that_a_subclass_has_of_its_own_is_taken() -> None:
    class Halved(GymEnv):
        def _step(self, tensordict: Any) -> Any:
            out = super()._step(tensordict)
            out["reward"] = out["reward"] / 2
            return out

    assert Halved("CartPole-v1").rollout(3)["next", "reward"].flatten().tolist() == [0.5] * 3


def test_the_backend_is_gymnasium() -> None:
    with set_gym_backend("gymnasium"):
        assert set_gym_backend(gymnasium)(lambda: 3)() == 3
    set_gym_backend("gymnasium").set()
    with pytest.raises(ValueError, match="^set_gym_backend: 'gym' is not supported; 'gymnasium' is$"):
        set_gym_backend("gym")


# ---- classes --------------------------------------------------------------------------------------------------------


class Angle(TensorClass):
    observation: Tensor


class Torque(TensorClass):
    action: Tensor


class Misspelt(TensorClass):
    observatoin: Tensor


def test_a_box_environment_has_classes_for_its_entries() -> None:
    steps = GymEnv("CartPole-v1").rollout(3)

    assert isinstance(steps.obs, BoxObs) and isinstance(steps.action, BoxAction)
    assert torch.equal(steps.next.obs.observation, steps["next", "observation"])


@pytest.mark.parametrize(
    "env",
    [GymEnv("Pendulum-v1", obs=Angle, action=Torque), GymEnv[Angle, Torque]("Pendulum-v1")],
    ids=["named", "in brackets"],
)
def test_classes_of_the_user(env: GymEnv[Angle, Torque]) -> None:
    steps = env.rollout(3)

    assert isinstance(steps, Transition)
    assert isinstance(steps.obs, Angle) and isinstance(steps.next.obs, Angle) and isinstance(steps.action, Torque)


def test_classes_are_compared_with_the_spaces() -> None:
    words = "no key 'observatoin'; did you mean 'observation'? The keys here are 'observation'"
    with pytest.raises(KeyError) as caught:
        GymEnv("Pendulum-v1", obs=Misspelt)
    assert str(caught.value.args[0]) == f"GymEnv: Misspelt has a field 'observatoin'; {words}"


def test_an_environment_of_gymnasium_is_an_environment() -> None:
    assert isinstance(GymEnv[Angle, Torque]("Pendulum-v1"), EnvBase)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("wrap", [lambda env: env, lambda env: TransformedEnv(env, StepCounter(3))])
def test_a_copy_goes_on_as_the_one_that_it_is_of(wrap: Any, copied: Any) -> None:
    env = wrap(GymEnv("Pendulum-v1"))
    env.set_seed(1)
    other = copied(env)
    still = [one.rollout(3, lambda td: td.set("action", torch.zeros(1))) for one in (env, other)]

    assert torch.equal(still[0]["next", "observation"], still[1]["next", "observation"])
    assert type(still[1]) is type(still[0]) is Transition[BoxObs, BoxAction]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_many_goes_on_too(copied: Any) -> None:
    env = TransformedEnv(GymEnv("Pendulum-v1", num_envs=2), StepCounter())
    env.set_seed(1)
    start = env.rollout(2)[:, -1]
    other = copied(env)
    still = [one.step(one.step_mdp(start).set("action", torch.ones(2, 1))) for one in (env, other)]

    assert torch.equal(still[0]["next", "observation"], still[1]["next", "observation"])
    assert still[1]["next", "step_count"].flatten().tolist() == [3, 3]
    assert other.base_env is not env.base_env


def test_environments_in_processes_are_not_copied() -> None:
    env = GymEnv("Pendulum-v1", num_envs=2, vectorization_mode="async")
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(
            TypeError, match="^GymEnv: environments in processes of their own can be neither copied nor"
        ):
            copied(env)
    env.close()


def test_an_action_is_repeated_at_least_once() -> None:
    with pytest.raises(ValueError, match="^GymEnv: frame_skip is 0; 1 or more would do$"):
        GymEnv("Pendulum-v1", frame_skip=0)
