"""Writes that pass a lazy stack on their way: what it reads is a copy, and no write may end in one."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tensorclass import TensorDict, errors, lazy_stack

VALUE = torch.arange(6.0).reshape(3, 2) + 10
A, B, C = ("stack", "a"), ("stack", "node", "b"), ("stack", "node", "c")


def around() -> TensorDict:
    """A container around a lazy stack, whose items have a nested container each."""
    items = [TensorDict({"a": torch.zeros(2), "node": {"b": torch.zeros(2)}}, batch_size=[2]) for _ in range(3)]
    return TensorDict({"stack": lazy_stack(items)}, batch_size=[3])


WHOLE: dict[str, Callable[[TensorDict, Any], Any]] = {
    "set": lambda td, at: td.set(at, VALUE),
    "set in place": lambda td, at: td.set(at, VALUE, inplace=True),
    "set_": lambda td, at: td.set_(at, VALUE),
    "set_at_": lambda td, at: td.set_at_(at, VALUE, slice(None)),
    "update": lambda td, at: td.update({at: VALUE}),
    "update in place": lambda td, at: td.update({at: VALUE}, inplace=True),
    "update_": lambda td, at: td.update_({at: VALUE}),
    "update_at_": lambda td, at: td.update_at_({at: VALUE}, slice(None)),
    "rows": lambda td, at: td.__setitem__(slice(None), {at: VALUE}),
}


@pytest.mark.parametrize("at", [A, B], ids=["entry", "nested entry"])
@pytest.mark.parametrize("write", WHOLE.values(), ids=WHOLE)
def test_a_write_below_a_lazy_stack_reaches_its_items(write: Callable[[TensorDict, Any], Any], at: Any) -> None:
    td = around()

    write(td, at)

    assert torch.equal(td[at], VALUE)
    assert [torch.equal(item[at[1:]], row) for item, row in zip(td["stack"], VALUE)] == [True] * 3


def test_a_write_in_place_keeps_the_tensors_of_the_items() -> None:
    td = around()
    tensors = [item["a"] for item in td["stack"]]

    td.set_(A, VALUE).fill_(B, 7.0).set_at_(A, torch.zeros(2), 1)

    assert [tensor.tolist() for tensor in tensors] == [[10.0, 11.0], [0.0, 0.0], [14.0, 15.0]]
    assert td[B].tolist() == [[7.0, 7.0]] * 3


def test_rows_replaced_in_a_nested_stack_are_replaced_in_the_items() -> None:
    td = around()
    row = TensorDict(b=torch.ones(2), c=torch.ones(2), batch_size=[2])

    td["stack", "node"][1] = row

    assert td["stack"][1]["node"] is row
    assert td[B].tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


def test_a_row_that_does_not_fit_its_item_replaces_nothing() -> None:
    td = around()
    nested = td["stack", "node"]

    with pytest.raises(errors.ShapeError, match=r"'node' has batch size \[5\]; inside batch size \[2\]"):
        nested[1] = TensorDict(b=torch.ones(5), batch_size=[5])

    assert nested.batch_size == td["stack", "node"].batch_size == (3, 2)


def test_a_write_in_place_of_rows_that_do_not_all_fit_writes_none() -> None:
    stack = lazy_stack([TensorDict(a=torch.zeros(2)), TensorDict(a=torch.zeros(3))])

    for write in (stack.set_, lambda key, value: stack.set(key, value, inplace=True)):
        with pytest.raises(errors.ShapeError, match=r"'a' has shape \[3\]"):
            write("a", [torch.ones(2), torch.ones(4)])

    assert stack[0]["a"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("write", ["set_", "fill_", "del_"])
def test_a_key_that_only_some_items_have_is_written_in_none(write: str) -> None:
    items = [TensorDict(a=torch.zeros(2), b=torch.zeros(2)), TensorDict(a=torch.zeros(2))]
    stack = lazy_stack(items)

    with pytest.raises(errors.KeyMissing, match="no key 'b'"):
        getattr(stack, write)("b", *[1.0][: write != "del_"])

    assert items[0]["b"].tolist() == [0.0, 0.0]


def test_keys_change_in_place_in_every_item_or_in_none() -> None:
    td = around()
    stack = td["stack"]

    assert stack.flatten_keys(".", inplace=True) is stack
    assert list(stack[0].keys()) == ["a", "node.b"]
    assert stack.unflatten_keys(".", inplace=True)["node", "b"].shape == (3, 2)
    assert stack.select("a", inplace=True) is stack
    assert list(td.keys(True)) == [A, "stack"]

    stack[2].rename_key_("a", "z")
    with pytest.raises(errors.KeyMissing, match="no key 'a'"):
        stack.select("a", inplace=True)
    assert list(stack[0].keys()) == ["a"]


def test_the_state_of_a_ragged_stack_goes_back_into_one() -> None:
    def ragged(fill: float) -> Any:
        items = [TensorDict({"obs": torch.full((n, 4), fill), "n": {"a": torch.full((n,), fill)}}, [n]) for n in (3, 5)]
        return TensorDict({"episodes": lazy_stack(items)})

    state = pickle.loads(pickle.dumps(ragged(2.0).state_dict()))
    td = ragged(0.0)
    tensors = [item["obs"] for item in td["episodes"]]

    td.load_state_dict(state)

    assert [tensor.unique().tolist() for tensor in tensors] == [[2.0], [2.0]]
    assert [item["n", "a"].tolist() for item in td["episodes"]] == [[2.0] * 3, [2.0] * 5]


def test_the_state_of_items_with_keys_of_their_own_has_all_keys() -> None:
    stack = lazy_stack([TensorDict(a=torch.ones(2), b=torch.ones(2)), TensorDict(a=torch.ones(2))])
    other = stack.clone().zero_()

    other.load_state_dict(stack.state_dict())

    assert other[0]["b"].tolist() == [1.0, 1.0]


def test_a_state_that_does_not_fit_a_ragged_stack_loads_nothing() -> None:
    stack = lazy_stack([TensorDict(a=torch.zeros(2)), TensorDict(a=torch.zeros(3))])
    other = lazy_stack([TensorDict(a=torch.ones(2)), TensorDict(a=torch.ones(4))])

    with pytest.raises(errors.ShapeError, match=r"'a' has shape \[3\], the state has \[4\]"):
        stack.load_state_dict(other.state_dict())
    with pytest.raises(errors.StructureError) as problem:
        TensorDict(a=torch.zeros(2)).load_state_dict(other.state_dict())

    assert str(problem.value) == ("load_state_dict: this is a TensorDict; the state is that of a lazy stack of 2 items")
    assert stack[0]["a"].tolist() == [0.0, 0.0]


MOVES: dict[str, Callable[[Any], Any]] = {
    "permute": lambda td: td.permute(2, 0, 1),
    "unsqueeze": lambda td: td.unsqueeze(1),
    "int": lambda td: td[0],
    "int in the middle": lambda td: td[:, 0],
    "slices": lambda td: td[:1, ..., 1:],
    "None": lambda td: td[None],
    "mask": lambda td: td[torch.tensor([True, False])],
    "ints in the middle": lambda td: td[:, torch.tensor([0, 1, 1])],
    "table of ints": lambda td: td[torch.tensor([[0, 1], [1, 0]])],
    "unbind": lambda td: td.unbind(1)[0],
    "split": lambda td: td.split(1, 0)[0],
    "flatten": lambda td: td.flatten(0, 1),
    "sum": lambda td: td.sum(1),
    "roll": lambda td: td.roll(1, 1),
    "expand": lambda td: td.expand(5, 2, 3, 4),
    "+ 1": lambda td: td + 1,
    "clone": lambda td: td.clone(),
    "to": lambda td: td.to(torch.float64),
    "apply": lambda td: td.apply(torch.neg),
    "select": lambda td: td.select("a"),
    "cat": lambda td: torch.cat([td, td], 0),
    "cat in the middle": lambda td: torch.cat([td, td], 1),
    "rename": lambda td: td.rename(x="rows"),
    "densify": lambda td: td.densify(),
    "pickle": lambda td: pickle.loads(pickle.dumps(td)),
    "to_lazystack": lambda td: td.to_lazystack(1),
}


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_names_follow_every_move_of_a_lazy_stack(move: Callable[[Any], Any], dim: int) -> None:
    dense = TensorDict(a=torch.zeros(2, 3, 4), batch_size=[2, 3, 4], names=["x", "y", "z"])
    stack = lazy_stack([row.rename(None, None) for row in dense.unbind(dim)], dim)
    stack.names = ["x", "y", "z"]

    assert move(stack).names == move(dense).names


def test_the_names_of_a_lazy_stack_are_names_of_its_items() -> None:
    stack = lazy_stack([TensorDict(a=torch.zeros(2, 3), batch_size=[2, 3]) for _ in range(4)], 1)

    stack.refine_names("time", "agent", ...)

    assert stack[:, 0].names == ["time", None]
    assert stack.names == ["time", "agent", None]


def test_a_locked_lazy_stack_is_pickled_locked() -> None:
    stack = pickle.loads(pickle.dumps(lazy_stack([TensorDict(a=torch.zeros(2))] * 2).lock_()))

    assert stack.is_locked and stack[0].is_locked
    assert not stack.unlock_()[0].is_locked
