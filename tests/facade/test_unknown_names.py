"""Attributes, arguments and classes that are not what was meant: the error says what would do."""

from __future__ import annotations

import dataclasses
import importlib
import pickle
import re
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict, TypedTensorDict, errors, lazy_stack
from tensorclass import tensorclass as decorated
from tensorclass._container import Container
from tensorclass._declare import BadField
from tensorclass._rules import elsewhere


class Point(TensorClass):
    x: Tensor
    label: str = "none"


def containers() -> list[Any]:
    td, point = TensorDict(obs=torch.zeros(2), batch_size=[2]), Point(x=torch.zeros(2), batch_size=[2])
    return [td, point, lazy_stack([td, td]), lazy_stack([point, point])]


@pytest.mark.parametrize("x", containers(), ids=["TensorDict", "TensorClass", "lazy", "lazy TensorClass"])
@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("to_padded", ".densify(pad=0, mask=...)"),
        ("float32", ".to(torch.float32)"),
        ("all_reduce", "tensorclass.distributed.all_reduce(x, ...)"),
    ],
)
def test_a_method_of_another_library_says_what_does_the_same(x: Any, name: str, there: str) -> None:
    for where in (x, type(x)):
        with pytest.raises(AttributeError) as problem:
            getattr(where, name)

        assert str(problem.value) == f"{type(x).__name__} has no attribute {name!r}; {there} does that"
        assert not hasattr(where, name)


@pytest.mark.parametrize("x", [containers()[1], containers()[3]], ids=["TensorClass", "lazy TensorClass"])
def test_a_method_that_is_misspelt_has_the_nearest_one_in_its_error(x: Any) -> None:
    with pytest.raises(
        errors.UnknownField, match=r"^Point has no attribute 'reshap'; did you mean 'reshape'\?$"
    ) as problem:
        x.reshap  # noqa: B018  # Read for its error.

    assert str(pickle.loads(pickle.dumps(problem.value))) == str(problem.value)


def test_a_field_may_have_the_name_of_a_method_of_another_library() -> None:
    class Typed(TypedTensorDict):
        load: Tensor

    class Untold(TensorClass):
        load: Tensor
        save: Tensor | None = None

    one = Untold(load=torch.ones(2), batch_size=[2])

    assert [float(one.load.sum()), one.save, float(one[0].load)] == [2.0, None, 1.0]
    assert lazy_stack([one, one]).load.shape == (2, 2)
    assert Typed(load=torch.ones(2)).load.sum() == 2


def test_a_property_that_fails_is_not_said_to_be_missing() -> None:
    class Odd(TensorDict):
        @property
        def half_done(self) -> Any:
            return self.batch_size.missing  # type: ignore[attr-defined]  # The mistake that is to be seen.

    with pytest.raises(AttributeError, match=r"Size' object has no attribute 'missing'"):
        Odd().half_done  # noqa: B018  # Read for its error.


def test_a_name_of_another_library_is_told_by_every_part_of_the_package() -> None:
    said = {
        "tensorclass": ("from_module", "tensorclass.TensorDict.from_module"),
        "tensorclass.envs": ("ProbabilisticActor", "tensorclass.nn.ProbabilisticTensorDictSequential"),
        "tensorclass.io": ("from_safetensors", "tensorclass.io.load_safetensors"),
        "tensorclass.distributed": ("collate", "tensorclass.io.RowLoader"),
    }
    for module, (name, meant) in said.items():
        with pytest.raises(AttributeError, match=f"'{module}' has no attribute '{name}'; {meant} does that"):
            getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match=r"has no attribute 'TensorDic'; did you mean 'TensorDict'\?"):
        importlib.import_module("tensorclass").TensorDic  # noqa: B018  # Read for its error.


@pytest.mark.parametrize("there", [*elsewhere.METHODS.values(), *elsewhere.NAMES.values()])
def test_what_is_said_to_do_instead_is_there(there: str) -> None:
    where: Any = importlib.import_module("tensorclass")
    steps = re.match(r"[\w.]+", there)[0].removeprefix("tensorclass.").split(".")  # type: ignore[index]  # All match.
    if there.startswith("."):
        where, steps = TensorDict, steps[1:]
    elif there.startswith("env."):
        where, steps = where.envs.EnvBase, steps[1:]
    for step in steps:
        optional = getattr(where, "_OPTIONAL", {})  # In a file that needs a package which may not be here.
        if step in optional:
            return
        where = getattr(where, step)


def test_no_name_that_is_said_to_be_missing_is_there() -> None:
    bases = Container.__mro__[1:]
    assert {name for name in elsewhere.METHODS if any(name in vars(base) for base in bases)} == set()
    assert {name for name in elsewhere.METHODS if hasattr(TensorDict, name) or hasattr(TensorClass, name)} == set()
    assert {name for name in elsewhere.NAMES if hasattr(importlib.import_module("tensorclass"), name)} == set()


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ({"x": torch.zeros(2)}, "Point.from_dict(...) or Point(**fields) takes the fields out of a dict"),
        (TensorDict(x=torch.zeros(2)), "Point.from_tensordict(...) takes the fields out of a container"),
    ],
)
def test_fields_given_in_one_piece_are_told_where_they_go(given: Any, end: str) -> None:
    class Pair(TensorClass):
        x: Tensor
        y: Tensor

    with pytest.raises(errors.KindError, match=re.escape(f"it got {kind(given)}; {end}")):
        Point(given)
    with pytest.raises(errors.KindError, match=re.escape(f"no default; {end.replace('Point', 'Pair')}")):
        Pair(given)  # type: ignore[call-arg]  # The mistake that is to be seen.


def kind(value: Any) -> str:
    return "a dict" if isinstance(value, dict) else "a TensorDict"


def test_a_star_that_is_not_batch_is_named_where_rows_are_asked_for() -> None:
    class Other(TensorClass):
        x: Float[Tensor, "*b 3"]

    one = Other(x=torch.zeros(5, 3))

    for ask in (lambda: one[0], lambda: one[:, 1], lambda: list(one)):
        with pytest.raises((errors.DimError, errors.KindError)) as problem:
            ask()
        assert str(problem.value).endswith("; \"*b 3\" of field 'x' tells no batch size, as only *batch does")
    with pytest.raises(errors.DimError, match="to reach its feature dims$"):
        Point(x=torch.zeros(5))[0]


def test_dataclass_over_a_class_is_refused() -> None:
    for decorate in (dataclass, dataclass(eq=False)):
        with pytest.raises(BadField, match="Point is a dataclass as it is; leave @dataclass out"):
            decorate(Point)

    assert (Point(x=torch.ones(2), batch_size=[2]) == Point(x=torch.ones(2), batch_size=[2])).all()


def test_tensorclass_over_dataclass_is_the_body_alone() -> None:
    @decorated
    @dataclass
    class Sample:
        x: Tensor
        tags: list[str] = dataclasses.field(default_factory=list)
        count: int = 3

        def __repr__(self) -> str:
            return "mine"

    made: Any = Sample
    sample = made(x=torch.zeros(4, 2), batch_size=[4])

    assert (sample[0].x.shape, sample.tags, sample.count, repr(sample)) == ((2,), [], 3, "mine")
    assert (sample == sample).x.shape == (4, 2)
    assert isinstance(sample, TensorClass)


def test_every_container_becomes_a_lazy_stack_of_its_rows() -> None:
    rows = Point(x=torch.arange(3), batch_size=[3], names=["row"]).to_lazystack()

    assert isinstance(rows, Point)
    assert (rows.names, rows[2].x.item()) == (["row"], 2)
