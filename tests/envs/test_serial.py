"""SerialEnv: environments side by side are those environments, one after the other."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import LazyStackedTensorDict, TensorDict
from tensorclass.envs import (
    Bounded,
    Categorical,
    CatTensors,
    Composite,
    EnvBase,
    EnvCreator,
    GymEnv,
    ObservationNorm,
    RewardSum,
    SerialEnv,
    StepCounter,
    TransformedEnv,
    Unbounded,
    check_env_specs,
    step_mdp,
)
from tests.envs.worlds import Agents, Counter, Pendulum


class OnlyTerminated(Counter):
    """Says nothing of done."""

    flags = ("terminated",)


class Sized(EnvBase):
    """Observations and actions of a size of its own."""

    def __init__(self, size: int, limit: int = 3) -> None:
        super().__init__()
        self.size, self.limit, self.count = size, limit, 0
        self.observation_spec = Composite(pos=Unbounded((size,)), inner=Composite(one=Unbounded((1,))))
        self.action_spec = Bounded(-1.0, 1.0, (size,))

    def _seen(self, **more: Any) -> Any:
        pos, one = torch.full((self.size,), float(self.count)), torch.full((1,), float(self.count))
        return TensorDict({"pos": pos, "inner": {"one": one}, **more})

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        self.count = 0
        return self._seen()

    def _step(self, tensordict: Any) -> Any:
        self.count += 1
        done = torch.tensor([self.count >= self.limit])
        return self._seen(reward=tensordict["action"].sum(-1, keepdim=True), terminated=done)


def counters(*limits: float) -> list[Any]:
    return [lambda limit=limit: Counter(limit) for limit in limits]


def test_the_batch_size_has_the_environments_first() -> None:
    assert SerialEnv(3, Counter).batch_size == (3,)
    assert SerialEnv(3, lambda: Counter(batch_size=(2,))).batch_size == (3, 2)
    assert SerialEnv(3, lambda: Counter(batch_size=(2,))).rollout(4).shape == (3, 2, 4)
    assert SerialEnv(2, lambda: Agents(batch_size=(2,))).rollout(2).shape == (2, 2, 2)


@pytest.mark.parametrize("make", [Counter, Agents, lambda: Counter(batch_size=(2,)), lambda: GymEnv("CartPole-v1")])
def test_specs_hold(make: Any) -> None:
    check_env_specs(SerialEnv(2, make))


def test_each_row_is_what_its_environment_gives() -> None:
    many = SerialEnv(2, lambda: GymEnv("Pendulum-v1"))
    many.set_seed(0)
    steps = many.rollout(20)
    seed: Any = 0
    for at in range(2):
        one = GymEnv("Pendulum-v1")
        following = one.set_seed(seed)
        td = one.reset()
        for step in range(20):
            td["action"] = steps["action"][at, step]
            td = one.step(td)
            assert torch.equal(td["next", "observation"], steps["next", "observation"][at, step])
            assert torch.equal(td["next", "reward"], steps["next", "reward"][at, step])
            td = step_mdp(td)
        seed = following


def test_seeds_follow_from_each_other() -> None:
    many, one = SerialEnv(2, lambda: GymEnv("CartPole-v1")), GymEnv("CartPole-v1")
    following = many.set_seed(5)

    assert following == one.set_seed(one.set_seed(5))
    first = many.reset()["observation"]
    assert not torch.equal(first[0], first[1])
    many.set_seed(5, static_seed=True)
    first = many.reset()["observation"]
    assert torch.equal(first[0], first[1])


def test_random_actions_are_the_same_for_a_seed() -> None:
    many = SerialEnv(2, lambda: GymEnv("CartPole-v1"))
    many.set_seed(1)
    one = many.rollout(10)
    many.set_seed(1)
    two = many.rollout(10)

    assert torch.equal(one["action"], two["action"]) and torch.equal(one["observation"], two["observation"])


# ---- making them ----------------------------------------------------------------------------------------------------


def test_they_are_made_when_they_are_needed_and_again_after_close() -> None:
    made = []

    def make() -> Counter:
        made.append(1)
        return Counter()

    env = SerialEnv(2, make)
    assert made == [] and not env.is_closed
    assert repr(env) == "SerialEnv(2 environments, not started)"
    assert env.batch_size == (2,) and len(made) == 2
    assert repr(env) == "SerialEnv(2 environments, batch_size=[2])"
    env.rollout(2)
    env.close()
    assert env.is_closed and env.batch_size == (2,) and len(made) == 2
    env.rollout(2)
    assert not env.is_closed and len(made) == 4


def test_a_function_and_arguments_for_each() -> None:
    env = SerialEnv(2, Counter, create_env_kwargs=[{"limit": 2.0}, {"limit": 4.0}])
    both = SerialEnv(
        2, [EnvCreator(Counter, {"limit": 2.0}), EnvCreator(Counter)], create_env_kwargs=[None, {"limit": 4}]
    )

    for one in (env, both, SerialEnv(2, counters(2, 4))):
        steps = one.rollout(9, break_when_any_done=False, break_when_all_done=True)
        assert steps["next", "observation"].squeeze(-1).tolist() == [[1, 2, 2, 2], [1, 2, 3, 4]]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="^SerialEnv: 3 functions for 2 environments$"):
        SerialEnv(2, [Counter] * 3)
    with pytest.raises(ValueError, match="^SerialEnv: 1 dicts of keyword arguments for 2 environments$"):
        SerialEnv(2, Counter, create_env_kwargs=[{}])
    with pytest.raises(ValueError, match="^SerialEnv: num_workers is 0; 1 or more would do$"):
        SerialEnv(0, Counter)
    with pytest.raises(TypeError, match="^SerialEnv: num_workers is <class .*Counter'>; a whole number would do$"):
        SerialEnv(Counter, 2)  # type: ignore[arg-type]  # The arguments the other way round.
    with pytest.raises(TypeError, match="^EnvCreator: Counter is no function; one that makes an environment would do"):
        SerialEnv(2, Counter())
    with pytest.raises(TypeError, match="^the function that makes environments returned int, no EnvBase$"):
        SerialEnv(2, lambda: 3).reset()  # type: ignore[arg-type, return-value]  # What is refused.
    with pytest.raises(
        RuntimeError, match=r"^SerialEnv: environment 0 has batch size \[2\], environment 1 \[3\]; they must be equal$"
    ):
        SerialEnv(2, [lambda: Counter(batch_size=2), lambda: Counter(batch_size=3)]).reset()


class Unlike(EnvBase):
    """With specs of one's own choice."""

    def __init__(self, observation: Any, action: Any = None, reward: Any = None, device: Any = None) -> None:
        super().__init__(device=device)
        self.observation_spec = observation
        self.action_spec = Bounded(-1.0, 1.0, (1,)) if action is None else action
        self.reward_spec = Unbounded((1,)) if reward is None else reward


