"""StepCounter, RewardSum, InitTracker, TargetReturn: what is counted since an episode began, at all of its borders."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    Compose,
    InitTracker,
    ObservationNorm,
    RewardScaling,
    RewardSum,
    SerialEnv,
    StepCounter,
    TargetReturn,
    TransformedEnv,
    check_env_specs,
)
from tests.envs.worlds import Agents, Counter


def column(td: Any, *key: str) -> list[Any]:
    return td[key].squeeze(-1).tolist()  # type: ignore[no-any-return]  # Numbers.


# ---- StepCounter ----------------------------------------------------------------------------------------------------


def test_steps_are_counted_from_0_at_the_root_and_1_under_next() -> None:
    td = TransformedEnv(Counter(), StepCounter()).rollout(4)

    assert column(td, "step_count") == [0, 1, 2, 3] and column(td, "next", "step_count") == [1, 2, 3, 4]
    assert td["step_count"].dtype is torch.int64 and "truncated" not in td.keys()


def test_max_steps_truncates_and_does_not_terminate() -> None:
    env = TransformedEnv(Counter(limit=99), StepCounter(max_steps=3))
    td = env.rollout(9)

    assert column(td, "next", "truncated") == column(td, "next", "done") == [False, False, True]
    assert column(td, "next", "terminated") == [False] * 3 and column(td, "truncated") == [False] * 3
    check_env_specs(env)


def test_an_episode_that_terminates_first_is_not_truncated() -> None:
    td = TransformedEnv(Counter(limit=2), StepCounter(max_steps=3)).rollout(9)

    assert column(td, "next", "terminated") == [False, True] and column(td, "next", "truncated") == [False, False]


def test_at_the_limit_an_episode_may_be_both() -> None:
    td = TransformedEnv(Counter(limit=3), StepCounter(max_steps=3)).rollout(9)

    assert column(td, "next", "terminated")[-1] and column(td, "next", "truncated")[-1]


def test_update_done_false_only_says_that_it_is_truncated() -> None:
    td = TransformedEnv(Counter(limit=5), StepCounter(max_steps=3, update_done=False)).rollout(9)

    assert column(td, "next", "truncated") == [False, False, True, True, True]
    assert column(td, "next", "done") == [False] * 4 + [True]


def test_keys_can_be_named() -> None:
    env = TransformedEnv(Counter(limit=9), StepCounter(2, truncated_key="cut", step_count_key="n"))
    td = env.rollout(9)

    assert column(td, "next", "n") == [1, 2] and column(td, "next", "cut") == [False, True]


@pytest.mark.parametrize("most", [0, -1])
def test_max_steps_is_positive(most: int) -> None:
    with pytest.raises(ValueError, match=f"StepCounter: max_steps is {most}; 1 or more would do, or None"):
        StepCounter(most)


@pytest.mark.parametrize("most", [2.5, "5", True])
def test_max_steps_is_a_whole_number(most: Any) -> None:
    with pytest.raises(TypeError, match=f"StepCounter: max_steps is {most!r}; a whole number would do, or None"):
        StepCounter(most)


def test_max_steps_may_be_written_as_a_float() -> None:
    assert TransformedEnv(Counter(limit=9), StepCounter(2e0)).rollout(9).batch_size == (2,)  # type: ignore[arg-type]  # As 1e3.


def test_counts_begin_anew_at_each_auto_reset() -> None:
    td = TransformedEnv(Counter(limit=3), StepCounter()).rollout(8, break_when_any_done=False)

    assert column(td, "step_count") == [0, 1, 2, 0, 1, 2, 0, 1]
    assert column(td, "next", "step_count") == [1, 2, 3, 1, 2, 3, 1, 2]


def limits(*each: int) -> Counter:
    return Counter(limit=torch.tensor(each).view(-1, 1), batch_size=(len(each),))


def test_each_row_of_a_batch_has_a_count_of_its_own() -> None:
    td = TransformedEnv(limits(2, 3), Compose(StepCounter(), RewardSum())).rollout(6, break_when_any_done=False)

    assert column(td, "step_count") == [[0, 1, 0, 1, 0, 1], [0, 1, 2, 0, 1, 2]]
    assert column(td, "next", "episode_reward") == [[1, 2, 1, 2, 1, 2], [1, 2, 3, 1, 2, 3]]


def test_a_mask_resets_the_count_of_its_rows() -> None:
    env = TransformedEnv(limits(9, 9), Compose(StepCounter(), RewardSum()))
    td = env.reset()
    for _ in range(3):
        td = env.step_mdp(env.rand_step(td))
    td = env.reset(td.set("_reset", torch.tensor([[True], [False]])))

    assert column(td, "step_count") == [0, 3] and column(td, "episode_reward") == [0, 3]
    assert column(td, "observation") == [0, 3] and "_reset" not in td.keys()
    td = env.step_mdp(env.rand_step(td))
    assert column(td, "step_count") == [1, 4] and column(td, "episode_reward") == [1, 4]


def test_rows_that_are_over_wait_for_the_others() -> None:
    td = TransformedEnv(limits(2, 4), StepCounter()).rollout(9, break_when_all_done=True)

    assert td.shape == (2, 4)
    assert column(td, "next", "step_count") == [[1, 2, 2, 2], [1, 2, 3, 4]]


def test_a_count_goes_on_where_a_rollout_goes_on() -> None:
    env = TransformedEnv(Counter(limit=9), StepCounter())
    first = env.rollout(3)
    second = env.rollout(2, auto_reset=False, tensordict=env.step_mdp(first[..., -1]))

    assert column(second, "step_count") == [3, 4]


def test_agents_have_counts_of_their_own() -> None:
    env = TransformedEnv(Agents(limits=(2, 4)), StepCounter(max_steps=3))
    td = env.rollout(4, break_when_any_done=False)

    assert td["next", "agents", "step_count"].shape == (4, 2, 1)
    assert ("next", "agents", "truncated") in td.keys(True)
    check_env_specs(env)


# ---- RewardSum ------------------------------------------------------------------------------------------------------


def test_rewards_are_summed_as_an_observation_and_a_state() -> None:
    env = TransformedEnv(Counter(), RewardSum())
    td = env.rollout(4)

    assert column(td, "episode_reward") == [0, 1, 2, 3] and column(td, "next", "episode_reward") == [1, 2, 3, 4]
    assert "episode_reward" in env.observation_spec.keys() and "episode_reward" in env.state_spec.keys()
    check_env_specs(env)


def test_rewards_are_summed_as_they_are_at_that_place_of_the_chain() -> None:
    td = TransformedEnv(Counter(), Compose(RewardSum(), RewardScaling(0.0, 2.0))).rollout(3)
    late = TransformedEnv(Counter(), Compose(RewardScaling(0.0, 2.0), RewardSum())).rollout(3)

    assert column(td, "next", "episode_reward") == [1, 2, 3]
    assert column(late, "next", "episode_reward") == [2, 4, 6]


def test_a_sum_that_a_later_transform_changes_is_still_the_sum() -> None:
    norm = ObservationNorm(0.0, 10.0, in_keys=["episode_reward"])
    td = TransformedEnv(Counter(limit=3), Compose(RewardSum(), norm)).rollout(5, break_when_any_done=False)

    assert column(td, "next", "episode_reward") == [10, 20, 30, 10, 20]


def test_sums_of_agents_stand_beside_their_rewards() -> None:
    env = TransformedEnv(Agents(), RewardSum())
    td = env.rollout(2)

    assert ("next", "agents", "episode_reward") in td.keys(True)
    wanted = td["next", "agents", "reward"].cumsum(0)
    assert torch.allclose(td["next", "agents", "episode_reward"], wanted)
    check_env_specs(env)


def test_sums_under_a_key_of_ones_own() -> None:
    env = TransformedEnv(Counter(), RewardSum(["reward"], ["return"]))

    assert column(env.rollout(2), "next", "return") == [1, 2]


# ---- InitTracker ----------------------------------------------------------------------------------------------------


def test_the_first_step_of_each_episode_is_marked() -> None:
    env = TransformedEnv(Counter(limit=2), InitTracker())
    td = env.rollout(5, break_when_any_done=False)

    assert column(td, "is_init") == [True, False, True, False, True]
    assert column(td, "next", "is_init") == [False] * 5
    check_env_specs(env)


def test_a_mask_marks_its_rows() -> None:
    env = TransformedEnv(limits(9, 9), InitTracker())
    td = env.step_mdp(env.rand_step(env.reset()))
    td = env.reset(td.set("_reset", torch.tensor([[True], [False]])))

    assert column(td, "is_init") == [True, False]


# ---- TargetReturn ---------------------------------------------------------------------------------------------------


def test_a_target_is_reduced_by_each_reward_or_stays() -> None:
    env = TransformedEnv(Counter(limit=3), TargetReturn(10.0))

    assert column(env.rollout(5, break_when_any_done=False), "target_return") == [10, 9, 8, 10, 9]
    constant = TransformedEnv(Counter(), TargetReturn(10.0, mode="constant"))
    assert column(constant.rollout(3), "target_return") == [10, 10, 10]
    check_env_specs(env)
    with pytest.raises(ValueError, match="TargetReturn: mode is 'half'"):
        TargetReturn(1.0, mode="half")


# ---- inside and outside of a batch ----------------------------------------------------------------------------------


def chain() -> Compose:
    return Compose(RewardScaling(0.0, 2.0), StepCounter(4), RewardSum(), InitTracker())


@pytest.mark.parametrize("options", [{}, {"break_when_any_done": False}, {"break_when_all_done": True}])
def test_transforms_inside_of_a_batch_equal_those_outside(options: Any) -> None:
    def made(limit: int) -> Any:
        return lambda: Counter(limit)

    def transformed(limit: int) -> Any:
        return lambda: TransformedEnv(Counter(limit), chain())

    outside = TransformedEnv(SerialEnv(3, [made(2), made(3), made(9)]), chain())
    inside = SerialEnv(3, [transformed(2), transformed(3), transformed(9)])
    one, other = outside.rollout(10, **options), inside.rollout(10, **options)

    assert set(one.keys(True, True)) == set(other.keys(True, True))
    for key in set(one.keys(True, True)) - {"action"}:
        assert torch.equal(one.get(key), other.get(key)), key


# ---- data that is at hand -------------------------------------------------------------------------------------------


def data() -> TensorDict:
    done = torch.tensor([False, True, False, False]).view(1, 4, 1)
    after = TensorDict({"reward": torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 4, 1), "done": done}, [1, 4])
    return TensorDict({"next": after}, [1, 4])


def test_counts_and_sums_of_data_with_a_time_dim() -> None:
    td = Compose(StepCounter(), RewardSum(), InitTracker())(data())

    assert column(td, "step_count") == [[0, 1, 0, 1]] and column(td, "next", "step_count") == [[1, 2, 1, 2]]
    assert column(td, "next", "episode_reward") == [[1, 3, 3, 7]]
    assert column(td, "episode_reward") == [[0, 1, 0, 3]]
    assert column(td, "is_init") == [[True, False, True, False]]


def test_data_without_a_time_dim_is_refused() -> None:
    with pytest.raises(RuntimeError, match="StepCounter: data without an environment must have time as its last"):
        StepCounter()(TensorDict({"a": torch.ones(1)}, []))
