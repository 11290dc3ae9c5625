"""Branches and loops with containers, run and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, cond, while_loop


class State(TensorClass):
    x: Tensor
    v: Tensor
    name: str = "none"


def run(call: Callable[..., Any]) -> Callable[..., Any]:
    return call


def compiled(call: Callable[..., Any]) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(call, backend="eager", fullgraph=True)


WAYS = [run, pytest.param(compiled, marks=pytest.mark.slow)]


def state() -> State:
    return State(x=torch.zeros(3), v=torch.ones(3), name="s")


@pytest.mark.parametrize("way", WAYS)
def test_a_branch_takes_and_gives_an_instance(way: Any) -> None:
    def step(up: Tensor, s: State) -> Any:
        return cond(up, lambda s: s.replace(x=s.x + 1), lambda s: s.replace(x=s.x - 1), (s,))

    call = way(step)
    for up, want in ((True, 1.0), (False, -1.0)):
        out = call(torch.tensor(up), state())
        assert type(out) is State
        assert out.x.tolist() == [want] * 3
        assert out.name == "s"


@pytest.mark.parametrize("way", WAYS)
def test_a_branch_takes_and_gives_several_things(way: Any) -> None:
    def step(td: TensorDict, by: Tensor) -> Any:
        big = td["a"].sum() > 2
        return cond(big, lambda td, by: (td["n"], by), lambda td, by: (td["n"] + by, by + 1), (td, by))

    nested, number = way(step)(TensorDict(a=torch.zeros(3), n={"b": torch.zeros(3)}, batch_size=3), torch.tensor(2.0))

    assert nested["b"].tolist() == [2, 2, 2]
    assert number == 3


@pytest.mark.parametrize("way", WAYS)
def test_a_loop_carries_an_instance(way: Any) -> None:
    def grow(s: State) -> Any:
        return while_loop(lambda s: s.x.sum() < 10, lambda s: (s.replace(x=s.x + s.v, v=s.v.clone()),), (s,))

    (last,) = way(grow)(state())

    assert type(last) is State
    assert last.x.tolist() == [4, 4, 4]
