"""where: rows of one container or another, tensors and plain values alike, new or into a container that is there."""

from __future__ import annotations

from typing import Any

import torch

from tensorclass import NonTensorData, NonTensorStack, TensorDict, lazy_stack, stack

MASK = torch.tensor([True, False])


def rows(words: str, value: float) -> Any:
    return stack([TensorDict(x=torch.tensor(value), n={"s": NonTensorData(word)}) for word in words])


def words(td: Any) -> list[str]:
    return [row["n", "s"] for row in td]


def test_plain_values_are_chosen_with_their_rows() -> None:
    out = rows("ab", 0.0).where(MASK, rows("yz", 1.0))
    assert words(out) == ["a", "z"] and out["x"].tolist() == [0, 1]
    assert words(torch.where(MASK, rows("aa", 0.0), rows("bb", 1.0))) == ["a", "b"]


def test_a_value_that_both_have_stays_one() -> None:
    one = TensorDict(x=torch.zeros(2), s="k", batch_size=[2])
    assert one.where(MASK, one)["s"] == "k"
    assert one.where(MASK, 3.0)["s"] == "k"


def test_items_of_a_lazy_stack_take_the_values_of_their_rows() -> None:
    one, other = [lazy_stack([TensorDict(n={"s": word}, x=torch.zeros(())) for word in both]) for both in ("ab", "yz")]
    assert words(one.where(MASK, other)) == ["a", "z"]


def test_rows_of_values_alone() -> None:
    assert NonTensorStack("a", "b").where(MASK, NonTensorStack("y", "z")).tolist() == ["a", "z"]


def test_out_takes_the_rows_in_place() -> None:
    one = rows("ab", 0.0)
    leaf = one["x"]
    out = one.where(MASK, rows("yz", 1.0), out=one)
    assert out is one and one["x"] is leaf and leaf.tolist() == [0, 1] and words(one) == ["a", "z"]
    empty = TensorDict(batch_size=[2])
    assert rows("ab", 0.0).where(MASK, rows("yz", 1.0), out=empty) is empty and words(empty) == ["a", "z"]


def test_what_was_packed_from_it_keeps_its_values() -> None:
    one = rows("ab", 0.0)
    packed = one.consolidate()
    one.where(MASK, rows("yz", 1.0), out=one)
    assert not one.is_locked and words(packed) == ["a", "b"] and packed["x"].tolist() == [0, 0]
