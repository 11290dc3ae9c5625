"""TransformedEnv, member by member."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    Compose,
    Composite,
    DeviceCastTransform,
    ExcludeTransform,
    ObservationNorm,
    RenameTransform,
    RewardScaling,
    RewardSum,
    StepCounter,
    Transform,
    TransformedEnv,
    Unbounded,
    check_env_specs,
    set_auto_unwrap_transformed_env,
)
from tensorclass.envs import transforms as transforms_module
from tests.envs.worlds import Counter

# ---- the constructor ------------------------------------------------------------------------------------------------


def test_keywords_name_the_environment_and_the_transform() -> None:
    env = TransformedEnv(base_env=Counter(), transform=StepCounter())

    assert isinstance(env.transform, StepCounter) and isinstance(env.base_env, Counter)


def test_there_must_be_an_environment() -> None:
    with pytest.raises(TypeError, match="TransformedEnv: there is no base_env; give the environment to transform"):
        TransformedEnv()  # type: ignore[call-overload]  # That is the point.


@pytest.mark.parametrize("wrong", [3, "x", [StepCounter()], StepCounter])
def test_what_is_no_transform_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"Expected a transform .* or a callable, not"):
        TransformedEnv(Counter(), wrong)


def test_without_a_transform_the_chain_is_empty() -> None:
    env = TransformedEnv(Counter())

    assert isinstance(env.transform, Compose) and len(env.transform) == 0
    assert torch.equal(env.rollout(3)["observation"], Counter().rollout(3)["observation"])


def test_a_transform_is_put_in_eval_mode_and_owned() -> None:
    transform = StepCounter().train()
    env = TransformedEnv(Counter(), transform)

    assert not transform.training and transform.container is env


def test_the_old_name_of_the_environment_warns() -> None:
    with pytest.warns(DeprecationWarning, match="base_env"):
        env = TransformedEnv(env=Counter(), transform=StepCounter())

    assert isinstance(env.base_env, Counter)


def test_a_function_is_called_at_reset_and_at_step() -> None:
    seen = []

    def add_1(data: TensorDict) -> TensorDict:
        seen.append("reward" in data.keys())
        return data.set("reward", data["reward"] + 1) if "reward" in data.keys() else data

    env = TransformedEnv(Counter(), add_1)
    td = env.reset()
    assert seen == [False]
    env.rand_step(td)

    assert seen == [False, True]
    assert env.rollout(3)["next", "reward"].flatten().tolist() == [2, 2, 2]
    assert env.action_spec == Counter().action_spec


def test_a_function_that_returns_nothing_is_named() -> None:
    def forgets(data: TensorDict) -> None: ...

    with pytest.raises(TypeError, match="the transform forgets returned None; return the tensordict"):
        TransformedEnv(Counter(), forgets).reset()


def test_cached_specs_are_the_same_object_and_others_are_not() -> None:
    env = TransformedEnv(Counter(), StepCounter())
    anew = TransformedEnv(Counter(), StepCounter(), cache_specs=False)

    assert env.output_spec is env.output_spec and env.input_spec is env.input_spec
    assert anew.output_spec is not anew.output_spec and anew.input_spec is not anew.input_spec
    assert anew.output_spec == env.output_spec


# ---- a TransformedEnv inside ----------------------------------------------------------------------------------------


def test_an_inner_transformed_env_is_unwrapped_and_its_transforms_copied() -> None:
    inner = TransformedEnv(Counter(), RewardSum())
    outer = TransformedEnv(inner, StepCounter())

    assert isinstance(outer.base_env, Counter)
    assert [type(one).__name__ for one in outer.transform] == ["RewardSum", "StepCounter"]
    assert outer.transform[0] is not inner.transform
    check_env_specs(outer)
    check_env_specs(inner)


def test_auto_unwrap_false_keeps_the_inner_one() -> None:
    inner = TransformedEnv(Counter(), RewardSum())
    outer = TransformedEnv(inner, StepCounter(), auto_unwrap=False)

    assert outer.base_env is inner
    assert set(outer.rollout(2)["next"].keys()) >= {"episode_reward", "step_count"}
    check_env_specs(outer)


def test_a_subclass_is_not_unwrapped() -> None:
    class Mine(TransformedEnv):
        pass

    inner = Mine(Counter(), RewardSum())

    assert TransformedEnv(inner, StepCounter()).base_env is inner


def test_unwrapping_is_a_setting_for_blocks_and_functions() -> None:
    inner = TransformedEnv(Counter(), RewardSum())
    with set_auto_unwrap_transformed_env(False):
        assert TransformedEnv(inner, StepCounter()).base_env is inner

    @set_auto_unwrap_transformed_env(False)
    def wrapped() -> Any:
        return TransformedEnv(inner, StepCounter()).base_env

    assert wrapped() is inner
    assert isinstance(TransformedEnv(inner, StepCounter()).base_env, Counter)


@pytest.mark.parametrize(("value", "unwraps"), [("0", "False"), ("False", "False"), ("1", "True"), (None, "True")])
def test_a_variable_of_the_shell_sets_unwrapping_for_the_program(value: str | None, unwraps: str) -> None:
    program = "from tensorclass.envs import auto_unwrap_transformed_env as asked; print(asked())"
    variables = {**os.environ, **({} if value is None else {"AUTO_UNWRAP_TRANSFORMED_ENV": value})}
    said = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)

    assert said.stdout.strip() == unwraps


# ---- truncated keys -------------------------------------------------------------------------------------------------


def test_add_truncated_keys_lets_a_rollout_say_what_it_cut_off() -> None:
    env = TransformedEnv(Counter(limit=9), RewardSum())
    with pytest.raises(RuntimeError, match="truncated"):
        env.rollout(2, set_truncated=True)

    assert env.add_truncated_keys() is env
    assert env.rollout(2, set_truncated=True)["next", "truncated"].flatten().tolist() == [False, True]


# ---- the chain changed ----------------------------------------------------------------------------------------------


def test_append_transform_changes_and_returns_the_environment() -> None:
    env = TransformedEnv(Counter(), RewardSum())

    assert env.append_transform(StepCounter()) is env
    assert isinstance(env.transform, Compose) and not env.transform[1].training
    assert set(env.observation_spec.keys()) == {"observation", "episode_reward", "step_count"}


def test_append_transform_takes_a_compose_apart() -> None:
    env = TransformedEnv(Counter()).append_transform(Compose(RewardSum(), StepCounter()))

    assert [type(one).__name__ for one in env.transform] == ["RewardSum", "StepCounter"]


def test_append_transform_takes_functions_and_refuses_the_rest() -> None:
    env = TransformedEnv(Counter())
    env.append_transform(lambda td: td.set("observation", td["observation"] + 1))

    assert env.reset()["observation"].item() == 1
    with pytest.raises(ValueError, match="Expected a transform"):
        env.append_transform(3)  # type: ignore[call-overload]  # That is the point.


def test_append_transform_of_an_environment_makes_a_new_one() -> None:
    base = Counter()
    env = base.append_transform(StepCounter())

    assert isinstance(env, TransformedEnv) and env.base_env is base


def test_insert_transform_counts_like_a_list() -> None:
    env = TransformedEnv(Counter(), RewardSum())
    single = env.transform
    assert env.insert_transform(0, StepCounter()) is env
    env.insert_transform(-1, RewardScaling(0.0, 2.0))

    assert [type(one).__name__ for one in env.transform] == ["StepCounter", "RewardScaling", "RewardSum"]
    assert env.transform[2] is not single
    assert env.rollout(2)["next", "episode_reward"].flatten().tolist() == [2, 4]


def test_insert_transform_out_of_range_names_the_bounds() -> None:
    env = TransformedEnv(Counter(), Compose(RewardSum(), StepCounter()))

    with pytest.raises(ValueError) as error:
        env.insert_transform(3, RewardScaling(0.0, 1.0))
    assert str(error.value) == "insert_transform: index 3 is out of range for 2 transforms; -2 to 2 would do"


def test_a_transform_is_read_live_and_a_slice_is_copied() -> None:
    env = TransformedEnv(Counter(), Compose(RewardScaling(0.0, 2.0), StepCounter()))
    env.transform[0].scale.fill_(3.0)
    part = env.transform[:1]

    assert env.rollout(1)["next", "reward"].item() == 3
    assert isinstance(part, Compose) and part[0] is not env.transform[0]
    assert len(env.transform) == 2 and len(list(env.transform)) == 2


def test_assigning_the_transform_replaces_the_chain() -> None:
    env = TransformedEnv(Counter(), RewardSum())
    old = env.transform
    env.transform = StepCounter()

    assert set(env.observation_spec.keys()) == {"observation", "step_count"}
    assert old.container is None


def test_pop_and_del_refresh_the_specs() -> None:
    env = TransformedEnv(Counter(), Compose(RewardSum(), StepCounter()))
    env.transform.pop()
    assert set(env.observation_spec.keys()) == {"observation", "episode_reward"}
    del env.transform[0]

    assert set(env.observation_spec.keys()) == {"observation"}
    check_env_specs(env)


def test_a_chain_that_is_refused_leaves_the_old_one() -> None:
    env = TransformedEnv(Counter(), StepCounter())
    before = env.output_spec.clone()
    with pytest.raises(KeyError):
        env.append_transform(ObservationNorm(0.0, 1.0, in_keys=["observatoin"]))
    with pytest.raises(KeyError):
        env.transform = ObservationNorm(0.0, 1.0, in_keys=["observatoin"])

    assert env.output_spec == before
    check_env_specs(env)


# ---- what the environment below decides -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["batch_locked", "batch_size", "device"])
def test_facts_of_the_environment_below_cannot_be_set(name: str) -> None:
    env = TransformedEnv(Counter(batch_size=(2,)), StepCounter())

    assert getattr(env, name) == getattr(env.base_env, name)
    with pytest.raises(RuntimeError, match=f"{name} of a TransformedEnv is that of its environment"):
        setattr(env, name, None)


def test_the_device_goes_through_the_chain() -> None:
    assert Counter().device is None
    assert TransformedEnv(Counter(), DeviceCastTransform("cpu")).device == torch.device("cpu")


def test_empty_cache_reads_the_specs_of_the_environment_again() -> None:
    env = TransformedEnv(Counter(), StepCounter())
    env.base_env.reward_spec = Unbounded((1,), dtype=torch.float64)
    env.empty_cache()

    assert env.reward_spec.dtype is torch.float64


def test_train_and_eval_switch_the_transforms_and_agree_with_training() -> None:
    env = TransformedEnv(Counter(), Compose(RewardSum()))

    assert env.train() is env and env.training and env.transform[0].training
    assert env.eval() is env and not env.training and not env.transform[0].training


def test_input_spec_is_seen_from_outside() -> None:
    env = TransformedEnv(Counter(), RenameTransform([], [], ["action"], ["move"]))

    assert set(env.input_spec.keys()) == {"full_action_spec", "full_state_spec"}
    assert list(env.input_spec["full_action_spec"].keys()) == ["move"]
    assert env.action_key == "move"


def test_output_spec_is_that_after_the_chain() -> None:
    env = TransformedEnv(Counter(), StepCounter(3))

    assert set(env.output_spec.keys()) == {"full_observation_spec", "full_reward_spec", "full_done_spec"}
    assert set(env.full_done_spec.keys()) == {"done", "terminated", "truncated"}


@pytest.mark.parametrize("name", ["input_spec", "output_spec"])
def test_whole_specs_are_protected(name: str) -> None:
    env = TransformedEnv(Counter(), StepCounter())

    with pytest.raises(RuntimeError, match=f"{name} is protected"):
        setattr(env, name, None)


def test_the_specs_of_the_environment_below_stay_as_they_were() -> None:
    base = Counter()
    before = base.output_spec.clone(), base.input_spec.clone()
    chain = Compose(StepCounter(3), RewardSum(), RenameTransform(["observation"], ["o"], ["action"], ["move"]))
    env = TransformedEnv(base, chain)
    env.rollout(5)

    assert (base.output_spec, base.input_spec) == before
    assert base.action_keys == ["action"] and env.action_keys == ["move"]


# ---- state ----------------------------------------------------------------------------------------------------------


def test_the_state_dict_is_that_of_the_transforms() -> None:
    chain = TransformedEnv(Counter(), Compose(RewardScaling(0.5, 2.0)))
    single = TransformedEnv(Counter(), RewardScaling(0.5, 2.0))

    assert set(chain.state_dict()) == {"transforms.0.loc", "transforms.0.scale"}
    assert set(single.state_dict()) == {"loc", "scale"}


def test_load_state_dict_says_what_is_missing_and_what_is_too_much() -> None:
    env = TransformedEnv(Counter(), RewardScaling(0.0, 1.0))
    with pytest.raises(RuntimeError, match="Missing key"):
        env.load_state_dict({})
    loaded = env.load_state_dict({"foreign": torch.zeros(())}, strict=False)

    assert loaded.unexpected_keys == ["foreign"] and set(loaded.missing_keys) == {"loc", "scale"}
    assert env.load_state_dict({"loc": torch.ones(()), "scale": torch.ones(())}).missing_keys == []
    assert env.rollout(1)["next", "reward"].item() == 2


def test_an_unmeasured_norm_has_no_state() -> None:
    env = TransformedEnv(Counter(), ObservationNorm(in_keys=["observation"]))

    with pytest.raises(ValueError, match="no loc and scale to save yet"):
        env.state_dict()


# ---- actions --------------------------------------------------------------------------------------------------------


def test_rand_action_gives_only_the_action_or_writes_it() -> None:
    env = TransformedEnv(Counter(), StepCounter())
    alone = env.rand_action()
    td = env.reset()

    assert set(alone.keys()) == {"action"} and env.action_spec.is_in(alone["action"])
    assert env.rand_action(td) is td and "action" in td.keys()


class Lazy(Counter):
    """Always draws the same action."""

    def rand_action(self, tensordict: Any = None) -> Any:
        td = TensorDict(batch_size=self.batch_size) if tensordict is None else tensordict
        return td.set("action", torch.full((1,), 0.5))


def test_rand_action_of_the_environment_below_is_its_own() -> None:
    assert TransformedEnv(Lazy(), StepCounter()).rand_action()["action"].item() == 0.5
    with pytest.raises(RuntimeError, match="Lazy draws its own actions, and the transforms change what an action is"):
        TransformedEnv(Lazy(), RenameTransform([], [], ["action"], ["move"])).rand_action()


# ---- missing entries ------------------------------------------------------------------------------------------------


def test_missing_entries_are_skipped_where_that_is_allowed() -> None:
    norm = ObservationNorm(0.0, 2.0, in_keys=["nowhere"])
    norm.set_missing_tolerance(True)
    env = TransformedEnv(Counter(), Compose(norm, StepCounter()))

    assert env.rollout(2)["observation"].flatten().tolist() == [0, 1]
    with pytest.raises(KeyError, match="nowhere"):
        env.set_missing_tolerance(False)


# ---- seeds, devices, the rest ---------------------------------------------------------------------------------------


def test_set_seed_is_handed_on_and_gives_the_next_seed() -> None:
    env = TransformedEnv(Counter(), StepCounter())

    assert env.set_seed(0) == env.set_seed(0) == Counter().set_seed(0)
    assert env.set_seed(3, static_seed=True) == 3
    assert env.set_seed(None) is None


def test_to_moves_and_casts_and_returns_the_environment() -> None:
    env = TransformedEnv(Counter(), ObservationNorm(0.0, 1.0, in_keys=["observation"]))

    assert env.to("cpu") is env and env.device == torch.device("cpu") == env.base_env.device
    assert env.to(torch.float64).transform.loc.dtype is torch.float64
    assert env.to("cpu", torch.float32).transform.loc.dtype is torch.float32
    assert env.to(torch.zeros(1, dtype=torch.float64)).transform.loc.dtype is torch.float64
    assert env.rollout(2).device == torch.device("cpu")


def test_attributes_are_read_from_below_and_written_here() -> None:
    env: Any = TransformedEnv(Counter(limit=3), StepCounter())
    assert env.limit.item() == 3
    env.limit = torch.tensor(7.0)

    assert env.base_env.limit.item() == 3 and env.limit.item() == 7
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = env.nothing_like_it
    assert not hasattr(env, "__array__")


def test_close_closes_environment_and_transforms() -> None:
    closed = []

    class Open(Transform):
        def close(self) -> None:
            closed.append(True)

    env = TransformedEnv(Counter(), Compose(Open()))
    assert not env.is_closed
    env.close()

    assert env.is_closed and env.base_env.is_closed and closed == [True]


def test_repr_nests_environment_and_chain() -> None:
    text = repr(TransformedEnv(Counter(), Compose(StepCounter(), RewardSum())))

    assert text.startswith("TransformedEnv(\n    env=Counter(")
    assert "transform=Compose(" in text and "StepCounter()" in text and "RewardSum(" in text


def test_an_environment_is_pickled_with_its_chain() -> None:
    env = pickle.loads(pickle.dumps(TransformedEnv(Counter(), Compose(RewardSum(), StepCounter(3)))))

    assert env.transform[0].container is env
    assert env.rollout(9)["next", "episode_reward"].flatten().tolist() == [1, 2, 3]


@pytest.mark.parametrize("rename_to", ["reward", "done", "terminated"])
def test_a_transform_cannot_make_a_reward_or_a_flag_of_an_observation(rename_to: str) -> None:
    env = TransformedEnv(Counter(), StepCounter(3))
    with pytest.raises(RuntimeError, match=f"^RenameTransform: '{rename_to}' is in full_observation_spec and in full_"):
        env.append_transform(RenameTransform(["observation"], [rename_to]))

    assert env.rollout(9).batch_size == (3,)


# ---- transforms and their owner -------------------------------------------------------------------------------------


def test_a_transform_has_one_owner() -> None:
    transform = StepCounter()
    env = TransformedEnv(Counter(), transform)
    with pytest.raises(AttributeError, match=r"StepCounter: parent already set: .* transform.clone\(\)"):
        TransformedEnv(Counter(), transform)
    with pytest.raises(AttributeError, match=r"already set"):
        Compose(transform)

    assert TransformedEnv(Counter(), transform.clone()).rollout(2)["step_count"].flatten().tolist() == [0, 1]
    env.transform = RewardSum()
    transform.reset_parent()
    assert TransformedEnv(Counter(), transform).transform is transform


def test_an_owner_that_is_gone_has_nothing() -> None:
    transform = StepCounter()
    TransformedEnv(Counter(), transform)
    gc.collect()

    assert transform.container is None
    assert TransformedEnv(Counter(), transform).transform is transform


def test_the_parent_is_the_environment_with_the_transforms_before() -> None:
    env = TransformedEnv(Counter(), Compose(RewardScaling(0.0, 2.0), RewardSum(), StepCounter()))
    parent = env.transform[1].parent

    assert isinstance(parent, TransformedEnv) and parent.base_env is env.base_env
    assert [type(one).__name__ for one in parent.transform] == ["RewardScaling"]
    assert env.transform[1].container is env
    assert StepCounter().parent is None and StepCounter().container is None


def test_an_environment_without_its_transforms_is_the_one_below() -> None:
    env = TransformedEnv(Counter(), Compose(ExcludeTransform("observation"), StepCounter()))

    assert set(env.reset().keys()) == {"step_count", "done", "terminated"}
    assert hasattr(transforms_module, "_apply_to_composite")


def test_specs_that_are_not_kept_follow_the_environment_below() -> None:
    kept, read = TransformedEnv(Counter(), StepCounter()), TransformedEnv(Counter(), StepCounter(), cache_specs=False)
    for env in (kept, read):
        env.base_env.observation_spec = Composite(observation=Unbounded((1,)), more=Unbounded((2,)))

    assert list(kept.observation_spec.keys()) == ["observation", "step_count"]
    assert list(read.observation_spec.keys()) == ["observation", "more", "step_count"]
    kept.empty_cache()
    assert kept.observation_spec == read.observation_spec
