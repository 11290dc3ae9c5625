"""A rollout of gymnasium is transformed as a whole where that gives what step by step gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass.envs import (
    BoxAction,
    BoxObs,
    CatFrames,
    CatTensors,
    Compose,
    ExcludeTransform,
    GymEnv,
    InitTracker,
    ObservationNorm,
    RenameTransform,
    RewardScaling,
    RewardSum,
    SelectTransform,
    StepCounter,
    TransformedEnv,
    UnsqueezeTransform,
)
from tensorclass.nn import TensorClassModuleBase, TensorDictModule, TensorDictModuleBase

CHAINS: dict[str, Callable[[], Any]] = {
    "none": lambda: Compose(),
    "rounding": lambda: Compose(RewardScaling(0.1, 0.7), RewardSum()),
    "counters": lambda: Compose(RewardScaling(0.5, 2.0), StepCounter(), RewardSum(), InitTracker()),
    "limit": lambda: Compose(StepCounter(5), RewardSum()),
    "norm": lambda: ObservationNorm(1.0, 2.0, in_keys=["observation"]),
    "keys": lambda: Compose(
        RewardSum(),
        RenameTransform(["observation", "reward"], [("agent", "seen"), ("agent", "reward")]),
        ExcludeTransform("episode_reward"),
    ),
    "select": lambda: Compose(StepCounter(), SelectTransform("observation")),
    "cat": lambda: Compose(RewardSum(), CatTensors(["observation", "episode_reward"], "vector", del_keys=False)),
    "shape": lambda: UnsqueezeTransform(-1, in_keys=["observation"]),
    "frames": lambda: CatFrames(2, -1, ["observation"]),
    "function": lambda: Compose(lambda td: td.set("observation", td["observation"] * 2)),
}


@pytest.mark.parametrize("options", [{}, {"break_when_any_done": False}], ids=["stops", "goes_on"])
@pytest.mark.parametrize("name", CHAINS)
def test_a_rollout_is_the_same_as_a_whole_and_step_by_step(name: str, options: Any) -> None:
    quick, slow = [TransformedEnv(GymEnv("CartPole-v1"), CHAINS[name]()) for _ in range(2)]
    quick.set_seed(3)
    whole = quick.rollout(60, **options)
    actions = iter(whole["action"].unbind(0))
    slow.set_seed(3)
    steps = slow.rollout(len(whole), lambda td: td.set("action", next(actions)), **options)

    assert set(whole.keys(True, True)) == set(steps.keys(True, True))
    for key in whole.keys(True, True):
        assert torch.equal(whole.get(key), steps.get(key)), key
    quick.close()
    slow.close()


def left_or_right(seen: Tensor) -> Tensor:
    return torch.nn.functional.one_hot((seen[..., 2] > 0).long(), 2)


class Lean(TensorClassModuleBase[BoxObs, BoxAction]):
    def forward(self, x: BoxObs) -> BoxAction:
        return BoxAction(action=left_or_right(x.observation), batch_size=x.batch_size)


@pytest.mark.parametrize("options", [{}, {"break_when_any_done": False}], ids=["stops", "goes_on"])
@pytest.mark.parametrize("name", ["counters", "limit", "norm", "keys", "cat", "function"])
def test_with_a_policy_too(name: str, options: Any) -> None:
    by_key = TensorDictModule(left_or_right, ["observation"], ["action"])
    if name == "keys":
        by_key = TensorDictModule(left_or_right, [("agent", "seen")], ["action"])
    quick, slow = [TransformedEnv(GymEnv("CartPole-v1"), CHAINS[name]()) for _ in range(2)]
    quick.set_seed(3), slow.set_seed(3)
    whole, steps = quick.rollout(60, by_key, **options), slow.rollout(60, lambda td: by_key(td), **options)

    assert len(whole) == len(steps) and set(whole.keys(True, True)) == set(steps.keys(True, True))
    for key in whole.keys(True, True):
        assert torch.equal(whole.get(key), steps.get(key)), key
    quick.close()
    slow.close()


@pytest.mark.parametrize(
    "options", [{}, {"break_when_any_done": False}, {"break_when_all_done": True}], ids=["stops", "goes_on", "all"]
)
def test_many_side_by_side_are_transformed_step_by_step(options: Any) -> None:
    by_key = TensorDictModule(left_or_right, ["observation"], ["action"])
    quick, slow = [TransformedEnv(GymEnv("CartPole-v1", num_envs=3), CHAINS["counters"]()) for _ in range(2)]
    quick.set_seed(3), slow.set_seed(3)
    whole, steps = quick.rollout(60, by_key, **options), slow.rollout(60, lambda td: by_key(td), **options)

    assert whole.shape == steps.shape
    for key in whole.keys(True, True):
        assert torch.equal(whole.get(key), steps.get(key)), key


def test_with_a_typed_policy_too() -> None:
    quick, slow = [TransformedEnv(GymEnv("CartPole-v1"), CHAINS["counters"]()) for _ in range(2)]
    quick.set_seed(1), slow.set_seed(1)
    whole, steps = quick.rollout(40, Lean()), slow.rollout(40, lambda td: Lean().as_td_module()(td))

    assert torch.equal(whole.obs.observation, steps.obs.observation) and torch.equal(
        whole.action.action, steps.action.action
    )
    assert whole.next.step_count.flatten().tolist() == list(range(1, len(whole) + 1))


def test_a_policy_that_reads_what_a_transform_writes_sees_it() -> None:
    def by_count(count: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(count.squeeze(-1) % 2, 2)

    env = TransformedEnv(GymEnv("CartPole-v1"), StepCounter())
    steps = env.rollout(6, TensorDictModule(by_count, ["step_count"], ["action"]), break_when_any_done=False)

    assert steps["action"].argmax(-1).tolist() == [0, 1, 0, 1, 0, 1]


def test_what_a_policy_writes_under_next_moves_on() -> None:
    def act(seen: Tensor) -> tuple[Tensor, Tensor]:
        return left_or_right(seen), seen.sum(-1, keepdim=True)

    policy = TensorDictModule(act, ["observation"], ["action", ("next", "total")])
    steps = TransformedEnv(GymEnv("CartPole-v1"), RewardSum()).rollout(4, policy)

    assert torch.equal(steps["next", "total"].flatten(), steps["observation"].sum(-1))
    assert torch.equal(steps[2]["total"], steps[1]["next", "total"])


def test_entries_of_a_policy_that_differ_in_shape_are_refused_with_a_way_out() -> None:
    lengths = iter([1, 2, 3, 1, 2, 3])

    def act(seen: Tensor) -> tuple[Tensor, Tensor]:
        return left_or_right(seen), torch.zeros(next(lengths))

    policy = TensorDictModule(act, ["observation"], ["action", "extra"])
    env = TransformedEnv(GymEnv("CartPole-v1"), RewardSum())
    with pytest.raises(
        RuntimeError, match=r"^rollout: the policy gives entries of different shapes .* lambda td: policy"
    ):
        env.rollout(3, policy)

    assert env.rollout(3, lambda td: policy(td))[2]["extra"].shape == (3,)


def test_a_policy_that_reads_more_than_it_says_sees_it() -> None:
    class Sly(TensorDictModuleBase):
        in_keys, out_keys = ["observation"], ["action"]  # Not all that it reads.

        def forward(self, tensordict: Any) -> Any:
            return tensordict.set("action", torch.nn.functional.one_hot(tensordict["step_count"].squeeze(-1) % 2, 2))

    steps = TransformedEnv(GymEnv("CartPole-v1"), StepCounter()).rollout(4, Sly())

    assert steps["action"].argmax(-1).tolist() == [0, 1, 0, 1]


def test_a_transform_of_ones_own_is_called_at_each_step() -> None:
    class Loud(ObservationNorm):
        calls = 0

        def _apply_transform(self, value: Tensor) -> Tensor:
            self.calls += 1
            assert value.shape == (4,)
            return super()._apply_transform(value)

    env = TransformedEnv(GymEnv("CartPole-v1"), Loud(0.0, 1.0, in_keys=["observation"]))
    before = env.transform.calls
    env.rollout(5)

    assert env.transform.calls == before + 6


def test_a_rollout_goes_on_after_one_as_a_whole() -> None:
    env = TransformedEnv(GymEnv("CartPole-v1"), Compose(StepCounter(), RewardSum()))
    env.set_seed(0)
    first = env.rollout(4)
    second = env.rollout(3, auto_reset=False, tensordict=env.step_mdp(first[-1]))

    assert second["step_count"].flatten().tolist() == [4, 5, 6]
    assert second["episode_reward"].flatten().tolist() == [4, 5, 6]
    env.close()
