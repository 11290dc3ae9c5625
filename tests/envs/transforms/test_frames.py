"""CatFrames and TimeMaxPool: the last few observations, at the borders of episodes and in data."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    Bounded,
    CatFrames,
    Compose,
    SerialEnv,
    TimeMaxPool,
    ToTensorImage,
    TransformedEnv,
    check_env_specs,
)
from tests.envs.transforms.worlds import Pendulum, Pictures, Signed
from tests.envs.worlds import Counter


def frames(env: Any, steps: int, *key: str, **options: Any) -> Any:
    return env.rollout(steps, **options)[(*key, "observation")].tolist()


def test_frames_are_filled_with_the_first_observation() -> None:
    env = TransformedEnv(Counter(limit=9), CatFrames(3, -1, ["observation"]))

    assert frames(env, 4) == [[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 2, 3]]
    assert frames(env, 3, "next") == [[0, 0, 1], [0, 1, 2], [1, 2, 3]]
    check_env_specs(env)


def test_frames_are_filled_with_a_constant() -> None:
    env = TransformedEnv(Counter(limit=9), CatFrames(3, -1, ["observation"], padding="constant", padding_value=-1.0))

    assert frames(env, 3) == [[-1, -1, 0], [-1, 0, 1], [0, 1, 2]]
    check_env_specs(env)


def test_frames_of_an_episode_hold_nothing_of_the_one_before() -> None:
    env = TransformedEnv(Counter(limit=2), CatFrames(2, -1, ["observation"]))

    assert frames(env, 5, break_when_any_done=False) == [[0, 0], [0, 1], [0, 0], [0, 1], [0, 0]]
    assert frames(env, 5, "next", break_when_any_done=False) == [[0, 1], [1, 2], [0, 1], [1, 2], [0, 1]]


def test_each_row_of_a_batch_is_filled_anew_by_itself() -> None:
    limit = torch.tensor([[2], [3]])
    env = TransformedEnv(Counter(limit, batch_size=(2,)), CatFrames(2, -1, ["observation"]))
    found = frames(env, 5, break_when_any_done=False)

    assert found[0] == [[0, 0], [0, 1], [0, 0], [0, 1], [0, 0]]
    assert found[1] == [[0, 0], [0, 1], [1, 2], [0, 0], [0, 1]]


def test_frames_inside_of_a_batch_equal_those_outside() -> None:
    outside = TransformedEnv(SerialEnv(2, lambda: Counter(3)), CatFrames(2, -1, ["observation"]))
    inside = SerialEnv(2, lambda: TransformedEnv(Counter(3), CatFrames(2, -1, ["observation"])))

    assert frames(outside, 7, break_when_any_done=False) == frames(inside, 7, break_when_any_done=False)


def test_frames_of_pictures() -> None:
    env = TransformedEnv(Pictures((2,)), Compose(ToTensorImage(), CatFrames(4, -3)))

    assert env.rollout(3)["pixels"].shape == (2, 3, 12, 6, 8)
    assert env.observation_spec["pixels"] == Bounded(0.0, 1.0, (2, 12, 6, 8))
    check_env_specs(env)


def test_frames_under_another_key_keep_the_observation() -> None:
    env = TransformedEnv(Counter(limit=9), CatFrames(2, -1, ["observation"], ["frames"]))

    assert env.rollout(2)["frames"].tolist() == [[0, 0], [0, 1]]
    assert env.rollout(2)["observation"].tolist() == [[0], [1]]


def test_frames_of_data_are_those_of_the_rollout() -> None:
    plain = Counter(limit=3).rollout(7, break_when_any_done=False)
    for options in ({}, {"padding": "constant", "padding_value": 5.0}):
        made: Any = options
        wanted = TransformedEnv(Counter(limit=3), CatFrames(3, -1, ["observation"], **made))
        rolled = wanted.rollout(7, break_when_any_done=False)
        data = CatFrames(3, -1, ["observation"], **made)(plain.clone())

        assert torch.equal(data["observation"], rolled["observation"])
        assert torch.equal(data["next", "observation"], rolled["next", "observation"])


def test_one_step_alone_is_a_first_one() -> None:
    assert CatFrames(3, -1, ["a"])(a=torch.tensor([2.0])).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"N": 2, "dim": 0}, "CatFrames: dim is 0; count it from the end"),
        ({"N": 0, "dim": -1}, "CatFrames: N is 0; 1 or more would do"),
        ({"N": 2, "dim": -1, "padding": "zero"}, "CatFrames: padding is 'zero'; 'same' or 'constant' would do"),
    ],
)
def test_options_are_checked(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        CatFrames(**options)


def test_bounds_include_the_padding() -> None:
    frames = CatFrames(2, -1, ["speed"], padding="constant", padding_value=9.0)
    env = TransformedEnv(Pendulum(), frames)

    assert env.observation_spec["speed"].high.tolist() == [9, 8]
    check_env_specs(env)


# ---- TimeMaxPool ----------------------------------------------------------------------------------------------------


def test_the_maximum_is_that_of_the_last_frames_of_the_episode() -> None:
    env = TransformedEnv(Signed(limit=3), TimeMaxPool(["observation"], T=2))
    found = env.rollout(5, break_when_any_done=False)

    assert found["observation"].flatten().tolist() == [-1, -1, -2, -1, -1]
    assert found["next", "observation"].flatten().tolist() == [-1, -2, -3, -1, -2]
    check_env_specs(env)


def test_the_maximum_over_data() -> None:
    data = TensorDict({"a": torch.tensor([[3.0], [1.0], [2.0]])}, [3])

    assert TimeMaxPool(["a"], T=2)(data)["a"].flatten().tolist() == [3, 3, 2]
    with pytest.raises(ValueError, match="TimeMaxPool: T is 0"):
        TimeMaxPool(["a"], T=0)
