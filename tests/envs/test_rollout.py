"""Rollouts: where they stop, what they hold, who acts."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal

from tensorclass import TensorDict, cat
from tensorclass.envs import (
    ExplorationType,
    StepCounter,
    TransformedEnv,
    Transition,
    check_env_specs,
    exploration_type,
    set_exploration_type,
)
from tensorclass.nn import ProbabilisticTensorDictModule, TensorDictModule
from tests.envs.worlds import Agents, Counter, Pendulum

THREE = [[2.0], [3.0], [5.0]]


def three() -> Counter:
    """Three counters that end after 2, 3 and 5 steps."""
    return Counter(limit=THREE, batch_size=(3,))


def test_a_rollout_has_the_batch_size_and_then_time() -> None:
    td = Counter().rollout(3)
    assert td.shape == (3,) and td.names == ["time"] and td["next"].names == ["time"]

    td = three().rollout(2)
    assert td.shape == (3, 2) and td.names == [None, "time"]
    assert td["next", "reward"].shape == td["done"].shape == (3, 2, 1)
    assert isinstance(td, Transition) and td.is_contiguous()


def test_next_of_a_step_is_the_root_of_the_one_after() -> None:
    td = three().rollout(6, break_when_any_done=False)

    stays = ~td["next", "done"][:, :-1].squeeze(-1)
    assert torch.equal(td["next", "observation"][:, :-1][stays], td["observation"][:, 1:][stays])


def test_it_stops_where_the_first_episode_is_over() -> None:
    td = three().rollout(10)

    assert td.shape == (3, 2)
    assert td["next", "done"][:, -1].flatten().tolist() == [True, False, False]


def test_it_stops_where_all_episodes_are_over_and_repeats_those_that_are() -> None:
    td = three().rollout(10, break_when_any_done=False, break_when_all_done=True)

    assert td.shape == (3, 5)
    assert td["next", "observation"].squeeze(-1).tolist() == [[1, 2, 2, 2, 2], [1, 2, 3, 3, 3], [1, 2, 3, 4, 5]]
    assert td["observation"].squeeze(-1).tolist() == [[0, 1, 1, 1, 1], [0, 1, 2, 2, 2], [0, 1, 2, 3, 4]]
    assert torch.equal(td["action"][0, 1], td["action"][0, 4])
    assert td["next", "done"][0].flatten().tolist() == [False, True, True, True, True]
    assert "_step" not in td.keys()


def test_all_alone_is_enough_to_go_on_until_all_are_over() -> None:
    assert three().rollout(10, break_when_all_done=True).shape == (3, 5)


def test_with_neither_each_is_reset_where_it_is_over() -> None:
    env = three()
    td = env.rollout(6, break_when_any_done=False)

    assert td["observation"].squeeze(-1).tolist() == [[0, 1, 0, 1, 0, 1], [0, 1, 2, 0, 1, 2], [0, 1, 2, 3, 4, 0]]
    assert td["next", "observation"].squeeze(-1).tolist() == [
        [1, 2, 1, 2, 1, 2],
        [1, 2, 3, 1, 2, 3],
        [1, 2, 3, 4, 5, 1],
    ]
    assert not td["done"].any() and "_reset" not in td.keys()
    assert td["next", "done"].sum().item() == 3 + 2 + 1


def test_both_at_once_are_refused() -> None:
    with pytest.raises(TypeError, match="exclude each other"):
        three().rollout(3, break_when_any_done=True, break_when_all_done=True)


def test_no_step_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="max_steps is 0; 1 or more would do"):
        Counter().rollout(0)
    with pytest.raises(TypeError, match="max_steps is 2.5; a whole number would do"):
        Counter().rollout(2.5)  # type: ignore[arg-type]  # What is refused.


def test_a_rollout_goes_on_from_where_another_ended() -> None:
    env = Counter(limit=10)
    first = env.rollout(3)
    second = env.rollout(3, auto_reset=False, tensordict=env.step_mdp(first[..., -1]))

    assert env.resets == 1
    assert cat([first, second])["observation"].flatten().tolist() == [0, 1, 2, 3, 4, 5]


def test_without_auto_reset_what_is_over_is_reset_all_the_same() -> None:
    env = three()
    first = env.rollout(2)
    second = env.rollout(1, auto_reset=False, tensordict=env.step_mdp(first[..., -1]))

    assert second["observation"].flatten().tolist() == [0, 2, 2]


def test_without_auto_reset_a_container_is_needed_and_is_not_written_to() -> None:
    env = Counter()
    with pytest.raises(RuntimeError, match="auto_reset=False goes on from a container; give it as tensordict="):
        env.rollout(3, auto_reset=False)

    start = env.reset()
    env.rollout(3, auto_reset=False, tensordict=start)
    assert set(start.keys()) == {"observation", "done", "terminated"}


def test_the_container_of_a_rollout_with_reset_is_for_the_reset() -> None:
    env = Pendulum()
    td = env.rollout(4, tensordict=env.gen_params(batch_size=[7]))

    assert td.shape == (7, 4)


# ---- who acts -------------------------------------------------------------------------------------------------------


class Linear(nn.Module):
    """From the observation to the action."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(0.5))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def in_place(td: TensorDict) -> TensorDict:
    """Writes, and gives what it was given."""
    return td.set("action", td["observation"] * 0.5)


