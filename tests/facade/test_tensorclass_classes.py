"""Declaring a class: what dataclasses offer, options, inheritance, generics, annotations of every form."""

from __future__ import annotations

import abc
import dataclasses
import functools
import pickle
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Generic, Literal, NewType, Optional, TypeVar, Union, get_type_hints

import jaxtyping
import pytest
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from typing_extensions import Self

from tensorclass import TensorClass, TensorDict, errors, field, stack, tensorclass

T = TypeVar("T", bound=TensorClass)
Count = NewType("Count", int)


class Obs(TensorClass):
    pixels: Float[Tensor, "*batch 8"]


class Pair(TensorClass, Generic[T]):
    first: T
    second: T


class ObsPair(Pair[Obs]):
    weight: Tensor


class Holder(TensorClass):
    pair: Pair[Obs]


class Tree(TensorClass):
    value: Tensor
    left: Optional[Tree] = None  # noqa: UP045
    right: "Tree | None" = None
    later: "Later | None" = None


class Later(TensorClass):
    x: Tensor


@tensorclass
class Decorated:
    """Documented."""

    x: Tensor
    scale: float = 1.0

    def total(self) -> Tensor:
        return self.x.sum() * self.scale

    def __repr__(self) -> str:
        return "mine"


@tensorclass(frozen=True)
class FrozenOne:
    x: Tensor


def obs(*batch: int) -> Obs:
    return Obs(pixels=torch.zeros(*batch, 8))


def declared(body: str, **names: Any) -> Any:
    """The class X that a body declares, in a module of its own."""
    module = types.ModuleType("made_up")
    module.__dict__.update({"torch": torch, "Tensor": Tensor, "TensorClass": TensorClass, **names})
    sys.modules["made_up"] = module
    try:
        exec(textwrap.dedent(body), module.__dict__)
    finally:
        del sys.modules["made_up"]
    return module.__dict__["X"]


def refused(body: str, sentence: str, kind: type[Exception] = TypeError, **names: Any) -> None:
    with pytest.raises(kind) as error:
        declared(body, **names)
    assert str(error.value) == sentence


# ---- dataclass features ----------------------------------------------------------------------------------------------


class Full(TensorClass):
    x: Tensor
    scale: dataclasses.InitVar[float] = 1.0
    total: ClassVar[int] = 7
    buf: Tensor = field(default_factory=lambda: torch.zeros(3))
    y: Tensor = field(init=False)
    _: dataclasses.KW_ONLY
    z: Tensor = dataclasses.field(default_factory=lambda: torch.ones(3), metadata={"unit": "m"})

    def __post_init__(self, scale: float) -> None:
        self.y = self.x * scale


def test_what_dataclasses_offer_works_as_on_a_dataclass() -> None:
    one = Full(torch.ones(3), 3.0)

    assert one.y.tolist() == [3.0, 3.0, 3.0]
    assert one.buf is not Full(torch.ones(3)).buf
    assert [column.name for column in dataclasses.fields(one)] == ["x", "buf", "y", "z"]
    assert dataclasses.fields(Full)[3].metadata == {"unit": "m"}
    assert Full.__match_args__ == ("x", "scale", "buf")
    assert Full.total == 7
    assert set(dataclasses.asdict(one)) == {"x", "buf", "y", "z"}
    assert len(dataclasses.astuple(one)) == 4
    loose: Any = Full
    with pytest.raises(TypeError):
        loose(torch.ones(3), 1.0, torch.ones(3), torch.ones(3))
    assert dataclasses.is_dataclass(loose)


def test_dataclasses_replace_keeps_batch_size_names_and_device() -> None:
    one = Obs(pixels=torch.zeros(4, 8), names=["time"], device="cpu")

    other = dataclasses.replace(one, pixels=torch.ones(4, 8))

    assert type(other) is Obs
    assert (other.batch_size, other.names, other.device) == ((4,), ["time"], torch.device("cpu"))
    assert other.pixels.sum() == 32


