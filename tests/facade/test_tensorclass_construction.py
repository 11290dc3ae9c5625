"""Making an instance: what is inferred, what is checked, what is refused and in which words."""

from __future__ import annotations

import inspect
import linecache
import types
from dataclasses import InitVar
from typing import Any

import pytest
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from tensorclass import NonTensorData, TensorClass, TensorDict, stack
from tensorclass._rules import errors


class Particles(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    vel: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]


class Sample(TensorClass):
    image: Tensor
    label: str = "none"
    weight: Tensor | None = None


class Points(TensorClass):
    xyz: Float[Tensor, "*batch n 3"]
    color: Float[Tensor, "*batch n"]
    edges: Int[Tensor, "*batch n+1"] | None = None


class Outer(TensorClass):
    inner: Shaped[Particles, "*batch"]
    loose: Particles | None = None
    extra: TensorDict | None = None


def particles(*batch: int) -> Particles:
    return Particles(pos=torch.zeros(*batch, 3), vel=torch.zeros(*batch, 3), mass=torch.ones(batch))


# Classes as Any, for the calls that are wrong on purpose.
LOOSE: Any = types.SimpleNamespace(Particles=Particles, Sample=Sample, Outer=Outer, Points=Points)


def refused(kind: type[Exception], sentence: str, call: Any) -> None:
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == sentence


@pytest.mark.parametrize("batch", [(), (4,), (2, 3), (0,)])
def test_the_batch_size_is_read_off_the_fields(batch: tuple[int, ...]) -> None:
    assert particles(*batch).batch_size == batch


def test_without_batch_in_an_annotation_the_batch_size_is_empty() -> None:
    assert Sample(image=torch.zeros(4, 2)).batch_size == ()


def test_a_given_batch_size_wins() -> None:
    assert Sample(image=torch.zeros(4, 2), batch_size=[4]).batch_size == (4,)
    assert Sample(image=torch.zeros(4, 2), batch_size=4).batch_size == (4,)
    assert Sample(image=torch.zeros(4, 2), batch_size=torch.Size([4, 2])).batch_size == (4, 2)


def test_a_nested_class_tells_the_batch_size_only_where_it_says_so() -> None:
    assert Outer(inner=particles(4)).batch_size == (4,)
    assert Outer(inner=particles(4), loose=particles(4, 2)).batch_size == (4,)


def test_a_default_votes_like_a_value_that_is_passed() -> None:
    class Default(TensorClass):
        x: Float[Tensor, "*batch 3"]
        y: Float[Tensor, "*batch"] = torch.zeros(2)

    assert Default(torch.zeros(2, 3)).batch_size == (2,)
    refused(
        RuntimeError,
        "fields 'x' and 'y' disagree on *batch: [5] and [2]",
        lambda: Default(torch.zeros(5, 3)),
    )


