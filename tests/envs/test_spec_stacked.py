"""Specs side by side: plain where they are alike, a stack with -1 dims where they are not."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tensorclass import TensorDict, lazy_stack
from tensorclass.envs import Binary, Bounded, Categorical, Composite, OneHot, Stacked, StackedComposite, Unbounded


def ragged() -> Any:
    return stack(*[Composite(a=Unbounded((n,)), b=OneHot(3)) for n in (3, 4)])


def stack(*specs: Any, dim: int = 0) -> Any:
    return torch.stack(specs, dim)


def test_like_specs_give_a_spec_of_their_kind() -> None:
    assert stack(OneHot(3), OneHot(3)) == OneHot(3, (2, 3))
    assert stack(Binary(3), Binary(3), dim=1).shape == (3, 2)
    both = stack(Bounded(0.0, 1.0, (3,)), Bounded(-1.0, 5.0, (3,)))
    assert type(both) is type(Bounded(0.0, 1.0, (3,))) and both.high.tolist() == [[1] * 3, [5] * 3]
    masks = stack(Categorical(2, mask=torch.tensor([True, False])), Categorical(2, mask=torch.tensor([False, True])))
    assert masks.rand((4,)).tolist() == [[0, 1]] * 4
    assert stack(Composite(a=OneHot(3)), Composite(a=OneHot(3))) == Composite(a=OneHot(3, (2, 3)), shape=(2,))


def test_sizes_that_differ_read_minus_one() -> None:
    spec = stack(Unbounded((3, 2)), Unbounded((4, 2)))
    assert isinstance(spec, Stacked) and spec.shape == (2, -1, 2) and spec.dtype is torch.float32
    assert spec[0] == Unbounded((3, 2)) and spec.unbind() == (Unbounded((3, 2)), Unbounded((4, 2)))
    assert spec.permute(1, 0, 2).shape == (-1, 2, 2) and spec.expand(5, 2, -1, 2)[4] == spec
    assert spec.unsqueeze(0).shape == (1, 2, -1, 2) and spec[:, :2][1].shape == (2, 2)
    with pytest.raises(RuntimeError, match="^flatten: batch dim 1 is ragged"):
        spec.flatten()


def test_a_value_of_a_ragged_stack_is_a_tuple_of_tensors() -> None:
    spec = stack(Unbounded((3,)), Bounded(0.0, 1.0, (4,)))
    value = spec.rand((5,))
    assert [row.shape for row in value] == [(5, 3), (5, 4)] and not any(row.is_nested for row in value)
    assert spec.is_in(value) and spec.is_in(list(value)) and not spec.is_in(value[::-1]) and not spec.is_in(value[:1])
    assert spec.project((torch.full((3,), 7.0), torch.full((4,), 7.0)))[1].tolist() == [1] * 4
    assert [row.tolist() for row in spec.encode([[1, 2, 3], [0, 0, 0, 1]])] == [[1, 2, 3], [0, 0, 0, 1]]
    assert spec.zero()[1].tolist() == [0] * 4
    with pytest.raises(AssertionError, match="^not in Stacked: item 1: the value has 9.0"):
        spec.assert_is_in((torch.zeros(3), torch.full((4,), 9.0)))


def test_a_value_of_a_stack_of_one_shape_is_a_tensor() -> None:
    spec = stack(Unbounded((3,)), Bounded(0.0, 1.0, (3,)))
    assert spec.shape == (2, 3) and spec.rand((5,)).shape == (5, 2, 3) and spec.is_in(spec.rand((5,)))
    assert not spec.is_in(torch.full((2, 3), 2.0)) and spec.project(torch.full((2, 3), 2.0))[1].tolist() == [1] * 3
    assert spec.is_in(torch.zeros(3)) is False and spec.is_in(torch.zeros(3, 3)) is False


def test_specs_of_two_kinds_are_not_mixed() -> None:
    spec = stack(Unbounded((3,)), Bounded(0.0, 1.0, (3,)))
    with pytest.raises(RuntimeError) as caught:
        spec.reshape(6)
    assert str(caught.value) == (
        "reshape: the specs of the stack differ, so that their dim must stay whole; index it to have one of them"
    )
    with pytest.raises(TypeError, match="^stack: item 0 is Unbounded, item 1 Composite; one has keys, the other none$"):
        stack(Unbounded((3,)), Composite())
    with pytest.raises(RuntimeError, match="same number of batch dims"):
        stack(Unbounded((3,)), Unbounded((3, 1)))


def test_composites_that_differ_give_lazy_stacks() -> None:
    spec = ragged()
    assert isinstance(spec, StackedComposite) and spec.shape == (2,) and spec.keys() == ["a", "b"]
    assert spec["a"].shape == (2, -1) and spec["b"] == OneHot(3, (2, 3))
    value = spec.rand()
    assert value.batch_size == (2,) and [row["a"].shape for row in value] == [(3,), (4,)]
    assert (
        spec.rand((5,)).batch_size == (5, 2)
        and spec.is_in(spec.rand((5,)))
        and spec.expand(4, 2).rand()[0, 1]["a"].shape == (4,)
    )
    assert spec.is_in(lazy_stack([value[0], value[1]])) and not spec.is_in(lazy_stack([value[1], value[0]]))
    assert not spec.is_in(TensorDict(a=torch.zeros(2, 3), batch_size=[2]))


def test_the_dict_of_a_stack_of_composites() -> None:
    spec = ragged()
    spec["c"] = Unbounded((2, 1))
    assert spec.keys() == ["a", "b", "c"] and spec[0]["c"] == Unbounded((1,))
    del spec["c"]
    assert spec.pop("b") == OneHot(3, (2, 3)) and spec.keys() == ["a"] and spec.pop("b", None) is None
    assert spec.get("none") is None and spec.lock_().is_locked
    with pytest.raises(RuntimeError, match="the Composite is locked"):
        spec.set("d", Unbounded((2, 1)))
    assert not spec.unlock_().is_locked and spec.clone() == spec and spec != ragged()


def test_a_stack_may_be_an_entry() -> None:
    spec = Composite(agents=ragged(), flag=Categorical(2, (2,)), shape=(2,))
    value = spec.rand()
    assert spec.is_in(value) and value[1]["agents", "a"].shape == (4,) and spec[1]["agents", "a"] == Unbounded((4,))
    assert spec.keys(True, True) == [("agents", "a"), ("agents", "b"), "flag"]
    assert spec.lock_()["agents"].is_locked and not spec.unlock_()["agents"].is_locked


def test_a_projection_stays_lazy() -> None:
    spec = stack(*[Composite(a=Bounded(0.0, 1.0, (n,))) for n in (2, 3)])
    value: Any = lazy_stack([TensorDict(a=torch.full((n,), 5.0)) for n in (2, 3)])
    done: Any = spec.project(value)
    assert [row["a"].tolist() for row in done] == [[1, 1], [1, 1, 1]]