def test_post_init_runs_once_and_never_again_by_an_op() -> None:
    class Doubled(TensorClass):
        x: Tensor

        def __post_init__(self) -> None:
            self.x = self.x * 2

    one = Doubled(x=torch.ones(3), batch_size=3)

    for other in (one, one.clone(), one[:], one.reshape(3), stack([one, one]), one.replace(), one.to("cpu")):
        assert (other.x == 2).all()
    assert (Doubled.from_dict(one.to_dict()).x == 2).all()
    assert (pickle.loads(pickle.dumps(FrozenOne(x=torch.ones(1)))).x == 1).all()


def test_an_init_of_ones_own_fills_the_fields_through_super() -> None:
    class Zeros(TensorClass):
        x: Tensor
        n: int

        def __init__(self, n: int) -> None:
            super().__init__(x=torch.zeros(n), n=n, batch_size=[n])

    class More(Zeros):
        y: Tensor

        def __init__(self, n: int) -> None:
            super().__init__(n)
            self.y = torch.ones(n)

    assert Zeros(3).batch_size == (3,)
    assert Zeros(3)[0].n == 3
    assert More(2).y.tolist() == [1.0, 1.0]
    assert type(More(2)[0]) is More
    with pytest.raises(TypeError) as error:
        TensorClass()
    assert str(error.value) == "TensorClass has no fields; subclass it and declare some"


def test_match_patterns_see_positions_and_names() -> None:
    match obs(4):
        case Obs(pixels):
            assert pixels.shape == (4, 8)
        case _:
            raise AssertionError
    match Full(torch.ones(3)):
        case Full(x=x, z=z):
            assert x.sum() == z.sum()
        case _:
            raise AssertionError


def test_base_fields_come_first_and_a_required_one_cannot_follow_a_default() -> None:
    class Base(TensorClass):
        x: Tensor
        note: Tensor | None = None

    class Lifted(Base, kw_only=True):
        y: Tensor

    one = Lifted(torch.zeros(2), y=torch.ones(2), batch_size=2)
    assert one.y.sum() == 2
    assert [column.name for column in dataclasses.fields(one)] == ["x", "note", "y"]
    refused(
        """
        class Base(TensorClass):
            x: Tensor = None
        class X(Base):
            y: Tensor
        """,
        "field 'y' of X has no default but follows 'x', which has one; give it a default, or pass kw_only=True",
    )


def test_a_field_whose_default_is_none_may_be_none() -> None:
    cls = declared("class X(TensorClass):\n    x: Tensor\n    hidden: Tensor = None")

    one = cls(x=torch.zeros(4), batch_size=4)
    assert one.hidden is None
    one.hidden = torch.zeros(4, 2)
    assert one[0].hidden.shape == (2,)
    assert one.replace(hidden=None).hidden is None


def test_a_mutable_default_is_refused_as_dataclasses_do() -> None:
    with pytest.raises(ValueError, match="use default_factory"):
        declared("class X(TensorClass):\n    x: list = []")


def test_a_default_is_no_class_attribute_so_that_no_op_is_hidden() -> None:
    cls = declared("class X(TensorClass, shadow=True):\n    mean: Tensor = torch.zeros(2)")

    mean_of: Any = torch.mean

    assert callable(cls.mean)
    assert not hasattr(Full, "buf")
    assert mean_of(cls(mean=torch.ones(2), batch_size=2)).mean == 1


def test_type_hints_on_class_and_methods_are_the_builtins() -> None:
    class Plain(TensorClass):
        n: int
        f: float
        b: bool

        def method(self, k: int, q: float) -> bool:
            return True

    hints = get_type_hints(Plain)
    assert (hints["n"], hints["f"], hints["b"]) == (int, float, bool)
    assert get_type_hints(Plain.method) == {"k": int, "q": float, "return": bool}


# ---- names that are refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["values", "mean", "shape", "names", "device", "to", "reshape"])
def test_a_field_that_would_hide_a_method_is_refused(name: str) -> None:
    refused(
        f"class X(TensorClass):\n    {name}: Tensor",
        f"field {name!r} of X would hide TensorClass.{name}; rename it, or pass shadow=True",
    )


@pytest.mark.parametrize("name", ["batch_size", "_fields", "_batch"])
def test_a_name_of_the_store_is_refused_always(name: str) -> None:
    refused(
        f"class X(TensorClass, shadow=True):\n    {name}: Tensor",
        f"field {name!r} of X: the name is taken by the library; rename it",
    )


