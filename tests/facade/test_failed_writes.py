"""A write that fails leaves every entry as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, errors, lazy_stack


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


@pytest.mark.parametrize("op", ["floor_divide_", "remainder_", "fmod_"])
def test_an_integer_0_on_the_way_leaves_what_comes_before_it(op: str) -> None:
    td = TensorDict({"a": torch.tensor([4, 5]), "b": torch.tensor([6, 7])}, 2)
    with pytest.raises(RuntimeError):
        getattr(td, op)(TensorDict({"a": torch.tensor([3, 3]), "b": torch.tensor([4, 0])}, 2))
    assert td["a"].tolist() == [4, 5]

    getattr(td, op)(torch.tensor([3, 4]))

    assert td["b"].tolist() == getattr(torch.tensor([6, 7]), op)(torch.tensor([3, 4])).tolist()


def test_a_number_that_only_some_leaves_take_is_found_each_time() -> None:
    td = mixed(torch.arange(3))
    for _ in range(2):
        with pytest.raises(errors.KindError, match="mul_: a result of torch.float32 does not fit in a leaf of"):
            td.mul_(1.5)
    td.mul_(1)
    td.mul_(True)

    assert td["a"].tolist() == [0.5, 0.5, 0.5]


def test_a_leaf_that_is_there_twice_is_written_twice() -> None:
    leaf = torch.ones(3)

    TensorDict(a=leaf, b=leaf, c=torch.ones(3), d=torch.ones(3)).mul_(2)

    assert leaf.tolist() == [4, 4, 4]


def test_a_key_that_is_a_tensor_and_a_container_at_once_is_refused() -> None:
    td = TensorDict(a=torch.zeros(3))
    with pytest.raises(
        errors.StructureError, match=r"update: 'n' is a tensor of shape \[3\], and \('n', 'x'\) is given"
    ):
        td.update({("n", "x"): torch.zeros(3), "n": torch.zeros(3)})
    assert list(td.keys()) == ["a"]

    td.update({"n": {"x": torch.zeros(3)}, ("n", "y"): torch.zeros(3)})

    assert list(td["n"].keys()) == ["x", "y"]


def test_a_lazy_stack_is_updated_whole_or_not_at_all() -> None:
    stack = lazy_stack([TensorDict(a=torch.zeros(3), batch_size=3) for _ in range(2)])
    other = lazy_stack([TensorDict(a=torch.ones(size), batch_size=size) for size in (3, 4)])
    with pytest.raises(errors.ShapeError):
        stack.update(other)

    assert stack["a"].sum() == 0


class Fixed(TensorClass, frozen=True):
    x: Tensor


INTO_FROZEN: dict[str, Callable[[TensorDict], Any]] = {
    **WRITES,
    "zero_": lambda td: td.zero_(),
    "update_": lambda td: td.update_({"f": {"x": torch.ones(3)}}),
    "update_ alike": lambda td: td.update_(td.clone()),
    "update": lambda td: td.update({("f", "x"): torch.ones(3)}),
    "set": lambda td: td.set(("f", "x"), torch.ones(3)),
    "set_": lambda td: td.set_(("f", "x"), torch.ones(3)),
    "set_at_": lambda td: td.set_at_(("f", "x"), 1.0, 0),
    "fill_": lambda td: td.fill_(("f", "x"), 1.0),
    "requires_grad_": lambda td: td.requires_grad_(),
    "load_state_dict": lambda td: td.load_state_dict(td.clone().state_dict()),
    "copy_": lambda td: td.copy_(td.clone()),
}


@pytest.mark.parametrize("write", INTO_FROZEN)
@pytest.mark.parametrize("lazy", [False, True])
def test_what_is_frozen_stays_so_inside_another_container(write: str, lazy: bool) -> None:
    part = Fixed(x=torch.zeros(3), batch_size=3)
    inner = lazy_stack([part[row] for row in range(3)]) if lazy else part
    td = TensorDict({"a": torch.zeros(3), "f": inner}, 3)
    with pytest.raises((errors.Locked, errors.KeyMissing)):
        INTO_FROZEN[write](td)

    assert inner.x.tolist() == [0, 0, 0]
    assert not inner.x.requires_grad
    assert td["a"].tolist() == [0, 0, 0]


RARE: dict[str, Callable[[], Tensor]] = {
    "sparse": lambda: torch.eye(3).to_sparse(),
    "compressed": lambda: torch.eye(3).to_sparse_csr(),
    "jagged": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(1), torch.ones(3)], layout=torch.jagged),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(1), torch.ones(3)]),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
    "meta": lambda: torch.ones(3, device="meta"),
    "float8": lambda: torch.ones(3).to(torch.float8_e4m3fn),
    "uint16": lambda: torch.ones(3, dtype=torch.uint16),
}
IN_PLACE: dict[str, Callable[[TensorDict], Any]] = {
    "exp_": lambda td: td.exp_(),
    "zero_": lambda td: td.zero_(),
    "clamp_": lambda td: td.clamp_(max=0.5),
    "share_memory_": lambda td: td.share_memory_(),
    "add_": lambda td: td.add_(2),
    "add_ of another": lambda td: td.add_(td),
    "sub_ of another": lambda td: td.sub_(td),
    "addcmul_": lambda td: td.addcmul_(td, td),
    "copy_": lambda td: td.copy_(TensorDict(a=torch.zeros(3), x=torch.zeros(3, 3), batch_size=[3])),
    "masked_fill_": lambda td: td.masked_fill_(torch.tensor([True, False, True]), 0.0),
    "a row": lambda td: td.__setitem__(0, 0.0),
    "some rows": lambda td: td.__setitem__(torch.tensor([0, 1]), 0.0),
    "a slice": lambda td: td.__setitem__(slice(0, 2), 0.0),
}


@pytest.mark.filterwarnings("ignore:.*(prototype|beta|deprecated).*:UserWarning")
@pytest.mark.parametrize("write", IN_PLACE.values(), ids=IN_PLACE)
@pytest.mark.parametrize("rare", RARE.values(), ids=RARE)
def test_what_torch_refuses_for_a_rare_tensor_is_written_nowhere(rare: Any, write: Any) -> None:
    td = TensorDict(a=torch.ones(3), x=rare(), batch_size=[3])
    try:
        write(td)
    except Exception:  # In the words of torch, which has many.
        assert td["a"].tolist() == [1.0, 1.0, 1.0]
        assert not td["a"].is_shared()