POS = "Unbounded(shape=(3,), device='cpu', dtype=torch.float32)"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (
            {"observation": Composite(pos=Unbounded((3, 3)))},
            f"'pos' is {POS} in environment 0, {POS.replace('3,', '3, 3')} in environment 1; sizes may differ, "
            "the number of dims may not",
        ),
        (
            {"observation": Composite(pos=Composite(x=Unbounded((3,))))},
            f"environment 0 has 'pos' ({POS}), environment 1 ('pos', 'x') ({POS}); an entry is a tensor in "
            "all, or a container in all",
        ),
        (
            {"observation": Composite(pos=Unbounded((3,))), "action": Categorical(3)},
            "'action' is Bounded(low=-1.0, high=1.0, shape=(1,), device='cpu', dtype=torch.float32) in environment 0, "
            "Categorical(n=3, shape=(), device='cpu', dtype=torch.int64) in environment 1; sizes may differ, "
            "the number of dims may not",
        ),
        (
            {"observation": Composite(pos=Unbounded((3,))), "reward": Composite(gain=Unbounded((1,)))},
            "the reward keys of environment 0 are 'reward', those of environment 1 'gain'; they must be the same",
        ),
        (
            {"observation": Composite(pos=Unbounded((3,))), "device": "meta"},
            "environment 0 is on cpu, environment 1 on meta; they must be on the same device",
        ),
    ],
    ids=["dims", "nested", "action", "reward", "device"],
)
def test_environments_that_do_not_fit_are_named_with_key_and_specs(other: dict[str, Any], says: str) -> None:
    env = SerialEnv(
        2, Unlike, create_env_kwargs=[{"observation": Composite(pos=Unbounded((3,))), "device": "cpu"}, other]
    )
    with pytest.raises((RuntimeError, KeyError)) as refused:
        env.reset()

    assert str(refused.value) == f"SerialEnv: {says}"


# ---- ends of episodes -----------------------------------------------------------------------------------------------


def test_an_environment_that_only_terminates_ends_its_episodes() -> None:
    env = SerialEnv(2, [lambda: OnlyTerminated(2), lambda: OnlyTerminated(3)])
    steps = env.rollout(6, break_when_any_done=False)

    assert steps["next", "done"].squeeze(-1).int().tolist() == [[0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 0, 1]]
    assert env.rollout(6).shape == (2, 2)


