"""Unbounded, Bounded, Categorical, OneHot: the values of each by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tensorclass.envs import Bounded, Categorical, OneHot, TensorSpec, Unbounded

INF = float("inf")


# ---- Unbounded ----------------------------------------------------------------------------------------------------


def test_unbounded_is_one_float_unless_told_otherwise() -> None:
    spec = Unbounded()
    assert (spec.shape, spec.dtype, spec.device) == ((1,), torch.float32, torch.device("cpu"))


def test_unbounded_of_an_integer_dtype_is_discrete() -> None:
    spec = Unbounded((2,), dtype=torch.int16)
    assert type(spec).__name__ == "UnboundedDiscrete" and spec.domain == "discrete"
    assert isinstance(spec, Unbounded) and spec == Unbounded((2,), dtype=torch.int16)
    assert type(Unbounded()).__name__ == "UnboundedContinuous" and Unbounded().domain == "continuous"
    assert type(spec.to(torch.float64)).__name__ == "UnboundedContinuous"


def test_unbounded_draws_normal_numbers() -> None:
    drawn = Unbounded((2,)).rand((4000,))
    assert drawn.mean().abs() < 0.1 and 0.9 < drawn.std() < 1.1


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_unbounded_draws_integers_over_the_whole_range(dtype: torch.dtype) -> None:
    drawn = Unbounded((4000,), dtype=dtype).rand().double()
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    assert drawn.min() < low + (high - low) / 50 and drawn.max() > high - (high - low) / 50


def test_unbounded_has_the_range_of_its_dtype_as_its_space() -> None:
    low, high = Unbounded((2,), dtype=torch.uint8).space
    assert low.tolist() == [0, 0] and high.tolist() == [255, 255]
    assert Unbounded((1,)).space.high.tolist() == [INF]


# ---- Bounded ------------------------------------------------------------------------------------------------------


def test_bounded_takes_its_shape_from_bounds_that_are_tensors() -> None:
    assert Bounded(torch.zeros(3), torch.ones(3)).shape == (3,)
    assert Bounded(torch.zeros(2, 1), torch.ones(3)).shape == (2, 3)
    assert Bounded(torch.zeros(3), 1.0).high.tolist() == [1, 1, 1]
    assert Bounded(torch.tensor(0.0), torch.tensor(1.0)).shape == ()


def test_bounded_by_numbers_needs_a_shape() -> None:
    with pytest.raises(RuntimeError, match=r"^Bounded: bounds that are numbers say no shape; give shape=\(\), or "):
        Bounded(0.0, 1.0)
    assert Bounded(0.0, 1.0, ()).shape == () and Bounded(0, 1, shape=(3,)).dtype is torch.float32


def test_bounded_takes_its_dtype_from_its_bounds() -> None:
    assert Bounded(torch.zeros(2, dtype=torch.float64), 1).dtype is torch.float64
    assert Bounded(np.zeros(2, np.int16), np.ones(2, np.int16)).dtype is torch.int16
    assert type(Bounded(0, 3, (1,), dtype=torch.int64)).__name__ == "BoundedDiscrete"


def test_bounded_draws_uniformly() -> None:
    drawn = Bounded(-1.0, 3.0, (4000,)).rand()
    assert drawn.min() >= -1 and drawn.max() <= 3 and (drawn.mean() - 1).abs() < 0.15
    by_row = Bounded(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 12.0])).rand((4000,))
    assert (by_row.mean(0) - torch.tensor([0.5, 11.0])).abs().max() < 0.15


def test_integer_bounds_are_drawn_and_allowed_both() -> None:
    spec = Bounded(0, 3, (500,), dtype=torch.int64)
    assert spec.rand().unique().tolist() == [0, 1, 2, 3]
    assert spec.is_in(torch.full((500,), 3)) and not spec.is_in(torch.full((500,), 4))
    assert Bounded(7, 7, (2,), dtype=torch.uint8).rand().tolist() == [7, 7]
    assert Bounded(0.5, 2.7, (99,), dtype=torch.int32).rand().unique().tolist() == [1, 2]
    unsigned = Bounded(7, 60000, (4, 2), dtype=torch.uint16)
    assert unsigned.is_in(unsigned.rand()) and unsigned[0] == Bounded(7, 60000, (2,), dtype=torch.uint16)
    assert not unsigned.is_in(unsigned.zero()) and unsigned.project(unsigned.zero()).tolist() == [[7, 7]] * 4
    assert Bounded(-INF, 0.0, (2,), dtype=torch.int8).low.tolist() == [-128, -128]


@pytest.mark.parametrize(
    ("low", "high", "sign"), [(-INF, INF, 0), (2.0, INF, 1), (-INF, -2.0, -1)], ids=["both", "high", "low"]
)
def test_infinite_bounds_give_numbers(low: float, high: float, sign: int) -> None:
    drawn = Bounded(low, high, (1000,)).rand()
    assert drawn.isfinite().all() and drawn.std() > 0.3
    assert sign == 0 or (drawn * sign >= 2).all()


def test_bounds_as_far_apart_as_gymnasium_gives_them_do_not_overflow() -> None:
    most = torch.finfo(torch.float32).max
    assert Bounded(-most, most, (100,)).rand().isfinite().all()


def test_zero_ignores_the_bounds() -> None:
    assert Bounded(2.0, 3.0, (2,)).zero((3,)).tolist() == [[0, 0]] * 3
    assert Bounded(2.0, 3.0, (2,)).one().tolist() == [1, 1]


def test_bounded_projects_by_cutting_off() -> None:
    spec = Bounded(torch.tensor([-1.0, 0.0]), torch.tensor([1.0, 5.0]))
    assert spec.project(torch.tensor([[3.0, 3.0], [-3.0, -3.0]])).tolist() == [[1, 3], [-1, 0]]
    assert Bounded(1.0, 2.0, (1,)).project(torch.tensor([float("nan")])).tolist() == [1]
    assert Bounded(0, 255, (2,), dtype=torch.uint8).project(torch.tensor([-7.5, 300.0])).tolist() == [0, 255]


def test_bounded_shows_its_bounds() -> None:
    spec = Bounded(-1.0, 2.0, (3,))
    assert spec.low.tolist() == [-1] * 3 and spec.high.tolist() == [2] * 3
    assert spec.space.low is spec.low and spec.space.high is spec.high
    assert repr(spec) == "Bounded(low=-1.0, high=2.0, shape=(3,), device='cpu', dtype=torch.float32)"


def test_bounds_do_not_follow_the_tensor_they_came_from() -> None:
    low = torch.zeros(2)
    spec = Bounded(low, 1.0)
    low.fill_(0.5)
    assert spec.low.tolist() == [0, 0]


def test_bounds_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^Bounded: bounds of shape \[2\] and \[\] do not broadcast to \[3\]$"):
        Bounded(torch.zeros(2), 1.0, (3,))
    with pytest.raises(ValueError, match="^Bounded: low is above high somewhere; every low must be at most its high$"):
        Bounded(1.0, 0.0, (3,))


def test_equality_of_bounds_is_one_bool() -> None:
    same = [Bounded(0.0, 1.0, (2,)) == Bounded(torch.zeros(2), 1.0), Bounded(0.0, 1.0, (2,)) == Bounded(0.0, 2.0, (2,))]
    assert same == [True, False]


# ---- Categorical --------------------------------------------------------------------------------------------------


def test_categorical_is_a_number_below_n() -> None:
    spec = Categorical(4)
    assert (spec.shape, spec.dtype, spec.n, spec.space.n) == ((), torch.int64, 4, 4)
    assert spec.rand((200,)).unique().tolist() == [0, 1, 2, 3]
    assert spec.is_in(torch.tensor(3)) and not spec.is_in(torch.tensor(4)) and not spec.is_in(torch.tensor(-1))
    assert spec.project(torch.tensor([-3, 9])).tolist() == [0, 3]


def test_categorical_of_two_is_the_spec_of_a_flag() -> None:
    done = Categorical(2, (3, 1), dtype=torch.bool)
    assert done.rand().dtype is torch.bool and done.zero().tolist() == [[False]] * 3 and done.is_in(done.zero())


def test_a_mask_limits_what_a_categorical_may_be() -> None:
    spec = Categorical(4, mask=torch.tensor([False, True, False, True]))
    assert spec.rand((200,)).unique().tolist() == [1, 3]
    assert [spec.is_in(torch.tensor(n)) for n in range(4)] == [False, True, False, True]
    assert [int(spec.project(torch.tensor(n))) for n in range(4)] == [1, 1, 1, 3]


def test_a_mask_may_change_and_may_differ_from_row_to_row() -> None:
    spec = Categorical(3, (2,))
    spec.update_mask(torch.tensor([[True, False, False], [False, False, True]]))
    assert spec.rand((5,)).tolist() == [[0, 2]] * 5
    assert spec[1] == Categorical(3, mask=torch.tensor([False, False, True]))
    spec.update_mask(None)
    assert spec.mask is None and spec == Categorical(3, (2,))
    with pytest.raises(ValueError, match="^the mask allows no choice somewhere; at least one must be allowed$"):
        spec.update_mask(torch.zeros(3, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"^the mask has shape \[4\], which does not broadcast to \[2, 3\]$"):
        spec.update_mask(torch.ones(4, dtype=torch.bool))


def test_categorical_as_one_hot() -> None:
    spec = Categorical(3, (2,), mask=torch.tensor([True, False, True]))
    assert spec.to_one_hot(torch.tensor([0, 2])).tolist() == [[True, False, False], [False, False, True]]
    assert spec.to_one_hot_spec() == OneHot(3, (2, 3), mask=torch.tensor([True, False, True]))
    assert spec.to_one_hot_spec().to_categorical_spec() == spec


# ---- OneHot -------------------------------------------------------------------------------------------------------


def test_one_hot_marks_one_entry_of_the_last_dim() -> None:
    spec = OneHot(4)
    assert (spec.shape, spec.dtype, spec.n) == ((4,), torch.bool, 4)
    assert OneHot(3, (5, 3)).rand().sum(-1).tolist() == [1] * 5
    assert OneHot(4, dtype=torch.int64).rand((100,)).sum(0).min() > 0


def test_one_hot_encodes_and_decodes_numbers() -> None:
    spec = OneHot(4, dtype=torch.int64)
    assert spec.encode(2).tolist() == [0, 0, 1, 0]
    assert spec.encode(torch.tensor([0, 3])).tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    assert spec.to_numpy(spec.encode(2)) == 2 and isinstance(spec.to_numpy(spec.encode(2)), (np.ndarray, np.generic))
    assert spec.to_categorical(spec.encode([1, 2])).tolist() == [1, 2]
    assert spec.to_categorical_spec() == Categorical(4)


def test_one_hot_encodes_what_is_encoded_already_as_itself() -> None:
    spec = OneHot(3)
    assert spec.encode(torch.tensor([False, True, False])).tolist() == [False, True, False]


def test_a_number_out_of_range_has_no_mark() -> None:
    for wrong in (7, -1, [0, 7]):
        with pytest.raises(ValueError, match=r"^encode: there is no choice (7|-1) among 3; 0 to 2 would do$"):
            OneHot(3).encode(wrong)
    assert Categorical(3).encode(7) == 7  # Is not looked at.


def test_what_was_encoded_before_is_kept_when_asked() -> None:
    spec = OneHot(3)
    spec.memoize_encode()
    first = spec.encode(1)
    first[:] = True

    assert spec.encode(1).tolist() == [False, True, False]
    assert spec.encode([2]).tolist() == [[False, False, True]]  # Has no hash.
    index = torch.tensor(1)
    assert spec.encode(index).tolist() == [False, True, False]
    index.fill_(2)
    assert spec.encode(index).tolist() == [False, False, True]
    spec.erase_memoize_cache()
    assert spec.encode(1).tolist() == [False, True, False]
    spec.memoize_encode(False)
    assert spec == OneHot(3) and spec.encode(2).tolist() == [False, False, True]


def test_one_hot_ends_in_n() -> None:
    with pytest.raises(ValueError, match=r"^OneHot: shape \[4, 2\] does not end in 3, the number of choices$"):
        OneHot(3, (4, 2))


def test_zero_is_not_in_a_one_hot_space() -> None:
    spec = OneHot(3)
    assert not spec.is_in(spec.zero()) and not spec.is_in(spec.one())


def test_one_hot_projects_to_the_greatest_allowed_entry() -> None:
    value = torch.tensor([0.1, 0.7, 0.3])
    assert OneHot(3).project(value).tolist() == [False, True, False]
    assert OneHot(3, mask=torch.tensor([True, False, True])).project(value).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("op", "arguments"),
    [("permute", (1, 0)), ("reshape", (6,)), ("unbind", (1,)), ("flip", (1,)), ("unsqueeze", (2,))],
)
def test_the_choices_of_a_one_hot_stay_whole_and_last(op: str, arguments: Any) -> None:
    spec = OneHot(3, (2, 3))
    assert spec.expand(4, 2, 3).shape == (4, 2, 3) and spec.reshape(1, 2, 3)[0] == spec
    with pytest.raises(RuntimeError) as caught:
        getattr(spec, op)(*arguments)
    assert str(caught.value) == f"{op}: the last dim of OneHot is its 3 choices; it must stay whole, and last"


def test_what_a_choice_picks_from_a_tensor() -> None:
    table = torch.tensor([[10, 20, 30], [40, 50, 60]])
    assert Categorical(3).index(torch.tensor([2, 0]), table).tolist() == [30, 40]
    assert OneHot(3).index(torch.eye(3).bool()[[2, 0]], table).tolist() == [30, 40]


# ---- common -------------------------------------------------------------------------------------------------------


def test_a_value_may_have_more_dims_in_front() -> None:
    assert Bounded(0.0, 1.0, (3,)).is_in(torch.zeros(5, 4, 3))
    assert Categorical(3).is_in(torch.zeros(5, dtype=torch.int64))


@pytest.mark.parametrize("spec", [Unbounded((3,)), Bounded(0.0, 1.0, (3,)), Bounded(torch.zeros(3), 1.0)], ids=str)
def test_a_value_of_another_shape_dtype_or_kind_is_not_in_the_domain(spec: TensorSpec) -> None:
    for value in (torch.zeros(2), torch.zeros(()), torch.zeros(3, 2), torch.zeros(3).double(), [0.0] * 3, None, "a"):
        assert spec.is_in(value) is False and spec.contains(value) is False
    assert spec.is_in(torch.zeros(3))


def test_assert_is_in_says_why() -> None:
    with pytest.raises(AssertionError, match=r"^not in Bounded: the value has 2.0; -1.0 to 1.0 would do$"):
        Bounded(-1.0, 1.0, (2,)).assert_is_in(torch.tensor([0.0, 2.0]))
    with pytest.raises(AssertionError, match="^not in Categorical: the value has 3; an allowed one of 0 to 2"):
        Categorical(3).assert_is_in(torch.tensor(3))
    with pytest.raises(AssertionError, match=r"^not in Unbounded: the value has shape \[2\]; "):
        Unbounded((3,)).assert_is_in(torch.zeros(2))


def test_type_check_looks_at_shape_and_dtype_alone() -> None:
    spec = Bounded(0.0, 1.0, (2,))
    spec.type_check(torch.full((2,), 9.0))
    with pytest.raises(TypeError, match="^the value is torch.float64; the spec has torch.float32$"):
        spec.type_check(torch.zeros(2).double())
    with pytest.raises(TypeError, match=r"^'pos': the value has shape \[3\]; the spec has \[2\], and a value ends"):
        spec.type_check(torch.zeros(3), "pos")


def test_encode_takes_numbers_lists_and_arrays() -> None:
    spec = Bounded(-1.0, 1.0, (2,))
    for value in ([0.5, 1], (0.5, 1), np.array([0.5, 1.0]), torch.tensor([0.5, 1.0]).double()):
        assert spec.encode(value).tolist() == [0.5, 1.0] and spec.encode(value).dtype is torch.float32
    assert Unbounded((1,)).encode(3).tolist() == [3.0] and Unbounded((1,)).encode(np.float64(2)).tolist() == [2.0]
    assert Categorical(3).encode(np.int64(2)) == 2
    with pytest.raises(RuntimeError, match=r"^encode: the value has shape \[3\]; the spec has \[2\]"):
        spec.encode([1, 2, 3])


def test_what_is_no_number_cannot_be_encoded_or_bounded() -> None:
    with pytest.raises(TypeError, match="^encode: a str is no number, and no list or array of numbers$"):
        Unbounded((1,)).encode("a")
    with pytest.raises(TypeError, match="^Bounded: complex numbers have no order"):
        Bounded(0, 1, (2,), dtype=torch.complex64)


def test_encode_does_not_share_memory_with_an_array() -> None:
    array = np.zeros(2, np.float32)
    value = Unbounded((2,)).encode(array)
    array[:] = 1
    assert value.tolist() == [0, 0]


def test_to_numpy() -> None:
    assert Bounded(0.0, 1.0, (2,)).to_numpy(torch.tensor([0.5, 1.0])).tolist() == [0.5, 1.0]
    with pytest.raises(AssertionError):
        Categorical(3).to_numpy(torch.tensor(4), safe=True)


def test_a_spec_is_a_value() -> None:
    spec: Any = Bounded(0.0, 1.0, (2,))
    with pytest.raises(AttributeError, match=r"^cannot set 'dtype': Bounded is a value; \.replace\(dtype="):
        spec.dtype = torch.float64
    assert spec.replace(high=2.0) == Bounded(0.0, 2.0, (2,))
    assert {spec: 1}[Bounded(0.0, 1.0, (2,))] == 1


def test_another_dtype_or_device() -> None:
    spec = Bounded(-1.5, 2.5, (2,))
    assert spec.to(torch.float64).rand().dtype is torch.float64
    assert spec.to("cpu") == spec and spec.to(device="cpu", dtype=torch.float16).low.dtype is torch.float16


def test_a_size_that_varies_takes_any_size() -> None:
    spec = Unbounded((-1, 3))
    assert spec.is_in(torch.zeros(5, 3)) and spec.is_in(torch.zeros(0, 3)) and not spec.is_in(torch.zeros(5, 2))
    assert spec.rand().shape == (1, 3)


def test_shapes_as_the_ops_move_them() -> None:
    spec = Bounded(torch.arange(6.0).reshape(2, 3), 9.0)
    assert spec.expand(4, 2, 3).shape == (4, 2, 3) and spec.unsqueeze(-1).shape == (2, 3, 1)
    assert spec.flatten().low.tolist() == [0, 1, 2, 3, 4, 5] and spec.reshape(3, 2).low[1].tolist() == [2, 3]
    assert spec.unflatten(1, (3, 1)).squeeze(-1) == spec
    assert [row.low.tolist() for row in spec.unbind(1)] == [[0, 3], [1, 4], [2, 5]]
    assert spec[1, 1:].low.tolist() == [4, 5] and len(spec) == 2 and [row.shape for row in spec] == [(3,), (3,)]
    with pytest.raises(IndexError, match="^unbind: dim 2 is out of range for 2 batch dims; -2 to 1 would do$"):
        spec.unbind(2)
    with pytest.raises(KeyError, match="^no key 'a': Bounded is a spec without keys$"):
        spec["a"]


def test_how_many_values_there_are() -> None:
    assert Categorical(3, (2,)).cardinality() == 9 and OneHot(4).cardinality() == 4
    assert Bounded(0, 3, (2,), dtype=torch.int64).cardinality() == 16 and Bounded(0.0, 1.0, (2,)).cardinality() == INF
    assert Categorical(3).enumerate().tolist() == [0, 1, 2]
    assert OneHot(3).enumerate().tolist() == torch.eye(3).bool().tolist()
    assert Categorical(3, mask=torch.tensor([True, False, True])).enumerate(use_mask=True).tolist() == [0, 2]
    with pytest.raises(TypeError, match="^an Unbounded has no enumerate: its domain is not finite$"):
        Unbounded((2,)).enumerate()
