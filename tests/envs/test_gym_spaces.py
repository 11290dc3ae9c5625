"""Every space as specs: observations are those that gymnasium shows, actions reach it as its space has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor

from tensorclass import NonTensorData, TensorClass, TensorDict
from tensorclass.envs import (
    Binary,
    Bounded,
    Categorical,
    Composite,
    GymWrapper,
    MultiCategorical,
    MultiOneHot,
    NonTensor,
    OneHot,
    Unbounded,
    check_env_specs,
)
from tests.envs.gyms import Echo

BOX = spaces.Box(-1, 1, (2, 3))
SPACES: dict[str, spaces.Space[Any]] = {
    "box": BOX,
    "box of doubles": spaces.Box(0, np.inf, (3,), np.float64),
    "box without bounds": spaces.Box(-np.inf, np.inf, (3,)),
    "picture": spaces.Box(0, 255, (4, 4, 3), np.uint8),
    "number": spaces.Box(-1, 1, ()),
    "discrete": spaces.Discrete(4),
    "discrete from 3": spaces.Discrete(4, start=3),
    "discrete from -2": spaces.Discrete(5, start=-2),
    "multi-discrete": spaces.MultiDiscrete([2, 5]),
    "multi-discrete from 1": spaces.MultiDiscrete([2, 5], start=[1, 7]),
    "multi-discrete in two dims": spaces.MultiDiscrete(np.array([[2, 3], [4, 5]])),
    "multi-binary": spaces.MultiBinary(3),
    "multi-binary in two dims": spaces.MultiBinary([2, 3]),
    "tuple of like boxes": spaces.Tuple([BOX, spaces.Box(-2, 2, (2, 3))]),
    "tuple of discretes": spaces.Tuple([spaces.Discrete(2), spaces.Discrete(5, start=1)]),
    "tuple of unlike parts": spaces.Tuple([BOX, spaces.Discrete(5)]),
    "dict": spaces.Dict(pos=BOX, kind=spaces.Discrete(3, start=1)),
    "nested dict": spaces.Dict(arm=spaces.Dict(angle=BOX, grip=spaces.MultiBinary(2)), kind=spaces.Discrete(3)),
    "dict with a tuple": spaces.Dict(pair=spaces.Tuple([BOX, BOX]), odd=spaces.Tuple([BOX, spaces.MultiBinary(2)])),
}
PLAIN: dict[str, spaces.Space[Any]] = {
    "text": spaces.Text(5),
    "dict with text": spaces.Dict(name=spaces.Text(3), pos=BOX),
    "tuple with text": spaces.Tuple([spaces.Text(3), BOX]),
    "sequence": spaces.Sequence(spaces.Discrete(3)),
}
every_space = pytest.mark.parametrize("space", [pytest.param(space, id=name) for name, space in SPACES.items()])
every_plain = pytest.mark.parametrize("space", [pytest.param(space, id=name) for name, space in PLAIN.items()])
each_way = pytest.mark.parametrize("as_index", [True, False], ids=["numbers", "marks"])


@pytest.mark.parametrize("space", [spaces.Text(5), spaces.Sequence(spaces.Box(-1, 1, (1,)))])
def test_an_action_that_is_no_tensor_needs_a_policy(space: spaces.Space[Any]) -> None:
    env = GymWrapper(Echo(spaces.Discrete(2), space))
    with pytest.raises(TypeError, match=r"^no 'action' can be drawn: its spec is NonTensor\(.*\); give a policy$"):
        env.rollout(2)

    actions = iter([space.sample(), space.sample()])
    assert len(env.rollout(2, lambda td: td.set("action", NonTensorData(next(actions))))) == 2


def by_hand(space: spaces.Space[Any], raw: Any, as_index: bool) -> Any:
    """What a value of a space is in a container."""
    if isinstance(space, spaces.Dict):
        return {key: by_hand(part, raw[key], as_index) for key, part in space.items()}
    if isinstance(space, spaces.Tuple):
        if all(isinstance(part, spaces.Discrete) for part in space):
            return (
                torch.stack([by_hand(*one, True) for one in zip(space, raw)])
                if as_index
                else torch.cat([by_hand(*one, False) for one in zip(space, raw)])
            )
        parts = [by_hand(part, one, as_index) for part, one in zip(space, raw)]
        alike = len({part.shape for part in parts if isinstance(part, Tensor)}) == 1
        if alike and all(isinstance(part, Tensor) for part in parts):
            return torch.stack(parts)
        return {str(at): part for at, part in enumerate(parts)}
    if isinstance(space, spaces.Discrete):
        index = torch.tensor(int(raw) - int(space.start))
        return index if as_index else torch.nn.functional.one_hot(index, int(space.n))
    if isinstance(space, spaces.MultiDiscrete):
        index = torch.from_numpy(raw - space.start)
        if as_index:
            return index
        pairs = zip(index.flatten(), space.nvec.ravel())
        return torch.cat([torch.nn.functional.one_hot(one, int(n)) for one, n in pairs])
    return torch.as_tensor(raw) if isinstance(raw, np.ndarray) else raw


def entries(td: TensorDict, space: spaces.Space[Any], name: str) -> Any:
    """The entries of an observation or action: at the root if the space is a dict."""
    keys = list(space.keys()) if isinstance(space, spaces.Dict) else [name]
    found = {key: td[key] for key in keys}
    plain = {key: value.to_dict() if isinstance(value, TensorDict) else value for key, value in found.items()}
    return plain if isinstance(space, spaces.Dict) else plain[name]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Tensor):
        return one.dtype is other.dtype and torch.equal(one, other)
    return bool(one == other)


@each_way
@every_space
def test_observations_are_those_that_gymnasium_shows(space: spaces.Space[Any], as_index: bool) -> None:
    env, raw = GymWrapper(Echo(space), categorical_action_encoding=as_index), Echo(space)
    seen, _ = raw.reset(seed=1)
    td: TensorDict = env.reset(seed=1)
    for _ in range(2):
        assert same(entries(td, space, "observation"), by_hand(space, seen, as_index))
        seen, *_ = raw.step(0)
        td = env.step(env.rand_action(td))["next"]


@each_way
@every_space
def test_a_rollout_holds_them_too(space: spaces.Space[Any], as_index: bool) -> None:
    env, raw = GymWrapper(Echo(space), categorical_action_encoding=as_index), Echo(space)
    env.set_seed(1)
    seen, _ = raw.reset(seed=1)
    quick = env.rollout(7, break_when_any_done=False)
    for step in range(7):
        assert same(entries(quick[step], space, "observation"), by_hand(space, seen, as_index))
        seen, _, over, _, _ = raw.step(0)
        assert same(entries(quick["next"][step], space, "observation"), by_hand(space, seen, as_index))
        seen = raw.reset()[0] if over else seen


@each_way
@every_space
def test_observations_are_in_their_specs(space: spaces.Space[Any], as_index: bool) -> None:
    check_env_specs(GymWrapper(Echo(space), categorical_action_encoding=as_index))


@each_way
@every_space
def test_actions_reach_gymnasium_as_its_space_has_them(space: spaces.Space[Any], as_index: bool) -> None:
    """The environment refuses any that its space does not contain."""
    env = GymWrapper(Echo(spaces.Discrete(2), space, length=100), categorical_action_encoding=as_index)
    quick = env.rollout(20)
    slow = env.rollout(20, env.rand_action)
    for steps, told in ((quick, env.actions[:20]), (slow, env.actions[20:])):
        for step, raw in enumerate(told):
            assert same(entries(steps[step], space, "action"), by_hand(space, raw, as_index))


@every_plain
def test_what_is_no_number_is_kept_as_it_is(space: spaces.Space[Any]) -> None:
    env, raw = GymWrapper(Echo(space)), Echo(space)
    env.set_seed(1)
    first, _ = raw.reset(seed=1)
    steps = env.rollout(2)
    second, *_ = raw.step(0)

    assert same(entries(env.reset(seed=1), space, "observation"), by_hand(space, first, False))
    if isinstance(space, spaces.Text):
        assert steps["observation"].tolist() == [first, second]
        assert steps["next", "observation"].tolist()[0] == second


def test_text_as_an_action() -> None:
    env = GymWrapper(Echo(BOX, spaces.Text(3)))
    td = env.reset()
    td["action"] = "abc"
    env.step(td)

    assert env.actions == ["abc"]


def test_specs_of_spaces() -> None:
    def spec(space: spaces.Space[Any], as_index: bool = False) -> Any:
        return GymWrapper(Echo(space), categorical_action_encoding=as_index).observation_spec["observation"]

    box = spec(spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([1.0, 2.0], np.float32)))
    assert isinstance(box, Bounded) and box.low.tolist() == [-1, 0] and box.high.tolist() == [1, 2]
    assert isinstance(spec(SPACES["box without bounds"]), Unbounded)
    assert spec(SPACES["box of doubles"]).dtype is torch.float64
    assert isinstance(spec(spaces.Discrete(4)), OneHot) and isinstance(spec(spaces.Discrete(4), True), Categorical)
    assert isinstance(spec(spaces.MultiDiscrete([2, 5])), MultiOneHot)
    assert isinstance(spec(spaces.MultiDiscrete([2, 5]), True), MultiCategorical)
    assert isinstance(spec(spaces.MultiBinary(3)), Binary) and spec(spaces.MultiBinary(3)).dtype is torch.int8
    assert isinstance(spec(spaces.Text(5)), NonTensor)
    assert spec(SPACES["tuple of like boxes"]).shape == (2, 2, 3)
    assert spec(SPACES["tuple of discretes"]).shape == (7,) and spec(SPACES["tuple of discretes"], True).shape == (2,)
    assert isinstance(spec(SPACES["tuple of unlike parts"]), Composite)


def test_a_dict_with_names_that_are_taken_stands_under_its_own_name() -> None:
    seen = GymWrapper(Echo(spaces.Dict(reward=BOX, pos=BOX)))
    done = GymWrapper(Echo(spaces.Dict(pos=BOX), spaces.Dict(pos=BOX)))

    assert set(seen.observation_keys) == {("observation", "reward"), ("observation", "pos")}
    assert done.observation_keys == ["pos"] and done.action_keys == [("action", "pos")]
    check_env_specs(seen)
    check_env_specs(done)


class Arm(TensorClass):
    angle: Tensor
    grip: Tensor


class Seen(TensorClass):
    arm: Arm
    kind: Tensor


def test_classes_for_the_entries_of_a_dict() -> None:
    env = GymWrapper(Echo(SPACES["nested dict"]), obs=Seen, categorical_action_encoding=True)
    steps = env.rollout(3)

    assert isinstance(steps.obs, Seen) and isinstance(steps.next.obs.arm, Arm)
    assert torch.equal(steps.next.obs.arm.angle, steps["next", "arm", "angle"])
