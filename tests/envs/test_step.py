"""step and step_mdp: what is written where, and what moves on."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict, assert_close, lazy_stack
from tensorclass.envs import (
    Bounded,
    Compose,
    Composite,
    EnvBase,
    Next,
    RewardSum,
    StepCounter,
    TransformedEnv,
    Transition,
    Unbounded,
    step_mdp,
)
from tests.envs.worlds import Agents, Counter, Pendulum


def sample() -> TensorDict:
    """A step by hand."""
    nxt = {
        "obs": torch.ones(1),
        "reward": torch.ones(1),
        "done": torch.ones(1).bool(),
        "terminated": torch.ones(1).bool(),
    }
    root = {"obs": torch.zeros(1), "action": torch.full((1,), 2.0), "note": "kept", "done": torch.zeros(1).bool()}
    return TensorDict({**root, "next": nxt})


def test_a_step_is_written_into_the_container_that_is_given_and_gives_it_back() -> None:
    env = Counter()
    td = env.rand_action(env.reset())

    assert env.step(td) is td
    assert set(td.keys()) == {"observation", "action", "done", "terminated", "next"}
    assert set(td["next"].keys()) == {"observation", "reward", "done", "terminated"}
    assert td["observation"].item() == 0 and td["next", "observation"].item() == 1


def test_a_plain_container_becomes_a_transition_and_stays_the_same_object() -> None:
    td = TensorDict(observation=torch.zeros(1), action=torch.zeros(1))

    assert Counter().step(td) is td
    assert isinstance(td, Transition) and td.next.reward.item() == 1


def test_a_step_does_not_touch_what_it_was_given_but_for_next() -> None:
    env = Counter()
    td = env.rand_action(env.reset())
    before = {key: (value, value.clone()) for key, value in td.items()}
    env.step(td)

    for key, (value, copy) in before.items():
        assert td[key] is value and torch.equal(value, copy)


def test_entries_of_next_that_are_there_already_stay_and_those_of_the_step_win() -> None:
    env = Counter()
    td = env.rand_action(env.reset())
    td["next"] = TensorDict(hidden=torch.ones(2), reward=torch.full((1,), 7.0))
    env.step(td)

    assert td["next", "hidden"].tolist() == [1, 1] and td["next", "reward"].item() == 1


@pytest.mark.parametrize("flags", [("terminated",), ("done",), ("done", "terminated")])
def test_done_and_terminated_imply_each_other(flags: tuple[str, ...]) -> None:
    env = Counter(limit=2)
    env.flags = flags
    td = env.rollout(5)

    assert td.shape == (2,)
    assert td["next", "done"].flatten().tolist() == td["next", "terminated"].flatten().tolist() == [False, True]
    assert not td["done"].any() and not td["terminated"].any()


class Cut(Counter):
    """Says some of the flags in so many words."""

    given: dict[str, bool] = {}

    def __init__(self, **given: bool) -> None:
        super().__init__()
        self.add_truncated_keys()
        self.given = given
        self.flags = ()

    def _step(self, tensordict: Any) -> Any:
        out = super()._step(tensordict)
        return out.update({name: torch.tensor([value]) for name, value in self.given.items()})


@pytest.mark.parametrize(
    ("given", "done", "terminated", "truncated"),
    [
        ({"terminated": False, "truncated": True}, True, False, True),
        ({"terminated": True, "truncated": False}, True, True, False),
        ({"terminated": True, "truncated": True}, True, True, True),
        ({"truncated": True}, True, False, True),
        ({"done": True, "truncated": True}, True, False, True),
        ({"done": True, "truncated": False}, True, True, False),
        ({"done": True}, True, True, False),
        ({"terminated": True}, True, True, False),
        ({"done": True, "terminated": False}, True, False, True),
        ({"done": False, "terminated": False}, False, False, False),
        ({}, False, False, False),
    ],
)
def test_flags_that_are_not_given_follow_from_those_that_are(
    given: dict[str, bool], done: bool, terminated: bool, truncated: bool
) -> None:
    env = Cut(**given)
    after = env.rand_step(env.reset())["next"]

    assert [after[name].item() for name in ("done", "terminated", "truncated")] == [done, terminated, truncated]


def test_flags_are_completed_for_every_group_of_agents() -> None:
    env = Agents()
    td = env.rand_step(env.reset())

    assert td["agents", "done"].shape == td["agents", "terminated"].shape == (2, 1)
    td = env.rand_step(env.step_mdp(td))
    assert td["next", "agents", "terminated"].flatten().tolist() == [True, False]
    assert "done" not in td["next"].keys()


def test_step_mdp_moves_next_to_the_root() -> None:
    td = sample()
    out = step_mdp(td)

    assert set(out.keys()) == {"obs", "note", "done", "terminated"}
    assert out["obs"] is td["next", "obs"] and out["done"].item() is True
    assert td["obs"].item() == 0 and "action" in td


@pytest.mark.parametrize(
    ("option", "keys"),
    [
        ({"exclude_reward": False}, {"obs", "note", "done", "terminated", "reward"}),
        ({"exclude_done": True}, {"obs", "note", "terminated"}),
        ({"exclude_action": False}, {"obs", "note", "done", "terminated", "action"}),
        ({"keep_other": False}, {"obs", "done", "terminated"}),
        ({"keep_other": False, "exclude_action": False}, {"obs", "done", "terminated", "action"}),
        ({"action_keys": "note"}, {"obs", "done", "terminated", "action"}),
        ({"reward_keys": ["obs", "reward"]}, {"note", "done", "terminated"}),
        ({"exclude_done": True, "done_keys": ["done", "terminated"]}, {"obs", "note"}),
    ],
)
def test_step_mdp_leaves_out_what_it_is_told_to(option: dict[str, Any], keys: set[str]) -> None:
    assert set(step_mdp(sample(), **option).keys()) == keys


def test_step_mdp_writes_into_the_container_for_it() -> None:
    into = TensorDict(obs=torch.zeros(1))

    assert step_mdp(sample(), into) is into and into["obs"].item() == 1


def test_step_mdp_of_nested_entries_joins_them() -> None:
    env = Agents()
    td = env.rand_step(env.reset())
    td["agents", "memory"] = torch.zeros(2, 5)
    out = step_mdp(td, reward_keys=env.reward_keys, action_keys=env.action_keys, done_keys=env.done_keys)

    assert set(out["agents"].keys()) == {"pos", "done", "terminated", "memory"}
    assert out["agents", "pos"].unique().tolist() == [1]
    assert set(env.step_mdp(td)["agents"].keys()) == {"pos", "done", "terminated", "memory", "action"}


def test_step_mdp_of_a_lazy_stack_goes_item_by_item() -> None:
    stack = lazy_stack([sample(), sample()])

    assert step_mdp(stack)["obs"].tolist() == [[1], [1]] and "next" not in step_mdp(stack).keys()


def test_the_method_keeps_the_action() -> None:
    env = Counter()
    td = env.rand_step(env.reset())

    assert "action" in env.step_mdp(td).keys() and "reward" not in env.step_mdp(td).keys()


def test_step_and_maybe_reset_gives_the_whole_step_and_a_start_that_is_reset() -> None:
    env = Counter(limit=[[1.0], [3.0]], batch_size=(2,))
    whole, start = env.step_and_maybe_reset(env.rand_action(env.reset()))

    assert whole["next", "observation"].flatten().tolist() == [1, 1]
    assert whole["next", "done"].flatten().tolist() == [True, False]
    assert start["observation"].flatten().tolist() == [0, 1]
    assert not start["done"].any() and "_reset" not in start.keys() and "reward" not in start.keys()


def test_any_done_puts_the_masks_and_maybe_reset_reads_the_flags() -> None:
    env = Counter(limit=[[1.0], [3.0]], batch_size=(2,))
    td = env.step_mdp(env.rand_step(env.reset()))

    assert env.any_done(td) and td["_reset"].flatten().tolist() == [True, False]
    assert env.maybe_reset(td)["observation"].flatten().tolist() == [0, 1]
    assert not env.any_done(env.reset())


def test_a_mask_of_steps_leaves_the_other_rows_as_they_are() -> None:
    env = Counter(batch_size=(3,))
    td = env.rand_action(env.reset())
    td["_step"] = torch.tensor([True, False, True])
    after = env.step(td)["next"]

    assert after["observation"].flatten().tolist() == [1, 0, 1]
    assert after["reward"].flatten().tolist() == [1, 0, 1]


def test_any_batch_size_will_do_where_the_batch_is_not_locked() -> None:
    env = Pendulum()
    for batch in ((), (3,), (2, 5)):
        td = env.rand_step(env.reset(env.gen_params(batch_size=batch)))
        assert td.batch_size == batch
        assert td["action"].shape == td["next", "reward"].shape == td["next", "done"].shape == (*batch, 1)


def test_forward_is_a_step() -> None:
    env = Counter()

    assert env(env.rand_action(env.reset()))["next", "reward"].item() == 1


@pytest.mark.parametrize("batch", [(), (3,)])
def test_a_container_of_another_batch_size_is_refused(batch: tuple[int, ...]) -> None:
    env = Counter(batch_size=batch)
    td = TensorDict(action=torch.zeros(2, 1), batch_size=[2])

    with pytest.raises(RuntimeError, match=r"step: the container has batch size \[2\], the environment"):
        env.step(td)
    with pytest.raises(RuntimeError, match=r"reset: the container has batch size \[2\]"):
        env.reset(td)


def test_an_entry_that_is_missing_is_named() -> None:
    class Misspelt(Counter):
        def _step(self, tensordict: Any) -> Any:
            return super()._step(tensordict).rename_key_("observation", "obsevation")

    env = Misspelt()
    with pytest.raises(KeyError, match="Misspelt._step gave no 'observation'; did you mean 'obsevation'"):
        env.rand_step(env.reset())
    with pytest.raises(KeyError, match="did you mean 'obsevation'"):
        env.rollout(3)


def test_a_shape_that_is_not_that_of_the_spec_is_named() -> None:
    class Flat(Counter):
        def _step(self, tensordict: Any) -> Any:
            out = super()._step(tensordict)
            return out.set("reward", torch.ones(2))

    env = Flat()
    with pytest.raises(RuntimeError, match=r"Flat._step: 'reward' has shape \[2\]; its spec has \[1\]"):
        env.rand_step(env.reset())


def test_a_flag_that_is_misspelt_is_named() -> None:
    class Misspelt(Counter):
        def _step(self, tensordict: Any) -> Any:
            return super()._step(tensordict).exclude("done").rename_key_("terminated", "terminatd")

    env = Misspelt()
    with pytest.raises(KeyError, match="no flag is given, but there is 'terminatd'; did you mean 'terminated'"):
        env.rand_step(env.reset())


@pytest.mark.parametrize("kind", ["same", "dict", "none"])
def test_methods_must_give_a_new_container(kind: str) -> None:
    class Odd(Counter):
        def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
            return {"same": tensordict, "dict": {"observation": torch.zeros(1)}, "none": None}[kind]

        def _step(self, tensordict: Any) -> Any:
            return self._reset(tensordict)

    what = {"same": "the container that it was given", "dict": "a dict", "none": "None"}[kind]
    env = Odd()
    td = TensorDict(observation=torch.zeros(1), action=torch.zeros(1))
    with pytest.raises(RuntimeError, match=f"Odd._reset returned {what}; .*would do"):
        env.reset(td)
    with pytest.raises(RuntimeError, match=f"Odd._step returned {what}"):
        env.step(td)


def test_an_environment_without_its_methods_says_which() -> None:
    with pytest.raises(NotImplementedError, match="EnvBase has no _reset"):
        EnvBase().reset()


def test_next_takes_rewards_and_flags_without_their_last_dim() -> None:
    after = Next({"x": torch.zeros(3, 2)}, [3], reward=torch.ones(3), terminated=False, done=torch.zeros(3, 1).bool())

    assert after.reward.shape == after.terminated.shape == after.done.shape == (3, 1)


def test_dtypes_are_compared_at_each_step_if_asked_for() -> None:
    class Double(Counter):
        def _step(self, tensordict: Any) -> Any:
            out = super()._step(tensordict)
            return out.set("reward", out["reward"].double())

    assert Double().rollout(2)["next", "reward"].dtype is torch.float64
    env = Double(run_type_checks=True)
    with pytest.raises(TypeError, match="Double._step: 'reward' has dtype torch.float64; its spec has torch.float32"):
        env.rand_step(env.reset())


def test_the_tuples_of_gymnasium_are_refused_with_a_way_out() -> None:
    class Tuples(Counter):
        def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
            return torch.zeros(1), {}

    with pytest.raises(RuntimeError, match=r"Tuples._reset returned a tuple; .*GymWrapper\(env\)"):
        Tuples().reset()


def test_an_entry_on_another_device_is_named() -> None:
    class Elsewhere(Counter):
        def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
            return TensorDict(observation=torch.zeros(1, device="meta"))

    with pytest.raises(RuntimeError, match="Elsewhere._reset: 'observation' is on meta, the environment on cpu"):
        Elsewhere(device="cpu").reset()


def test_a_lazy_stack_is_stepped_row_by_row() -> None:
    env = Pendulum()
    start = [env.rand_action(env.reset(env.gen_params())) for _ in range(3)]
    stack = lazy_stack(start)
    env.step(stack)

    assert stack["next", "reward"].shape == (3, 1)
    assert all("next" in row.keys() for row in start)


@pytest.mark.slow
def test_steps_on_the_meta_device_have_shapes_alone() -> None:
    class Drift(EnvBase):
        def __init__(self) -> None:
            super().__init__(device="meta")
            self.observation_spec = Composite(pos=Unbounded((1,)))
            self.action_spec = Bounded(-1.0, 1.0, (1,))

        def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
            return TensorDict(pos=torch.zeros(1, device="meta"))

        def _step(self, tensordict: Any) -> Any:
            pos = tensordict["pos"] + tensordict["action"]
            return TensorDict(pos=pos, reward=-pos.abs(), terminated=pos > 3)

    env = TransformedEnv(Drift(), Compose(StepCounter(), RewardSum()))
    after = env.step(env.rand_action(env.reset()))["next"]

    assert all(value.is_meta and value.shape == (1,) for value in after.values())


def test_a_step_through_transforms_is_one_graph() -> None:
    env = TransformedEnv(Pendulum(), Compose(StepCounter(3), RewardSum()))
    start = env.rand_action(env.reset(env.gen_params(batch_size=[5])))
    step = torch.compile(env.step, fullgraph=True, backend="eager")

    assert_close(step(start.copy()), env.step(start.copy()))