def test_only_those_that_a_mask_says_are_reset() -> None:
    env = SerialEnv(3, lambda: Counter(9))
    td = step_mdp(env.rand_step(env.reset()))
    td["_reset"] = torch.tensor([[True], [False], [True]])
    td = env.reset(td)

    assert td["observation"].flatten().tolist() == [0, 1, 0] and "_reset" not in td
    assert [one.resets for one in env.__dict__["_envs"]] == [2, 1, 2]


def test_a_mask_alone_is_enough() -> None:
    env = SerialEnv(2, lambda: Counter(9))
    env.rand_step(env.reset())
    td = env.reset(TensorDict({"_reset": torch.tensor([[True], [False]])}, [2]))

    assert td["observation"].flatten().tolist() == [0, 1]
    with pytest.raises(
        RuntimeError, match="^SerialEnv: a first reset with a mask leaves some episodes without a start"
    ):
        SerialEnv(2, Counter).reset(TensorDict({"_reset": torch.tensor([[True], [False]])}, [2]))


def test_masks_reach_into_batches() -> None:
    env = SerialEnv(2, lambda: Counter(9, batch_size=(2,)))
    td = step_mdp(env.rand_step(env.reset()))
    td["_reset"] = torch.tensor([[[True], [False]], [[False], [False]]])

    assert env.reset(td)["observation"].squeeze(-1).tolist() == [[0, 1], [1, 1]]


def test_nested_masks() -> None:
    env = SerialEnv(2, lambda: Agents(limits=(9, 9)))
    td = step_mdp(env.rand_step(env.reset()))
    td["agents", "_reset"] = torch.tensor([[[True], [False]], [[False], [False]]])

    assert env.reset(td)["agents", "pos"][..., 0].tolist() == [[0, 1], [1, 1]]


def test_only_those_that_a_mask_says_are_stepped() -> None:
    env = SerialEnv(3, lambda: Counter(9))
    td = env.rand_action(env.reset())
    td["_step"] = torch.tensor([True, False, True])
    after = env.step(td)["next"]

    assert after["observation"].flatten().tolist() == [1, 0, 1]
    assert after["reward"].flatten().tolist() == [1, 0, 1]
    assert [one.count.item() for one in env.__dict__["_envs"]] == [1, 0, 1]


def test_a_mask_within_a_batch_is_stepped_there() -> None:
    env = SerialEnv(2, lambda: Counter(9, batch_size=(2,)))
    td = env.rand_action(env.reset())
    td["_step"] = torch.tensor([[True, False], [False, False]])
    after = env.step(td)["next"]

    assert after["observation"].squeeze(-1).tolist() == [[1, 0], [0, 0]]
    assert after["reward"].squeeze(-1).tolist() == [[1, 0], [0, 0]]


# ---- transforms -----------------------------------------------------------------------------------------------------


def counted() -> TransformedEnv[Any, Any]:
    env = TransformedEnv(Counter(3))
    env.append_transform(StepCounter(5)).append_transform(RewardSum())
    return env


GOING_ON: dict[str, Any] = {"break_when_any_done": False}
TO_THE_LAST: dict[str, Any] = {"break_when_any_done": False, "break_when_all_done": True}


@pytest.mark.parametrize("breaks", [GOING_ON, TO_THE_LAST, {}])
def test_transforms_inside_are_transforms_outside(breaks: Any) -> None:
    inner = SerialEnv(2, [lambda: inside(2), lambda: inside(4)])
    outer = TransformedEnv(SerialEnv(2, counters(2, 4)), StepCounter(5)).append_transform(RewardSum())
    one, two = inner.rollout(7, act, **breaks), outer.rollout(7, act, **breaks)

    assert set(one.keys(True, True)) == set(two.keys(True, True))
    for key in one.keys(True, True):
        mine, theirs = one.get(key), two.get(key)
        assert torch.equal(mine, theirs), key


def inside(limit: float) -> Any:
    return TransformedEnv(Counter(limit), StepCounter(5)).append_transform(RewardSum())


def act(td: Any) -> Any:
    return td.set("action", torch.zeros(*td.shape, 1))


def test_transforms_that_drop_keys_inside() -> None:
    def make() -> Any:
        return TransformedEnv(Counter(3), CatTensors(["observation"], "vector"))

    steps = SerialEnv(2, make).rollout(5, break_when_any_done=False)

    assert "observation" not in steps.keys() and steps["next", "vector"].squeeze(-1).tolist() == [[1, 2, 3, 1, 2]] * 2


