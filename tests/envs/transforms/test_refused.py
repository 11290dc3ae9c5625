"""Chains that are refused when the environment is built: the error names transform, key and what would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.envs import (
    BinarizeReward,
    CatFrames,
    CatTensors,
    Compose,
    Crop,
    EndOfLifeTransform,
    ExcludeTransform,
    FlattenObservation,
    GrayScale,
    InitTracker,
    MapObs,
    ObservationNorm,
    PermuteTransform,
    RenameTransform,
    Resize,
    RewardSum,
    SqueezeTransform,
    StepCounter,
    TargetReturn,
    TensorDictPrimer,
    ToTensorImage,
    Transform,
    TransformedEnv,
    Unbounded,
    UnsqueezeTransform,
)
from tests.envs.transforms.worlds import Pictures
from tests.envs.worlds import Agents, Counter


@pytest.mark.parametrize(
    "transform",
    [
        StepCounter(step_count_key="observation"),
        InitTracker("observation"),
        RewardSum(out_keys=["observation"]),
        TargetReturn(1.0, out_keys=["observation"]),
        TensorDictPrimer(observation=Unbounded((3,))),
        EndOfLifeTransform("observation"),
    ],
    ids=lambda transform: type(transform).__name__,
)
def test_a_new_entry_does_not_take_the_key_of_an_observation(transform: Transform) -> None:
    env = TransformedEnv(Counter())
    with pytest.raises(RuntimeError) as refused:
        env.append_transform(transform)

    name = type(transform).__name__
    assert str(refused.value) == (
        f"{name}: it writes 'observation', and there is an entry of that name already; give another key, or drop that "
        "entry first with ExcludeTransform('observation')"
    )
    assert len(env.transform) == 0 and env.rollout(2)["observation"].flatten().tolist() == [0, 1]


@pytest.mark.parametrize(
    "transform",
    [
        CatTensors(["vec"], "pixels"),
        ObservationNorm(0.0, 1.0, in_keys=["vec"], out_keys=["pixels"]),
        RenameTransform(["vec"], ["pixels"]),
    ],
    ids=lambda transform: type(transform).__name__,
)
def test_an_out_key_does_not_take_the_key_of_another_observation(transform: Transform) -> None:
    with pytest.raises(RuntimeError, match=rf"^{type(transform).__name__}: it writes 'pixels', and there is an entry"):
        TransformedEnv(Pictures(), transform)


def test_a_function_does_not_take_the_key_of_a_count() -> None:
    def counted(seen: TensorDict) -> TensorDict:
        return TensorDict(step_count=seen["observation"])

    with pytest.raises(RuntimeError, match=r"^MapObs: it writes 'step_count', and there is an entry"):
        TransformedEnv(Counter(), Compose(StepCounter(), MapObs(counted)))


def test_what_a_transform_reads_it_may_write() -> None:
    swapped = TransformedEnv(Pictures(), RenameTransform(["vec", "pixels"], ["pixels", "vec"])).reset()
    joined = TransformedEnv(Pictures(), CatTensors(["vec"], "vec")).reset()
    dropped = TransformedEnv(
        Counter(), Compose(ExcludeTransform("observation"), StepCounter(step_count_key="observation"))
    )

    assert swapped["pixels"].shape == (3,) and joined["vec"].shape == (3,)
    assert dropped.rollout(3)["next", "observation"].flatten().tolist() == [1, 2, 3]


def test_a_transform_of_ones_own_may_change_an_entry_that_it_does_not_read_by_in_keys() -> None:
    class Doubled(Transform):
        def _call(self, next_tensordict: Any) -> Any:
            return next_tensordict.set("vec", 2 * next_tensordict["vec"])

    env = TransformedEnv(Pictures(), Doubled(in_keys=["pixels"], out_keys=["vec"]))

    assert env.rollout(2)["next", "vec"][:, 0].tolist() == [2, 4]


@pytest.mark.parametrize(
    ("transform", "slots"),
    [
        (StepCounter(step_count_key="action"), "full_observation_spec and in full_action_spec"),
        (StepCounter(3, truncated_key="action"), "full_done_spec and in full_action_spec"),
        (RenameTransform(["observation"], ["action"]), "full_observation_spec and in full_action_spec"),
        (RenameTransform([], [], ["action"], ["observation"]), "full_observation_spec and in full_action_spec"),
    ],
)
def test_an_action_is_no_other_entry_at_the_same_time(transform: Transform, slots: str) -> None:
    with pytest.raises(
        RuntimeError, match=f"^{type(transform).__name__}: '(action|observation)' is in {slots}; a key is"
    ):
        TransformedEnv(Counter(), transform)


@pytest.mark.parametrize("name", ["next", "_reset", "_step"])
def test_a_name_that_environments_keep_for_themselves_is_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"^StepCounter: it writes '{name}', a name that environments keep for"):
        TransformedEnv(Counter(), StepCounter(step_count_key=name))


def test_an_entry_inside_of_a_tensor_is_refused_by_the_name_of_the_transform() -> None:
    with pytest.raises(
        RuntimeError, match=r"^ObservationNorm: 'pixels' is Bounded\(.*\): nothing can be set inside it$"
    ):
        TransformedEnv(Pictures(), ObservationNorm(0.0, 1.0, in_keys=["vec"], out_keys=[("pixels", "vec")]))


# ---- shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "needs"),
    [
        (lambda: Resize(2, in_keys=["vec"]), "2 dims after the batch dims: height, width"),
        (lambda: Crop(2, in_keys=["vec"]), "2 dims after the batch dims: height, width"),
        (lambda: GrayScale(in_keys=["vec"]), "3 dims after the batch dims: channels, height, width"),
        (lambda: ToTensorImage(in_keys=["vec"]), "3 dims after the batch dims: height, width, channels"),
        (lambda: FlattenObservation(-2, -1, in_keys=["vec"]), "2 dims after the batch dims"),
        (lambda: FlattenObservation(0, 1, True, in_keys=["vec"]), "2 dims after the batch dims"),
        (lambda: PermuteTransform((-1, -2), in_keys=["vec"]), "2 dims after the batch dims"),
        (lambda: SqueezeTransform(-2, in_keys=["vec"]), "2 dims after the batch dims"),
        (lambda: UnsqueezeTransform(-3, in_keys=["vec"]), "2 dims after the batch dims"),
        (lambda: CatFrames(3, -2, in_keys=["vec"]), "2 dims after the batch dims"),
    ],
)
@pytest.mark.parametrize("batch", [(), (4,)])
def test_batch_dims_are_not_for_a_transform_of_dims(make: Callable[[], Transform], needs: str, batch: Any) -> None:
    transform = make()
    with pytest.raises(RuntimeError) as refused:
        TransformedEnv(Pictures(batch), transform)

    assert str(refused.value) == (
        f"{type(transform).__name__}: 'vec' has shape {[*batch, 3]} and batch size {list(batch)}; "
        f"it must have at least {needs}"
    )


def test_the_dims_of_agents_are_not_for_a_transform_either() -> None:
    with pytest.raises(
        RuntimeError, match=r"^FlattenObservation: \('agents', 'pos'\) has shape \[4, 2, 3\] and batch size \[4, 2\]"
    ):
        TransformedEnv(Agents((4,)), FlattenObservation(-2, -1, in_keys=[("agents", "pos")]))


def test_the_dims_of_an_action_are_counted_too() -> None:
    with pytest.raises(RuntimeError, match=r"^PermuteTransform: 'action' has shape \[4, 2\] and batch size \[4\]"):
        TransformedEnv(Pictures((4,)), PermuteTransform((-1, -2), in_keys_inv=["action"]))


def test_numbers_that_do_not_fit_name_transform_and_key() -> None:
    norm = ObservationNorm(torch.zeros(5), torch.ones(5), in_keys=["vec"])
    with pytest.raises(RuntimeError, match=r"^ObservationNorm: 'vec' of shape \[3\] will not do: "):
        TransformedEnv(Pictures(), norm)


def test_a_sign_needs_a_dim_of_its_own() -> None:
    env = Counter()
    env.observation_spec = env.full_observation_spec.clone().set("height", Unbounded(()))
    with pytest.raises(
        RuntimeError, match=r"^BinarizeReward: 'height' has shape \[\] and batch size \[\]; it must have"
    ):
        TransformedEnv(env, BinarizeReward(in_keys=["height"]))


def test_an_interpolation_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^Resize: interpolation is 'biliner'; did you mean 'bilinear'\?"):
        Resize(3, interpolation="biliner")


def test_a_number_of_lives_that_is_nowhere_is_named() -> None:
    env = TransformedEnv(Counter(), EndOfLifeTransform(eol_attribute="lives_left"))
    with pytest.raises(TypeError, match=r"^EndOfLifeTransform: Counter has no 'lives_left' .*eol_attribute="):
        env.reset()
