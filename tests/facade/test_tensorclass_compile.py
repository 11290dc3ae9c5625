"""torch.compile(fullgraph=True) traces construction, reads, writes and replace; vmap and pytree see the leaves."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, field


class Points(TensorClass):
    pos: Float[Tensor, "*batch n 3"]
    mass: Float[Tensor, "*batch n"]
    label: str = "a"
    buf: Tensor = field(default_factory=lambda: torch.zeros(5, 4))
    const: Tensor = torch.ones(5)
    opt: Tensor | None = None


class Outer(TensorClass):
    points: Points
    x: Tensor
    later: Later | None = None


class Cast(TensorClass, autocast=True):
    x: Tensor
    n: int


class Later(TensorClass):
    y: Tensor


class Doubled(TensorClass):
    x: Tensor

    def __post_init__(self) -> None:
        self.x = self.x * 2


class Zeros(TensorClass):
    x: Tensor

    def __init__(self, n: int) -> None:
        super().__init__(x=torch.zeros(n), batch_size=[n])


class Frozen(TensorClass, frozen=True):
    x: Tensor


def points(x: Tensor, **more: Any) -> Points:
    return Points(pos=x, mass=x[..., 0], **more)


def outer(x: Tensor) -> Outer:
    return Outer(points=points(x), x=x, batch_size=[5])


def written(x: Tensor) -> Any:
    one = points(x).clone()
    one.mass = one.mass + 1
    one.pos = one.pos * 2
    one.label = "b"
    one.opt = one.mass
    one["mass"] = one["mass"] * 2
    return one


def nested(x: Tensor) -> Any:
    one = outer(x).clone()
    one.points.mass = one.points.mass + 1
    one["points", "mass"] = one.points.mass * 2
    one.set(("points", "mass"), one.points.mass + 1)
    return one


LOOSE: Any = types.SimpleNamespace(Cast=Cast, Later=Later)

PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "construct": points,
    "construct with a batch size": lambda x: points(x, batch_size=[5]),
    "construct on a device": lambda x: points(x, batch_size=[5], device="cpu"),
    "construct with names": lambda x: points(x, batch_size=[5], names=["time"]),
    "construct a class with a late annotation": outer,
    "construct with autocast": lambda x: LOOSE.Cast(x=x, n=3.0, batch_size=[5]),
    "construct from a number": lambda x: LOOSE.Later(y=3).y + x,
    "construct with post_init": lambda x: Doubled(x=x),
    "construct with an own init": lambda x: Zeros(3),
    "construct frozen": lambda x: Frozen(x=x, batch_size=[5]),
    "write": written,
    "write nested": nested,
    "replace": lambda x: points(x).replace(mass=x[..., 1], label="z"),
    "replace a named dim": lambda x: points(x).replace(pos=x[:, :2], mass=x[:, :2, 0]),
    "to and from a TensorDict": lambda x: Outer.from_tensordict(outer(x).to_tensordict()),
    "from a dict": lambda x: Outer.from_dict({"points": {"pos": x, "mass": x[..., 0]}, "x": x}, batch_size=[5]),
}


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_traces_whole_and_gives_what_it_gives_uncompiled(program: str, dynamic: bool) -> None:
    torch._dynamo.reset()
    run = PROGRAMS[program]
    x = torch.arange(60.0).reshape(5, 4, 3)

    compiled = torch.compile(run, backend="eager", fullgraph=True, dynamic=dynamic)(x)
    plain = run(x)

    assert type(compiled) is type(plain)
    if isinstance(plain, Tensor):
        assert torch.equal(compiled, plain)
    else:
        assert (compiled.batch_size, compiled.names) == (plain.batch_size, plain.names)
        assert compiled.to_dict().keys() == plain.to_dict().keys()
        assert (compiled == plain).all()


def test_vmap_hides_a_batch_dim_from_a_typed_function() -> None:
    def total(one: Points) -> Tensor:
        assert one.batch_size == ()
        return (one.mass + one.pos.sum(-1)).sum()

    x = torch.arange(60.0).reshape(5, 4, 3)

    assert torch.vmap(total)(points(x)).shape == (5,)
    made = torch.vmap(lambda x: Later(y=x * 2))(x)
    assert type(made) is Later and torch.equal(made.y, x * 2)


def test_pytree_sees_tensors_and_keeps_the_rest() -> None:
    one = outer(torch.zeros(5, 4, 3))

    leaves, spec = pytree.tree_flatten(one)
    back = pytree.tree_unflatten([leaf + 1 for leaf in leaves], spec)

    assert all(isinstance(leaf, Tensor) for leaf in leaves)
    assert type(back) is Outer and type(back.points) is Points
    assert (back.batch_size, back.points.label, back.later) == ((5,), "a", None)
    odd = pytree.tree_map(lambda leaf: None, one)
    assert type(odd) is Outer and odd.x is None


def test_gradients_flow_through_construction_and_writes() -> None:
    x = torch.ones(5, 4, 3, requires_grad=True)

    written(x).mass.sum().backward()

    assert x.grad is not None and x.grad[..., 0].eq(2).all()
