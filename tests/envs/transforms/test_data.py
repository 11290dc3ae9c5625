"""Every transform takes data that is at hand, travels, and is traced in one graph."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    ActionDiscretizer,
    BinarizeReward,
    CatFrames,
    CatTensors,
    CenterCrop,
    ClipTransform,
    Compose,
    Crop,
    DeviceCastTransform,
    DoubleToFloat,
    DTypeCastTransform,
    ExcludeTransform,
    FiniteTensorDictCheck,
    FlattenObservation,
    FrameSkipTransform,
    GrayScale,
    InitTracker,
    MapObs,
    NoopResetEnv,
    ObservationNorm,
    ParallelEnv,
    PermuteTransform,
    RenameTransform,
    Resize,
    RewardClipping,
    RewardScaling,
    RewardSum,
    SelectTransform,
    SignTransform,
    SqueezeTransform,
    StepCounter,
    TargetReturn,
    TensorDictPrimer,
    TimeMaxPool,
    ToTensorImage,
    TransformedEnv,
    Unbounded,
    UnsqueezeTransform,
    VecNorm,
)
from tests.envs.worlds import Counter


def data() -> TensorDict:
    """Four steps of two episodes."""
    done = torch.tensor([[False], [True], [False], [False]])
    after = {"a": torch.ones(4, 3), "reward": torch.ones(4, 1), "done": done}
    return TensorDict(
        {
            "a": torch.ones(4, 3),
            "b": torch.zeros(4, 3, dtype=torch.float64),
            "pixels": torch.zeros(4, 3, 6, 8),
            "reward": torch.ones(4, 1),
            "next": TensorDict(after, [4]),
        },
        [4],
    )


def doubled(obs: TensorDict) -> TensorDict:
    return TensorDict({"twice": obs["a"] * 2}, obs.batch_size)


TRANSFORMS: list[Any] = [
    ActionDiscretizer(3),
    BinarizeReward(),
    CatFrames(2, -1, ["a"]),
    CatTensors(["a", "b"]),
    CenterCrop(2),
    ClipTransform(["a"], low=0.0),
    Compose(RewardSum(), StepCounter()),
    Crop(2),
    DeviceCastTransform("cpu"),
    DoubleToFloat(),
    DTypeCastTransform(torch.float32, torch.float64),
    ExcludeTransform("a"),
    FiniteTensorDictCheck(),
    FlattenObservation(),
    FrameSkipTransform(2),
    GrayScale(),
    InitTracker(),
    MapObs(doubled),
    NoopResetEnv(2),
    ObservationNorm(0.0, 2.0, in_keys=["a"]),
    PermuteTransform((-1, -2), in_keys=["pixels"]),
    RenameTransform(["a"], ["c"]),
    Resize(3),
    RewardClipping(0.0, 1.0),
    RewardScaling(0.0, 2.0),
    RewardSum(),
    SelectTransform("a"),
    SignTransform(),
    SqueezeTransform(-1, in_keys=["reward"]),
    StepCounter(3),
    TargetReturn(5.0),
    TensorDictPrimer(hidden=Unbounded((2,))),
    TimeMaxPool(["a"], T=2),
    ToTensorImage(),
    UnsqueezeTransform(-1, in_keys=["a"]),
    VecNorm(["a"]),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda one: type(one).__name__)
def test_every_transform_takes_data_and_says_what_it_is(transform: Any) -> None:
    out = transform.clone()(data())

    assert out.batch_size == (4,)
    for key in transform.out_keys:
        assert key in out.keys(True)
    assert repr(transform).startswith(type(transform).__name__)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda one: type(one).__name__)
def test_every_transform_is_copied_and_pickled(transform: Any) -> None:
    for other in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform)), transform.clone()):
        assert type(other) is type(transform) and other.out_keys == transform.out_keys
        assert other.container is None


def chain() -> Compose:
    norm = ObservationNorm(1.0, 2.0, in_keys=["observation"])
    return Compose(RewardScaling(0.0, 2.0), StepCounter(4), RewardSum(), InitTracker(), norm)


class Stateless(Counter):
    """Counts in its observation."""

    def _step(self, tensordict: Any) -> Any:
        seen = tensordict["observation"] + 1
        entries = {"observation": seen, "reward": torch.ones_like(seen), "terminated": seen >= self.limit}
        return TensorDict(entries, batch_size=self.batch_size)


def test_a_step_through_a_chain_is_one_graph() -> None:
    env = TransformedEnv(Stateless(batch_size=(3,)), chain())
    step = torch.compile(env.step, fullgraph=True, backend="eager")
    td, plain = env.reset(), TransformedEnv(Stateless(batch_size=(3,)), chain()).reset()
    other = TransformedEnv(Stateless(batch_size=(3,)), chain())
    plain = other.reset()
    for _ in range(3):
        action = torch.zeros(3, 1)
        td = step(td.set("action", action))
        plain = other.step(plain.set("action", action))
        for key in ("observation", "reward", "step_count", "episode_reward", "truncated"):
            assert torch.equal(td["next", key], plain["next", key]), key
        td, plain = env.step_mdp(td), other.step_mdp(plain)


def two() -> Counter:
    return Counter(2)


def nine() -> Counter:
    return Counter(9)


def two_inside() -> Any:
    return TransformedEnv(Counter(2), chain())


def nine_inside() -> Any:
    return TransformedEnv(Counter(9), chain())


def test_transforms_inside_of_workers_equal_those_outside() -> None:
    outside = TransformedEnv(ParallelEnv(2, [two, nine]), chain())
    inside = ParallelEnv(2, [two_inside, nine_inside])
    try:
        for options in ({}, {"break_when_any_done": False}, {"break_when_all_done": True}):
            asked: Any = options
            one, other = outside.rollout(10, **asked), inside.rollout(10, **asked)
            assert set(one.keys(True, True)) == set(other.keys(True, True))
            for key in set(one.keys(True, True)) - {"action"}:
                assert torch.equal(one.get(key), other.get(key)), key
    finally:
        outside.close()
        inside.close()
