"""A TensorDict to and from other forms of nested data, and entries made of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorclass import LazyStackedTensorDict, TensorDict, assert_close, errors, merge_tensordicts


class Pair(NamedTuple):
    one: Tensor
    two: Tensor


@dataclass
class Record:
    pair: Pair
    score: Tensor


def make() -> TensorDict:
    return TensorDict({"a": torch.arange(8.0).reshape(4, 2), "n": {"b": torch.ones(4, 1)}}, batch_size=[4])


def test_structured_arrays_go_both_ways() -> None:
    td = make()
    array = td.to_struct_array()

    assert array.shape == (4,)
    assert array["n"]["b"].shape == (4, 1)
    assert_close(TensorDict.from_struct_array(array), td)
    named = TensorDict.from_any(np.array([(1, 2.0), (3, 4.0)], dtype=[("i", "i8"), ("x", "f4")]))
    assert named["i"].tolist() == [1, 3] and named.batch_size == (2,)


def test_named_tuples_and_dataclasses_become_containers() -> None:
    record = Record(Pair(torch.zeros(3), torch.ones(3, 2)), torch.ones(3))
    td = TensorDict.from_dataclass(record, auto_batch_size=True)

    assert td.batch_size == (3,)
    assert set(td.keys(True, True)) == {("pair", "one"), ("pair", "two"), "score"}
    assert td.to_namedtuple().pair.two.shape == (3, 2)
    assert TensorDict.from_namedtuple(record.pair)["one"].shape == (3,)
    with pytest.raises(TypeError, match="from_any: an int has no names; a dict, a named tuple or a dataclass would do"):
        TensorDict.from_any(3)


def test_entries_are_joined_under_a_new_key() -> None:
    td = make().set("c", torch.zeros(4, 2))
    td.cat_tensors("a", ("n", "b"), out_key="all", dim=-1)

    assert td["all"].shape == (4, 3) and "a" not in td and ("n", "b") not in td
    kept = make().set("c", torch.zeros(4, 2)).stack_tensors("a", "c", out_key="both", dim=1, keep_entries=True)
    assert kept["both"].shape == (4, 2, 2) and "a" in kept
    with pytest.raises(errors.ShapeError):
        make().set("c", torch.zeros(4, 2)).cat_tensors("a", "c", out_key="bad", dim=0)
    assert make().exclude("n").cat_from_tensordict(-1).shape == (4, 2)


def test_parts_are_taken_out_and_empty_ones_dropped() -> None:
    td = make()
    taken = td.separates("a")

    assert list(taken.keys()) == ["a"] and "a" not in td
    td.del_(("n", "b"))
    assert "n" in td and "n" not in td.filter_empty_()
    assert list(TensorDict(a=1, s="x").filter_non_tensor_data().keys()) == ["a"]
    assert TensorDict.fromkeys(["a", ("n", "b")], 0)["n", "b"] == 0
    assert make().create_nested(("n", "m"))["n", "m"].is_empty()


def test_merged_containers_hold_the_entries_of_all() -> None:
    merged = merge_tensordicts(make(), TensorDict({"n": {"c": torch.zeros(4)}, "a": torch.zeros(4)}, [4]))

    assert set(merged.keys(True, True)) == {"a", ("n", "b"), ("n", "c")}
    assert merged["a"].shape == (4,)
    with pytest.raises(errors.ShapeError, match=r"merge_tensordicts: batch sizes \[4\] and \[\] differ"):
        merge_tensordicts(make(), TensorDict())


def test_what_a_container_knows_of_itself() -> None:
    td = make()

    assert td.depth == 1 and TensorDict().depth == 0
    assert td.entry_class("a") is Tensor and td.get_item_shape(("n", "b")) == (4, 1)
    assert td.is_floating_point() and not td.is_cpu
    assert td.auto_device_().is_cpu and not td.is_cuda and not td.is_meta
    assert td.numpy()["n"]["b"].shape == (4, 1)
    assert isinstance(td.to_lazystack(0), LazyStackedTensorDict) and td.to_lazystack(0).batch_size == (4,)
    assert td.swapaxes(0, 0).batch_size == (4,) and td.broadcast_to(2, 4).batch_size == (2, 4)
