"""Reductions and pointwise ops: on a container they are what they are on every leaf."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import TensorDict
from tensorclass._rules import errors, folds, pointwise

from .containers import KINDS, by_feature, leaves, numbers

DIMS: list[Any] = [0, 1, -1, (0, 1), (1,), [0]]


def folded(name: str, dim: Any, keepdim: bool, tensor: Tensor) -> Tensor:
    call = getattr(torch, name)
    if not folds.FOLDS[name][0]:
        for one in sorted([d % 2 for d in (dim if isinstance(dim, (tuple, list)) else [dim])], reverse=True):
            tensor = call(tensor, one, keepdim=keepdim)
        return tensor
    return call(tensor, dim=dim, keepdim=keepdim)  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", folds.FOLDS)
def test_a_fold_is_the_same_fold_on_every_feature_slice(name: str, kind: str) -> None:
    container = KINDS[kind](4, 3)
    for dim in DIMS:
        for keepdim in (False, True):
            got = getattr(container, name)(dim=dim, keepdim=keepdim)
            assert got.batch_size == folded(name, dim, keepdim, torch.ones(4, 3)).shape
            for key, leaf in leaves(container).items():
                want = by_feature(partial(folded, name, dim, keepdim), leaf, 2)
                torch.testing.assert_close(leaves(got)[key], want)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in folds.FOLDS if name not in ("any", "all", "logsumexp", "norm")])
def test_a_fold_without_dim_folds_every_leaf_whole(name: str, kind: str) -> None:
    container = KINDS[kind](4, 3)
    got = getattr(container, name)()

    assert got.batch_size == ()
    for key, leaf in leaves(container).items():
        assert torch.equal(leaves(got)[key], getattr(torch, name)(leaf))


def test_a_fold_over_features_keeps_the_batch() -> None:
    td = TensorDict(a=numbers(4, 3, 2), b=numbers(4), batch_size=[4])

    assert torch.equal(td.sum("feature")["a"], td["a"].sum((1, 2)))
    assert torch.equal(td.mean("feature")["b"], td["b"])
    with pytest.raises(errors.DimError, match="sum: no dim is called 'features'; did you mean 'feature'?"):
        td.sum("features")


def test_a_fold_of_everything_is_one_tensor() -> None:
    td = TensorDict(a=numbers(4, 3), b=numbers(4), batch_size=[4])

    assert td.sum(reduce=True) == 88
    assert td.amax(reduce=True) == 12
    assert td.mean(reduce=True) == 5.5
    assert (td > 0).all() is True
    assert (td > 11).any() is True
    assert (td > 12).any() is False


def test_min_and_max_give_values_and_indices() -> None:
    td = TensorDict(a=numbers(4, 3), n={"b": numbers(4, 2)}, batch_size=[4])
    found = td.max(dim=0)

    assert found.values["a"].tolist() == [10, 11, 12]
    assert found.indices["n", "b"].tolist() == [3, 3]
    assert td.min()["a"] == 1
    assert td.min(0, keepdim=True).values.batch_size == (1,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*pointwise.UNARY, *pointwise.UNARY_BOOL])
def test_a_pointwise_op_is_the_same_op_on_every_leaf(name: str, kind: str) -> None:
    container = KINDS[kind](4, 3) * 0.25
    got = getattr(container, name)()

    assert got.batch_size == (4, 3)
    assert type(got) is type(container)
    for key, leaf in leaves(container).items():
        torch.testing.assert_close(leaves(got)[key], getattr(torch, name)(leaf), equal_nan=True)


@pytest.mark.parametrize("name", pointwise.INPLACE_UNARY)
def test_an_in_place_op_changes_the_tensors_that_are_there(name: str) -> None:
    container = KINDS["nested"](4, 3)
    before = leaves(container)
    want = {key: getattr(leaf.clone(), f"{name}_")() for key, leaf in before.items()}
    got = getattr(container, f"{name}_")()

    assert got is container
    for key, leaf in leaves(container).items():
        assert leaf is before[key]
        torch.testing.assert_close(leaf, want[key], equal_nan=True)


INTS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*pointwise.BINARY, *pointwise.COMPARE])
def test_a_pair_op_is_the_same_op_on_every_pair_of_leaves(name: str, kind: str) -> None:
    container = KINDS[kind](4, 3)
    other = container + 1 if name not in pointwise.COMPARE else container
    if name in INTS:
        container, other = container.long(), other.long() % 3
    call = getattr(torch, name)
    row = torch.arange(1, 4) if name in INTS else torch.arange(1.0, 4.0)
    for value in (other, 2, row):
        got = getattr(container, name)(value)
        assert got.batch_size == (4, 3)
        for key, leaf in leaves(container).items():
            if isinstance(value, int):
                against: Any = value if name not in ("maximum", "minimum", "fmax", "fmin") else torch.tensor(value)
                against = torch.tensor(value) if name in ("atan2", "hypot", "logaddexp") else against
                against = torch.tensor(value) if name.startswith("logical") else against
            elif isinstance(value, Tensor):
                against = value.reshape(1, 3, *[1] * (leaf.ndim - 2))
            else:
                against = leaves(value)[key]
            torch.testing.assert_close(leaves(got)[key], call(leaf, against), equal_nan=True)


@pytest.mark.parametrize("dunder", pointwise.DUNDERS)
def test_an_operator_is_its_op_on_either_side(dunder: str) -> None:
    container = KINDS["nested"](4, 3)
    if pointwise.DUNDERS[dunder] in INTS:
        container = container.long()
    for key, leaf in leaves(container).items():
        assert torch.equal(leaves(getattr(container, f"__{dunder}__")(2))[key], getattr(leaf, f"__{dunder}__")(2))
        assert torch.equal(leaves(getattr(container, f"__r{dunder}__")(2))[key], getattr(leaf, f"__r{dunder}__")(2))


def test_batches_broadcast() -> None:
    small, large = KINDS["nested"](4, 1), KINDS["nested"](4, 3)
    got = small + large

    assert got.batch_size == (4, 3)
    assert torch.equal(got["m", "d"], small["m", "d"] + large["m", "d"])
    tall = large + torch.ones(2, 1, 1)
    assert tall.batch_size == (2, 4, 3)
    assert tall["n"].batch_size == (2, 4, 3, 5)
    with pytest.raises(errors.ShapeError, match=r"add: batch sizes \[4, 3\] and \[2\] do not broadcast; 3 is not 2"):
        large + torch.ones(2)


def test_entries_are_matched_by_key_not_by_order() -> None:
    one = TensorDict(x=torch.zeros(2), y=torch.ones(2), batch_size=[2])
    other = TensorDict(y=torch.full((2,), 3.0), x=torch.full((2,), 5.0), batch_size=[2])

    assert (one + other)["x"].tolist() == [5, 5]
    assert one.lerp(other, 0.5)["x"].tolist() == [2.5, 2.5]
    with pytest.raises(KeyError) as error:
        one + one.select("x")
    assert str(error.value) == "add: the second container has no 'y'; both must have the same keys"
    with pytest.raises(KeyError) as error:
        one.select("x") + one
    assert str(error.value) == "add: the first container has no 'y'; both must have the same keys"


def test_a_failed_in_place_op_changes_nothing() -> None:
    td = TensorDict(a=numbers(2), b=torch.arange(2), batch_size=[2])
    with pytest.raises(
        TypeError, match=r"add_: a result of torch.float32 does not fit in a leaf of torch.int64 in place"
    ):
        td += 1.5
    assert td["a"].tolist() == [1, 2]
    with pytest.raises(RuntimeError):
        td.add_(TensorDict(a=torch.ones(2), b=torch.arange(3)))
    assert td["a"].tolist() == [1, 2]


def test_equality_compares_plain_data_too() -> None:
    one = TensorDict(a=numbers(2), tag="x", batch_size=[2])

    assert (one == one.clone()).all()
    assert not (one == one.clone().set("tag", "y")).all()
    assert (one != one.clone().set("tag", "y")).any()
    assert one.__eq__("x") is NotImplemented
    with pytest.raises(TypeError):
        hash(one)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in pointwise.INPLACE_BINARY if not name.startswith("bitwise")])
def test_an_in_place_pair_op_writes_the_tensors_that_are_there(name: str, kind: str) -> None:
    row = torch.arange(1.0, 4.0)
    for other in (2, row, KINDS[kind](4, 3)):
        container = KINDS[kind](4, 3)
        want = getattr(container, name)(other)
        got = getattr(container, f"{name}_")(other)
        assert got is container
        for key, leaf in leaves(want).items():
            torch.testing.assert_close(leaves(container)[key], leaf)


@pytest.mark.parametrize("kind", KINDS)
def test_where_masks_and_lerp_reach_every_leaf(kind: str) -> None:
    one, other = KINDS[kind](4, 3), -KINDS[kind](4, 3)
    mask = torch.tensor([[True, False, True], [False] * 3, [True] * 3, [False, True, False]])
    for key, leaf in leaves(one).items():
        wide = mask.reshape(4, 3, *[1] * (leaf.ndim - 2))
        assert torch.equal(leaves(torch.where(mask, one, other))[key], torch.where(wide, leaf, -leaf))
        assert torch.equal(leaves(torch.where(mask, one, 0.0))[key], torch.where(wide, leaf, 0.0))
        assert torch.equal(leaves(one.masked_fill(mask, 7.0))[key], leaf.masked_fill(wide, 7.0))
        assert torch.equal(leaves(one.masked_fill(mask[:, 0], 7.0))[key], leaf.masked_fill(wide[:, :1], 7.0))
        torch.testing.assert_close(leaves(one.lerp(other, 0.25))[key], leaf * 0.5)
    filled = one.clone().masked_fill_(mask, 7.0)
    assert (filled == one.masked_fill(mask, 7.0)).all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("typed", "lazy typed")])
def test_writes_in_place_by_key_reach_the_tensors(kind: str) -> None:
    container = KINDS[kind](4, 3)
    container.fill_("a", 3.0)
    assert container["a"].unique().tolist() == [3]
    container.set_("a", torch.zeros_like(container["a"]))
    assert container["a"].unique().tolist() == [0]
    container.set_at_("a", torch.ones_like(container["a"][0]), 0)
    assert container["a"][0].unique().tolist() == [1]
    assert container["a"][1].unique().tolist() == [0]
    container.update_({"a": torch.full_like(container["a"], 5.0)})
    assert container["a"].unique().tolist() == [5]
