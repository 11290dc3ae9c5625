"""Ops of a container and something else: how the two line up, and what is said when they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

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
