"""RenameTransform, ExcludeTransform, SelectTransform, CatTensors: data and specs under other keys."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    Bounded,
    CatTensors,
    Compose,
    Composite,
    DTypeCastTransform,
    ExcludeTransform,
    RenameTransform,
    RewardSum,
    SelectTransform,
    StepCounter,
    TransformedEnv,
    Unbounded,
    check_env_specs,
)
from tests.envs.transforms.worlds import Pendulum, Pictures, Vec
from tests.envs.worlds import Agents, Counter

# ---- RenameTransform ------------------------------------------------------------------------------------------------


def test_rename_moves_data_and_specs_also_into_nested_keys() -> None:
    keys = ["observation", "reward"], [("agent", "obs"), ("agent", "reward")]
    env = TransformedEnv(Counter(), RenameTransform(*keys))
    td = env.rollout(2)

    assert ("agent", "obs") in td.keys(True) and "observation" not in td.keys()
    assert env.reward_key == ("agent", "reward") and ("next", "agent", "reward") in td.keys(True)
    check_env_specs(env)


def test_rename_out_of_a_nested_key_leaves_no_empty_container() -> None:
    env = TransformedEnv(
        Counter(), Compose(RenameTransform(["observation"], [("a", "o")]), RenameTransform([("a", "o")], ["o"]))
    )

    assert set(env.reset().keys()) == {"o", "done", "terminated"}
    assert set(env.observation_spec.keys()) == {"o"}
    check_env_specs(env)


def test_rename_may_keep_the_old_key() -> None:
    env = TransformedEnv(Counter(), RenameTransform(["observation"], ["obs"], create_copy=True))

    assert {"observation", "obs"} <= set(env.rollout(2).keys())
    check_env_specs(env)


def test_rename_of_two_keys_swaps_them() -> None:
    env = TransformedEnv(Pictures(), RenameTransform(["pixels", "vec"], ["vec", "pixels"]))

    assert env.reset()["vec"].shape == (6, 8, 3) and env.observation_spec["pixels"].shape == (3,)
    check_env_specs(env)


def test_rename_of_an_action() -> None:
    env = TransformedEnv(Counter(), RenameTransform([], [], ["action"], ["act"]))

    assert env.action_key == "act" and "action" not in env.rollout(2).keys()
    check_env_specs(env)


def test_rename_of_a_flag() -> None:
    env = TransformedEnv(Counter(), RenameTransform(["terminated"], [("flags", "terminated")]))
    td = env.rollout(9)

    assert td["next", "flags", "terminated"].flatten().tolist() == [False] * 4 + [True]
    assert env.rollout(12, break_when_any_done=False).shape == (12,)


def test_rename_after_a_counter_leaves_the_count_right() -> None:
    env = TransformedEnv(Counter(limit=9), Compose(StepCounter(3), RenameTransform(["step_count"], ["steps"])))

    assert env.rollout(9)["next", "steps"].flatten().tolist() == [1, 2, 3]
    assert env.rollout(7, break_when_any_done=False)["steps"].flatten().tolist() == [0, 1, 2, 0, 1, 2, 0]


# ---- ExcludeTransform, SelectTransform ------------------------------------------------------------------------------


def test_exclude_leaves_out_data_and_spec() -> None:
    env = TransformedEnv(Pictures(), ExcludeTransform("vec"))

    assert "vec" not in env.rollout(2).keys(True) and set(env.observation_spec.keys()) == {"pixels"}
    check_env_specs(env)


def test_exclude_of_a_container_leaves_out_all_in_it() -> None:
    env = TransformedEnv(Agents(), ExcludeTransform(("agents", "pos")))

    assert ("agents", "pos") not in env.reset().keys(True)
    check_env_specs(env)


def test_exclude_of_a_count_leaves_the_count_going() -> None:
    env = TransformedEnv(Counter(limit=9), Compose(StepCounter(3), ExcludeTransform("step_count")))

    assert len(env.rollout(9)) == 3
    assert env.rollout(9, break_when_any_done=False)["next", "done"].flatten().tolist() == [False, False, True] * 3


def test_select_keeps_reward_flags_and_action() -> None:
    env = TransformedEnv(Pictures(), SelectTransform("vec"))
    td = env.rollout(2)

    assert "pixels" not in td.keys() and ("next", "reward") in td.keys(True) and "action" in td.keys()
    check_env_specs(env)


@pytest.mark.parametrize("made", [ExcludeTransform("vce"), SelectTransform("vce")])
def test_a_misspelt_key_is_named(made: ExcludeTransform | SelectTransform) -> None:
    with pytest.raises(KeyError, match="no key 'vce'; did you mean 'vec'"):
        TransformedEnv(Pictures(), made)


# ---- CatTensors -----------------------------------------------------------------------------------------------------


def test_cat_sorts_by_name_unless_told_not_to() -> None:
    data = TensorDict({"a": torch.zeros(1), "b": torch.ones(1)}, [])

    assert CatTensors(["b", "a"], "v")(data.clone())["v"].tolist() == [0, 1]
    assert CatTensors(["b", "a"], "v", sort=False)(data.clone())["v"].tolist() == [1, 0]
    assert list(CatTensors(["b", "a"], "v")(data.clone()).keys()) == ["v"]


def test_cat_in_an_environment_changes_the_spec() -> None:
    steps = DTypeCastTransform(torch.int64, torch.float32, in_keys=["step_count"], out_keys=["steps"])
    env = TransformedEnv(Counter(), Compose(StepCounter(), steps, CatTensors(["observation", "steps"], "vector")))
    td = env.rollout(2)

    assert td["vector"].tolist() == [[0, 0], [1, 1]]
    assert set(env.observation_spec.keys()) == {"step_count", "vector"}
    check_env_specs(env)


def test_cat_without_keys_takes_all_observations_under_the_usual_name() -> None:
    env = TransformedEnv(Counter(), Compose(RewardSum(), CatTensors()))

    assert set(env.observation_spec.keys()) == {"observation_vector"}
    assert env.rollout(3)["observation_vector"].tolist() == [[0, 0], [1, 1], [2, 2]]
    assert env.rollout(3)["next", "observation_vector"].tolist() == [[1, 1], [2, 2], [3, 3]]
    check_env_specs(env)


def test_cat_may_keep_what_it_joins() -> None:
    kept = TransformedEnv(Counter(), CatTensors(["observation"], "v", del_keys=False)).reset()

    assert {"observation", "v"} <= set(kept.keys())


def test_cat_of_bounded_observations_is_bounded() -> None:
    env = TransformedEnv(Pendulum(), CatTensors(["angle", "speed"], "v"))

    assert isinstance(env.observation_spec["v"], Bounded)
    assert env.observation_spec["v"].high.tolist() == pytest.approx([torch.pi, 8.0])


def test_cat_adds_the_dim_that_is_lacking() -> None:
    data = TensorDict({"a": torch.zeros(3), "b": torch.ones(3, 1)}, [3])

    assert CatTensors(["a", "b"], "v")(data)["v"].shape == (3, 2)
    with pytest.raises(RuntimeError):
        CatTensors(["a", "b"], "v", unsqueeze_if_oor=False)(
            TensorDict({"a": torch.zeros(3), "b": torch.ones(3, 1)}, [3])
        )


class Numbers(Counter):
    """Observes two numbers for each row."""

    def __init__(self, batch_size: Any = ()) -> None:
        super().__init__(batch_size=batch_size)
        b = self.batch_size
        self.observation_spec = Composite(x=Unbounded(b), y=Unbounded(b), shape=b)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        count = super()._reset(tensordict, **kwargs)["observation"].squeeze(-1)
        return TensorDict({"x": count, "y": -count}, self.batch_size)

    def _step(self, tensordict: Any) -> Any:
        out = super()._step(tensordict)
        count = out.pop("observation").squeeze(-1)
        return out.update({"x": count, "y": -count})


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
def test_cat_of_numbers_gives_a_vector_for_each_row(batch: tuple[int, ...]) -> None:
    env = TransformedEnv(Numbers(batch), CatTensors(["x", "y"], "v"))

    assert env.rollout(2)["v"].shape == (*batch, 2, 2)
    assert env.rollout(2)["next", "v"].unique().tolist() == [-2, -1, 1, 2]
    check_env_specs(env)


def test_cat_refuses_dims_from_the_front_and_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="CatTensors: dim is 1; count it from the end"):
        CatTensors(["a"], "v", dim=1)
    with pytest.raises(RuntimeError, match=r"CatTensors: 'pixels' \[6, 8, 3\], 'vec' \[3\] cannot be concatenated"):
        TransformedEnv(Pictures(), CatTensors(["pixels", "vec"], "v"))


def test_cat_names_a_key_that_is_not_there() -> None:
    with pytest.raises((KeyError, ValueError), match="CatTensors: no key 'vce'; did you mean 'vec'"):
        TransformedEnv(Pictures(), CatTensors(["vce"], "v"))


def test_cat_with_a_class_finds_its_only_field() -> None:
    env = TransformedEnv(Pendulum(), CatTensors(["angle", "speed"], obs=Vec))
    steps = env.rollout(2)

    assert isinstance(steps.obs, Vec) and steps.obs.vector.shape == (2, 2)
    assert isinstance(steps.next.obs, Vec)