def test_with_shadow_a_field_hides_a_method_on_instances_and_ops_go_on() -> None:
    cls = declared(
        """
        class X(TensorClass, shadow=True):
            mean: Tensor
            values: Tensor
            names: Tensor
            keys: str = "k"
        """
    )
    one = cls(mean=torch.zeros(2), values=torch.ones(2), names=torch.full((2,), 2.0), batch_size=[2])

    assert (one.mean.sum(), one.values.sum(), one.names.sum(), one.keys) == (0, 2, 4, "k")
    one.names = torch.zeros(2)
    assert one[0].names == 0
    assert stack([one, one]).values.shape == (2, 2)
    assert one.clone().to("cpu").reshape(1, 2).mean.shape == (1, 2)
    assert one["values"] is one.values
    assert set(one.to_tensordict().keys()) == {"mean", "values", "names", "keys"}


# ---- options ---------------------------------------------------------------------------------------------------------


def test_options_stand_in_brackets_or_in_keywords_and_are_inherited() -> None:
    bracket = declared("class X(TensorClass['nocast', 'frozen']):\n    n: Tensor")
    keyword = declared("class X(TensorClass, nocast=True, frozen=True):\n    n: Tensor")
    child = declared("class X(Keyword):\n    m: Tensor = None", Keyword=keyword)

    for cls in (bracket, keyword, child):
        one = cls(n=3)
        assert type(one.n) is int
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.n = 4
    with pytest.raises(ValueError) as error:
        declared("class X(TensorClass['nocats']):\n    n: Tensor")
    assert str(error.value) == "TensorClass['nocats']: the options are frozen, autocast, nocast, tensor_only, shadow"


def test_autocast_casts_to_the_annotation() -> None:
    class Cast(TensorClass, autocast=True):
        x: Tensor
        n: int
        f: float
        s: str
        i: Int[Tensor, "*batch"]
        o: Obs

    loose: Any = types.SimpleNamespace(Cast=Cast)
    one: Any = loose.Cast(x=[1, 2], n=torch.tensor(3), f="2.5", s=4, i=torch.ones(2), o={"pixels": torch.zeros(2, 8)})

    assert (one.n, one.f, one.s, one.i.dtype) == (3, 2.5, "4", torch.int64)
    assert torch.equal(one.x, torch.tensor([1, 2]))
    assert type(one.o) is Obs
    with pytest.raises(TypeError) as error:
        one.n = "three"
    assert str(error.value) == "field 'n' of Cast is declared int; it got a str"


def test_autocast_and_nocast_exclude_each_other() -> None:
    refused(
        "class X(TensorClass, autocast=True, nocast=True):\n    x: Tensor",
        "autocast and nocast exclude each other; choose one of them",
        ValueError,
    )


def test_tensor_only_refuses_data_in_the_class_and_at_run_time() -> None:
    refused(
        "class X(TensorClass, tensor_only=True):\n    x: Tensor\n    n: int",
        "field 'n' of X is declared int; with tensor_only a field holds tensors or containers",
    )

    class Only(TensorClass, tensor_only=True):
        x: Any

    with pytest.raises(TypeError) as error:
        Only(x="text")
    assert str(error.value) == "field 'x' of Only got a str; with tensor_only it takes no data"


FROZEN_WRITES: dict[str, Callable[[Any], Any]] = {
    "set 'x'": lambda one: setattr(one, "x", torch.zeros(2)),
    "update()": lambda one: one.update({"x": torch.zeros(2)}),
    "add_()": lambda one: one.add_(1),
    "zero_()": lambda one: one.zero_(),
    "write rows in place": lambda one: one.__setitem__(0, 0.0),
    "set 'batch_size'": lambda one: setattr(one, "batch_size", []),
    "pop()": lambda one: one.pop("x"),
}


@pytest.mark.parametrize("action", FROZEN_WRITES)
def test_a_frozen_class_refuses_every_write(action: str) -> None:
    loose: Any = FrozenOne
    one = loose(x=torch.ones(2), batch_size=2)

    for made in (one, one.clone(), one + 0):
        with pytest.raises(dataclasses.FrozenInstanceError) as error:
            FROZEN_WRITES[action](made)
        assert str(error.value) == f"cannot {action}: FrozenOne is frozen; .replace(...) makes a changed copy"
        assert made.x.tolist() == [1.0, 1.0]
    assert one.replace(x=torch.zeros(2)).x.sum() == 0


