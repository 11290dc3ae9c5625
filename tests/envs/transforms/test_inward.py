"""An environment that keeps its state in what it shows gets its own entries back, whatever the chain makes of them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import (
    ActionDiscretizer,
    Bounded,
    CatTensors,
    Compose,
    EnvBase,
    ExcludeTransform,
    FrameSkipTransform,
    MapObs,
    Next,
    NoopResetEnv,
    ObservationNorm,
    RenameTransform,
    SerialEnv,
    StepCounter,
    TransformedEnv,
    Transition,
    UnsqueezeTransform,
    check_env_specs,
)


class Place(TensorClass):
    """Where the walk is."""

    x: Annotated[Tensor, Bounded(-9.0, 9.0)]


class Stride(TensorClass):
    """How far it goes."""

    dx: Annotated[Tensor, Bounded(-1.0, 1.0)]


class Walk(EnvBase[Place, Stride]):
    """Its whole state is the place that it shows; it is over beyond 3."""

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Place:
        return Place(x=torch.ones(self.batch_size), batch_size=self.batch_size)

    def _step(self, tensordict: Transition[Place, Stride]) -> Next[Place]:
        x = tensordict.obs.x + tensordict.action.dx
        return Next(obs=Place(x=x, batch_size=self.batch_size), reward=x, terminated=x >= 3)


class Vector(TensorClass):
    """The place in a vector."""

    vector: Tensor


def as_vector(place: Place) -> Vector:
    return Vector(vector=place.x.unsqueeze(-1) * 10, batch_size=place.batch_size)


CHAINS: dict[str, Any] = {
    "in place": lambda: ObservationNorm(0.5, 10.0, in_keys=["x"]),
    "another shape": lambda: UnsqueezeTransform(-1, in_keys=["x"]),
    "joined": lambda: CatTensors(["x"], obs=Vector),
    "another class": lambda: Compose(MapObs(as_vector), StepCounter()),
    "another name": lambda: RenameTransform(["x"], ["place"]),
    "left out": lambda: Compose(StepCounter(), ExcludeTransform("x")),
    "by a function": lambda: Compose(lambda td: td.set("x", td["x"] * 3)),
    "kept": lambda: StepCounter(),
}


def stride(td: Any) -> Any:
    return td.set("dx", torch.full(td.batch_size, 0.5))


@pytest.mark.parametrize("options", [{}, {"break_when_any_done": False}, {"break_when_all_done": True}])
@pytest.mark.parametrize("name", CHAINS)
def test_the_rewards_are_those_without_the_chain(name: str, options: Any) -> None:
    for batch in ((), (2,)):
        plain = Walk(batch_size=batch).rollout(9, stride, **options)
        seen = TransformedEnv(Walk(batch_size=batch), CHAINS[name]()).rollout(9, stride, **options)

        assert torch.equal(seen.next.reward, plain.next.reward)


@pytest.mark.parametrize("name", CHAINS)
def test_rows_that_are_reset_go_on_from_their_reset(name: str) -> None:
    env = TransformedEnv(Walk(batch_size=[2]), CHAINS[name]())
    td = env.step_mdp(env.step(stride(env.reset())))
    td = env.reset(td.set("_reset", torch.tensor([[True], [False]])))

    assert env.step(stride(td))["next", "reward"].flatten().tolist() == [1.5, 2.0]


@pytest.mark.parametrize("name", ["in place", "kept"])
def test_entries_from_elsewhere_are_taken_as_they_are(name: str) -> None:
    env = TransformedEnv(Walk(), CHAINS[name]())
    td = stride(env.reset())
    td["x"] = torch.tensor(2.0)

    assert env.step(td)["next", "reward"].item() == 2.5


@pytest.mark.parametrize("name", CHAINS)
def test_a_rollout_goes_on_from_the_last_step_of_another(name: str) -> None:
    env = TransformedEnv(Walk(), CHAINS[name]())
    first = env.rollout(2, stride)
    more = env.rollout(1, stride, auto_reset=False, tensordict=env.step_mdp(first[-1]))

    assert more.next.reward.flatten().tolist() == [2.5]


def test_frames_that_are_skipped_and_noops_begin_from_the_environments_own_entries() -> None:
    norm = ObservationNorm(0.0, 10.0, in_keys=["x"])
    env = TransformedEnv(Walk(), Compose(norm, FrameSkipTransform(3)))
    assert env.step(stride(env.reset()))["next", "reward"].item() == 1.5 + 2.0 + 2.5

    shifted = TransformedEnv(Walk(), Compose(norm.clone(), NoopResetEnv(2, random=False)))
    td = shifted.reset()
    assert shifted.step(stride(td.clone()))["next", "reward"].item() == pytest.approx(td["x"].item() / 10 + 0.5)


def test_an_environment_sees_actions_of_its_own_class() -> None:
    env = TransformedEnv(Walk(), Compose(CatTensors(["x"], obs=Vector), ActionDiscretizer(4), StepCounter(5)))
    check_env_specs(env)
    steps = env.rollout(3, lambda td: td.set("action", torch.tensor(3)))

    assert steps.next.reward.flatten().tolist() == [1.75, 2.5, 3.25]


def test_in_a_batch_of_environments_too() -> None:
    outside = TransformedEnv(SerialEnv(2, Walk), CHAINS["in place"]())
    inside = SerialEnv(2, lambda: TransformedEnv(Walk(), CHAINS["in place"]()))
    for env in (outside, inside):
        td = env.rollout(4, stride, break_when_any_done=False)
        assert td["next", "reward"][0].flatten().tolist() == [1.5, 2.0, 2.5, 3.0]


def test_a_plain_tensordict_is_taken_for_one_of_the_class() -> None:
    env = TransformedEnv(Walk(), CHAINS["in place"]())
    env.reset()

    assert env.step(TensorDict({"x": torch.tensor(1.0), "dx": torch.tensor(0.5)}, []))["next", "reward"].item() == 1.5