def silent(td: TensorDict) -> None:
    """Writes, and gives nothing."""
    td["action"] = td["observation"] * 0.5


def anew(td: TensorDict) -> TensorDict:
    """Gives a new container with only the action."""
    return TensorDict({"action": td["observation"] * 0.5}, batch_size=td.batch_size)


POLICIES = {
    "in place": in_place,
    "silent": silent,
    "new": anew,
    "action": lambda td: td["observation"] * 0.5,
    "module": Linear(),
    "by key": TensorDictModule(Linear(), ["observation"], ["action"]),
    "by key, not in place": TensorDictModule(Linear(), ["observation"], ["action"], inplace=False),
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=list(POLICIES))
@pytest.mark.parametrize("batch", [(), (3,)])
def test_a_policy_of_any_kind_acts(policy: Any, batch: tuple[int, ...]) -> None:
    td = Counter(batch_size=batch).rollout(4, policy)

    assert torch.equal(td["action"], td["observation"] * 0.5)


def test_a_module_takes_the_observations_in_the_order_of_the_specs() -> None:
    class Two(nn.Module):
        def forward(self, th: Tensor, thdot: Tensor, *params: Tensor) -> Tensor:
            return (10 * th + thdot).unsqueeze(-1)

    td = Pendulum().rollout(3, Two())
    assert torch.equal(td["action"].squeeze(-1), 10 * td["th"] + td["thdot"])


def test_a_module_takes_as_many_observations_as_it_has_parameters() -> None:
    env = TransformedEnv(Counter(), StepCounter())
    td = env.rollout(3, nn.Sequential(Linear()))

    assert set(env.observation_keys) == {"observation", "step_count"}
    assert torch.equal(td["action"], td["observation"] * 0.5)


def test_a_module_takes_the_observations_that_its_parameters_are_named_after() -> None:
    class Late(nn.Module):
        def forward(self, step_count: Tensor, observation: Tensor) -> Tensor:
            return 10 * step_count + observation

    td = TransformedEnv(Counter(), StepCounter()).rollout(3, Late())
    assert td["action"].flatten().tolist() == [0, 11, 22]


def test_a_module_whose_forward_takes_a_container_gets_one() -> None:
    class Whole(nn.Module):
        def forward(self, tensordict: TensorDict) -> TensorDict:
            return in_place(tensordict)

    td = Counter().rollout(3, Whole())
    assert torch.equal(td["action"], td["observation"] * 0.5)


def test_what_a_policy_writes_beside_the_action_is_kept() -> None:
    def counting(td: TensorDict) -> TensorDict:
        td["action"] = torch.zeros(1)
        td["value"] = td["observation"] + 1
        return td

    assert Counter().rollout(3, counting)["value"].flatten().tolist() == [1, 2, 3]


def test_what_a_policy_writes_under_next_moves_on() -> None:
    def remembering(td: TensorDict) -> TensorDict:
        td["action"] = torch.zeros(1)
        td["next", "memory"] = td.get("memory", torch.zeros(1)) + 1
        return td

    env = Counter()
    start = env.reset().set("memory", torch.zeros(1))
    td = env.rollout(3, remembering, auto_reset=False, tensordict=start)

    assert td["memory"].flatten().tolist() == [0, 1, 2]
    assert td["next", "memory"].flatten().tolist() == [1, 2, 3]


