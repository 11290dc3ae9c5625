"""Ragged to dense and back: what was padded is there once it is unpadded."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from typing_extensions import assert_type

from tensorclass import (
    LazyStackedTensorDict,
    NonTensorStack,
    TensorClass,
    TensorDict,
    assert_close,
    errors,
    lazy_stack,
    pad_sequence,
    unpad,
)


class Episode(TensorClass):
    obs: Tensor
    info: TensorDict
    there: Tensor | None = None


def episode(n: int) -> Episode:
    return Episode(obs=torch.rand(n, 2), info=TensorDict(step=torch.arange(n), batch_size=[n]), batch_size=[n])


def td(n: int, **entries: Tensor) -> TensorDict:
    return TensorDict({"a": torch.arange(n), **entries}, batch_size=[n])


@pytest.mark.parametrize("sizes", [(1, 3, 2), (0, 2), (2, 2), (0, 0), (4,)], ids=str)
def test_what_was_padded_is_there_once_it_is_unpadded(sizes: tuple[int, ...]) -> None:
    items = [episode(n) for n in sizes]
    padded = assert_type(pad_sequence(items, mask="there"), Episode)
    back = assert_type(unpad(padded, "there"), Episode)

    assert padded.batch_size == (len(sizes), max(sizes)) and type(padded) is Episode
    assert [len(row) for row in back] == list(sizes) and back.there is None
    for row, item in zip(back, items):
        assert_close(row, item)


def test_the_number_fills_what_is_padded() -> None:
    assert pad_sequence([td(1), td(3)], pad=-1)["a"].tolist() == [[0, -1, -1], [0, 1, 2]]


def test_padding_passes_gradients() -> None:
    leaf = torch.ones(1, requires_grad=True)
    pad_sequence([TensorDict(a=leaf), TensorDict(a=torch.ones(2))], pad=5)["a"].sum().backward()

    assert leaf.grad is not None and leaf.grad.tolist() == [1]


def test_plain_rows_are_filled_up_with_none() -> None:
    rows = [TensorDict({"w": NonTensorStack(*"ab"[:n])}, batch_size=[n]) for n in (1, 2)]
    padded = pad_sequence(rows, mask="there")

    assert padded["w"].tolist() == [["a", None], ["a", "b"]]
    assert [row["w"].tolist() for row in unpad(padded, "there")] == [["a"], ["a", "b"]]


def test_lazy_stacks_are_padded_inside_too() -> None:
    ragged = [lazy_stack([TensorDict(q=torch.ones(k + 1)) for k in range(n)]) for n in (1, 2)]

    assert pad_sequence(ragged)["q"].tolist() == [[[1, 0], [0, 0]], [[1, 0], [1, 1]]]


def test_unpadded_rows_are_views_where_a_mask_has_no_holes() -> None:
    whole = td(2, b=torch.zeros(2, 3)).clone()
    wide = TensorDict(b=whole["b"], batch_size=[2, 3])
    rows = unpad(wide, torch.tensor([[True, True, False], [False, True, True]]))
    rows[0]["b"].fill_(1)
    rows[1]["b"].fill_(2)

    assert whole["b"].tolist() == [[1, 1, 0], [0, 2, 2]] and isinstance(rows, LazyStackedTensorDict)


def test_names_and_no_rows_stay() -> None:
    named = [TensorDict(a=torch.ones(n), batch_size=[n], names=["time"]) for n in (1, 2)]
    nothing = TensorDict(a=torch.ones(0, 3), batch_size=[0, 3])

    assert pad_sequence(named).names == [None, "time"]
    assert unpad(nothing, torch.ones(0, 3, dtype=torch.bool)).batch_size == (0, 3)


def test_a_mask_with_holes_picks_rows() -> None:
    rows = unpad(TensorDict(a=torch.arange(3)[None], batch_size=[1, 3]), torch.tensor([[True, False, True]]))

    assert rows[0]["a"].tolist() == [0, 2]


def test_blocks_are_unpadded_in_each_dim() -> None:
    items = [TensorDict(a=torch.rand(*sizes), batch_size=sizes) for sizes in ([1, 3], [2, 1], [0, 2])]
    back = unpad(pad_sequence(items, mask="m"), "m")

    assert [tuple(row.batch_size) for row in back] == [(1, 3), (2, 1), (0, 0)]


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (
            torch.ones(2),
            "unpad: the mask is of torch.float32 and [2]; a bool tensor of the batch size [2, 2, 2],",
        ),
        ("a", "unpad: the mask is of torch.float32 and [2, 2, 2]; a bool"),
        (torch.tensor([[[1, 1], [1, 0]], [[1, 1], [1, 1]]]).bool(), "unpad: the true part of a row is no block"),
    ],
    ids=["shape", "dtype", "no block"],
)
def test_masks_that_cannot_be_are_refused(mask: Tensor | str, said: str) -> None:
    with pytest.raises(errors.ShapeError) as caught:
        unpad(TensorDict(a=torch.ones(2, 2, 2), batch_size=[2, 2, 2]), mask)
    assert said in str(caught.value)


def test_a_class_takes_no_mask_under_a_name_that_it_does_not_declare() -> None:
    with pytest.raises(errors.UnknownField):
        pad_sequence([episode(1), episode(2)], mask="mask")


def test_items_that_differ_in_dims_are_named() -> None:
    with pytest.raises(errors.StructureError, match=r"'a' has another number of dims in each item \(1, 2\)"):
        pad_sequence([TensorDict(a=torch.ones(2)), TensorDict(a=torch.ones(2, 3))])


def test_a_nested_tensor_is_rows_of_a_lazy_stack_and_back() -> None:
    ragged = lazy_stack([TensorDict(q=torch.arange(n)) for n in (2, 0, 3)])
    nested = ragged.get("q", as_nested_tensor=True)
    whole = TensorDict(q=nested, batch_size=[3])

    assert nested.layout is torch.jagged
    for row, item in zip(lazy_stack(whole.unbind(0)), ragged):
        assert_close(row, item)
