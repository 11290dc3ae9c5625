"""Indexing: x[i] is what it is on every feature slice, read and write, and never takes a feature dim."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from tensorclass import TensorDict
from tensorclass._rules import errors

from .containers import KINDS, base, by_feature, leaves, numbers

BATCH = (4, 3)
SLICES = st.builds(slice, st.none() | st.integers(-5, 5), st.none() | st.integers(-5, 5), st.none() | st.integers(1, 3))


def items(size: int) -> st.SearchStrategy[Any]:
    """One item that takes a dim of this size."""
    rows = st.lists(st.integers(-size, size - 1), min_size=0, max_size=4)
    return st.one_of(
        st.integers(-size, size - 1),
        SLICES,
        rows.map(lambda row: torch.tensor(row, dtype=torch.long)),
        rows.filter(len),
        rows.map(lambda row: np.array(row, dtype=np.int64)),
        st.integers(0, size).map(range).filter(len),
        st.lists(st.booleans(), min_size=size, max_size=size).map(torch.tensor),
        st.lists(st.booleans(), min_size=size, max_size=size),
        st.integers(0, size - 1).map(lambda row: torch.tensor(row)),
    )


@st.composite
def indices(draw: st.DrawFn) -> Any:
    taken = draw(st.integers(0, 2))
    parts: list[Any] = [draw(items(BATCH[dim])) for dim in range(taken)]
    if taken == 2 and draw(st.booleans()):
        parts = [torch.tensor(draw(st.lists(st.booleans(), min_size=12, max_size=12))).reshape(4, 3)]
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        parts.append(Ellipsis)
    if len(parts) == 1 and draw(st.booleans()):
        return parts[0]
    return tuple(parts)


def as_torch(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(as_torch(item) for item in index)
    if isinstance(index, range):
        return list(index)
    return torch.as_tensor(index) if isinstance(index, np.ndarray) else index


@given(indices(), st.sampled_from(list(KINDS)))
@settings(max_examples=300, deadline=None)
def test_reading_rows_is_reading_them_of_every_feature_slice(index: Any, kind: str) -> None:
    container = KINDS[kind](*BATCH)
    at = as_torch(index)
    try:
        want = numbers(*BATCH)[at]
    except IndexError:
        with pytest.raises(IndexError):
            container[index]
        return
    got = container[index]

    assert got.batch_size == want.shape
    assert isinstance(got, base(container))
    for key, leaf in leaves(container).items():
        assert torch.equal(leaves(got)[key], by_feature(lambda x: x[at], leaf, 2)), key


@given(indices(), st.sampled_from(list(KINDS)))
@settings(max_examples=200, deadline=None)
def test_writing_rows_is_writing_them_in_every_feature_slice(index: Any, kind: str) -> None:
    at = as_torch(index)
    try:
        rows = numbers(*BATCH)[at]
    except IndexError:
        return
    for number in (True, False):
        container = KINDS[kind](*BATCH)
        value = -container[index] if not number else 7.0
        container[index] = value
        for key, leaf in leaves(KINDS[kind](*BATCH)).items():
            before = leaf.clone()
            if number:
                before[at] = 7.0
            else:
                before[at] = leaves(value)[key]
            assert torch.equal(leaves(container)[key], before), key
    assert rows is not None


@pytest.mark.parametrize(
    "index, words",
    [
        (
            (0, 0, 0),
            r"index: 3 indices for 2 batch dims \(batch size \[4, 3\]\); index a field to reach its feature dims",
        ),
        (4, "index: 4 is out of range for batch dim 0 of size 4"),
        ((slice(None), -4), "index: -4 is out of range for batch dim 1 of size 3"),
        (
            torch.ones(3, dtype=torch.bool),
            r"index: the mask has shape \[3\], the batch size is \[4, 3\]; "
            "its size 3 must equal 4, the size of batch dim 0",
        ),
        (torch.ones(2), "index: a tensor of torch.float32 cannot index; ints or bools would do"),
        (1.5, "index: a float cannot index; an int, a slice, None, '...', or ints or bools would do"),
        ((..., ...), r"index: an index can have one ellipsis \('...'\) only"),
    ],
)
@pytest.mark.parametrize("kind", ["flat", "nested", "typed"])
def test_an_index_that_takes_more_than_the_batch_is_refused(index: Any, words: str, kind: str) -> None:
    with pytest.raises(IndexError, match=f"^{words}$"):
        KINDS[kind](*BATCH)[index]


def test_a_0d_container_has_no_rows() -> None:
    td = TensorDict(a=torch.zeros(3))

    with pytest.raises(errors.DimError, match="index: 1 index for 0 batch dims"):
        td[0]
    with pytest.raises(errors.DimError, match="index: 1 index for 0 batch dims"):
        td[:1]
    assert td[None].batch_size == (1,)
    assert td[...].batch_size == ()
    assert len(td) == 0


def test_a_failed_write_of_rows_changes_nothing() -> None:
    td = TensorDict(a=numbers(4), b=numbers(4, 2), batch_size=[4])
    with pytest.raises(RuntimeError, match=r"index: 'b' gets a value of shape \[2, 3\] for rows of shape \[2, 2\]"):
        td[:2] = TensorDict(a=torch.zeros(2), b=torch.zeros(2, 3), batch_size=[2])
    with pytest.raises(KeyError, match="index: the value has no 'b'; both must have the same keys"):
        td[:2] = TensorDict(a=torch.zeros(2), batch_size=[2])
    with pytest.raises(RuntimeError, match=r"the value has batch size \[3\], the rows to write have \[2\]"):
        td[:2] = TensorDict(a=torch.zeros(3), b=torch.zeros(3, 2), batch_size=[3])
    assert torch.equal(td["a"], numbers(4))


def test_rows_of_text_are_written_row_by_row() -> None:
    td = TensorDict(a=numbers(3), tag="x", batch_size=[3])
    td[1] = TensorDict(a=torch.zeros(()), tag="y")

    assert td["tag"].tolist() == ["x", "y", "x"]
    assert td[1]["tag"] == "y"
    assert td[:1]["tag"].tolist() == ["x"]


def test_a_row_of_values_takes_a_plain_value() -> None:
    td = TensorDict({"a": numbers(3), "words": ["x", "y", "z"]}, batch_size=[3])
    td[1] = td[2]
    assert td["words"].tolist() == ["x", "z", "z"]
    td[:2] = td[1:].clone()
    assert td["words"].tolist() == ["z", "z", "z"]


def test_rows_written_into_a_container_without_entries_make_room_for_themselves() -> None:
    data = TensorDict({}, [3])
    data[1] = TensorDict(a=torch.ones(2), inner={"b": torch.ones(1)})
    assert data["a"].tolist() == [[0, 0], [1, 1], [0, 0]] and data["inner"].batch_size == (3,)

    data = TensorDict({}, [3])
    with pytest.raises(RuntimeError, match=r"the value has batch size \[2\], the rows to write have \[\]"):
        data[0] = TensorDict(a=torch.ones(2), batch_size=[2])
    with pytest.raises(RuntimeError, match="locked"):
        data.lock_()[0] = TensorDict(a=torch.ones(2))
    assert data.is_empty()


@pytest.mark.parametrize("rows", [[0, 2, 2], [-1, 0], [], [3]], ids=str)
def test_rows_picked_by_a_tensor_are_what_torch_picks_in_memory_too(rows: list[int]) -> None:
    index = torch.tensor(rows, dtype=torch.int64)
    leaves = {
        "plain": torch.rand(4, 3),
        "transposed": torch.rand(3, 4).t(),
        "expanded": torch.rand(1, 2).expand(4, 2),
        "channels last": torch.rand(4, 2, 5, 5).to(memory_format=torch.channels_last),
        "float8": torch.rand(4).to(torch.float8_e4m3fn),
        "parameter": torch.nn.Parameter(torch.rand(4)),
        "no elements": torch.zeros(4, 0),
    }

    picked = TensorDict(leaves, batch_size=[4], names=["row"])[index]

    assert (picked.batch_size, picked.names) == ((len(rows),), ["row"])
    for name, leaf in leaves.items():
        assert picked[name].stride() == leaf[index].stride(), name
        assert torch.equal(picked[name].float(), leaf[index].float()), name


@pytest.mark.parametrize("row", [4, -5])
def test_a_row_that_is_not_there_is_torch_s_own_error(row: int) -> None:
    with pytest.raises(IndexError, match=f"index {row} is out of bounds for dimension 0 with size 4"):
        TensorDict(a=torch.rand(4), batch_size=[4])[torch.tensor([0, row])]


@pytest.mark.parametrize("cut", [slice(0, 2), slice(0, 0), slice(None)], ids=str)
@pytest.mark.parametrize("between", [None, slice(None)], ids=str)
def test_index_tensors_that_stand_apart_put_their_dims_first_on_a_lazy_stack_too(cut: slice, between: Any) -> None:
    dense = TensorDict(a=torch.rand(3, 4, 2, 2, 5), batch_size=[3, 4, 2, 2])
    index = (cut, torch.tensor([0, 1, 1]), between, torch.tensor([True, False]))

    got = dense.to_lazystack(0)[index]

    assert got.batch_size == dense[index].batch_size == torch.zeros(3, 4, 2, 2)[index].shape
    assert torch.equal(got["a"], dense[index]["a"])


def test_a_row_that_a_lazy_stack_has_not_got_is_named() -> None:
    stack = TensorDict(a=torch.rand(3), batch_size=[3]).to_lazystack(0)
    for index in (5, torch.tensor([0, 5]), [5]):
        with pytest.raises(errors.DimError, match="index: 5 is out of range for batch dim 0 of size 3"):
            stack[index]
