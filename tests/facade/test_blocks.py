"""`with` blocks of containers: locks and views are undone at the end."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, errors, lazy_stack


class Point(TensorClass):
    x: Tensor


def sample() -> TensorDict:
    return TensorDict(a=torch.zeros(4, 3), n={"x": torch.zeros(4, 3)}, batch_size=[4, 3])


def test_a_lock_comes_back_at_the_end() -> None:
    td = sample().lock_()
    with td.unlock_() as same:
        same["b"] = torch.ones(4, 3)
        assert not td.is_locked and not td["n"].is_locked

    assert td.is_locked and td["n"].is_locked
    assert td["b"].sum() == 12


def test_a_lock_comes_back_after_an_error() -> None:
    td = sample().lock_()
    with pytest.raises(ValueError, match="stop"), td.unlock_():
        raise ValueError("stop")

    assert td.is_locked


@pytest.mark.parametrize("make", [sample, lambda: Point(x=torch.zeros(3)), lambda: lazy_stack([sample()] * 2)])
def test_a_lock_ends_with_its_block_unless_it_was_there(make: Any) -> None:
    one = make()
    with one.lock_():
        with one.unlock_():
            assert not one.is_locked
        assert one.is_locked
        with one.lock_():
            pass
        assert one.is_locked

    assert not one.is_locked


def test_what_is_new_in_a_view_is_handed_back() -> None:
    td = sample()
    before = td["a"]
    with td.view(-1) as flat:
        flat["number"] = torch.arange(12)
        flat["n", "y"] = torch.ones(12, 2)
        flat["n", "x"] = flat["n", "x"] + 1
        flat["tag"] = "blue"

    assert td["number"].tolist() == torch.arange(12).reshape(4, 3).tolist()
    assert td["n", "y"].shape == (4, 3, 2)
    assert td["n", "x"].sum() == 12
    assert td["tag"] == "blue"
    assert td["a"] is before


def test_a_view_of_a_typed_class_is_checked_when_it_is_handed_back() -> None:
    point = Point(x=torch.zeros(2, 3), batch_size=[2, 3])
    with point.view(6) as flat:
        flat.x = torch.ones(6)

    assert point.x.shape == (2, 3)
    assert point.x.sum() == 6


def test_a_view_hands_nothing_back_after_an_error() -> None:
    td = sample()
    with pytest.raises(ValueError, match="stop"), td.view(-1) as flat:
        flat["b"] = torch.ones(12)
        raise ValueError("stop")

    assert "b" not in td


def test_a_container_alone_is_no_block() -> None:
    with pytest.raises(errors.StructureError, match=r"a container is a block only right after .unlock_\(\)"), sample():
        pass
