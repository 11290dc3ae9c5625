"""Reading and writing fields: by attribute, by key, by nested key; what is refused leaves no trace."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import MetaData, NonTensorData, TensorClass, TensorDict, errors, stack


class Particles(TensorClass):
    pos: Float[Tensor, "*batch n 3"]
    mass: Float[Tensor, "*batch n"]
    note: str = "none"
    weight: Tensor | None = None


class Robot(TensorClass):
    body: Particles
    speed: Tensor
    spare: Particles | None = None
    extra: TensorDict | None = None


# Any, here and below: most of these programs are wrong on purpose.
def particles(batch: int = 4, n: int = 5) -> Any:
    return Particles(pos=torch.zeros(batch, n, 3), mass=torch.ones(batch, n))


def robot() -> Any:
    return Robot(body=particles(), speed=torch.zeros(4), batch_size=4)


def write(node: Any, name: str, value: Any) -> None:
    setattr(node, name, value)


WRITES: list[Callable[[Any, str, Any], Any]] = [
    write,
    lambda node, name, value: node.__setitem__(name, value),
    lambda node, name, value: node.set(name, value),
    lambda node, name, value: node.update({name: value}),
]


@pytest.mark.parametrize("put", WRITES)
def test_a_field_is_written_the_same_way_by_every_door(put: Any) -> None:
    one = particles()
    mass = torch.zeros(4, 5)

    put(one, "mass", mass)

    assert one.mass is mass
    assert one["mass"] is mass
    assert one.get("mass") is mass


@pytest.mark.parametrize("put", WRITES)
@pytest.mark.parametrize(
    ("name", "value", "kind", "sentence"),
    [
        (
            "mas",
            torch.zeros(4, 5),
            AttributeError,
            "Cannot set the attribute 'mas': Particles has no such field; did you mean 'mass'? "
            "Its fields are 'pos', 'mass', 'note', 'weight'.",
        ),
        (
            "mass",
            torch.zeros(31),
            RuntimeError,
            "field 'mass' has shape [31]; the batch size is [4], and the leading dims of a value must equal it",
        ),
        (
            "mass",
            torch.zeros(4, 6),
            RuntimeError,
            "field 'mass' has shape [4, 6], which does not fit \"*batch n\": n is 6 here and 5 elsewhere",
        ),
        (
            "mass",
            torch.zeros(4, 5).long(),
            TypeError,
            "field 'mass' has dtype int64, which Float does not take",
        ),
        (
            "mass",
            None,
            TypeError,
            "field 'mass' of Particles cannot be None; it is declared Float[Tensor, \"*batch n\"]",
        ),
        ("weight", "x", TypeError, "field 'weight' of Particles is declared Tensor | None; it got a str"),
    ],
)
def test_a_write_that_is_refused_leaves_the_instance_unchanged(
    put: Any, name: str, value: Any, kind: type[Exception], sentence: str
) -> None:
    one = particles()
    before = dict(one.items())

    with pytest.raises(kind) as error:
        put(one, name, value)

    assert str(error.value) == sentence
    assert dict(one.items()).keys() == before.keys()
    assert all(value is before[key] for key, value in one.items())


def test_an_update_with_one_bad_entry_changes_nothing() -> None:
    one = particles()
    before = one.pos

    with pytest.raises(RuntimeError):
        one.update({"pos": torch.ones(4, 5, 3), "mass": torch.ones(31)})

    assert one.pos is before


READS: list[Callable[[Any, str], Any]] = [
    getattr,
    lambda node, name: node[name],
    lambda node, name: node.get(name),
    lambda node, name: node.get(name, None),
]


@pytest.mark.parametrize("read", READS)
def test_an_unknown_name_is_refused_with_the_nearest_one(read: Any) -> None:
    with pytest.raises(AttributeError) as error:
        read(particles(), "mas")

    assert str(error.value) == (
        "Particles has no field 'mas'; did you mean 'mass'? Its fields are 'pos', 'mass', 'note', 'weight'"
    )


@pytest.mark.parametrize("read", READS[1:])
def test_an_unknown_key_is_also_a_key_error(read: Any) -> None:
    with pytest.raises(KeyError):
        read(particles(), "mas")


def test_a_method_is_no_field() -> None:
    with pytest.raises(KeyError) as error:
        particles()["sum"]
    assert str(error.value) == "Particles has no field 'sum'; its fields are 'pos', 'mass', 'note', 'weight'"


def test_nested_keys_reach_into_nested_classes() -> None:
    one = robot()

    assert one["body", "mass"] is one.body.mass
    assert one.get(("body", "mass")) is one.body.mass
    one["body", "mass"] = torch.zeros(4, 5)
    assert one.body.mass.sum() == 0
    one.set(("body", "note"), "set")
    assert one.body.note == "set"
    with pytest.raises(AttributeError) as error:
        one.set(("body", "mas"), torch.zeros(4, 5))
    assert str(error.value).startswith(
        "Cannot set the attribute 'mas': Particles has no such field; did you mean 'mass'?"
    )


def test_what_is_inside_an_unset_field_can_be_set_where_the_container_is_free() -> None:
    one = robot()

    one.set(("extra", "k"), torch.zeros(4))
    assert one.extra is not None and one.extra["k"].shape == (4,)
    with pytest.raises(RuntimeError) as error:
        one.set(("spare", "mass"), torch.zeros(4, 5))
    assert str(error.value) == "field 'spare' of Robot is unset: set it before what is inside it"


def test_an_unset_field_is_none_to_read_and_not_there_to_list() -> None:
    one = particles()

    assert one.weight is None
    assert one.get("weight") is None
    assert "weight" not in one
    assert list(one.keys()) == ["pos", "mass", "note"]
    assert "weight" not in dict(one.items())
    assert all(value is not None for value in one.values())
    one.weight = torch.zeros(4)
    assert list(one.keys()) == ["pos", "mass", "note", "weight"]
    one.weight = None
    assert "weight" not in one


def test_replace_keeps_everything_else() -> None:
    one: Any = Particles(pos=torch.zeros(4, 5, 3), mass=torch.ones(4, 5), names=["time"])

    other = one.replace(note="new")

    assert (other.note, other.names, other.batch_size, other.pos) == ("new", ["time"], (4,), one.pos)
    assert one.note == "none"


def test_replace_may_change_a_named_dim_in_all_fields_at_once() -> None:
    one = particles()

    assert one.replace(pos=torch.zeros(4, 7, 3), mass=torch.zeros(4, 7)).pos.shape == (4, 7, 3)
    with pytest.raises(RuntimeError) as error:
        one.replace(pos=torch.zeros(4, 7, 3))
    assert str(error.value) == (
        "field 'pos' has shape [4, 7, 3], which does not fit \"*batch n 3\": n is 7 here and 5 elsewhere"
    )
    with pytest.raises(TypeError) as unknown:
        one.replace(mas=3)
    assert str(unknown.value).startswith("Particles has no field 'mas'; did you mean 'mass'?")


def test_after_an_op_feature_dims_stay_checked_and_the_batch_is_the_new_one() -> None:
    one = particles()[0]

    one.mass = torch.zeros(5)
    with pytest.raises(RuntimeError):
        one.mass = torch.zeros(6)
    with pytest.raises(RuntimeError):
        one.mass = torch.zeros(4, 5)


def test_a_field_without_batch_may_keep_the_shape_that_an_op_gave_it() -> None:
    class Rows(TensorClass):
        x: Float[Tensor, "rows 3"]

    stacked = stack([Rows(x=torch.zeros(5, 3))] * 2)
    wrong: Any = torch.zeros(2, 5, 4)

    stacked.x = stacked.x + 1
    assert stacked.x.shape == (2, 5, 3)
    with pytest.raises(RuntimeError):
        stacked.x = wrong


def test_the_batch_size_must_stay_that_of_the_annotated_fields() -> None:
    one = particles()

    one.batch_size = [4]
    with pytest.raises(RuntimeError) as error:
        one.batch_size = []
    assert str(error.value) == (
        "field 'pos' has shape [4, 5, 3], which does not fit \"*batch n 3\": "
        "it has 3 dims; with batch size [] it must have 2"
    )


def test_a_plain_class_may_change_its_batch_size() -> None:
    class Sample(TensorClass):
        image: Tensor

    sample: Any = Sample(image=torch.zeros(4, 2))
    sample.batch_size = [4, 2]
    assert sample[0, 0].image.shape == ()
    with pytest.raises(RuntimeError):
        sample.batch_size = [5]
    assert sample.batch_size == (4, 2)


def test_a_deleted_field_is_unset() -> None:
    one = particles()
    one.weight = torch.zeros(4)

    del one.weight
    assert one.weight is None
    del one.mass
    with pytest.raises(AttributeError) as error:
        one.mass  # noqa: B018
    assert str(error.value) == "field 'mass' of Particles is not set yet"


def test_a_locked_instance_refuses_writes_by_every_door() -> None:
    one = particles().lock_()

    for put in WRITES:
        with pytest.raises(RuntimeError) as error:
            put(one, "mass", torch.zeros(4, 5))
        assert str(error.value) == (
            "cannot set 'mass': the container is locked; call .unlock_() on it first, or work on a .clone()"
        )


def test_a_property_setter_is_used_and_its_own_error_is_seen() -> None:
    class Scaled(TensorClass):
        x: Tensor

        @property
        def twice(self) -> Tensor:
            return self.x * 2

        @twice.setter
        def twice(self, value: Tensor) -> None:
            self.x = value / 2

        @property
        def broken(self) -> Tensor:
            me: Any = self
            value: Tensor = me.y
            return value

    one: Any = Scaled(x=torch.ones(2))
    one.twice = torch.full((2,), 8.0)
    assert one.x.tolist() == [4.0, 4.0]
    with pytest.raises(AttributeError) as error:
        one.broken  # noqa: B018
    assert str(error.value) == "Scaled has no field 'y'; its fields are 'x'"


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_keep_class_batch_size_names_and_fields(way: Any) -> None:
    one: Any = Robot(body=particles(), speed=torch.zeros(4), batch_size=4, names=["time"])

    other = way(one)

    assert type(other) is Robot and type(other.body) is Particles
    assert (other.batch_size, other.names, other.body.note) == ((4,), ["time"], "none")
    assert (other == one).all()
    other.body.note = "new"
    assert way is copy.copy or one.body.note == "none"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_pickle_protocol_brings_an_instance_back(protocol: int) -> None:
    one = pickle.loads(pickle.dumps(particles(), protocol))

    assert type(one) is Particles and one.batch_size == (4,)


def test_equality_is_elementwise_and_there_is_no_hash() -> None:
    one, other = particles(), particles()
    other.mass = other.mass * torch.tensor([1.0, 2, 1, 1, 1])

    same = one == other

    assert type(same) is Particles
    assert same.mass[:, 1].tolist() == [False] * 4 and same.pos.all()
    assert (one != other).mass.sum() == 4
    with pytest.raises(TypeError):
        hash(one)


def test_dicts_and_tensordicts_bring_nested_classes_back() -> None:
    one = robot()

    back: Any
    for back in (Robot.from_dict(one.to_dict(), batch_size=4), Robot.from_tensordict(one.to_tensordict())):
        assert type(back) is Robot and type(back.body) is Particles
        assert back.body.mass is one.body.mass
        assert (back.batch_size, back.spare, back.body.note) == ((4,), None, "none")
    assert type(one.to_tensordict()["body"]) is TensorDict
    with pytest.raises(TypeError) as error:
        Robot.from_dict({"bodi": 1})
    assert str(error.value) == (
        "Robot has no field 'bodi'; did you mean 'body'? Its fields are 'body', 'speed', 'spare', 'extra'"
    )
    with pytest.raises(KeyError) as missing:
        Robot.from_dict({"body": one.body})
    assert str(missing.value) == "Robot: no key 'speed'; the keys here are 'body'"


class Tagged(TensorClass):
    tag: MetaData
    x: torch.Tensor


@pytest.mark.parametrize("tag", ["a", MetaData("a"), NonTensorData("a")])
def test_a_field_of_plain_data_holds_the_value_however_it_is_given(tag: Any) -> None:
    one: Any = Tagged(tag=tag, x=torch.zeros(2), batch_size=[2])
    joined: Any = (torch.stack([one, one]), torch.cat([one, one]))
    assert {one.tag, one[0].tag, *[each.tag for each in joined]} == {"a"}


@pytest.mark.parametrize("wrap", [NonTensorData, MetaData])
def test_a_tensor_in_a_wrapper_is_an_entry_and_has_the_batch_size(wrap: Any) -> None:
    with pytest.raises(errors.ShapeError, match=r"'table' has shape \[10, 5\]"):
        TensorDict({"table": wrap(torch.zeros(10, 5))}, [4])
    with pytest.raises(errors.ShapeError, match=r"'table' has shape \[10, 5\]"):
        TensorDict(batch_size=[4]).set_non_tensor("table", torch.zeros(10, 5))
    assert TensorDict({"table": wrap(torch.zeros(10, 5))})["table"].shape == (10, 5)


class Loose(TensorClass):
    a: Tensor | str | None = None
    b: Tensor | None = None


def test_rows_written_where_nothing_is_set_make_the_fields() -> None:
    rows = Loose(batch_size=[3], device="cpu")
    rows[0] = Loose(a=torch.ones(()), b=torch.ones(2))
    assert rows.b is not None and rows.b.tolist() == [[1, 1], [0, 0], [0, 0]]
    rows[1:] = Loose(a=torch.ones(2), b=torch.ones(2, 2), batch_size=[2])
    assert isinstance(rows.a, Tensor) and rows.a.tolist() == [1, 1, 1]


def test_rows_with_a_field_that_there_is_not_are_refused() -> None:
    rows = Loose(batch_size=[3])
    with pytest.raises(errors.UnknownField, match="Loose has no field 'c'"):
        rows[0] = TensorDict(c=torch.ones(()))
    assert rows.a is None and list(rows.keys()) == []
