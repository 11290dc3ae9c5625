"""Specs from the annotations of a class, and what such an annotation means when the class is made an instance of."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import torch
from jaxtyping import Bool, Float, Int, Int32, UInt8
from torch import Tensor

from tensorclass import TensorClass, TypedTensorDict, tensorclass
from tensorclass.envs import Bounded, Categorical, Composite, NonTensor, OneHot, Unbounded, specs_of


class Hand(TensorClass):
    grip: Annotated[Tensor, OneHot(3)]


class Body(TensorClass):
    pos: Annotated[Tensor, Bounded(-1.0, 1.0, (3,))]
    angle: Annotated[Tensor, Bounded(-3.1, 3.1)]
    speed: Annotated[Float[Tensor, "*batch 2"], Bounded(-8.0, 8.0)]
    force: Float[Tensor, "*batch 3"]
    image: UInt8[Tensor, "*batch 3 n n"]
    count: Int[Tensor, "*batch"]
    small: Int32[Tensor, "*batch 1"]
    flag: Bool[Tensor, "*batch 1"]
    gait: Annotated[Tensor, Categorical(4)] | None
    hand: Hand
    label: str = "hey"


class Plain(TensorClass):
    x: Tensor


class Tree(TensorClass):
    plain: Plain
    inner: Annotated[Plain, Composite(x=Unbounded((2,)))]


def body(*batch: int) -> Body:
    return Body(
        pos=torch.zeros(*batch, 3),
        angle=torch.zeros(batch),
        speed=torch.zeros(*batch, 2),
        force=torch.zeros(*batch, 3),
        image=torch.zeros(*batch, 3, 8, 8, dtype=torch.uint8),
        count=torch.zeros(batch, dtype=torch.int64),
        small=torch.zeros(*batch, 1, dtype=torch.int32),
        flag=torch.zeros(*batch, 1, dtype=torch.bool),
        gait=torch.zeros(batch, dtype=torch.int64),
        hand=Hand(grip=torch.tensor([True, False, False]).expand(*batch, 3)),
    )


def test_every_kind_of_annotation_has_its_spec() -> None:
    assert specs_of(Body) == Composite(
        pos=Bounded(-1.0, 1.0, (3,)),
        angle=Bounded(-3.1, 3.1, ()),
        speed=Bounded(-8.0, 8.0, (2,)),
        force=Unbounded((3,)),
        image=Unbounded((3, -1, -1), dtype=torch.uint8),
        count=Unbounded((), dtype=torch.int64),
        small=Unbounded((1,), dtype=torch.int32),
        flag=Unbounded((1,), dtype=torch.bool),
        gait=Categorical(4),
        hand=Composite(grip=OneHot(3), data_cls=Hand),
        label=NonTensor(example_data="hey"),
        data_cls=Body,
    )


def test_untyped_specs_are_of_plain_containers() -> None:
    spec = specs_of(Body, typed=False)
    assert spec.data_cls is None and spec["hand"].data_cls is None
    assert type(spec.rand()["hand"]).__name__ == "TensorDict"


def test_values_of_the_specs_are_instances_of_the_class() -> None:
    value: Any = specs_of(Body).rand((5,))
    assert isinstance(value, Body) and value.batch_size == (5,) and value.hand.grip.shape == (5, 3)
    assert value.label == "hey" and specs_of(Body).is_in(value)
    assert specs_of(Body).is_in(body(4)) and specs_of(Body).expand(4).is_in(body(4))


def test_a_spec_counts_as_the_batch_and_its_shape() -> None:
    assert body(4).batch_size == (4,) and body().batch_size == () and body(2, 3).hand.batch_size == (2, 3)
    with pytest.raises(RuntimeError, match="'pos'"):
        body(4).replace(pos=torch.zeros(4, 2))
    with pytest.raises(RuntimeError, match="'grip'"):
        Hand(grip=torch.zeros(4, 2))
    for batch in ((), (4,), (2, 4)):
        assert Hand(grip=torch.zeros(*batch, 3)).batch_size == batch
    with pytest.raises(RuntimeError, match="'angle'"):
        body(4).angle = torch.zeros(3)


def test_a_plain_tensor_says_no_shape() -> None:
    with pytest.raises(TypeError) as caught:
        specs_of(Plain)
    assert str(caught.value) == (
        "field 'x' of Plain is declared Tensor, which says no shape; "
        'annotate it Float[Tensor, "*batch 3"] or Annotated[Tensor, Unbounded((3,))]'
    )
    assert specs_of(Plain, strict=False) == Composite(x=None, data_cls=Plain)


def test_a_spec_of_a_nested_class_is_taken_as_it_is() -> None:
    assert specs_of(Tree, strict=False)["inner"] == Composite(x=Unbounded((2,)))
    assert specs_of(Tree, strict=False)["plain"]["x"] is None


class Chain(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    rest: Chain | None = None


class Keyed(TypedTensorDict):
    pos: Float[Tensor, "*batch 3"]


@tensorclass
class Decorated:
    keyed: Keyed


def test_a_class_inside_itself_says_nothing_more() -> None:
    assert specs_of(Chain) == Composite(pos=Unbounded((3,)), rest=None, data_cls=Chain)


def test_every_kind_of_class_declares_specs() -> None:
    keyed = Composite(pos=Unbounded((3,)), data_cls=Keyed)
    assert specs_of(Keyed) == keyed and specs_of(Decorated) == Composite(keyed=keyed, data_cls=Decorated)
    assert isinstance(specs_of(Decorated).rand((2,)), Decorated)


def test_a_spec_and_a_shape_that_differ_are_refused() -> None:
    class Odd(TensorClass):
        x: Annotated[Float[Tensor, "*batch 3"], Bounded(-1.0, 1.0, (2,))]

    with pytest.raises(ValueError) as caught:
        specs_of(Odd)
    assert str(caught.value) == (
        'Odd.x: the annotation Float[Tensor, "*batch 3"] and the spec of shape [2] do not fit each other'
    )


def test_bounds_without_a_shape_are_for_annotations_alone() -> None:
    class Here(TensorClass):
        x: Annotated[Tensor, Bounded(0.0, 1.0)]

    assert specs_of(Here)["x"].shape == () and Here(x=torch.zeros(3)).batch_size == (3,)
    with pytest.raises(RuntimeError):
        Bounded(0.0, 1.0)


def test_bounds_in_an_annotation_that_is_no_string() -> None:
    space: dict[str, Any] = dict(globals())
    source = "class Here(TensorClass):\n    x: Annotated[Tensor, Bounded(0.0, 1.0)]"
    exec(compile(source, __file__, "exec", dont_inherit=True), space)
    assert specs_of(space["Here"])["x"] == Bounded(0.0, 1.0, ())


class Beside(TensorClass):
    free: Annotated[Float[Tensor, "*batch"], Unbounded()]
    pair: Annotated[Float[Tensor, "*batch 2"], Unbounded()]
    whole: Annotated[Int[Tensor, "*batch 3"], Unbounded()]
    named: Annotated[Float[Tensor, "*batch n"], Unbounded()]
    level: Annotated[Int[Tensor, "*batch"], Bounded(0, 4)]
    pixel: Annotated[UInt8[Tensor, "*batch 2"], Bounded(0, 255)]
    alone: Annotated[Tensor, Unbounded()]


def test_a_spec_takes_the_shape_and_the_dtype_beside_it_where_it_says_none() -> None:
    assert specs_of(Beside, typed=False) == Composite(
        free=Unbounded(()),
        pair=Unbounded((2,)),
        whole=Unbounded((3,), dtype=torch.int64),
        named=Unbounded((-1,)),
        level=Bounded(0, 4, (), dtype=torch.int64),
        pixel=Bounded(0, 255, (2,), dtype=torch.uint8),
        alone=Unbounded((1,)),
    )


def test_what_a_spec_says_itself_is_not_changed() -> None:
    class Said(TensorClass):
        x: Annotated[Float[Tensor, "*batch"], Unbounded((1,))]

    with pytest.raises(ValueError) as error:
        specs_of(Said)

    assert 'Float[Tensor, "*batch"] and the spec of shape [1] do not fit' in str(error.value)
