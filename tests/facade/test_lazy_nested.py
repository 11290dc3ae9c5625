"""Ragged lazy stacks inside other containers: an entry that cannot be stacked hides no other and stops no copy."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tensorclass import LazyStackedTensorDict, TensorDict, assert_close, errors, lazy_stack
from tensorclass.nn import TensorDictModule


def ragged(*sizes: int) -> TensorDict:
    return lazy_stack([TensorDict(a=torch.ones(size), word="x") for size in sizes])


def holder() -> TensorDict:
    return TensorDict(n=ragged(1, 2), z=torch.ones(2), batch_size=[2])


SAME: dict[str, Callable[[TensorDict], Any]] = {
    "copy": lambda td: td.copy(),
    "copy.copy": copy.copy,
    "clone": lambda td: td.clone(False),
    "to": lambda td: td.to("cpu"),
    "to_tensordict": lambda td: td.to_tensordict(),
    "update": lambda td: td.copy().update(td),
    "update_": lambda td: td.clone().update_(td),
    "replace": lambda td: td.replace(z=td["z"]),
    "exclude": lambda td: td.exclude(("n", "word")),
    "select": lambda td: td.select(("n", "a"), "z"),
    "filter_non_tensor_data": lambda td: td.filter_non_tensor_data(),
    "clear_device_": lambda td: td.clear_device_(),
}


@pytest.mark.parametrize("name", SAME)
def test_what_copies_a_container_copies_a_ragged_stack_in_it(name: str) -> None:
    td = holder()
    out = SAME[name](td)
    assert isinstance(out["n"], LazyStackedTensorDict)
    assert [row["a"].shape for row in out["n"]] == [(1,), (2,)] and out["z"].tolist() == [1, 1]


def test_a_cast_reaches_the_items_of_a_nested_stack() -> None:
    assert holder().to(torch.float64)["n"][1]["a"].dtype is torch.float64


def test_keys_below_a_ragged_stack_are_asked_for_without_reading_them() -> None:
    td = holder()
    assert ("n", "a") in td and ("n", "b") not in td and not td.is_empty()
    assert (
        ("n", "a") in td.keys(True) and ("n", "a") in td.keys(True, True) and ("n", "word") not in td.keys(True, True)
    )
    assert td.to_dict()["n"]["a"][1].tolist() == [1, 1]
    assert "n: LazyStackedTensorDict{a: ragged, word: str}" in repr(td)


def test_assert_close_goes_item_by_item() -> None:
    assert_close(holder(), holder())
    with pytest.raises(AssertionError, match="'a'"):
        other = holder()
        other["n"][1]["a"].zero_()
        assert_close(holder(), other)


def test_a_stack_of_ragged_stacks_reads_the_entries_that_stack() -> None:
    rows = lazy_stack([TensorDict(n=ragged(1, 2), c=torch.zeros(2)), TensorDict(n=ragged(3, 4), c=torch.ones(2))])
    assert rows["n"].batch_size == (2, 2) and rows["n", "word"] == "x" and rows["c"].shape == (2, 2)
    rows["done"] = torch.ones(2, 1)
    assert rows[1]["done"] == 1
    assert [[one.shape[0] for one in row] for row in rows.get(("n", "a"), as_list=True)] == [[1, 2], [3, 4]]
    assert rows.get(("n", "a"), as_padded_tensor=True).shape == (2, 2, 4)
    with pytest.raises(errors.RaggedError, match="two levels"):
        rows.get(("n", "a"), as_nested_tensor=True)


def test_the_forms_of_a_ragged_entry_are_read_through_a_dense_container() -> None:
    td = holder()
    assert [one.shape[0] for one in td.get(("n", "a"), as_list=True)] == [1, 2]
    with pytest.raises(errors.OptionError, match="dense"):
        td.get("z", as_list=True)


def test_padding_is_put_on_the_side_asked_for() -> None:
    stack = ragged(1, 3)
    left = stack.get("a", as_padded_tensor=True, padding_side="left", padding_value=7)
    assert left.tolist() == [[7, 7, 1], [1, 1, 1]]
    assert stack.get("a", as_padded_tensor=True)[0].tolist() == [1, 0, 0]
    with pytest.raises(errors.OptionError, match="'left' or 'right'"):
        stack.get("a", as_padded_tensor=True, padding_side="top")


def test_a_module_runs_on_a_stack_whose_other_entries_are_ragged() -> None:
    rows = lazy_stack([TensorDict(x=torch.rand(5, 3), other=torch.rand(5, k), batch_size=[5]) for k in (2, 4)])
    out = TensorDictModule(nn.Linear(3, 1), ["x"], ["y"])(rows)
    assert out["y"].shape == (2, 5, 1) and out[1]["other"].shape == (5, 4)


MAKE: dict[str, Callable[[torch.Tensor], Any]] = {
    "nested": lambda leaf: TensorDict({"n": {"a": leaf}}).lock_(),
    "lazy": lambda leaf: lazy_stack([TensorDict({"a": leaf})]).lock_(),
    "view": lambda leaf: TensorDict({"n": {"a": leaf}}, [4]).lock_().view(2, 2),
}


@pytest.mark.parametrize("name", MAKE)
def test_what_was_locked_goes_when_its_last_name_goes(name: str) -> None:
    gc.collect()
    gc.disable()
    try:
        leaf = torch.zeros(4)
        seen, made = weakref.ref(leaf), MAKE[name](leaf)
        del leaf, made
        assert seen() is None
    finally:
        gc.enable()