def test_gradients_flow_through_the_steps() -> None:
    env = SerialEnv(2, Pendulum)
    layer = nn.Linear(2, 1)

    def policy(td: Any) -> Any:
        return td.set("action", layer(torch.stack([td["th"], td["thdot"]], -1)))

    env.rollout(3, policy)["next", "reward"].sum().backward()

    assert layer.weight.grad is not None and layer.weight.grad.abs().sum() > 0


# ---- states and attributes ------------------------------------------------------------------------------------------


def test_the_state_of_each() -> None:
    def make(loc: float) -> Any:
        return TransformedEnv(Counter(), ObservationNorm(loc, 1.0, in_keys=["observation"]))

    one, two = (
        SerialEnv(2, make, create_env_kwargs=[{"loc": loc} for loc in locs]) for locs in ((1.0, 2.0), (3.0, 4.0))
    )
    state = one.state_dict()
    two.load_state_dict(state)

    assert list(state) == ["worker0", "worker1"]
    assert two.reset()["observation"].flatten().tolist() == [1, 2]
    with pytest.raises(KeyError, match="worker1"):
        two.load_state_dict({"worker0": state["worker0"]})


def test_attributes_are_read_from_each() -> None:
    env = SerialEnv(2, lambda g: GymEnv("Pendulum-v1", g=g), create_env_kwargs=[{"g": 1.0}, {"g": 2.0}])

    assert env.g == [1.0, 2.0]
    assert env.has_wrapper_attr("g") == [True, True]
    with pytest.raises(AttributeError, match="no_such_thing"):
        env.no_such_thing  # noqa: B018


def test_training_is_switched_in_each() -> None:
    env = SerialEnv(2, counted)
    env.reset()
    env.train()
    assert all(one.transform.training for one in env.__dict__["_envs"])
    env.eval()
    assert not any(one.transform.training for one in env.__dict__["_envs"])


def test_truncated_keys_are_added_to_each() -> None:
    env = SerialEnv(2, Counter)
    env.add_truncated_keys()
    steps = env.rollout(3, set_truncated=True)

    assert steps["next", "truncated"].squeeze(-1).tolist() == [[False, False, True]] * 2


# ---- entries that differ in shape -----------------------------------------------------------------------------------


def sizes() -> SerialEnv[Any, Any]:
    return SerialEnv(2, [lambda: Sized(2), lambda: Sized(3, 5)])


def test_specs_that_differ_are_stacked_lazily() -> None:
    env = sizes()

    assert env.batch_size == (2,)
    assert env.full_observation_spec["pos"].shape == (2, -1)
    assert env.full_action_spec[1]["action"].shape == (3,)


def test_steps_of_entries_that_differ() -> None:
    env = sizes()
    td = env.reset()
    assert isinstance(td, LazyStackedTensorDict)
    assert [row["pos"].shape for row in td] == [(2,), (3,)]
    assert td["inner", "one"].shape == (2, 1)
    td = env.step(env.rand_action(td))
    assert [row["next", "pos"].tolist() for row in td] == [[1, 1], [1, 1, 1]]
    assert td["next", "reward"].shape == (2, 1)
    _, td = env.step_and_maybe_reset(env.rand_action(env.step_mdp(td)))
    _, td = env.step_and_maybe_reset(env.rand_action(td))
    assert [row["pos"].tolist() for row in td] == [[0, 0], [3, 3, 3]]


@pytest.mark.parametrize(
    ("breaks", "counts"),
    [
        ({}, [[1, 2, 3], [1, 2, 3]]),
        (GOING_ON, [[1, 2, 3, 1, 2, 3, 1], [1, 2, 3, 4, 5, 1, 2]]),
        (TO_THE_LAST, [[1, 2, 3, 3, 3], [1, 2, 3, 4, 5]]),
    ],
)
def test_rollouts_of_entries_that_differ(breaks: Any, counts: list[list[int]]) -> None:
    steps = sizes().rollout(7, **breaks)

    assert steps.shape == (2, len(counts[0])) and isinstance(steps, LazyStackedTensorDict)
    assert [row["next", "pos"][:, 0].tolist() for row in steps] == counts
    assert [row["next", "pos"].shape[-1] for row in steps] == [2, 3]


def test_bounds_that_differ_are_still_one_tensor() -> None:
    def make(high: float) -> Any:
        env = Counter()
        env.action_spec = Bounded(-high, high, (1,))
        return env

    env = SerialEnv(2, make, create_env_kwargs=[{"high": 1.0}, {"high": 3.0}])

    assert isinstance(env.full_action_spec, Composite)
    assert env.action_spec.high.flatten().tolist() == [1, 3]
    assert isinstance(env.rollout(3)["action"], Tensor)
