"""MultiCategorical, MultiOneHot, Binary, NonTensor, Choice: the values of each by hand."""

from __future__ import annotations

import pytest
import torch

from tensorclass import NonTensorData, TensorDict
from tensorclass.envs import (
    Binary,
    Categorical,
    Choice,
    Composite,
    MultiCategorical,
    MultiOneHot,
    NonTensor,
    OneHot,
    Unbounded,
)


def test_multi_categorical_has_a_number_of_choices_for_each_slot() -> None:
    spec = MultiCategorical([2, 3, 4])
    assert (spec.shape, spec.dtype, spec.device) == ((3,), torch.int64, torch.device("cpu"))
    assert spec.rand((300,)).amax(0).tolist() == [1, 2, 3] and spec.rand((300,)).amin(0).tolist() == [0, 0, 0]
    assert spec.is_in(torch.tensor([1, 2, 3])) and not spec.is_in(torch.tensor([2, 2, 3]))
    assert spec.project(torch.tensor([5, -5, 2])).tolist() == [1, 0, 2]
    assert spec.cardinality() == 24 and len(spec.enumerate()) == 24
    assert [choice.n for choice in spec.space] == [2, 3, 4]


def test_the_numbers_of_choices_broadcast_to_the_shape() -> None:
    spec = MultiCategorical([2, 3], (4, 2))
    assert spec.rand().shape == (4, 2) and spec[0] == MultiCategorical([2, 3])
    assert spec[:, 1] == MultiCategorical([3], (4,)) and spec.expand(5, 4, 2).nvec.shape == (5, 4, 2)
    with pytest.raises(ValueError, match=r"^MultiCategorical: nvec has shape \[2\], which does not broadcast"):
        MultiCategorical([2, 3], (4, 3))
    with pytest.raises(ValueError, match="^MultiCategorical: 0 choices; there must be at least 1$"):
        MultiCategorical([0, 3])


def test_multi_categorical_as_marks_and_back() -> None:
    spec = MultiCategorical([2, 3])
    marks = spec.to_one_hot(torch.tensor([1, 2]))
    assert marks.tolist() == [False, True, False, False, True]
    assert spec.to_one_hot_spec() == MultiOneHot([2, 3]) and spec.to_one_hot_spec().is_in(marks)
    assert spec.to_one_hot_spec().to_categorical(marks).tolist() == [1, 2]
    assert MultiOneHot([2, 3]).to_categorical_spec() == spec
    assert MultiCategorical([2, 3])[1].to_one_hot(torch.tensor([2, 0])).tolist() == [
        [False, False, True],
        [True, False, False],
    ]
    assert spec.slots() == (Categorical(2), Categorical(3)) and MultiOneHot([2, 3]).slots() == (OneHot(2), OneHot(3))


def test_a_mask_has_the_choices_of_all_slots_side_by_side() -> None:
    mask = torch.tensor([False, True, True, False, True])
    for spec in (MultiCategorical([2, 3], mask=mask), MultiOneHot([2, 3], mask=mask).to_categorical_spec()):
        assert {tuple(row) for row in spec.rand((100,)).tolist()} == {(1, 0), (1, 2)}
        assert not spec.is_in(torch.tensor([0, 0])) and not spec.is_in(torch.tensor([1, 1]))
        assert spec.project(torch.tensor([0, 1])).tolist() == [1, 0]
        assert spec.enumerate(use_mask=True).tolist() == [[1, 0], [1, 2]]
        assert spec.mask is not None and torch.equal(spec.mask, mask)
    with pytest.raises(ValueError, match="^the mask allows no choice somewhere"):
        MultiCategorical([2, 3], mask=torch.tensor([False, False, True, True, True]))
    with pytest.raises(ValueError, match="^the mask allows no choice somewhere"):
        MultiOneHot([2, 3], mask=torch.tensor([True, True, False, False, False]))


