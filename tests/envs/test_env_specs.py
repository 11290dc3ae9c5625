"""The specs of an environment: what setters take and refuse, what getters show, which keys follow."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass.envs import Bounded, Categorical, Composite, EnvBase, OneHot, Unbounded, check_env_specs
from tests.envs.worlds import Agents, Counter, Pendulum


def test_a_single_leaf_is_shown_as_that_leaf_and_stands_in_a_composite() -> None:
    env = Counter()

    assert env.action_spec == Bounded(-1.0, 1.0, (1,)) == env.full_action_spec["action"]
    assert env.reward_spec == env.full_reward_spec["reward"]
    assert isinstance(env.observation_spec, Composite) and env.observation_spec["observation"].shape == (1,)
    assert isinstance(env.done_spec, Composite) and set(env.done_spec.keys()) == {"done", "terminated"}
    assert env.full_done_spec["done"].dtype == torch.bool and env.full_done_spec["done"].shape == (1,)
    assert env.state_spec.is_empty()


def test_several_leaves_are_shown_as_a_composite() -> None:
    env = Counter()
    env.action_spec = Composite(a=Unbounded((1,)), b=Unbounded((2,)))

    assert set(env.action_keys) == {"a", "b"} and isinstance(env.action_spec, Composite)
    assert set(env.rand_action().keys()) == {"a", "b"}
    with pytest.raises(KeyError, match="action_key: there are 2 .'a', 'b'.; read action_keys"):
        _ = env.action_key


def test_the_two_trees_hold_all_of_them_and_are_not_set_as_a_whole() -> None:
    env = Counter()

    assert set(env.output_spec.keys()) == {"full_observation_spec", "full_reward_spec", "full_done_spec"}
    assert set(env.input_spec.keys()) == {"full_action_spec", "full_state_spec"}
    with pytest.raises(RuntimeError, match="output_spec is protected"):
        env.output_spec = env.output_spec
    with pytest.raises(RuntimeError, match="input_spec is protected"):
        env.input_spec = env.input_spec


def test_key_lists_follow_the_specs_at_any_depth() -> None:
    env = Agents()

    assert env.action_keys == [("agents", "action")] and env.action_key == ("agents", "action")
    assert env.reward_key == ("agents", "reward")
    assert env.done_keys == [("agents", "done"), ("agents", "terminated")]
    assert env.reset_keys == [("agents", "_reset")]
    assert env.observation_keys == [("agents", "pos")]
    assert env.action_spec.shape == (2, 1)

    env.reward_spec = Composite(left=Composite(reward=Unbounded((1,))), right=Composite(reward=Unbounded((1,))))
    assert env.reward_keys == [("left", "reward"), ("right", "reward")]


def test_flags_of_one_environment_stand_in_their_order() -> None:
    env = Counter().add_truncated_keys()

    assert env.done_keys == ["done", "terminated", "truncated"] and env.reset_keys == ["_reset"]


@pytest.mark.parametrize(
    "spec",
    [
        Composite(observation=Unbounded((2, 1)), shape=(2,)),
        Composite(observation=Unbounded((1,))),
        Composite(inner=Composite(x=Unbounded((1, 3)))),
    ],
)
def test_specs_without_the_batch_size_are_refused(spec: Composite) -> None:
    env = Counter(batch_size=(3,))
    with pytest.raises(ValueError, match=r"the batch size of the environment is \[3\]"):
        env.observation_spec = spec
    with pytest.raises(ValueError, match=r"full_action_spec: the spec has shape \[1\]; .*\[3, 1\] would do"):
        env.action_spec = Unbounded((1,))


def test_a_composite_whose_leaves_have_the_batch_size_gets_it() -> None:
    env = Counter(batch_size=(3,))
    env.observation_spec = Composite(observation=Unbounded((3, 1)))

    assert env.observation_spec.shape == (3,)


def test_a_reward_without_dims_is_refused() -> None:
    env = Counter()
    with pytest.raises(RuntimeError, match=r"the reward spec has shape \[\]; .*\(1,\)"):
        env.reward_spec = Unbounded(())
    with pytest.raises(RuntimeError, match="the spec of 'r' has shape"):
        env.reward_spec = Composite(r=Unbounded(()))


def test_a_key_is_in_one_spec_only() -> None:
    env = Counter()
    with pytest.raises(RuntimeError, match="'observation' is in full_reward_spec and in full_observation_spec"):
        env.reward_spec = Composite(observation=Unbounded((1,)))
    with pytest.raises(RuntimeError, match="'action' is in full_state_spec and in full_action_spec"):
        env.state_spec = Composite(action=Unbounded((1,)))


def test_what_is_no_spec_is_refused() -> None:
    env: Any = Counter()
    with pytest.raises(TypeError, match="full_action_spec: int is no spec"):
        env.action_spec = 3


def test_specs_are_locked_once_the_environment_is_made() -> None:
    class Late(Counter):
        def __init__(self) -> None:
            super().__init__()
            self.observation_spec["kind"] = OneHot(3, shape=(3,))

    env = Late()
    assert set(env.observation_spec.keys()) == {"observation", "kind"}
    with pytest.raises(RuntimeError, match="locked"):
        env.observation_spec["more"] = Unbounded((1,))
    with pytest.raises(RuntimeError, match="locked"):
        env.full_done_spec["more"] = Unbounded((1,))


def test_a_spec_that_is_taken_from_another_environment_is_that_one_no_more() -> None:
    one, other = Counter(), Counter()
    other.observation_spec = one.observation_spec

    assert other.observation_spec == one.observation_spec and other.observation_spec is not one.observation_spec


def test_a_setter_after_that_changes_what_follows_from_the_specs() -> None:
    env = Counter()
    assert env.action_keys == ["action"]
    env.action_spec = Composite(move=Categorical(3))

    assert env.action_keys == ["move"] and env.rand_action()["move"].dtype == torch.int64


@pytest.mark.parametrize("flag", ["done", "terminated"])
def test_a_done_spec_has_done_and_terminated(flag: str) -> None:
    env = Counter()
    env.done_spec = Composite({flag: Categorical(2, (1,), dtype=torch.bool)})
    assert set(env.done_spec.keys()) == {"done", "terminated"}

    env.done_spec = Categorical(2, (1,), dtype=torch.bool)
    assert set(env.full_done_spec.keys()) == {"done", "terminated"}


def test_specs_without_the_batch_are_those_of_one_environment() -> None:
    env = Counter(batch_size=(3, 2))

    assert env.action_spec.shape == (3, 2, 1) and env.action_spec_unbatched.shape == (1,)
    assert env.full_action_spec_unbatched.shape == () and env.observation_spec_unbatched["observation"].shape == (1,)
    assert env.reward_spec_unbatched.shape == env.full_done_spec_unbatched["done"].shape == (1,)
    assert env.full_state_spec_unbatched.shape == ()
    assert Counter().action_spec_unbatched == Counter().action_spec


def test_specs_are_on_the_device_of_the_environment() -> None:
    env = Counter(device="cpu")

    assert env.device == env.action_spec.device == env.full_reward_spec.device == torch.device("cpu")
    assert env.reset().device == torch.device("cpu")
    assert env.to("cpu") is env


def test_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(TypeError, match="EnvBase takes no 'batchsize'; did you mean 'batch_size'"):
        EnvBase(batchsize=[])


def test_fake_data_have_the_keys_shapes_and_dtypes_of_a_step() -> None:
    for env in (Counter(batch_size=(3,)), Agents((2,)), Pendulum()):
        fake, real = env.fake_tensordict(), env.rand_step(env.reset())
        assert fake.batch_size == env.batch_size
        leaves = {key: (value.shape, value.dtype) for key, value in real.items(True, True)}
        assert {key: (value.shape, value.dtype) for key, value in fake.items(True, True)} == leaves
        assert not any(value.any() for value in fake.values(True, True))


# ---- check_env_specs -------------------------------------------------------------------------------------------------


class Odd(Counter):
    """Gives something else than its specs say."""

    def __init__(self, **change: Any) -> None:
        super().__init__()
        self.change = change

    def _changed(self, out: Any) -> Any:
        for key, value in self.change.items():
            if key in out or value is not None and key not in ("reward", "done"):
                out = out.exclude(key) if value is None else out.update({key: value(out.get(key))})
        return out

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return self._changed(super()._reset(tensordict))

    def _step(self, tensordict: Any) -> Any:
        return self._changed(super()._step(tensordict))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"observation": lambda x: x.double()}, "'observation' has dtype torch.float64; its spec has torch.float32"),
        ({"reward": lambda x: x.double()}, "'reward' has dtype torch.float64"),
        ({"observation": None}, "gave no 'observation'"),
        ({"observation": lambda x: x.repeat(2)}, r"'observation' has shape \[2\]; its spec has \[1\]"),
        ({"more": lambda x: torch.ones(1)}, "Odd gives 'more', which no spec has"),
        ({"reward": None}, "gave no 'reward'"),
    ],
)
def test_what_does_not_fit_is_an_assertion_error_that_names_the_key(change: dict[str, Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_env_specs(Odd(**change))


def test_a_value_out_of_its_domain_is_found() -> None:
    env = Counter()
    env.observation_spec = Composite(observation=Bounded(0.0, 1.0, (1,)))

    with pytest.raises(AssertionError) as error:
        check_env_specs(env)

    assert str(error.value) == (
        "'observation' is out of the domain of its Bounded: the value has 2.0; 0.0 to 1.0 would do"
    )


def test_dtypes_may_be_left_out_of_the_check() -> None:
    check_env_specs(Odd(observation=lambda x: x.double()), check_dtype=False)


def test_environments_that_keep_to_their_specs_pass() -> None:
    for env in (Counter(), Counter(batch_size=(2, 3)), Agents((2,)), Agents(), Pendulum()):
        check_env_specs(env, seed=3)


def test_entries_of_the_state_need_not_be_given_back() -> None:
    env = Counter()
    env.state_spec = Composite(hidden=Unbounded((2,)))

    check_env_specs(env)


def test_the_seed_to_use_next_is_the_same_every_time() -> None:
    env = Counter()

    assert env.set_seed(0) == 795726461 and env.set_seed(0, static_seed=True) == 0 and env.set_seed(None) is None


def test_an_environment_says_what_it_is_and_can_be_closed() -> None:
    env = Counter(batch_size=(3,))

    assert repr(env) == "Counter(batch_size=torch.Size([3]), device=None)"
    assert not env.is_closed and env.numel() == 3 and env.batch_dims == 1 and env.shape == (3,)
    env.close()
    assert env.is_closed


@pytest.mark.parametrize("shape", [(2,), (2, 3)])
def test_a_reward_of_the_batch_size_alone_is_refused(shape: tuple[int, ...]) -> None:
    env = EnvBase(batch_size=shape)
    with pytest.raises(RuntimeError, match=r"the reward spec has shape .*: shape \(2, (3, )?1\)$"):
        env.reward_spec = Unbounded(shape)
    with pytest.raises(RuntimeError, match="the spec of 'r' has shape .*; rewards have a last dim of size 1$"):
        env.reward_spec = Composite(r=Unbounded(shape), shape=shape)

    env.reward_spec = Unbounded((*shape, 1))


@pytest.mark.parametrize("slot", ["observation_spec", "done_spec", "reward_spec", "state_spec"])
def test_an_action_is_no_other_entry_at_the_same_time(slot: str) -> None:
    env = Counter()
    dtype = torch.bool if slot == "done_spec" else torch.float32

    with pytest.raises(RuntimeError, match=f"'action' is in full_{slot} and in full_action_spec"):
        setattr(env, slot, Composite(action=Unbounded((1,), dtype=dtype)))
    with pytest.raises(RuntimeError, match="'observation' is in full_action_spec and in full_observation_spec"):
        env.action_spec = Composite(observation=Unbounded((1,)))
    assert env.action_keys == ["action"] and "observation" in env.observation_spec
