"""ActionDiscretizer and ActionMask: what an action is from outside."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    ActionDiscretizer,
    ActionMask,
    Binary,
    Bounded,
    Categorical,
    Composite,
    EnvBase,
    MultiCategorical,
    MultiOneHot,
    OneHot,
    TransformedEnv,
    Unbounded,
    check_env_specs,
)
from tests.envs.transforms.worlds import Pendulum, Pictures
from tests.envs.worlds import Agents, Counter


def taken(transform: Any, action: Any) -> list[float]:
    base = Pictures()
    env = TransformedEnv(base, transform)
    env.step(env.reset().set(env.action_key, torch.tensor(action)))
    return base.taken[0].tolist()


@pytest.mark.parametrize(
    ("sampling", "wanted"), [(None, [-1.5, 1.5]), ("low", [-2.0, 1.0]), ("high", [-1.0, 2.0]), ("median", [-1.5, 1.5])]
)
def test_an_interval_stands_for_its_middle_or_an_end(sampling: Any, wanted: list[float]) -> None:
    assert taken(ActionDiscretizer(4, sampling=sampling), [0, 3]) == wanted


def test_an_interval_may_stand_for_a_random_place_in_it() -> None:
    drawn = [taken(ActionDiscretizer(4, sampling=ActionDiscretizer.SamplingStrategy.RANDOM), [0, 3]) for _ in range(9)]

    assert all(-2 <= low <= -1 and 1 <= high <= 2 for low, high in drawn) and len({low for low, _ in drawn}) > 1


def test_each_slot_may_have_its_own_number_of_intervals() -> None:
    env = TransformedEnv(Pictures(), ActionDiscretizer([2, 4]))

    assert isinstance(env.action_spec, MultiCategorical) and env.action_spec.nvec.tolist() == [2, 4]
    assert taken(ActionDiscretizer([2, 4]), [1, 1]) == [1.0, -0.5]
    check_env_specs(env)


@pytest.mark.parametrize("count", [3, 7, 49, 1000])
def test_the_middles_are_as_far_apart_as_the_intervals_are_wide(count: int) -> None:
    env = TransformedEnv(Counter(), ActionDiscretizer(count))
    middles = env.transform.inv(TensorDict({"action": torch.arange(count).unsqueeze(-1)}, [count]))["action"]
    wanted = -1 + (2 * torch.arange(count, dtype=torch.float64) + 1) / count

    assert torch.allclose(middles.flatten().double(), wanted, atol=1e-6)


def test_marks_in_place_of_numbers() -> None:
    env = TransformedEnv(Pictures(), ActionDiscretizer([2, 4], categorical=False))

    assert isinstance(env.action_spec, MultiOneHot) and env.action_spec.shape == (6,)
    marks = [False, True, False, True, False, False]
    assert taken(ActionDiscretizer([2, 4], categorical=False), marks) == [1.0, -0.5]
    check_env_specs(env)


def test_the_action_may_have_another_name_outside() -> None:
    env = TransformedEnv(Pictures(), ActionDiscretizer(4, "action", "choice"))

    assert env.action_keys == ["choice"] and "action" not in env.rollout(1).keys()
    check_env_specs(env)


def test_the_only_action_is_found_and_called_action() -> None:
    env = TransformedEnv(Pendulum(), ActionDiscretizer(5))

    assert env.action_keys == ["action"]
    check_env_specs(env)


def test_the_only_action_of_agents_stays_where_it_is() -> None:
    env = TransformedEnv(Agents(), ActionDiscretizer(3))

    assert env.action_keys == [("agents", "action")] and env.rollout(2)["agents", "action"].dtype is torch.int64
    check_env_specs(env)


def test_a_batch_of_environments_is_discretized_alike() -> None:
    env = TransformedEnv(Counter(batch_size=(3,)), ActionDiscretizer(4))

    assert env.rollout(2)["action"].shape == (3, 2, 1)
    check_env_specs(env)


class Number(Counter):
    """Takes one number for each row."""

    def __init__(self, batch_size: Any = ()) -> None:
        super().__init__(batch_size=batch_size)
        self.action_spec = Bounded(-1.0, 1.0, self.batch_size)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_an_action_of_one_number_is_one_choice(batch: tuple[int, ...]) -> None:
    env = TransformedEnv(Number(batch), ActionDiscretizer(4))
    marks = TransformedEnv(Number(batch), ActionDiscretizer(4, categorical=False))

    assert isinstance(env.action_spec, Categorical) and env.action_spec.shape == batch
    assert isinstance(marks.action_spec, OneHot) and marks.action_spec.shape == (*batch, 4)
    assert env.transform.inv(TensorDict({"action": torch.tensor([0, 3])}, [2]))["action"].tolist() == [-0.75, 0.75]
    check_env_specs(env)
    check_env_specs(marks)


def test_what_has_no_intervals_is_refused() -> None:
    discrete = TransformedEnv(Counter(), ActionDiscretizer(4))
    with pytest.raises(TypeError, match="ActionDiscretizer: 'action' is MultiCategorical; a Bounded action would do"):
        discrete.append_transform(ActionDiscretizer(4))
    with pytest.raises(ValueError, match="num_intervals is 0"):
        ActionDiscretizer(0)
    with pytest.raises(RuntimeError, match="3 num_intervals for 2 slots of 'action'"):
        TransformedEnv(Pictures(), ActionDiscretizer([1, 2, 3]))

    class Endless(Counter):
        def __init__(self) -> None:
            super().__init__()
            self.action_spec = Bounded(-torch.inf, torch.inf, (1,))

    with pytest.raises(ValueError, match="has no finite bounds"):
        TransformedEnv(Endless(), ActionDiscretizer(4))


class Masked(EnvBase):
    """Of four choices, the one that was taken last is not allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_spec = Composite(action_mask=Binary(4, (4,), dtype=torch.bool))
        self.action_spec = Categorical(4)
        self.reward_spec = Unbounded((1,))
        self.last = 0

    def _observe(self, **more: Any) -> TensorDict:
        return TensorDict({"action_mask": torch.arange(4) != self.last, **more}, [])

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        self.last = 0
        return self._observe()

    def _step(self, tensordict: Any) -> Any:
        assert int(tensordict["action"]) != self.last
        self.last = int(tensordict["action"])
        return self._observe(reward=torch.ones(1), done=torch.zeros(1, dtype=torch.bool))

    def _set_seed(self, seed: int | None) -> None:
        pass


def test_random_actions_are_those_that_the_mask_allows() -> None:
    env = TransformedEnv(Masked(), ActionMask())
    td = env.rollout(30)

    assert td["action_mask"].gather(-1, td["action"].unsqueeze(-1)).all()


def test_an_action_that_the_mask_forbids_is_refused() -> None:
    env = TransformedEnv(Masked(), ActionMask())
    td = env.reset().set("action", torch.tensor(0))

    with pytest.raises(ValueError, match="ActionMask: the action 0 is none that is allowed"):
        env.step(td)
    with pytest.raises(TypeError, match="a Categorical or OneHot action would do"):
        TransformedEnv(Counter(), ActionMask(mask_key="observation"))