def test_what_a_policy_writes_under_a_nested_next_moves_on_too() -> None:
    def act(td: TensorDict) -> None:
        td["agents", "action"] = torch.zeros(2, 1)
        td["next", "agents", "memory"] = td["agents", "pos"] + 1

    env = Agents(limits=(9, 9))
    start = env.reset()
    start["agents", "memory"] = torch.zeros(2, 3)
    td = env.rollout(3, act, auto_reset=False, tensordict=start)

    assert td["agents", "memory"][:, 0, 0].tolist() == [0, 1, 2]
    assert td["next", "agents", "pos"][:, 0, 0].tolist() == [1, 2, 3]


def test_what_a_policy_gives_in_nested_containers_is_put_beside_what_is_there() -> None:
    def act(td: TensorDict) -> TensorDict:
        return TensorDict(agents={"action": td["agents", "pos"][..., :1] / 10, "seen": td["agents", "pos"] + 0})

    env = Agents()
    start = env.reset()
    td = env.rollout(2, act, auto_reset=False, tensordict=start)

    assert set(td["agents"].keys()) == {"pos", "done", "terminated", "action", "seen"}
    assert set(td["next", "agents"].keys()) == {"pos", "done", "terminated", "reward"}
    assert set(start["agents"].keys()) == {"pos", "done", "terminated"}


def test_a_policy_without_the_action_is_told_which() -> None:
    def misspelt(td: TensorDict) -> TensorDict:
        return td.set("actoin", torch.zeros(1))

    with pytest.raises(KeyError, match=r"^the policy wrote no key 'action'; did you mean 'actoin'\? The keys here are"):
        Counter().rollout(3, misspelt)


def test_a_class_is_no_policy() -> None:
    policy: Any = Linear
    with pytest.raises(TypeError, match=r"did you mean Linear\(...\)\?"):
        Counter().rollout(3, policy)


def test_actions_at_random_are_of_the_spec_and_differ() -> None:
    env = Agents((2,))
    td = env.rollout(2)
    assert td["agents", "action"].abs().max() <= 1

    actions = Counter().rollout(5)["action"]
    assert actions.unique().numel() == 5 and actions.abs().max() <= 1


def test_random_actions_follow_from_the_seed() -> None:
    env = Counter(limit=100)
    rolls = []
    for _ in range(2):
        env.set_seed(3)
        rolls.append(env.rollout(70)["action"])

    assert torch.equal(*rolls)


# ---- the rest --------------------------------------------------------------------------------------------------------


def test_the_exploration_type_is_that_of_the_modules() -> None:
    head = ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=Normal)
    env = Counter()

    def act(td: TensorDict) -> TensorDict:
        return head(td.update({"loc": torch.ones(1), "scale": torch.ones(1)}))

    with set_exploration_type(ExplorationType.DETERMINISTIC):
        assert exploration_type() is ExplorationType.DETERMINISTIC
        assert (env.rollout(3, act)["action"] == 1).all()
    with set_exploration_type(ExplorationType.RANDOM):
        assert (env.rollout(3, act)["action"] != 1).any()


def test_gradients_flow_through_the_steps() -> None:
    linear = Linear()
    policy = TensorDictModule(linear, ["th"], ["u"])

    def act(td: TensorDict) -> TensorDict:
        return td.set("action", policy(td)["u"].unsqueeze(-1))

    env = Pendulum()
    td = env.rollout(10, act, tensordict=env.gen_params(batch_size=[4]))
    td["next", "reward"].sum().backward()
    gradient = linear.weight.grad

    assert gradient is not None and gradient.abs() > 0
    with torch.no_grad():
        assert not env.rollout(3, act)["next", "reward"].requires_grad


def test_the_callback_is_called_between_steps_with_what_the_next_starts_from() -> None:
    seen = []
    env = Counter(limit=10)
    env.rollout(4, callback=lambda given, td: seen.append((given, td["observation"].item(), "reward" in td)))

    assert seen == [(env, 1, False), (env, 2, False), (env, 3, False)]


