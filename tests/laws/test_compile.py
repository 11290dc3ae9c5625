"""Every op on every container under torch.compile(fullgraph=True), static and dynamic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from tensorclass._rules import folds, pointwise, table
from tensorclass._tree.node import Node

from .arguments import called, every
from .containers import EVERY, base, leaves

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning"),
]
MOVES = [op for op in table.OPS.values() if op.family in ("move", "along", "split")]
PAIRS = [name for name in [*pointwise.BINARY, *pointwise.COMPARE] if not name.startswith("bitwise")]
FULLY = ("nested", "typed", "lazy")  # With two arguments an op, and dynamic; the others with one.
Calls = dict[str, Callable[[Any], Any]]


def method(name: str, args: Any, kwargs: Any, x: Any) -> Any:
    return getattr(x, name)(*args, **kwargs)


def with_itself(name: str, x: Any) -> Any:
    return getattr(x, name)(x)


def moves(container: Any, most: int) -> Calls:
    out: Calls = {}
    for op in MOVES:
        found = 0
        for row in every(op):
            args, kwargs = called(op, row)
            call = partial(method, op.name, args, kwargs)
            if found < most and not isinstance(row.get("repeats"), torch.Tensor) and works(call, container):
                out[f"{op.name} {row}"] = call
                found += 1
        assert found, op.name
    return out


def works(call: Callable[[Any], Any], container: Any) -> bool:
    try:
        call(container)
    except (RuntimeError, IndexError, TypeError):
        return False
    return True


def folded(container: Any, most: int) -> Calls:
    names = [name for name in folds.FOLDS if name not in ("any", "all")]
    return {name: partial(method, name, (), {"dim": 0}) for name in names}


def unary(container: Any, most: int) -> Calls:
    return {name: partial(method, name, (), {}) for name in pointwise.UNARY + pointwise.UNARY_BOOL}


def in_place(container: Any, most: int) -> Calls:
    def on_a_copy(name: str, x: Any) -> Any:
        return getattr(x.clone(), name)()

    return {name: partial(on_a_copy, f"{name}_") for name in pointwise.INPLACE_UNARY}


def pairs(container: Any, most: int) -> Calls:
    row = torch.arange(1.0, 4.0)
    out: Calls = {}
    for name in PAIRS:
        out[f"{name} itself"] = partial(with_itself, name)
        if most > 1:
            out[f"{name} number"] = partial(method, name, (2,), {})
            out[f"{name} tensor"] = partial(method, name, (row,), {})
    return out


def others(container: Any, most: int) -> Calls:
    rows = torch.tensor([0, 2, 1, 1])

    def written(x: Any) -> Any:
        y = x.clone()
        y[0] = 0
        y[1:3] = x[:2]
        return y

    out: Calls = {
        "x[0]": lambda x: x[0], "x[1:]": lambda x: x[1:], "x[..., 1]": lambda x: x[..., 1],
        "x[None, :, 0]": lambda x: x[None, :, 0], "x[rows]": lambda x: x[rows], "x[:, rows]": lambda x: x[:, rows[:2]],
        "stack": lambda x: torch.stack([x, x.clone()]), "cat": lambda x: torch.cat([x, x.clone()], 1),
        "where": lambda x: torch.where(rows > 1, x, x + 1), "zeros_like": torch.zeros_like,
        "to": lambda x: x.to(torch.float64), "apply": lambda x: x.apply(lambda leaf: leaf + 1),
        "detach": lambda x: x.detach(), "unbind": lambda x: x.unbind(0), "iter": lambda x: tuple(x),
        "x + 1": lambda x: x + 1, "1 - x": lambda x: 1 - x, "-x": lambda x: -x, "x == x": lambda x: x == x,
        "x ** 2": lambda x: x**2, "copy": lambda x: x.clone(recurse=False), "clone": lambda x: x.clone(),
    }  # fmt: skip
    if not container._is_frozen:
        out["write"] = written
    if "a" in container.keys():
        out["replace"] = lambda x: x.clone(recurse=False).replace(a=x["a"] + 1)
    return out


GROUPS = {"moves": moves, "folds": folded, "unary": unary, "in place": in_place, "pairs": pairs, "others": others}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("group", GROUPS)
def test_ops_compile_in_one_graph(group: str, kind: str, dynamic: bool) -> None:
    fully = kind in FULLY
    if (dynamic and not fully) or (group == "in place" and kind == "frozen"):
        pytest.skip("left to the kinds in FULLY" if dynamic else "it refuses them")
    container = EVERY[kind](4, 3)
    calls = GROUPS[group](container, 2 if fully and not dynamic else 1)

    def together(x: Any) -> Any:
        return {name: call(x) for name, call in calls.items()}

    try:
        got = compiled(together, dynamic)(container)
    except Exception as error:  # Which of them it is, the graph of all of them does not tell.
        failed = [name for name, call in calls.items() if not traces(call, container, dynamic)]
        raise AssertionError(f"no one graph: {failed or 'each alone works'}") from error
    for name, call in calls.items():
        same(name, got[name], call(container))


def compiled(call: Callable[..., Any], dynamic: bool) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(call, backend="eager", fullgraph=True, dynamic=dynamic)


def traces(call: Callable[..., Any], container: Any, dynamic: bool) -> bool:
    try:
        compiled(lambda x: call(x), dynamic)(container)
    except Exception:
        return False
    return True


def same(name: str, got: Any, want: Any) -> None:
    if isinstance(want, tuple):
        assert len(got) == len(want), name
        for one, other in zip(got, want):
            same(name, one, other)
        return
    # Rows that a tensor picks out of a lazy stack are dense in a graph; all else keeps its very class.
    picked_rows = isinstance(want, Node) and want._items is not None and type(got) is base(want)
    assert type(got) is type(want) or picked_rows, name
    if isinstance(want, Node):
        assert got.batch_size == want.batch_size, name  # type: ignore[attr-defined]
        assert got.names == want.names, name  # type: ignore[attr-defined]
        assert leaves(got).keys() == leaves(want).keys(), name
        for key, leaf in leaves(want).items():
            torch.testing.assert_close(leaves(got)[key], leaf, equal_nan=True, msg=f"{name}: {key}")
        for key, value in want.items():  # type: ignore[attr-defined]
            if not isinstance(value, (torch.Tensor, Node)):
                assert got[key] == value, name
