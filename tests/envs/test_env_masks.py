"""Partial resets: only the rows of the mask start anew."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import NonTensorStack, TensorDict
from tensorclass.envs import Categorical, Composite, EnvBase, NonTensor, Unbounded, check_env_specs
from tests.envs.worlds import Agents, Counter, Pendulum


def test_only_the_rows_of_a_mask_are_reset_and_the_rest_stays() -> None:
    env = Counter(batch_size=(3,), limit=10)
    td = env.step_mdp(env.rand_step(env.reset()))
    td["_reset"] = torch.tensor([[True], [False], [True]])
    td["extra"] = torch.arange(3)
    out = env.reset(td)

    assert out["observation"].flatten().tolist() == [0, 1, 0]
    assert "_reset" not in out.keys() and out["extra"].tolist() == [0, 1, 2]
    assert "_reset" in td.keys() and td["observation"].flatten().tolist() == [1, 1, 1]


def test_a_mask_may_come_without_its_last_dim() -> None:
    env = Pendulum()
    td = env.reset(env.gen_params(batch_size=[3]))
    out = env.reset(td.copy().set("_reset", torch.tensor([False, True, False])))

    assert (out["th"] == td["th"]).tolist() == [True, False, True]


def test_a_mask_of_another_shape_or_kind_is_refused() -> None:
    env = Counter(batch_size=(3,))
    td = env.reset()
    with pytest.raises(RuntimeError, match=r"'_reset' has shape \[3, 2\]; the flags beside it have \[3, 1\]"):
        env.reset(td.copy().set("_reset", torch.ones(3, 2).bool()))
    with pytest.raises(TypeError, match="'_reset' is a mask of bools, not torch.float32"):
        env.reset(td.copy().set("_reset", torch.ones(3, 1)))


def test_a_method_that_knows_nothing_of_masks_is_helped() -> None:
    class Forgetful(EnvBase):
        def __init__(self) -> None:
            super().__init__(batch_size=[2])
            self.observation_spec = Composite(x=Unbounded((2, 3)), shape=[2])

        def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
            return TensorDict(x=torch.zeros(2, 3), batch_size=[2])

        def _step(self, tensordict: Any) -> Any:
            return TensorDict(x=tensordict["x"] + 1, reward=torch.ones(2, 1), batch_size=[2])

    env = Forgetful()
    td = env.step_mdp(env.step(env.reset()))
    out = env.reset(td.set("_reset", torch.tensor([[True], [False]])))

    assert out["x"].tolist() == [[0, 0, 0], [1, 1, 1]]


def test_nested_masks_stand_beside_nested_flags() -> None:
    env = Agents((2,), limits=(1, 5))
    assert env.reset_keys == [("agents", "_reset")]

    td = env.step_mdp(env.rand_step(env.reset()))
    td["agents", "_reset"] = td["agents", "done"].clone()
    out = env.reset(td)
    assert out["agents", "pos"][..., 0].tolist() == [[0, 1], [0, 1]]
    assert ("agents", "_reset") not in out.keys(True)


def test_rows_that_were_not_reset_may_be_over() -> None:
    env = Counter(batch_size=(2,), limit=1)
    td = env.step_mdp(env.rand_step(env.reset()))
    out = env.reset(td.set("_reset", torch.tensor([[True], [False]])))

    assert out["done"].flatten().tolist() == [False, True]


class Over(Counter):
    """Is over before it begins."""

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return super()._reset(tensordict).set("done", torch.ones(1).bool())


def test_an_episode_that_is_over_after_its_reset_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Over is done right after its reset; .*allow_done_after_reset=True"):
        Over().reset()

    assert Over(allow_done_after_reset=True).reset()["done"].item() is True


def test_further_arguments_reach_the_method() -> None:
    class Asked(Counter):
        def _reset(self, tensordict: Any = None, options: Any = None, **kwargs: Any) -> Any:
            self.asked = options, kwargs
            return super()._reset(tensordict)

    env = Asked()
    env.reset(options={"low": 1}, seed=3)
    assert env.asked == ({"low": 1}, {"seed": 3})


def test_entries_of_the_state_that_a_reset_does_not_give_are_kept() -> None:
    class Parametrised(Counter):
        def __init__(self) -> None:
            super().__init__(limit=100)
            self.state_spec = Composite(gravity=Unbounded((1,)))

        def _step(self, tensordict: Any) -> Any:
            out = super()._step(tensordict)
            return out.set("reward", tensordict["gravity"] * 2)

    env = Parametrised()
    start = env.reset(TensorDict(gravity=torch.full((1,), 3.0)))
    td = env.rollout(4, auto_reset=False, tensordict=start)
    assert td["next", "reward"].flatten().tolist() == [6, 6, 6, 6]


class Team(Agents):
    """The same with flags for the whole, which says when all start anew."""

    def __init__(self) -> None:
        super().__init__(limits=(1, 3))
        done = Categorical(2, shape=(1,), dtype=torch.bool)
        self.done_spec = Composite({"done": done, ("agents", "done"): Categorical(2, shape=(2, 1), dtype=torch.bool)})

    def _step(self, tensordict: Any) -> Any:
        out = super()._step(tensordict)
        return out.set("done", out["agents", "done"].all(0))


def test_flags_of_the_whole_decide_for_the_agents() -> None:
    env = Team()
    assert env.reset_keys == ["_reset", ("agents", "_reset")]

    td = env.rollout(5, break_when_any_done=False)
    assert td["agents", "pos"][..., 0].tolist() == [[0, 0], [1, 1], [2, 2], [0, 0], [1, 1]]
    assert td["next", "agents", "done"][0].flatten().tolist() == [True, False]
    assert env.rollout(9).shape == (3,)
    check_env_specs(env)


class Labelled(EnvBase):
    """Two rows with a word each; the first is over at each step."""

    def __init__(self) -> None:
        super().__init__(batch_size=[2])
        self.observation_spec = Composite(x=Unbounded((2, 1)), word=NonTensor((2,)), shape=[2])

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        return TensorDict({"x": torch.zeros(2, 1), "word": NonTensorStack("new", "new")}, [2])

    def _step(self, tensordict: Any) -> Any:
        done = torch.tensor([[True], [False]])
        entries = {"x": tensordict["x"] + 1, "word": NonTensorStack("old", "old")}
        return TensorDict({**entries, "reward": torch.ones(2, 1), "done": done}, [2])


def test_plain_data_are_reset_row_by_row() -> None:
    td = Labelled().rollout(3, break_when_any_done=False)

    assert td["word"].tolist() == [["new", "new", "new"], ["new", "old", "old"]]
    assert td["x"].squeeze(-1).tolist() == [[0, 0, 0], [0, 1, 2]]