def test_the_last_step_may_be_called_truncated() -> None:
    env = Counter(limit=10)
    with pytest.raises(RuntimeError, match=r"env.add_truncated_keys\(\) adds it"):
        env.rollout(3, set_truncated=True)

    td = env.add_truncated_keys().rollout(3, set_truncated=True)
    assert td["next", "truncated"].flatten().tolist() == [False, False, True]
    assert td["next", "done"].flatten().tolist() == [False, False, True]
    assert not td["next", "terminated"].any()


def test_a_container_for_the_result_is_filled_and_given_back() -> None:
    env = Counter(limit=10)
    out = env.rollout(3).clone().zero_()
    assert env.rollout(3, out=out) is out
    assert out["next", "observation"].flatten().tolist() == [1, 2, 3]

    with pytest.raises(RuntimeError, match=r"out has batch size \[3\], the rollout \[4\]"):
        env.rollout(4, out=out)


def test_rows_may_be_stored_elsewhere() -> None:
    td = Counter().rollout(3, storing_device="cpu")

    assert td.device == torch.device("cpu") and td.shape == (3,)


def test_a_policy_on_another_device_is_fed_there() -> None:
    td = Counter(device="cpu").rollout(3, Linear(), auto_cast_to_device=True)

    assert torch.equal(td["action"], td["observation"] * 0.5) and td.device == torch.device("cpu")


def test_rows_that_differ_in_shape_are_a_lazy_stack() -> None:
    def growing(td: TensorDict) -> TensorDict:
        td["action"] = torch.zeros(1)
        td["seen"] = torch.zeros(int(td["observation"]) + 1)
        return td

    td: Any = Counter().rollout(3, growing)
    assert [row["seen"].shape[0] for row in td] == [1, 2, 3] and td.names == ["time"]


def test_options_may_be_left_out_of_the_call_as_elsewhere() -> None:
    env = Counter()

    assert env.rollout(max_steps=2, policy=None, return_contiguous=True, trust_policy=True).shape == (2,)


def test_a_longer_container_is_filled_as_far_as_the_rollout_went() -> None:
    env = Counter(limit=2)
    for out in (TensorDict({}, [5]), Counter(limit=9).rollout(5).clone().zero_()):
        filled = env.rollout(5, out=out)
        assert filled.shape == (2,) and out["next", "observation"].flatten().tolist() == [1, 2, 0, 0, 0]


def test_an_environment_that_draws_its_own_actions_is_asked_for_them() -> None:
    class Biased(Counter):
        def rand_action(self, tensordict: Any = None) -> Any:
            return (TensorDict() if tensordict is None else tensordict).set("action", torch.full((1,), 0.25))

    for env in (Biased(), TransformedEnv(Biased(), StepCounter())):
        assert env.rollout(2)["action"].flatten().tolist() == [0.25, 0.25]
        assert env.rand_step(env.reset())["action"].item() == 0.25


@pytest.mark.parametrize("batch", [(100,), (10, 20)])
def test_rows_of_a_large_batch_are_where_they_belong(batch: tuple[int, ...]) -> None:
    limit = torch.arange(1.0, 1 + torch.Size(batch).numel()).reshape(*batch, 1)
    td = Counter(limit=limit, batch_size=batch).rollout(7, break_when_any_done=False)

    steps = torch.arange(7).expand(*batch, 7)
    assert torch.equal(td["observation"].squeeze(-1), (steps % limit).float())
    assert td["observation"].shape == (*batch, 7, 1) and td.is_contiguous()


class Adding(Counter):
    """Goes on writing to the tensor that it gave."""

    def _step(self, tensordict: Any) -> Any:
        self.count += 1
        over = self.count >= self.limit
        return TensorDict(observation=self.count, reward=torch.ones_like(self.count), done=over, batch_size=self._batch)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        self.count = torch.zeros(*self._batch, 1)
        return TensorDict(observation=self.count, batch_size=self._batch)


@pytest.mark.parametrize("options", [{}, {"break_when_all_done": True}, {"break_when_any_done": False}])
def test_an_environment_that_changes_what_it_gave_is_refused_by_key(options: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match=r"Adding._step changed 'observation' .* in place.*\.clone\(\)"):
        Adding(limit=5, batch_size=(2,)).rollout(3, **options)
    with pytest.raises(AssertionError, match="'observation'"):
        check_env_specs(Adding())