# ---- the decorator ---------------------------------------------------------------------------------------------------


def test_the_decorator_makes_a_tensorclass_of_the_same_name() -> None:
    loose: Any = Decorated
    one = loose(x=torch.ones(4, 2), scale=2.0, batch_size=[4])

    assert issubclass(loose, TensorClass)
    assert (Decorated.__name__, Decorated.__module__, Decorated.__doc__) == ("Decorated", __name__, "Documented.")
    assert repr(one) == "mine"
    assert one[0].total() == 4
    assert type(pickle.loads(pickle.dumps(one))) is Decorated


def test_methods_of_the_body_and_of_plain_bases_win_over_ours() -> None:
    mine = declared(
        """
        class Mover:
            def to(self, *where):
                return "moved"

        @tensorclass
        class X(Mover):
            x: Tensor

            def clone(self):
                return "cloned"

            def parent(self):
                return super().to("cpu"), __class__
        """,
        tensorclass=tensorclass,
    )
    one = mine(x=torch.zeros(2))
    assert (one.to("cpu"), one.clone()) == ("moved", "cloned")
    assert one.parent() == ("moved", mine)


def test_the_decorator_gives_options_to_a_class_that_is_one_already() -> None:
    child = declared(
        "@tensorclass(frozen=True)\nclass X(Obs):\n    extra: Tensor = None", tensorclass=tensorclass, Obs=Obs
    )
    one = child(pixels=torch.zeros(2, 8))
    assert isinstance(one, Obs) and one.batch_size == (2,)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(one, "extra", torch.zeros(2))  # noqa: B010


# ---- inheritance, generics, abstract classes -------------------------------------------------------------------------


def test_mixins_and_abstract_bases_work() -> None:
    class Named:
        def title(self) -> str:
            return type(self).__name__

    class Shape(TensorClass, abc.ABC):
        x: Tensor

        @abc.abstractmethod
        def area(self) -> Tensor: ...

    class Square(Named, Shape):
        def area(self) -> Tensor:
            return self.x**2

        def bigger(self) -> Self:
            return self.replace(x=self.x + 1)

    assert Square(x=torch.full((2,), 3.0), batch_size=2).bigger()[0].area() == 16
    assert Square(x=torch.zeros(1)).title() == "Square"
    with pytest.raises(TypeError, match="abstract"):
        loose: Any = Shape
        loose(x=torch.zeros(1))


def test_generic_classes_subscript_nest_and_rebuild() -> None:
    pair = Pair[Obs](first=obs(4), second=obs(4), batch_size=4)

    assert type(pair) is Pair and type(pair[0].first) is Obs
    assert type(stack([pair, pair]).second) is Obs
    holder = Holder(pair=pair, batch_size=4)
    assert type(Holder.from_dict(holder.to_dict(), batch_size=4).pair.first) is Obs
    one = ObsPair.from_dict({"first": {"pixels": torch.zeros(8)}, "second": obs(), "weight": torch.zeros(())})
    assert type(one.first) is Obs
    loose: Any = ObsPair
    with pytest.raises(TypeError) as error:
        loose(first=Later(x=torch.zeros(4)), second=obs(4), weight=torch.zeros(4))
    assert str(error.value) == "field 'first' of ObsPair is declared Obs; it got a Later"
    with pytest.raises(TypeError):
        loose(first=3, second=obs(4), weight=torch.zeros(4))


