"""Every op under torch.vmap sees one batch dim less; gradients flow through containers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

from tensorclass import TensorDict
from tensorclass._rules import table

from .arguments import called, every
from .containers import EVERY
from .test_compile import MOVES, same, works


def once(name: str, args: Any, kwargs: Any, x: Any) -> Any:
    assert x.batch_size == (4, 3)
    return getattr(x, name)(*args, **kwargs)


def nameless(container: Any) -> Any:
    """Without the names of dims: vmap does not say which dim it hides, so that none can be kept."""
    return container.rename(*[None] * container.ndim) if container._names is not None else container


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("op", MOVES, ids=lambda op: op.name)
def test_an_op_sees_one_batch_dim_less(op: table.Op, kind: str) -> None:
    if op.name == "repeat_interleave":
        pytest.skip("torch has no batching rule for it")
    batched = EVERY[kind](2, 4, 3)
    for arguments in every(op, most=8 if kind in ("flat", "nested", "typed") else 3):
        args, kwargs = called(op, arguments)
        call = partial(once, op.name, args, kwargs)
        if op.name in ("gather", "index_select") and "index" in kwargs and not kwargs["index"].numel():
            continue
        if not works(call, batched[0]):
            continue
        got = torch.vmap(call)(batched)
        want = [call(row) for row in nameless(batched).unbind(0)]
        if op.family == "split":
            for place, part in enumerate(got):
                same(op.name, part, torch.stack([one[place] for one in want]))
        else:
            same(op.name, got, torch.stack(want))


@pytest.mark.parametrize("kind", EVERY)
def test_arithmetic_and_in_dims_work(kind: str) -> None:
    batched = EVERY[kind](4, 3)

    same(
        kind,
        torch.vmap(lambda x: (x + 1) * x - x.mean(0))(batched),
        torch.stack([(x + 1) * x - x.mean(0) for x in nameless(batched).unbind(0)]),
    )
    assert torch.vmap(lambda x: x * 2, in_dims=1)(batched).batch_size == (3, 4)
    assert torch.vmap(lambda x: x * 2, in_dims=1, out_dims=1)(batched).batch_size == (4, 3)


def test_gradients_flow_through_a_container() -> None:
    td = TensorDict(a=torch.ones(3), n={"b": torch.full((3,), 2.0)}, batch_size=[3])
    grads = torch.func.grad(lambda x: (x["a"] * x["n", "b"]).sum())(td)

    assert grads["a"].tolist() == [2, 2, 2]
    assert grads["n", "b"].tolist() == [1, 1, 1]
    assert grads.batch_size == (3,)
