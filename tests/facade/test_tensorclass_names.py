"""Fields may be called anything that is not the library's own."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, errors, lazy_stack
from tensorclass._declare import BadField
from tensorclass._rules.reserved import RESERVED

make: Any = type(TensorClass)


def with_field(name: str, **options: bool) -> Any:
    return make(
        "Made", (TensorClass,), {"__annotations__": {name: Tensor, "other": Tensor}, "__module__": __name__}, **options
    )


@pytest.mark.parametrize(
    "name", ["batch", "dims", "fits", "store", "Tensor", "as_size", "self", "len", "isinstance", "object", "type_"]
)
def test_a_field_may_be_called_as_something_in_the_generated_init_is(name: str) -> None:
    cls = with_field(name)
    with pytest.raises(errors.ShapeError):
        cls(**{name: torch.zeros(4), "other": torch.zeros(3)}, batch_size=3)

    assert cls(**{name: torch.ones(3), "other": torch.zeros(3)}, batch_size=3)[0][name] == 1


@pytest.mark.parametrize("name", ["_items", "_set", "_drop", "_none_is_unset", "_values", "_t_store", "_batch"])
def test_a_field_that_would_hide_what_the_library_keeps_is_refused(name: str) -> None:
    with pytest.raises(BadField, match=f"field '{name}' of Made: the name is taken by the library"):
        with_field(name, shadow=True)


@pytest.fixture(scope="module")
def shadowing() -> Any:
    names = sorted(RESERVED - {"batch_size"})
    cls = make(
        "Shadowing",
        (TensorClass,),
        {"__annotations__": dict.fromkeys(names, Tensor), "__module__": __name__},
        shadow=True,
    )
    return cls(**{name: torch.full((4, 1), at + 1.0) for at, name in enumerate(names)}, batch_size=[4, 1])


OPS: dict[str, tuple[Any, ...]] = {
    "reshape": (2, 2), "flatten": (), "unflatten": (0, (2, 2)), "cumsum": (0,), "softmax": (0,), "repeat": (2, 1),
    "sum": (0,), "norm": (), "rename": ("a", "b"), "refine_names": ("a", "b"), "clone": (), "select": ("mean",),
    "flatten_keys": (), "unbind": (0,), "add": (1,), "masked_fill": (torch.ones(4, 1, dtype=torch.bool), 0.0),
}  # fmt: skip


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("op", OPS)
def test_an_op_never_takes_a_field_for_a_method(op: str, lazy: bool, shadowing: Any) -> None:
    rows = lazy_stack(list(type(shadowing).unbind(shadowing, 0))) if lazy else type(shadowing).copy(shadowing)
    dense = type(shadowing).to_tensordict(shadowing)

    found, wanted = getattr(type(rows), op)(rows, *OPS[op]), getattr(dense, op)(*OPS[op])

    if op == "unbind":
        found, wanted = found[0], wanted[0]
    assert type(found).to_dict(found).keys() == wanted.to_dict().keys()
    assert all(torch.equal(value, type(found).get(found, key)) for key, value in wanted.items())


def test_the_size_of_another_container_is_not_read_off_its_fields(shadowing: Any) -> None:
    td = TensorDict(a=torch.zeros(4), batch_size=4)

    assert td.reshape_as(shadowing).batch_size == (4, 1)
    assert td.view_as(shadowing).batch_size == (4, 1)
    assert td[:1].expand_as(shadowing[0]).batch_size == (1,)


def test_slots_say_nothing_that_the_fields_do_not() -> None:
    class Slotted(TensorClass):
        __slots__ = ("a",)
        a: Tensor

    assert Slotted(a=torch.zeros(3), batch_size=3)[0].a == 0
    with pytest.raises(BadField, match="'b' in __slots__, which is no field"):
        make("Made", (TensorClass,), {"__slots__": ("b",), "__annotations__": {}, "__module__": __name__})


@dataclass
class Plain:
    count: int = 1


class Mixed(Plain, TensorClass):
    value: Tensor = torch.zeros(())


def test_the_repr_and_eq_that_dataclass_wrote_for_a_plain_base_are_not_those_of_the_class() -> None:
    one = Mixed(value=torch.zeros(3), batch_size=3)

    assert repr(one) == "Mixed(batch_size=[3], fields={count: int, value: f32[]})"
    same: Any = one == one
    assert same.value.tolist() == [True, True, True]


class Late(TensorClass):
    value: Tensor

    def __init__(self) -> None:
        self.value = torch.zeros(3)


def test_an_init_that_forgets_super_is_told_so() -> None:
    with pytest.raises(AttributeError, match=r"Late is used before super\(\).__init__"):
        Late()


class Frozen(TensorClass, frozen=True):
    value: Tensor


def test_a_frozen_class_makes_copies_and_takes_no_writes() -> None:
    one = Frozen(value=torch.zeros(3), batch_size=3)

    assert one.masked_fill(torch.tensor([True, False, False]), 1.0).value.tolist() == [1, 0, 0]
    assert one.rename("rows").names == ["rows"]
    assert copy.copy(one).names == [None]
    for write in (
        lambda: setattr(one, "names", ["rows"]),
        lambda: one.refine_names("rows"),
        lambda: lazy_stack([one, one]).__setitem__(0, 1.0),
        lambda: lazy_stack([one, one]).zero_(),
    ):
        with pytest.raises(errors.Locked, match="Frozen is frozen"):
            write()


def test_a_lazy_stack_of_a_class_has_no_other_attributes_either() -> None:
    rows = lazy_stack([Mixed(value=torch.zeros(3), batch_size=3) for _ in range(2)])
    with pytest.raises(errors.UnknownField, match="valeu"):
        rows.valeu = torch.zeros(2, 3)  # type: ignore[attr-defined]

    del rows.value
    with pytest.raises(AttributeError):
        rows.value  # noqa: B018


def test_the_norm_of_a_leaf_may_fold_any_number_of_dims() -> None:
    td = TensorDict(a=torch.ones(2, 3, 4, 5), batch_size=[2, 3, 4])

    assert td.norm()["a"].item() == pytest.approx(120**0.5)
    assert torch.allclose(td.norm(dim=(0, 1, 2))["a"], torch.full((5,), 24**0.5))