def test_two_generic_classes_may_share_a_type_variable() -> None:
    class Inner(TensorClass, Generic[T]):
        one: T

    class Both(Inner[Obs], Generic[T]):
        two: T

    both: Both[Later] = Both(one=obs(4), two=Later(x=torch.zeros(4)), batch_size=4)
    assert type(both.two) is Later


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 syntax is new in 3.12")
def test_pep_695_syntax_declares_generic_classes() -> None:
    cls = declared(
        """
        class Box[T: TensorClass](TensorClass):
            item: T
            other: T | None = None

        class Outer(TensorClass):
            box: Box[Obs]

        class X(Box[Obs], kw_only=True):
            more: Tensor

        X.Box, X.Outer = Box, Outer
        """,
        Obs=Obs,
    )
    box = cls.Box[Obs](item=obs(4), batch_size=4)

    assert type(box) is cls.Box and type(box[0].item) is Obs
    outer = cls.Outer(box=box, batch_size=4)
    assert type(cls.Outer.from_dict(outer.to_dict(), batch_size=4).box.item) is Obs
    with pytest.raises(TypeError) as error:
        cls(item=Later(x=torch.zeros(4)), more=torch.zeros(4))
    assert str(error.value) == "field 'item' of X is declared Obs; it got a Later"
    with pytest.raises(TypeError):
        cls.Box(item=3)


# ---- annotations -----------------------------------------------------------------------------------------------------


def test_a_class_may_refer_to_itself_and_to_later_ones() -> None:
    leaf = Tree(value=torch.zeros(4), batch_size=4)
    tree: Any = Tree(value=torch.zeros(4), left=leaf, right=leaf, later=Later(x=torch.zeros(4)), batch_size=4)

    assert type(tree[0].left) is Tree
    assert type(Tree.from_dict(tree.to_dict(), batch_size=4).right) is Tree
    with pytest.raises(TypeError) as error:
        tree.left = Later(x=torch.zeros(4))
    assert str(error.value) == "field 'left' of Tree is declared Tree | None; it got a Later"
    with pytest.raises(TypeError):
        tree.later = leaf


def test_local_classes_are_found_also_when_they_come_later() -> None:
    class First(TensorClass):
        before: Before | None
        after: After | None = None

    class Before(TensorClass):
        x: Tensor

    class After(TensorClass):
        x: Tensor

    one = First(before=Before(x=torch.zeros(3)), after=After(x=torch.zeros(3)))
    assert type(one.after) is After
    with pytest.raises(TypeError):
        loose: Any = First
        loose(before=After(x=torch.zeros(3)))


def test_an_annotation_that_cannot_be_resolved_means_any_value() -> None:
    cls = declared("class X(TensorClass):\n    x: 'Missing'\n    y: 'torch.missing' = None\n    z: '1 +' = None")

    value: Any
    for value in (3, "text", None, torch.zeros(2), TensorDict(), [1, 2]):
        assert cls(x=value).x is value


@pytest.mark.parametrize(
    "annotation",
    [
        Tensor,
        torch.LongTensor,
        torch.nn.Parameter,
        Annotated[Tensor, "b c"],
        Optional[Tensor],  # noqa: UP045
        Union[Tensor, None],  # noqa: UP007
        Tensor | None,
        "Tensor",
        "Tensor | None",
        Optional["Tensor"],
        Shaped[Tensor, "..."],
        "jaxtyping.Int64[Tensor, '...']",
        Annotated[Shaped[Tensor, "*batch _"], "doc"],
    ],
)
def test_a_tensor_may_be_annotated_in_every_form(annotation: Any) -> None:
    cls = declared("class X(TensorClass):\n    x: annotation", annotation=annotation, jaxtyping=jaxtyping)
    x = torch.zeros(4, 2).long()

    one = cls(x=x, batch_size=4)

    assert one.x is x
    assert one[0].x.shape == (2,)
    with pytest.raises(TypeError):
        cls(x="text")


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, 3),
        ("int | str", "text"),
        (list[str], ["a"]),
        ("dict[str, int]", {"a": 1}),
        (Literal["on", "off"], "on"),
        (Count, 3),
        (Any, "text"),
        (object, "text"),
        (Tensor | int, 3),
        (Optional[float], None),  # noqa: UP045
        ("types.ModuleType", types),
        (set[int], {1}),
    ],
)
def test_plain_data_may_be_annotated_in_every_form(annotation: Any, value: Any) -> None:
    cls = declared("class X(TensorClass):\n    x: annotation\n    t: Tensor", annotation=annotation, types=types)

    one = cls(x=value, t=torch.zeros(4), batch_size=4)

    assert one.x is value
    assert one[0].x is value


