"""A write that fails leaves every entry as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorDict, errors, lazy_stack


def mixed(second: Tensor) -> TensorDict:
    return TensorDict({"a": torch.full((3,), 0.5), "b": second, "s": NonTensorStack("x", "y", "z")}, 3)


UNWRITABLE: dict[str, Callable[[], Tensor]] = {
    "expanded": lambda: torch.full((1,), 0.5).expand(3),
    "requires a gradient": lambda: torch.full((3,), 0.5, requires_grad=True),
    "view of what requires a gradient": lambda: torch.full((4,), 0.5, requires_grad=True)[:3],
}
WRITES: dict[str, Callable[[TensorDict], Any]] = {
    "exp_": lambda td: td.exp_(),
    "add_": lambda td: td.add_(1),
    "mul_": lambda td: td.mul_(torch.arange(3)),
    "clamp_": lambda td: td.clamp_(0, 0.1),
    "copy_": lambda td: td.copy_(TensorDict(a=torch.ones(3), b=torch.ones(3), s="x", batch_size=3)),
    "update_": lambda td: td.update_({"a": torch.ones(3), "b": torch.ones(3)}),
    "apply_": lambda td: td.apply_(lambda leaf: leaf.detach() + 1),
    "index": lambda td: td.__setitem__(slice(0, 2), 1.0),
    "masked_fill_": lambda td: td.masked_fill_(torch.tensor([True, False, True]), 1.0),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("second", UNWRITABLE)
def test_a_leaf_that_torch_cannot_write_keeps_the_others_from_being_written(write: str, second: str) -> None:
    td = mixed(UNWRITABLE[second]())

    with pytest.raises(errors.StructureError):
        WRITES[write](td)

    assert td["a"].tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("write", "second"),
    [
        (lambda td: td.exp_(), torch.arange(3)),
        (lambda td: td.div_(2), torch.arange(3)),
        (lambda td: td.frac_(), torch.arange(3)),
        (lambda td: td.clamp_(0, 0.1), torch.zeros(3, dtype=torch.complex64)),
        (lambda td: td.bitwise_and_(1), torch.zeros(3)),
        (lambda td: td.__setitem__(0, 300), torch.zeros(3, dtype=torch.uint8)),
        (lambda td: td.__setitem__(0, float("nan")), torch.arange(3)),
    ],
)
def test_a_dtype_that_an_op_does_not_take_keeps_the_others_from_being_written(write: Any, second: Tensor) -> None:
    td = mixed(second)
    with pytest.raises((RuntimeError, NotImplementedError)):
        write(td)

    assert td["a"].tolist() == [0.5, 0.5, 0.5]


def test_rows_out_of_range_are_found_before_those_in_range_are_written() -> None:
    td = mixed(torch.zeros(3))
    with pytest.raises(errors.DimError, match="index: 7 is out of range for batch dim 0 of size 3"):
        td[[0, 7]] = 1.0

    assert td["a"].tolist() == [0.5, 0.5, 0.5]


def test_rows_of_data_are_counted_before_anything_is_written() -> None:
    td = mixed(torch.zeros(3))
    with pytest.raises(errors.ShapeError, match=r"index: \[3\] values for 's' for \[2\] rows"):
        td[:2] = {"a": 1.0, "s": ["1", "2", "3"]}

    assert td["a"].tolist() == [0.5, 0.5, 0.5]


def test_a_number_written_to_rows_is_for_the_tensors() -> None:
    td = mixed(torch.zeros(3))
    td[0] = 1.0

    assert td["s"].tolist() == ["x", "y", "z"]
    assert td.masked_fill(torch.ones(3, dtype=torch.bool), 2.0)["s"].tolist() == ["x", "y", "z"]


def test_update_at_checks_every_entry_before_the_first_is_written() -> None:
    td = TensorDict({"a": torch.zeros(3), "n": {"b": torch.zeros(3, 2)}}, 3)
    with pytest.raises(errors.ShapeError):
        td.update_at_({"a": torch.ones(2), "n": {"b": torch.ones(5, 2)}}, slice(0, 2))
    assert td["a"].sum() == 0

    td.update_at_({("n", "b"): torch.ones(2, 2)}, slice(0, 2))

    assert td["n", "b"].sum() == 4


def test_some_entries_of_rows_of_a_lazy_stack_can_be_written() -> None:
    stack = lazy_stack([TensorDict(a=torch.zeros(3, 2), b=torch.zeros(3), batch_size=3) for _ in range(2)])

    stack[:, 1] = {"a": torch.arange(4.0).reshape(2, 2)}

    assert stack["a"][:, 1].tolist() == [[0, 1], [2, 3]]
    assert stack["b"].sum() == 0


def test_update_sets_nothing_inside_a_tensor_and_copies_no_tensor_into_a_container() -> None:
    td = TensorDict({"a": torch.zeros(3), "n": {"b": torch.zeros(3)}}, 3)
    with pytest.raises(errors.StructureError, match="'a' is a tensor of shape"):
        td.update({("a", "c"): torch.ones(3)})
    with pytest.raises(errors.StructureError, match="'n' is a container"):
        td.update_({"a": torch.ones(3), "n": torch.ones(3)})

    assert td["a"].tolist() == [0, 0, 0]
    assert isinstance(td["n"], TensorDict)


def test_a_batch_size_that_is_not_shared_leaves_the_old_one() -> None:
    td = TensorDict({"a": torch.zeros(3), "empty": {}}, 3)
    with pytest.raises(errors.ShapeError):
        td.auto_batch_size_(2)
    assert td.batch_size == (3,)

    td.auto_batch_size_()

    assert td.batch_size == td["empty"].batch_size == (3,)


def test_a_state_of_other_kinds_is_refused_before_anything_is_loaded() -> None:
    td = TensorDict({"a": torch.zeros(3), "b": torch.zeros(3)}, 3)
    with pytest.raises(errors.StructureError, match="'b' is a tensor of shape"):
        td.load_state_dict({"a": torch.ones(3), "b": "x"})

    assert td["a"].tolist() == [0, 0, 0]


def test_entries_named_twice_are_taken_out_once() -> None:
    td = TensorDict({"a": torch.zeros(3), "b": torch.zeros(3)}, 3)

    assert td.stack_tensors("a", "a", out_key="aa", dim=-1)["aa"].shape == (3, 2)
    assert list(td.separates("b", "b").keys()) == ["b"]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_batch_shaped_tensor_is_written_to_containers_with_more_batch_dims_too(lazy: bool) -> None:
    td = TensorDict({"a": torch.zeros(2, 3), "wide": TensorDict(b=torch.zeros(2, 3, 4), batch_size=[2, 3, 4])}, [2, 3])
    rows = lazy_stack(list(td.unbind(1)), 1) if lazy else td

    rows[0] = torch.tensor([1.0, 2.0, 3.0])

    assert rows["wide", "b"][0].tolist() == [[1.0] * 4, [2.0] * 4, [3.0] * 4]


@pytest.mark.parametrize("index", [True, False, torch.tensor(True), (0, True), (slice(None), False)])
@pytest.mark.parametrize("dim", [0, 1])
def test_a_bool_adds_a_dim_to_a_lazy_stack(index: Any, dim: int) -> None:
    leaf = torch.arange(6.0).reshape(2, 3)
    rows = lazy_stack(list(TensorDict(a=leaf, batch_size=[2, 3]).unbind(dim)), dim)

    assert torch.equal(rows[index]["a"], leaf[index])
