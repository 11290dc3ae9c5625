"""FrameSkipTransform, NoopResetEnv, TensorDictPrimer, cut-off episodes, lives, finite numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    Compose,
    Composite,
    EndOfLifeTransform,
    FiniteTensorDictCheck,
    FrameSkipTransform,
    NoopResetEnv,
    ObservationNorm,
    RandomTruncationTransform,
    RewardScaling,
    RewardSum,
    SerialEnv,
    StepCounter,
    TensorDictPrimer,
    TransformedEnv,
    Unbounded,
    check_env_specs,
)
from tests.envs.worlds import Counter


def column(td: Any, *key: str) -> list[Any]:
    return td[key].squeeze(-1).tolist()  # type: ignore[no-any-return]  # Numbers.


# ---- FrameSkipTransform ---------------------------------------------------------------------------------------------


class Strict(Counter):
    """Refuses to be stepped where it is over."""

    def _step(self, tensordict: Any) -> Any:
        assert not bool((self.count >= self.limit).all()), "stepped past the end"
        return super()._step(tensordict)


def test_an_action_is_repeated_and_its_rewards_summed() -> None:
    env = TransformedEnv(Strict(limit=99), FrameSkipTransform(4))
    td = env.rollout(3)

    assert column(td, "next", "observation") == [4, 8, 12] and column(td, "next", "reward") == [4, 4, 4]
    check_env_specs(env)


def test_an_episode_that_is_over_is_not_stepped_further() -> None:
    td = TransformedEnv(Strict(limit=6), FrameSkipTransform(4)).rollout(9)

    assert column(td, "next", "reward") == [4, 2] and column(td, "next", "observation") == [4, 6]
    assert column(td, "next", "terminated") == [False, True]


def test_rows_of_a_batch_stop_at_their_own_ends() -> None:
    made = [lambda: Strict(limit=2), lambda: Strict(limit=9)]
    env = TransformedEnv(SerialEnv(2, made), FrameSkipTransform(3))
    td = env.rollout(1)

    assert column(td, "next", "reward") == [[2], [3]] and column(td, "next", "observation") == [[2], [3]]
    assert column(td, "next", "done") == [[True], [False]]


def test_transforms_inside_see_every_frame_and_those_outside_every_action() -> None:
    inside = TransformedEnv(Strict(limit=99), Compose(StepCounter(), FrameSkipTransform(4)))
    outside = TransformedEnv(Strict(limit=99), Compose(FrameSkipTransform(4), StepCounter()))

    assert column(inside.rollout(3), "next", "step_count") == [4, 8, 12]
    assert column(outside.rollout(3), "next", "step_count") == [1, 2, 3]


def test_a_limit_inside_ends_the_repeats() -> None:
    td = TransformedEnv(Strict(limit=99), Compose(StepCounter(6), FrameSkipTransform(4), RewardSum())).rollout(9)

    assert column(td, "next", "reward") == [4, 2] and column(td, "next", "truncated") == [False, True]
    assert column(td, "next", "episode_reward") == [4, 6]


def test_no_skip_changes_nothing_and_a_negative_one_is_refused() -> None:
    assert column(TransformedEnv(Strict(), FrameSkipTransform(1)).rollout(2), "next", "reward") == [1, 1]
    with pytest.raises(ValueError, match="FrameSkipTransform: frame_skip is 0; 1 or more would do"):
        FrameSkipTransform(0)


# ---- NoopResetEnv ---------------------------------------------------------------------------------------------------


def test_so_many_random_steps_come_before_an_episode() -> None:
    env = TransformedEnv(Counter(limit=99), NoopResetEnv(5, random=False))
    td = env.reset()

    assert td["observation"].item() == 5 and "action" not in td.keys() and "reward" not in td.keys()
    assert not td["done"].any()
    check_env_specs(env)


def test_a_random_number_of_steps_is_below_the_bound() -> None:
    env = TransformedEnv(Counter(limit=99), NoopResetEnv(4))

    assert {int(env.reset()["observation"]) for _ in range(60)} == {0, 1, 2, 3}


def test_episodes_that_are_over_too_early_are_begun_again() -> None:
    assert TransformedEnv(Counter(limit=3), NoopResetEnv(2, random=False)).reset()["observation"].item() == 2
    with pytest.raises(RuntimeError, match="NoopResetEnv: 100 episodes in a row were over within 5 random actions"):
        TransformedEnv(Counter(limit=3), NoopResetEnv(5, random=False)).reset()


def test_a_batch_of_environments_has_it_inside() -> None:
    with pytest.raises(RuntimeError, match=r"NoopResetEnv: the environment has batch size \[2\]; put the transform"):
        TransformedEnv(Counter(batch_size=(2,)), NoopResetEnv())
    env = SerialEnv(2, lambda: TransformedEnv(Counter(limit=99), NoopResetEnv(3, random=False)))

    assert column(env.reset(), "observation") == [3, 3]


def test_transforms_before_and_after_see_what_a_reset_gives() -> None:
    norm = ObservationNorm(0.0, 10.0, in_keys=["observation"])
    env = TransformedEnv(Counter(limit=99), Compose(norm, NoopResetEnv(3, random=False), StepCounter()))

    assert env.reset()["observation"].item() == 30 and env.reset()["step_count"].item() == 0


# ---- TensorDictPrimer -----------------------------------------------------------------------------------------------


def test_primers_are_there_from_the_first_step() -> None:
    env = TransformedEnv(Counter(batch_size=(2,)), TensorDictPrimer(hidden=Unbounded((3,))))

    assert env.reset()["hidden"].shape == (2, 3) and not env.reset()["hidden"].any()
    assert "hidden" in env.observation_spec.keys() and "hidden" in env.state_spec.keys()
    check_env_specs(env)


def remember(td: Any) -> Any:
    td["action"] = torch.zeros(1)
    td["next", "hidden"] = td["hidden"] + 1
    return td


def test_what_a_policy_writes_under_next_is_where_the_next_step_begins() -> None:
    env = TransformedEnv(Counter(limit=3), TensorDictPrimer(hidden=Unbounded((1,))))
    td = env.rollout(5, remember, break_when_any_done=False)

    assert column(td, "hidden") == [0, 1, 2, 0, 1] and column(td, "next", "hidden") == [1, 2, 3, 1, 2]


def test_primers_may_have_other_values_or_random_ones() -> None:
    specs = Composite(a=Unbounded((1,)), b=Unbounded((1,)))

    assert TransformedEnv(Counter(), TensorDictPrimer(specs, default_value=2.0)).reset()["b"].item() == 2
    by_key = TensorDictPrimer({"a": Unbounded((1,)), "b": Unbounded((1,))}, default_value={"a": 1.0})
    td = TransformedEnv(Counter(), by_key).reset()
    assert (td["a"].item(), td["b"].item()) == (1, 0)
    assert TransformedEnv(Counter(), TensorDictPrimer(specs, random=True)).reset()["a"].any()
    with pytest.raises(ValueError, match="random and default_value exclude each other"):
        TensorDictPrimer(specs, random=True, default_value=1.0)
    with pytest.raises(ValueError, match="TensorDictPrimer: give primers"):
        TensorDictPrimer()


def test_primers_of_data_that_lacks_them() -> None:
    data = TensorDictPrimer(hidden=Unbounded((3,)))(TensorDict(batch_size=[2]))

    assert data["hidden"].shape == (2, 3)


# ---- the rest -------------------------------------------------------------------------------------------------------


def test_lengths_are_spread_at_first_and_then_the_longest() -> None:
    torch.manual_seed(0)
    env = TransformedEnv(Counter(limit=999, batch_size=(50,)), Compose(StepCounter(), RandomTruncationTransform(2, 10)))
    td = env.rollout(25, break_when_any_done=False)
    over = td["next", "truncated"].squeeze(-1)
    first = over.int().argmax(-1) + 1

    assert len(first.unique()) > 5 and int(first.max()) <= 10
    assert int(td["next", "step_count"].max()) == 10
    assert not td["next", "terminated"].any() and torch.equal(td["next", "done"], td["next", "truncated"])
    with pytest.raises(KeyError, match="RandomTruncationTransform: no key 'step_count'"):
        TransformedEnv(Counter(), RandomTruncationTransform(1, 2))


class Lives(Counter):
    """Loses a life every second step."""

    def lives(self) -> int:
        return 3 - int(self.count.item()) // 2


def test_a_lost_life_is_marked_and_the_episode_goes_on() -> None:
    env = TransformedEnv(Lives(limit=5), EndOfLifeTransform(eol_attribute="lives"))
    td = env.rollout(9)

    assert column(td, "next", "end-of-life") == [False, True, False, True, True]
    assert column(td, "next", "lives") == [3, 2, 2, 1, 1]
    check_env_specs(env)


def test_numbers_that_are_not_finite_are_named() -> None:
    env = TransformedEnv(Counter(), Compose(RewardScaling(float("nan"), 1.0), FiniteTensorDictCheck()))

    with pytest.raises(ValueError, match="^FiniteTensorDictCheck: 'reward' has 1 number that is not finite"):
        env.rollout(1)