def test_an_annotation_may_carry_the_shape_of_a_spec() -> None:
    class Spec:
        shape = torch.Size([3])

    cls = declared("class X(TensorClass):\n    x: annotation", annotation=Annotated[Tensor, Spec()])

    assert cls(x=torch.zeros(4, 3)).batch_size == (4,)
    with pytest.raises(RuntimeError):
        cls(x=torch.zeros(4, 2))


# ---- cached_property -------------------------------------------------------------------------------------------------


class Stat(TensorClass):
    x: Tensor
    inner: Later | None = None

    @functools.cached_property
    def doubled(self) -> Tensor:
        return self.x * 2 + (0 if self.inner is None else self.inner.x)


def test_a_cached_property_is_computed_once_while_nothing_changes() -> None:
    stat = Stat(x=torch.ones(3), inner=Later(x=torch.ones(3), batch_size=3), batch_size=3)

    assert stat.doubled is stat.doubled
    assert "doubled" not in stat.keys()
    assert pickle.loads(pickle.dumps(stat)).doubled.sum() == 9


CHANGES: dict[str, Any] = {
    "a written field": lambda stat: setattr(stat, "x", torch.zeros(3)),
    "a tensor written in place": lambda stat: stat.x.zero_(),
    "an op in place": lambda stat: stat.zero_(),
    "rows in place": lambda stat: stat.__setitem__(0, 0.0),
    "a nested field": lambda stat: setattr(stat.inner, "x", torch.zeros(3)),
    "a nested tensor in place": lambda stat: stat.inner.x.add_(1),
    "a nested instance": lambda stat: setattr(stat, "inner", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_cached_property_cannot_go_stale(change: str) -> None:
    stat = Stat(x=torch.ones(3), inner=Later(x=torch.ones(3), batch_size=3), batch_size=3)
    before = stat.doubled.clone()

    CHANGES[change](stat)

    assert not torch.equal(stat.doubled, before)
    assert torch.equal(stat.doubled, Stat.doubled.func(stat))  # type: ignore[attr-defined]


def test_a_cached_property_of_a_mixin_does_not_write_into_the_fields() -> None:
    class Mixin:
        @functools.cached_property
        def answer(self) -> int:
            return 42

    class Mixed(Mixin, TensorClass):
        x: Tensor

    one = Mixed(x=torch.zeros(3))
    assert one.answer == 42
    assert list(one.keys()) == ["x"]


def test_derived_instances_compute_their_own() -> None:
    stat = Stat(x=torch.tensor([1.0, -1.0]), batch_size=2)

    assert stat.doubled.tolist() == [2.0, -2.0]
    assert stat[1].doubled.item() == -2
    assert stat.replace(x=-stat.x).doubled.tolist() == [-2.0, 2.0]


def test_an_option_that_there_is_not_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(errors.OptionError, match="unknown class option 'froze'; did you mean 'frozen'?") as seen:
        declared("class X(TensorClass, froze=True):\n    n: Tensor")
    assert isinstance(seen.value, TypeError)

    with pytest.raises(errors.OptionError, match="unknown class option 'colour'; the options are 'frozen', 'autocast'"):
        declared("class X(TensorClass, colour='red'):\n    n: Tensor")


def test_a_class_may_take_keywords_of_its_own() -> None:
    class Base(TensorClass):
        n: Tensor

        def __init_subclass__(cls, *, colour: str = "none", **options: Any) -> None:
            super().__init_subclass__(**options)
            cls.colour = colour

        colour: ClassVar[str]

    class Red(Base, colour="red"):
        pass

    assert Red.colour == "red"


def test_a_class_variable_may_have_the_name_of_a_method() -> None:
    class Grid(TensorClass):
        dim: ClassVar[int] = 2  # type: ignore[assignment]  # Checkers mind; the class works.
        cell: Tensor

    assert Grid(cell=torch.zeros(3), batch_size=3)[0].dim == 2


def test_an_instance_without_fields_can_be_made_after_another() -> None:
    class Point(TensorClass):
        x: Tensor
        label: str | None = None

    empty = Point(x=torch.zeros(3), label="a", batch_size=3).empty()

    assert isinstance(empty, Point)
    assert empty.batch_size == (3,)
    assert empty.label is None
    with pytest.raises(errors.RuleError, match="field 'x' of Point is not set yet"):
        _ = empty.x
    empty.x = torch.ones(3)
    assert empty.x.sum() == 3
