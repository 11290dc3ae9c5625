"""Every op under torch.compile(fullgraph=True), static and dynamic, and under torch.vmap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass._rules import folds, pointwise, table
from tensorclass._tree.node import Node

from .arguments import called, every
from .containers import KINDS, base, leaves

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning"),
]
MOVES = [op for op in table.OPS.values() if op.family in ("move", "along", "split")]
COMPILED = ("nested", "typed", "named", "lazy")


def compiled(call: Callable[..., Any], dynamic: bool) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(call, backend="eager", fullgraph=True, dynamic=dynamic)


def equal(got: Any, want: Any) -> None:
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            equal(one, other)
        return
    # Rows that a tensor picks out of a lazy stack are dense in a graph; all else keeps its very class.
    picked_rows = isinstance(want, Node) and want._items is not None and type(got) is base(want)
    assert type(got) is type(want) or picked_rows
    if isinstance(want, Node):
        assert got.batch_size == want.batch_size  # type: ignore[attr-defined]
        assert got.names == want.names  # type: ignore[attr-defined]
        assert leaves(got).keys() == leaves(want).keys()
        for key, leaf in leaves(want).items():
            torch.testing.assert_close(leaves(got)[key], leaf, equal_nan=True)


def works(op: table.Op, arguments: dict[str, Any], container: Any) -> bool:
    args, kwargs = called(op, arguments)
    try:
        getattr(container, op.name)(*args, **kwargs)
    except (RuntimeError, IndexError, TypeError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("kind", COMPILED)
@pytest.mark.parametrize("op", MOVES, ids=lambda op: op.name)
def test_an_op_compiles_in_one_graph(op: table.Op, kind: str, dynamic: bool) -> None:
    container = KINDS[kind](4, 3)
    rows = [row for row in every(op) if works(op, row, container) and not isinstance(row.get("repeats"), torch.Tensor)]

    def several(x: Any) -> Any:
        out: tuple[Any, ...] = ()
        for arguments in rows[:3]:
            args, kwargs = called(op, arguments)
            done = getattr(x, op.name)(*args, **kwargs)
            out = (*out, *done) if op.family == "split" else (*out, done)
        return out

    equal(compiled(several, dynamic)(container), several(container))


POINTWISE: dict[str, Sequence[str]] = {
    "unary": pointwise.UNARY + pointwise.UNARY_BOOL,
    "in place": [f"{name}_" for name in pointwise.INPLACE_UNARY],
    "folds": [name for name in folds.FOLDS if name not in ("any", "all")],
}


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("kind", COMPILED)
@pytest.mark.parametrize("group", POINTWISE)
def test_pointwise_ops_and_folds_compile_in_one_graph(group: str, kind: str, dynamic: bool) -> None:
    def several(x: Any) -> Any:
        out: tuple[Any, ...] = ()
        for name in POINTWISE[group]:
            y = x.clone()
            out = (*out, getattr(y, name)(dim=0) if group == "folds" else getattr(y, name)())
        return out

    container = KINDS[kind](4, 3)
    equal(compiled(several, dynamic)(container), several(container))


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("kind", COMPILED)
def test_pair_ops_compile_in_one_graph(kind: str, dynamic: bool) -> None:
    names = [n for n in [*pointwise.BINARY, *pointwise.COMPARE] if not n.startswith("bitwise")]

    def several(x: Any, row: torch.Tensor) -> Any:
        out: tuple[Any, ...] = ()
        for name in names:
            call = getattr(x, name)
            out = (*out, call(x), call(2), call(row))
        return (*out, x + 1, 1 - x, x * x, -x, x == x, x < 2, x**2, (x > 3).logical_not())

    container, row = KINDS[kind](4, 3), torch.arange(1.0, 4.0)
    equal(compiled(several, dynamic)(container, row), several(container, row))


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("kind", COMPILED)
def test_indexing_joins_and_writes_compile_in_one_graph(kind: str, dynamic: bool) -> None:
    def several(x: Any, rows: torch.Tensor) -> Any:
        y = x.clone()
        y[0] = 0
        y[1:3] = x[:2]
        z = x.clone(recurse=False)
        return (
            x[0], x[1:], x[..., 1], x[None, :, 0], x[rows], x[:, rows[:2]], y,
            torch.stack([x, y]), torch.cat([x, y], 1), torch.where(rows > 1, x, y),
            z.replace(a=x["a"] + 1) if "a" in x else z,
            torch.zeros_like(x), x.to(torch.float64), x.apply(lambda leaf: leaf + 1), x.detach(),
            *x.unbind(0), *list(x),
        )  # fmt: skip

    container, rows = KINDS[kind](4, 3), torch.tensor([0, 2, 1, 1])
    equal(compiled(several, dynamic)(container, rows), several(container, rows))


def once(name: str, args: Any, kwargs: Any, x: Any) -> Any:
    assert x.batch_size == (4, 3)
    return getattr(x, name)(*args, **kwargs)


@pytest.mark.parametrize("kind", ["flat", "nested", "typed"])
@pytest.mark.parametrize("op", MOVES, ids=lambda op: op.name)
def test_under_vmap_an_op_sees_one_batch_dim_less(op: table.Op, kind: str) -> None:
    if op.name == "repeat_interleave":
        pytest.skip("torch has no batching rule for it")
    batched = KINDS[kind](2, 4, 3)
    for arguments in every(op, most=8):
        if not works(op, arguments, batched[0]):
            continue
        args, kwargs = called(op, arguments)

        call = partial(once, op.name, args, kwargs)
        if op.name in ("gather", "index_select") and "index" in kwargs and not kwargs["index"].numel():
            continue
        got = torch.vmap(call)(batched)
        want = [call(row) for row in batched]
        if op.family == "split":
            for place, part in enumerate(got):
                equal(part, torch.stack([one[place] for one in want]))
        else:
            equal(got, torch.stack(want))


@pytest.mark.parametrize("kind", ["flat", "nested", "typed"])
def test_under_vmap_arithmetic_and_in_dims_work(kind: str) -> None:
    batched = KINDS[kind](4, 3)

    equal(
        torch.vmap(lambda x: (x + 1) * x - x.mean(0))(batched), torch.stack([(x + 1) * x - x.mean(0) for x in batched])
    )
    assert torch.vmap(lambda x: x * 2, in_dims=1)(batched).batch_size == (3, 4)
    assert torch.vmap(lambda x: x * 2, in_dims=1, out_dims=1)(batched).batch_size == (4, 3)


def test_gradients_flow_through_a_container() -> None:
    td = TensorDict(a=torch.ones(3), n={"b": torch.full((3,), 2.0)}, batch_size=[3])
    grads = torch.func.grad(lambda x: (x["a"] * x["n", "b"]).sum())(td)

    assert grads["a"].tolist() == [2, 2, 2]
    assert grads["n", "b"].tolist() == [1, 1, 1]
    assert grads.batch_size == (3,)
