"""Compose: transforms in a row, and the hooks that a transform of one's own overrides."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    Bounded,
    Compose,
    InitTracker,
    ObservationNorm,
    RewardClipping,
    RewardScaling,
    RewardSum,
    StepCounter,
    Transform,
    TransformedEnv,
    Unbounded,
    check_env_specs,
)
from tensorclass.envs.transforms import _apply_to_composite
from tests.envs.transforms.worlds import Pictures
from tests.envs.worlds import Counter

# ---- a chain is a list ----------------------------------------------------------------------------------------------


def names(chain: Any) -> list[str]:
    return [type(one).__name__ for one in chain]


def test_a_compose_is_made_of_arguments_a_list_a_keyword_or_functions() -> None:
    assert names(Compose(RewardSum(), StepCounter())) == ["RewardSum", "StepCounter"]
    assert names(Compose([RewardSum(), StepCounter()])) == ["RewardSum", "StepCounter"]
    assert names(Compose(transforms=[RewardSum()])) == ["RewardSum"]
    assert names(Compose(RewardSum(), lambda td: td)) == ["RewardSum", "FunctionTransform"]
    assert len(Compose()) == 0


def test_what_is_no_transform_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected a transform"):
        Compose(1)


def test_a_transform_is_there_once() -> None:
    one = StepCounter()
    with pytest.raises(ValueError, match=r"there twice; pass transform.clone\(\)"):
        Compose(one, one)


def test_a_chain_is_changed_like_a_list() -> None:
    chain = Compose(RewardSum(), StepCounter(), InitTracker())
    chain.append(RewardScaling(0.0, 1.0))
    chain.insert(0, RewardClipping(-1.0, 1.0))
    assert names(chain) == ["RewardClipping", "RewardSum", "StepCounter", "InitTracker", "RewardScaling"]

    chain[0] = RewardScaling(0.0, 2.0)
    chain.extend([StepCounter(step_count_key="more")])
    del chain[1:3]
    assert names(chain) == ["RewardScaling", "InitTracker", "RewardScaling", "StepCounter"]
    assert isinstance(chain.pop(0), RewardScaling) and isinstance(chain[-1], StepCounter)
    with pytest.raises(ValueError, match="insert: index 9 is out of range for 3 transforms"):
        chain.insert(9, StepCounter())


def test_a_slice_is_a_compose_of_copies() -> None:
    chain = Compose(RewardScaling(0.0, 2.0), StepCounter())
    part = chain[0:1]

    assert isinstance(part, Compose) and part[0] is not chain[0]
    assert isinstance(chain[1], StepCounter)


def test_a_compose_inside_a_compose_is_part_of_the_chain() -> None:
    env = TransformedEnv(Counter(), Compose(Compose(RewardScaling(0.0, 2.0), RewardSum()), StepCounter()))

    assert env.rollout(3)["next", "episode_reward"].flatten().tolist() == [2, 4, 6]
    env.transform[0].append(RewardScaling(1.0, 1.0))
    assert env.rollout(2)["next", "reward"].flatten().tolist() == [3, 3]
    check_env_specs(env)


# ---- on data that is at hand ----------------------------------------------------------------------------------------


def test_a_chain_transforms_data_in_order() -> None:
    data = TensorDict({"a": torch.ones(2)}, [2])
    twice = Compose(ObservationNorm(1.0, 1.0, in_keys=["a"]), ObservationNorm(0.0, 2.0, in_keys=["a"], out_keys=["b"]))
    out = twice(data)

    assert out["a"].tolist() == [2, 2] and out["b"].tolist() == [4, 4]
    assert twice(a=torch.ones(2)).tolist() == [4, 4]


def test_a_transform_takes_entries_by_name_or_position() -> None:
    norm = ObservationNorm(1.0, 2.0, in_keys=["a"])

    assert norm(a=torch.ones(2)).tolist() == [3, 3]
    assert norm(torch.ones(2)).tolist() == [3, 3]
    with pytest.raises(TypeError, match=r"ObservationNorm takes a container, or its in_keys \('a'\) by name; not 'b'"):
        norm(a=torch.ones(2), b=torch.ones(2))


def test_an_entry_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError) as error:
        ObservationNorm(0.0, 2.0, in_keys=["zz"])(TensorDict({"z": torch.ones(1)}, []))
    assert str(error.value) == "ObservationNorm: no key 'zz'; did you mean 'z'? The keys here are 'z'"


class Body(TensorClass):
    """A typed container."""

    pos: torch.Tensor


def test_a_typed_container_stays_typed() -> None:
    body = ObservationNorm(1.0, 2.0, in_keys=["pos"])(Body(pos=torch.ones(2), batch_size=[2]))

    assert isinstance(body, Body) and body.pos.tolist() == [3, 3]


def test_a_locked_container_is_not_written_to() -> None:
    with pytest.raises(RuntimeError, match="locked"):
        ObservationNorm(1.0, 2.0, in_keys=["a"])(TensorDict({"a": torch.ones(1)}, []).lock_())


def test_inv_gives_what_the_environment_would_get() -> None:
    norm = ObservationNorm(1.0, 2.0, in_keys=[], in_keys_inv=["action"])
    data = TensorDict({"action": torch.tensor([5.0])}, [])

    assert norm.inv(data)["action"].item() == 2 and data["action"].item() == 5


# ---- transforms of one's own ----------------------------------------------------------------------------------------


class PlusOne(Transform):
    """One entry at a time."""

    def _apply_transform(self, obs: torch.Tensor) -> torch.Tensor:
        return obs + 1


def test_apply_transform_is_called_at_reset_too() -> None:
    env = TransformedEnv(Counter(), PlusOne(in_keys=["observation"]))

    assert env.rollout(3)["observation"].flatten().tolist() == [1, 2, 3]
    assert env.rollout(3)["next", "observation"].flatten().tolist() == [2, 3, 4]


def test_apply_transform_of_a_reward_is_for_steps() -> None:
    env = TransformedEnv(Counter(), PlusOne(in_keys=["reward"]))

    assert "reward" not in env.reset().keys()
    assert env.rollout(2)["next", "reward"].flatten().tolist() == [2, 2]


class CallsAll(Transform):
    """All entries at once, the reward among them."""

    def _call(self, next_tensordict: Any) -> Any:
        reward = next_tensordict["reward"]
        return next_tensordict.set("reward", reward * 10)


class CallsObservation(Transform):
    """All entries at once, none of which only steps have."""

    def _call(self, next_tensordict: Any) -> Any:
        return next_tensordict.set("observation", next_tensordict["observation"] * 10 + 1)


def test_call_is_called_at_reset_unless_it_reads_the_reward() -> None:
    assert TransformedEnv(Counter(), CallsAll()).rollout(2)["next", "reward"].flatten().tolist() == [10, 10]
    env = TransformedEnv(Counter(), CallsObservation())

    assert env.rollout(2)["observation"].flatten().tolist() == [1, 11]


def test_another_key_that_call_misses_is_an_error_at_reset() -> None:
    class Misses(Transform):
        def _call(self, next_tensordict: Any) -> Any:
            return next_tensordict.set("x", next_tensordict["observatoin"])

    with pytest.raises(KeyError, match="observatoin"):
        TransformedEnv(Counter(), Misses()).reset()


class StepAndReset(Transform):
    """A step that looks at where it began, and a reset of its own."""

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        return next_tensordict.set("moved", next_tensordict["observation"] - tensordict["observation"])

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return tensordict_reset.set("moved", torch.full_like(tensordict_reset["observation"], -1.0))

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        observation_spec["moved"] = Unbounded((1,))
        return observation_spec


def test_step_and_reset_are_hooks_of_their_own() -> None:
    env = TransformedEnv(Counter(), StepAndReset())

    assert env.rollout(3)["moved"].flatten().tolist() == [-1, 1, 1]
    check_env_specs(env)


class Sine(Transform):
    """A bounded observation beside the one it comes from, as tutorials write it."""

    def _apply_transform(self, obs: torch.Tensor) -> torch.Tensor:
        return obs.sin()

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        return self._call(tensordict_reset)

    @_apply_to_composite
    def transform_observation_spec(self, observation_spec: Any) -> Any:
        return Bounded(-1, 1, observation_spec.shape, dtype=observation_spec.dtype, device=observation_spec.device)


def test_a_spec_hook_may_be_written_for_one_spec() -> None:
    env = TransformedEnv(Counter(), Sine(in_keys=["observation"], out_keys=["sine"]))

    assert isinstance(env.observation_spec["sine"], Bounded)
    assert env.rollout(2)["sine"].flatten().tolist() == pytest.approx([0.0, torch.tensor(1.0).sin().item()])
    check_env_specs(env)


def test_a_new_out_key_without_a_spec_is_named() -> None:
    with pytest.raises(KeyError, match="PlusOne: no spec for its out_key 'more'; override transform_observation_spec"):
        TransformedEnv(Counter(), PlusOne(in_keys=["observation"], out_keys=["more"]))


class HalfAction(Transform):
    """An action on its way in."""

    def _inv_apply_transform(self, action: torch.Tensor) -> torch.Tensor:
        return action / 2


def test_actions_run_the_chain_backwards() -> None:
    class PlusInv(Transform):
        def _inv_apply_transform(self, action: torch.Tensor) -> torch.Tensor:
            return action + 1

    base = Pictures()
    env = TransformedEnv(base, Compose(HalfAction(in_keys_inv=["action"]), PlusInv(in_keys_inv=["action"])))
    td = env.reset().set("action", torch.tensor([3.0, -1.0]))
    env.step(td)

    assert base.taken[0].tolist() == [2, 0]  # (3 + 1) / 2, (-1 + 1) / 2
    assert td["action"].tolist() == [3, -1]


def test_as_many_out_keys_as_in_keys() -> None:
    with pytest.raises(ValueError) as error:
        PlusOne(in_keys=["a", "b"], out_keys=["c"])
    assert str(error.value) == ("PlusOne: 2 keys in in_keys ('a', 'b') but 1 key in out_keys ('c'); give one for each")


# ---- keys are checked when the environment is made ------------------------------------------------------------------


def test_a_misspelt_in_key_names_transform_key_and_the_nearest() -> None:
    with pytest.raises(KeyError) as error:
        TransformedEnv(Counter(), ObservationNorm(0.0, 1.0, in_keys=["observatoin"]))
    assert str(error.value) == (
        "ObservationNorm: no key 'observatoin'; did you mean 'observation'? "
        "The keys here are 'observation', 'reward', 'done', 'terminated'"
    )


def test_a_key_of_a_later_transform_is_not_there_yet() -> None:
    with pytest.raises(KeyError, match="ObservationNorm: no key 'step_count'"):
        TransformedEnv(Counter(), Compose(ObservationNorm(0.0, 1.0, in_keys=["step_count"]), StepCounter()))
    TransformedEnv(Counter(), Compose(StepCounter(), ObservationNorm(0.0, 1.0, in_keys=["step_count"])))


def test_a_misspelt_in_key_inv_is_named() -> None:
    with pytest.raises(KeyError, match="HalfAction: no key 'acton'; did you mean 'action'"):
        TransformedEnv(Counter(), HalfAction(in_keys_inv=["acton"]))


def test_keys_that_are_refused_leave_those_before() -> None:
    env = TransformedEnv(Counter(), ObservationNorm(0.0, 2.0, in_keys=["observation"]))
    with pytest.raises(KeyError, match="^ObservationNorm: no key 'observatoin'"):
        env.transform.in_keys = ["observatoin"]

    assert env.transform.in_keys == ["observation"] and env.transform.out_keys == ["observation"]
    assert env.rollout(3)["observation"].flatten().tolist() == [0, 2, 4]