@pytest.mark.parametrize(
    ("fields", "kind", "sentence"),
    [
        (
            {"mass": torch.ones(31)},
            RuntimeError,
            "fields 'pos' and 'mass' disagree on *batch: [4] and [31]",
        ),
        (
            {"mass": torch.ones(31), "batch_size": [4]},
            RuntimeError,
            "field 'mass' has shape [31]; the batch size is [4], and the leading dims of a value must equal it",
        ),
        (
            {"pos": torch.zeros(4, 2)},
            RuntimeError,
            "field 'pos' has shape [4, 2], which does not fit \"*batch 3\": dim 1 is 2, not 3",
        ),
        (
            {"mass": torch.ones(4, dtype=torch.long)},
            TypeError,
            "field 'mass' has dtype int64, which Float does not take",
        ),
        ({"mass": "heavy"}, TypeError, "field 'mass' of Particles is declared Float[Tensor, \"*batch\"]; it got a str"),
        (
            {"mass": None},
            TypeError,
            "field 'mass' of Particles cannot be None; it is declared Float[Tensor, \"*batch\"]",
        ),
        (
            {"mass": TensorDict()},
            TypeError,
            "field 'mass' of Particles is declared Float[Tensor, \"*batch\"]; it got a TensorDict",
        ),
        (
            {"mas": 3},
            TypeError,
            "Particles has no field 'mas'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass'",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(
    fields: dict[str, Any], kind: type[Exception], sentence: str
) -> None:
    given = {"pos": torch.zeros(4, 3), "vel": torch.zeros(4, 3), "mass": torch.ones(4), **fields}
    refused(kind, sentence, lambda: LOOSE.Particles(**given))


def test_a_missing_argument_is_named_and_a_misspelt_one_first() -> None:
    x = torch.zeros(4, 3)
    refused(TypeError, "Particles: no value for 'mass', and it has no default", lambda: LOOSE.Particles(pos=x, vel=x))
    refused(
        AttributeError,
        "Particles has no field 'mas'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass'",
        lambda: LOOSE.Particles(pos=x, vel=x, mas=x),
    )


def test_the_names_of_dims_bind_per_instance() -> None:
    points = Points(xyz=torch.zeros(2, 5, 3), color=torch.zeros(2, 5), edges=torch.zeros(2, 6).long())

    assert points.batch_size == (2,)
    refused(
        RuntimeError,
        "field 'color' has shape [2, 4], which does not fit \"*batch n\": n is 4 here and 5 elsewhere",
        lambda: LOOSE.Points(xyz=torch.zeros(2, 5, 3), color=torch.zeros(2, 4)),
    )
    refused(
        RuntimeError,
        "field 'edges' has shape [2, 5], which does not fit \"*batch n+1\": dim 1 is 5, and n+1 is 6",
        lambda: LOOSE.Points(xyz=torch.zeros(2, 5, 3), color=torch.zeros(2, 5), edges=torch.zeros(2, 5).long()),
    )


def test_numbers_and_arrays_become_tensors_in_a_tensor_field() -> None:
    numpy = pytest.importorskip("numpy")

    assert torch.equal(LOOSE.Sample(image=3).image, torch.tensor(3))
    assert torch.equal(LOOSE.Sample(image=[1.0, 2.0]).image, torch.tensor([1.0, 2.0]))
    assert torch.equal(LOOSE.Sample(image=numpy.ones(2)).image, torch.ones(2).double())


def test_plain_values_stay_what_they_are() -> None:
    class Plain(TensorClass):
        x: Tensor
        n: int
        tags: list[str]
        meta: dict[str, int]
        anything: Any = None

    tags = ["a", "b"]
    one = Plain(x=torch.zeros(2), n=3, tags=tags, meta={"k": 1}, anything={"a": 1}, batch_size=2)

    for other in (one, one[0], one.clone(), one.unsqueeze(0), stack([one, one]), one + 1, one.to(torch.float64)):
        assert (other.n, other.tags, other.meta, other.anything) == (3, ["a", "b"], {"k": 1}, {"a": 1})
        assert type(other.n) is int
    assert LOOSE.Sample(image=torch.zeros(1), label=NonTensorData("x")).label == "x"


def test_a_dict_is_not_taken_for_a_nested_class() -> None:
    refused(
        TypeError,
        "field 'inner' of Outer is declared Shaped[Particles, \"*batch\"]; it got a dict, "
        "and Particles.from_dict would make it a Particles",
        lambda: LOOSE.Outer(inner={"pos": torch.zeros(3)}),
    )
    assert LOOSE.Outer(inner=particles(2), extra={"k": torch.zeros(2)}).extra["k"].shape == (2,)


def test_a_container_of_another_class_is_refused() -> None:
    refused(
        TypeError,
        "field 'inner' of Outer is declared Shaped[Particles, \"*batch\"]; it got a Sample",
        lambda: LOOSE.Outer(inner=Sample(image=torch.zeros(2))),
    )
    refused(
        TypeError,
        "field 'inner' of Outer is declared Shaped[Particles, \"*batch\"]; it got a TensorDict",
        lambda: LOOSE.Outer(inner=TensorDict()),
    )


def test_parameters_stay_themselves() -> None:
    weight = nn.Parameter(torch.zeros(4, 2))

    assert Sample(image=weight, batch_size=4).image is weight


def test_fields_are_the_tensors_that_were_given() -> None:
    image = torch.zeros(4, 2)

    assert Sample(image=image, batch_size=4).image is image


def test_a_device_moves_every_tensor() -> None:
    sample = Sample(image=torch.zeros(4), device="meta", batch_size=4)

    assert sample.image.device.type == "meta"
    assert sample.device == torch.device("meta")


def test_dim_names_are_one_a_batch_dim() -> None:
    assert Sample(image=torch.zeros(4), batch_size=4, names=["time"]).names == ["time"]
    refused(
        ValueError,
        "names: 2 names for 1 batch dim; give one a dim, or None",
        lambda: LOOSE.Sample(image=torch.zeros(4), batch_size=4, names=["time", "x"]),
    )


def test_the_generated_source_can_be_read_and_the_signature_is_the_declared_one() -> None:
    file = Particles.__init__.__code__.co_filename

    assert file.startswith("<tensorclass Particles.__init__")  # A number follows where another class has the name.
    assert linecache.getline(file, 1).startswith("def __init__(self, pos=")
    assert list(inspect.signature(Sample).parameters) == ["image", "label", "weight", "batch_size", "device", "names"]
    assert inspect.signature(Sample).parameters["image"].default is inspect.Parameter.empty
    assert inspect.signature(Sample).parameters["label"].default == "none"


def test_an_annotation_of_one_dim_called_batch_is_refused_with_the_class() -> None:
    def declare() -> None:
        class Wrong(TensorClass):
            x: Float[Tensor, "batch 3"]  # type: ignore[tensorclass-shape]  # mypy says so too

    refused(TypeError, 'field \'x\': "batch 3" has one dim called batch; did you mean "*batch 3"?', declare)


def test_dims_without_batch_are_the_whole_shape() -> None:
    class Rows(TensorClass):
        x: Float[Tensor, "rows 3"]
        any_rank: Float[Tensor, "... 2"]
        one: Float[Tensor, "#rows"]

    rows = Rows(x=torch.zeros(5, 3), any_rank=torch.zeros(5, 7, 2), one=torch.zeros(1))
    assert rows.batch_size == ()
    refused(
        RuntimeError,
        "field 'one' has shape [4], which does not fit \"#rows\": rows is 4 here and 5 elsewhere",
        lambda: Rows(x=torch.zeros(5, 3), any_rank=torch.zeros(5, 7, 2), one=torch.zeros(4)),
    )
    refused(
        RuntimeError,
        "field 'x' has shape [2, 5, 3], which does not fit \"rows 3\": it has 3 dims, not 2",
        lambda: Rows(x=torch.zeros(2, 5, 3), any_rank=torch.zeros(2, 2), one=torch.zeros(1), batch_size=2),
    )


def test_nested_jagged_tensors_need_only_the_first_dim() -> None:
    jagged = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)], layout=torch.jagged)

    assert Sample(image=jagged, batch_size=2).image.is_nested
    with pytest.raises(errors.ShapeError):
        LOOSE.Sample(image=jagged, batch_size=3)