def test_multi_one_hot_has_a_mark_in_each_slot() -> None:
    spec = MultiOneHot([2, 3])
    assert spec.shape == (5,) and spec.rand((7,)).sum(-1).tolist() == [2] * 7
    assert spec.encode([1, 2]).tolist() == [False, True, False, False, True]
    assert spec.encode(torch.tensor([[0, 0], [1, 1]])).shape == (2, 5)
    assert spec.to_numpy(spec.encode([1, 2])).tolist() == [1, 2]
    assert not spec.is_in(torch.tensor([1, 1, 0, 0, 1]).bool()) and not spec.is_in(spec.zero())
    assert spec.project(torch.tensor([0.1, 0.2, 0.9, 0.0, 0.3])).tolist() == [False, True, True, False, False]
    with pytest.raises(ValueError, match=r"^encode: there is no choice 3 among 3; 0 to 2 would do$"):
        spec.encode([1, 3])
    with pytest.raises(RuntimeError, match=r"^encode: a number for each of 2 slots; got \[3\]$"):
        spec.encode([1, 2, 0])
    with pytest.raises(ValueError, match=r"^MultiOneHot: shape \[4\] does not end in 5, the number of choices of all"):
        MultiOneHot([2, 3], (4,))


def test_binary_is_zeros_and_ones() -> None:
    spec = Binary(3)
    assert (spec.shape, spec.dtype, spec.n) == ((3,), torch.int8, 3)
    assert spec.rand((100,)).unique().tolist() == [0, 1]
    assert spec.is_in(torch.tensor([0, 1, 1], dtype=torch.int8))
    assert not spec.is_in(torch.tensor([0, 1, 2], dtype=torch.int8))
    assert spec.project(torch.tensor([-3.0, 0.6, 9.0])).tolist() == [0, 1, 1]
    assert Binary(3, (4, 3)).shape == (4, 3) and Binary(shape=(2,), dtype=torch.bool).rand().dtype is torch.bool
    assert Binary(2).enumerate().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]] and Binary(3).cardinality() == 8
    with pytest.raises(ValueError, match=r"^Binary: shape \[4\] does not end in 3, the number of entries$"):
        Binary(3, (4,))


def test_non_tensor_is_what_is_no_tensor() -> None:
    spec = NonTensor(example_data="hey")
    assert spec == NonTensor(example_data=NonTensorData("hey"))
    assert spec.rand() == spec.zero() == "hey" and spec.encode("yo") == spec.to_numpy("yo") == "yo"
    for value in ("abc", 3, None, object(), NonTensorData("abc")):
        assert spec.is_in(value)
    assert not spec.is_in(torch.zeros(())) and not spec.is_in(TensorDict())
    with pytest.raises(TypeError, match=r"^project: the value is a tensor of shape \[2\]; one that is no"):
        spec.project(torch.zeros(2))


def test_non_tensor_of_a_batch_has_a_value_for_each_row() -> None:
    spec = Composite(text=NonTensor((3,), example_data="hey", batched=True), shape=(3,))
    drawn = spec.rand((2,))
    assert drawn["text"].tolist() == [["hey"] * 3] * 2 and spec.is_in(drawn) and spec[0].is_in(drawn[0, 0])


def test_non_tensor_in_a_composite_is_stored_as_it_is() -> None:
    spec = Composite(text=NonTensor((3,), example_data="hey"), x=Unbounded((3,)), shape=(3,))
    drawn = spec.rand((2,))
    assert drawn["text"] == "hey" and spec.is_in(drawn) and spec[0].is_in(drawn[0, 0])
    drawn["text"] = torch.zeros(2, 3)
    assert not spec.is_in(drawn)


def test_choice_is_a_value_of_one_of_several_domains() -> None:
    spec = Choice(
        [
            Categorical(3, mask=torch.tensor([True, False, False])),
            Categorical(3, mask=torch.tensor([False, False, True])),
        ]
    )
    assert {int(spec.rand()) for _ in range(50)} == {0, 2}
    assert spec.is_in(torch.tensor(2)) and not spec.is_in(torch.tensor(1))
    assert spec.expand(4).shape == (4,) and Composite(a=spec.expand(4), shape=(4,))[0]["a"] == spec
    with pytest.raises(RuntimeError, match=r"^Choice: spec 0 has shape \[\] and torch.int64, spec 1 \[2\]"):
        Choice([Categorical(3), Categorical(3, (2,))])
