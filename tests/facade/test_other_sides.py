"""Ops of a container and something else: how the two line up, and what is said when they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorclass import TensorDict, errors

SQUARE = TensorDict({"x": torch.arange(18.0).reshape(3, 3, 2), "y": torch.arange(9.0).reshape(3, 3)}, [3, 3])
ROW = torch.tensor([1.0, 4.0, 7.0])


@pytest.mark.parametrize(
    ("with_tensor", "op"),
    [
        (lambda td, side: td.where(torch.zeros(3, 3, dtype=torch.bool), side), lambda leaf, side: side + 0 * leaf),
        (lambda td, side: td.clamp(side), torch.maximum),
        (lambda td, side: td.clone().clamp_(max=side), torch.minimum),
        (lambda td, side: td.lerp(side, 0.5), lambda leaf, side: torch.lerp(leaf, side + 0 * leaf, 0.5)),
        (lambda td, side: td.addcmul(side, 2 * td), lambda leaf, side: leaf + side * 2 * leaf),
        (lambda td, side: td + side, torch.add),
    ],
)
@pytest.mark.parametrize("side", [ROW, ROW.numpy(), ROW.reshape(3, 1)])
def test_a_tensor_lines_up_with_the_batch_as_with_one_tensor(with_tensor: Any, op: Any, side: Any) -> None:
    found = with_tensor(SQUARE, side)

    side = torch.as_tensor(side)
    assert found.batch_size == (3, 3)
    assert torch.equal(found["y"], op(SQUARE["y"], side))
    assert torch.equal(found["x"], op(SQUARE["x"], side.unsqueeze(-1)))


@pytest.mark.parametrize("op", [lambda a, b: a.lerp(b, 0.5), lambda a, b: a.addcmul(b, b), lambda a, b: a.clamp(b)])
@pytest.mark.parametrize("wide", [SQUARE.expand(4, 3, 3), torch.ones(4, 3, 3)])
def test_a_larger_other_side_enlarges_the_batch(op: Any, wide: Any) -> None:
    found = op(SQUARE, wide)

    assert found.batch_size == (4, 3, 3)
    assert found["x"].shape == (4, 3, 3, 2)


def test_an_array_on_the_left_leaves_the_op_to_the_container() -> None:
    assert torch.equal((np.ones(3, dtype=np.float32) + SQUARE)["y"], 1 + SQUARE["y"])
    assert torch.equal((np.float32(2) * SQUARE)["y"], 2 * SQUARE["y"])


@pytest.mark.parametrize("op", ["add", "eq", "maximum", "lerp", "where"])
def test_entries_of_other_shapes_are_named_with_both_shapes(op: str) -> None:
    other = TensorDict({"x": torch.zeros(3, 3, 5), "y": torch.zeros(3, 3)}, [3, 3])
    arguments: dict[str, tuple[Any, ...]] = {"lerp": (other, 0.5), "where": (torch.zeros(3, dtype=torch.bool), other)}
    with pytest.raises(errors.ShapeError) as error:
        getattr(SQUARE, op)(*arguments.get(op, (other,)))

    assert str(error.value) == f"{op}: 'x' has shape [3, 3, 2], the other side has [3, 3, 5] there"


@pytest.mark.parametrize("op", ["masked_fill", "masked_fill_", "masked_select", "where"])
def test_a_mask_of_ints_is_no_mask(op: str) -> None:
    arguments: tuple[Any, ...] = () if op == "masked_select" else (0.0,)
    with pytest.raises(errors.KindError, match=f"{op}: a tensor of torch.int64 is no mask"):
        getattr(SQUARE.clone(), op)(torch.tensor([0, 1, 1]), *arguments)


def test_plain_data_against_a_tensor_is_refused_from_both_sides() -> None:
    data, tensor = TensorDict({"a": "x"}, [3]), TensorDict({"a": torch.zeros(3)}, [3])
    for one, other in ((data, tensor), (tensor, data)):
        with pytest.raises(errors.StructureError, match="add: 'a' is a tensor in"):
            one + other


def test_in_place_the_other_side_does_not_enlarge_the_batch() -> None:
    with pytest.raises(errors.ShapeError, match=r"add_: batch size \[4, 3, 3\] does not fit in batch size \[3, 3\]"):
        SQUARE.clone().add_(SQUARE.expand(4, 3, 3))


@pytest.mark.parametrize("second", [torch.ones(3), torch.ones(3, dtype=torch.float64)])
def test_an_op_of_three_in_place_is_the_op(second: Tensor) -> None:
    def make() -> TensorDict:
        return TensorDict(a=torch.arange(3.0), b=second.clone(), c=torch.full((3,), 2.0), batch_size=3)

    start, other = make(), make() + 1
    for got, want in (
        (make().lerp_(other, 0.25), start.lerp(other, 0.25)),
        (make().addcmul_(other, other, value=2), start.addcmul(other, other, value=2)),
        (make().addcdiv_(other, other + 1), start.addcdiv(other, other + 1)),
        (make().addcmul_(other, torch.arange(3.0)), start.addcmul(other, torch.arange(3.0))),
    ):
        assert (got == want).all()


def test_an_op_of_three_in_place_writes_all_or_nothing() -> None:
    td = TensorDict(a=torch.zeros(3), b=torch.zeros(3, 2), batch_size=3)
    with pytest.raises(errors.ShapeError, match="lerp_: a value of shape"):
        td.lerp_(TensorDict(a=torch.ones(3), b=torch.ones(3, 4), batch_size=3), 0.5)
    with pytest.raises(errors.ShapeError, match="lerp_: batch size"):
        td.lerp_(TensorDict(a=torch.ones(2, 3), b=torch.ones(2, 3, 2), batch_size=[2, 3]), 0.5)

    assert td["a"].sum() == 0


def test_reductions_take_the_names_of_dims() -> None:
    td = TensorDict(a=torch.ones(2, 3, 4), batch_size=[2, 3], names=["batch", "time"])

    assert td.sum("time").names == ["batch"]
    assert td.mean(("time", "batch"))["a"].shape == (4,)
    assert td.sum(("batch", 1))["a"].tolist() == [6, 6, 6, 6]
    with pytest.raises(errors.DimError, match="sum: no dim is called 'tme'; did you mean 'time'?"):
        td.sum("tme")
    with pytest.raises(errors.DimError, match="sum: no dim is called 'time'; the dims have no names"):
        td.rename(None, None).sum("time")
    with pytest.raises(errors.DimError, match="cumsum: 'time' is no dim; an int would do"):
        td.cumsum("time")  # type: ignore[arg-type]


def test_a_mean_of_integers_names_the_entry() -> None:
    td = TensorDict(a=torch.zeros(3), n={"count": torch.arange(3)}, batch_size=3)
    with pytest.raises(
        errors.StructureError, match=r"mean: \('n', 'count'\) is of torch.int64, and torch takes floats"
    ):
        td.mean(0)