@pytest.mark.parametrize(
    "value", [torch.ones(5), torch.ones(4, 2), torch.ones(4, dtype=torch.long), torch.ones(4).bool()]
)
def test_replace_refuses_what_a_write_refuses_in_the_same_words(value: Tensor) -> None:
    one = Particles(pos=torch.zeros(4, 3), vel=torch.zeros(4, 3), mass=torch.ones(4))
    with pytest.raises(errors.RuleError) as written:
        one.mass = value
    with pytest.raises(errors.RuleError) as replaced:
        one.replace(mass=value, pos=torch.zeros(4, 3))
    assert str(replaced.value) == str(written.value)
    assert one.replace(mass=torch.zeros(4)).mass.sum() == 0


def test_entries_of_another_container_are_checked_as_arguments_are() -> None:
    class Sized(TensorClass):
        pos: Float[Tensor, "*batch n"]
        vel: Float[Tensor, "*batch n"]
        scale: InitVar[float] = 2.0

        def __post_init__(self, scale: float) -> None:
            raise AssertionError("not for entries")

    good = TensorDict(pos=torch.zeros(4, 3), vel=torch.zeros(4, 3), batch_size=[4])
    assert Sized.from_tensordict(good).batch_size == (4,)
    assert Sized.from_dict(good.to_dict()).batch_size == (4,)

    with pytest.raises(errors.ShapeError, match="vel"):
        Sized.from_tensordict(good.replace(vel=torch.zeros(4, 2)))
    with pytest.raises(errors.KeyMissing, match="Sized: no key 'vel'"):
        Sized.from_tensordict(good.exclude("vel"))
    with pytest.raises(errors.UnknownField, match="Sized has no field 'mass'"):
        Sized.from_tensordict(good.replace(mass=torch.zeros(4)))
