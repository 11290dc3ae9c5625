"""Modules from class to class, and the two ways between them and modules by key."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import pytest
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, lazy_stack
from tensorclass.nn import Chain, TensorClassModuleBase, TensorDictModule, TensorDictSequential


class Pair(TensorClass):
    a: Tensor
    b: Tensor


class Result(TensorClass):
    total: Tensor
    difference: Tensor


class Point(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    mask: Float[Tensor, "*batch"] | None = None


class Scene(TensorClass):
    point: Point
    name: str
    weight: Float[Tensor, "*batch"]


class Speed(TensorClass):
    speed: Float[Tensor, "*batch"]


class SumDiff(TensorClassModuleBase[Pair, Result]):
    def forward(self, x: Pair) -> Result:
        return Result(total=x.a + x.b, difference=x.a - x.b, batch_size=x.batch_size)


class Length(TensorClassModuleBase[Point, Speed]):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Point) -> Speed:
        return Speed(speed=self.scale * x.pos.norm(dim=-1))


class Weigh(TensorClassModuleBase[Scene, Speed]):
    def forward(self, x: Scene) -> Speed:
        assert x.name == "one"
        return Speed(speed=x.weight * x.point.pos.sum(-1))


T = TypeVar("T")
U = TypeVar("U")


def pair() -> TensorDict:
    return TensorDict({"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([3.0, 4.0])}, batch_size=[2])


# ---- the class ------------------------------------------------------------------------------------------------------


def test_it_takes_one_class_and_gives_another() -> None:
    out = SumDiff()(Pair(a=torch.tensor([1.0, 2.0]), b=torch.tensor([3.0, 4.0]), batch_size=[2]))

    assert out.total.tolist() == [4, 6] and out.difference.tolist() == [-2, -2]


def test_forward_must_be_there() -> None:
    class Unfinished(TensorClassModuleBase[Pair, Result]):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()  # type: ignore[abstract]


def test_the_type_arguments_are_known() -> None:
    assert (SumDiff.input_type, SumDiff.output_type) == (Pair, Result)


def test_type_arguments_come_through_bases_one_at_a_time() -> None:
    class From(TensorClassModuleBase[Pair, T], Generic[T]):
        pass

    class FromTo(From[Result]):
        def forward(self, x: Pair) -> Result:
            return SumDiff()(x)

    class Swapped(TensorClassModuleBase[U, T], Generic[T, U]):
        pass

    class Ends(Swapped[Result, Pair]):
        def forward(self, x: Pair) -> Result:
            return SumDiff()(x)

    assert (FromTo.input_type, FromTo.output_type) == (Pair, Result)
    assert (Ends.input_type, Ends.output_type) == (Pair, Result)


def test_type_arguments_can_be_given_where_the_instance_is_made() -> None:
    class Same(TensorClassModuleBase[T, T], Generic[T]):
        def forward(self, x: T) -> T:
            return x

    assert Same[Pair]().as_td_module().in_keys == ["a", "b"]


def test_a_type_argument_is_a_class_of_containers() -> None:
    with pytest.raises(TypeError) as error:

        class Wrong(TensorClassModuleBase[int, Pair]):
            pass

    assert str(error.value) == (
        "Wrong: int is no class of containers; the type arguments are TensorClass classes (or Tensor)"
    )


def test_parameters_are_those_of_any_module() -> None:
    assert list(Length().state_dict()) == ["scale"]


# ---- as a module by key ---------------------------------------------------------------------------------------------


def test_the_wrapper_gives_a_new_container_with_the_output_fields_alone() -> None:
    td = pair()
    out = SumDiff().as_td_module()(td)

    assert type(out) is TensorDict and out is not td
    assert (sorted(out.keys()), out.batch_size) == (["difference", "total"], (2,))


def test_modules_after_the_wrapper_see_its_outputs_alone() -> None:
    after = TensorDictModule(lambda total, a: total if a is None else a, ["total", "a"], ["seen"])
    out = TensorDictSequential(SumDiff().as_td_module(), after)(pair())

    assert sorted(out.keys()) == ["difference", "seen", "total"]
    assert out["seen"].tolist() == [4, 6]


def test_nested_classes_are_nested_keys() -> None:
    module = Weigh().as_td_module()
    td = TensorDict({"point": {"pos": torch.ones(4, 3)}, "weight": torch.ones(4), "name": "one"}, batch_size=[4])

    assert module.in_keys == [("point", "pos"), ("point", "mask"), "name", "weight"]
    assert module(td)["speed"].tolist() == [3, 3, 3, 3]


def test_optional_fields_may_be_absent() -> None:
    assert Length().as_td_module()(TensorDict({"pos": torch.ones(4, 3)}, batch_size=[4])).batch_size == (4,)


def test_a_field_that_must_be_there_is_named() -> None:
    with pytest.raises(KeyError) as error:
        Weigh().as_td_module()(TensorDict({"point": {"mask": torch.ones(4)}, "weight": torch.ones(4), "name": "one"}))

    assert str(error.value) == "no key 'pos'; the keys here are 'mask' (under 'point')"


def test_a_call_with_tensors_reads_the_batch_size_off_the_annotations() -> None:
    assert Length().as_td_module()(pos=torch.ones(4, 3)).shape == (4,)


def test_parameters_hooks_and_device_moves_are_those_of_the_typed_module() -> None:
    typed, seen = Length(), []
    typed.register_forward_hook(lambda *_: seen.append(1))
    module = typed.as_td_module().to(torch.float64)
    module(TensorDict({"pos": torch.ones(4, 3, dtype=torch.float64)}, batch_size=[4]))

    assert list(module.parameters()) == [typed.scale]
    assert list(module.state_dict()) == ["tc_module.scale"]
    assert typed.scale.dtype == torch.float64 and seen == [1]


def test_outputs_of_the_wrapper_can_be_selected() -> None:
    assert list(SumDiff().as_td_module().select_out_keys("total")(pair()).keys()) == ["total"]


def test_the_wrapper_can_write_into_another_container() -> None:
    dest = pair()

    assert SumDiff().as_td_module()(dest, tensordict_out=dest) is dest
    assert sorted(dest.keys()) == ["a", "b", "difference", "total"]


def test_a_module_with_tensors_at_its_ends_cannot_be_one_by_key() -> None:
    class Plain(TensorClassModuleBase[Pair, Tensor]):
        def forward(self, x: Pair) -> Tensor:
            return x.a

    with pytest.raises(ValueError) as error:
        Plain().as_td_module()  # type: ignore[misc,tensorclass-module]

    assert str(error.value) == (
        "Plain: the output type is Tensor, no TensorClass; only a module between two TensorClass classes can be one by "
        "key"
    )


class Shrinking(TensorClassModuleBase[Pair, Result]):
    def forward(self, x: Pair) -> Result:
        return Result(total=x.a.sum(), difference=x.b.sum())


class Pooling(Shrinking):
    keeps_batch = False


def test_the_batch_size_must_stay() -> None:
    with pytest.raises(RuntimeError) as error:
        Shrinking().as_td_module()(pair())

    assert str(error.value) == (
        "Shrinking: the input has batch size [2], the output []; they must be equal "
        "(did you pass batch_size=x.batch_size? keeps_batch = False on the class allows it)"
    )


def test_a_class_can_allow_another_batch_size() -> None:
    assert Pooling().as_td_module()(pair()).batch_size == ()


def test_an_output_of_another_class_is_an_error() -> None:
    class Wrong(TensorClassModuleBase[Pair, Result]):
        def forward(self, x: Pair) -> Any:
            return x

    with pytest.raises(TypeError) as error:
        Wrong().as_td_module()(pair())

    assert str(error.value) == "Wrong: forward gave a Pair, the output type is Result"


# ---- chains ---------------------------------------------------------------------------------------------------------


class Back(TensorClassModuleBase[Result, Pair]):
    def forward(self, x: Result) -> Pair:
        return Pair(a=(x.total + x.difference) / 2, b=(x.total - x.difference) / 2, batch_size=x.batch_size)


def test_a_chain_has_the_ends_of_its_modules() -> None:
    chain = Chain(SumDiff(), Back())
    given = Pair(a=torch.tensor([1.0]), b=torch.tensor([3.0]), batch_size=[1])

    assert (chain.input_type, chain.output_type) == (Pair, Pair)
    assert (chain(given) == given).all()
    assert [type(one) for one in chain] == [SumDiff, Back] and len(chain) == 2 and type(chain[1]) is Back


def test_a_chain_can_be_one_by_key() -> None:
    out = Chain(SumDiff(), Back(), SumDiff()).as_td_module()(pair())

    assert out["total"].tolist() == [4, 6]


def test_the_joints_of_a_chain_must_fit() -> None:
    with pytest.raises(TypeError) as error:
        Chain(SumDiff(), SumDiff())  # type: ignore[tensorclass-module]

    assert str(error.value) == "Chain: SumDiff gives Result, but SumDiff takes Pair"


def test_a_chain_has_modules() -> None:
    with pytest.raises(ValueError) as error:
        Chain()  # type: ignore[call-overload]

    assert str(error.value) == "Chain: there are no modules; one at least is needed"


# ---- the other direction --------------------------------------------------------------------------------------------


def test_a_module_by_key_can_be_typed() -> None:
    by_key = TensorDictModule(lambda pos: pos.norm(dim=-1), ["pos"], ["speed"])
    module = by_key.typed(Point, Speed)
    given = Point(pos=torch.ones(4, 3))
    out = module(given)

    assert type(out) is Speed and out.batch_size == (4,)
    assert list(given.to_dict(retain_none=False)) == ["pos"]
    assert isinstance(module, TensorClassModuleBase) and module.as_td_module().in_keys == ["pos", "mask"]


def test_fields_that_both_classes_have_pass_through() -> None:
    class Kept(TensorClass):
        a: Tensor
        c: Tensor

    module = TensorDictModule(torch.add, ["a", "b"], ["c"]).typed(Pair, Kept)
    out = module(Pair(a=torch.ones(2), b=torch.ones(2), batch_size=[2]))

    assert (out.a.tolist(), out.c.tolist()) == ([1, 1], [2, 2])


def test_what_a_typed_module_reads_must_be_a_field() -> None:
    with pytest.raises(AttributeError) as error:
        TensorDictModule(nn.Identity(), ["poss"], ["speed"]).typed(Point, Speed)

    assert str(error.value) == "Point has no field 'poss'; did you mean 'pos'? Its fields are 'pos', 'mask'"


def test_what_a_typed_module_gives_must_be_written() -> None:
    with pytest.raises(KeyError) as error:
        TensorDictModule(nn.Identity(), ["pos"], ["sped"]).typed(Point, Speed)

    assert str(error.value) == (
        "Speed.speed is neither written by the module nor a field of Point; the out_keys are 'sped'"
    )


def test_a_typed_module_checks_the_class_of_its_input() -> None:
    module = TensorDictModule(lambda pos: pos.norm(dim=-1), ["pos"], ["speed"]).typed(Point, Speed)
    with pytest.raises(TypeError) as error:
        module(Speed(speed=torch.ones(2)))  # type: ignore[arg-type]

    assert str(error.value) == "TypedByKey takes Point; this is a Speed"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            TensorDict(c=torch.ones(2)),
            "SumDiff takes Pair; this is a TensorDict; Pair.from_tensordict(...) makes one of it, "
            "and .as_td_module() takes it as it is",
        ),
        (Speed(speed=torch.ones(2)), "SumDiff takes Pair; this is a Speed"),
        (torch.ones(2), "SumDiff takes Pair; this is a tensor of shape [2]"),
        ({"a": torch.ones(2)}, "SumDiff takes Pair; this is a dict"),
        (None, "SumDiff takes Pair; this is None"),
    ],
)
def test_a_failure_says_that_the_input_is_of_another_class(given: Any, said: str) -> None:
    for module in (SumDiff(), Chain(SumDiff())):
        with pytest.raises(TypeError) as error:
            module(given)

        assert str(error.value) == said
        assert isinstance(error.value.__cause__, AttributeError)


def test_a_failure_with_the_right_input_is_as_it_was() -> None:
    class Broken(TensorClassModuleBase[Pair, Result]):
        def forward(self, x: Pair) -> Result:
            raise KeyError("own")

    with pytest.raises(KeyError, match="own") as error:
        Broken()(Pair(a=torch.ones(1), b=torch.ones(1)))

    assert error.value.__cause__ is None


T_contra = TypeVar("T_contra", bound=TensorClass, contravariant=True)
R_co = TypeVar("R_co", bound=TensorClass, covariant=True)


class Same(TensorClassModuleBase[T_contra, R_co]):
    def forward(self, x: T_contra) -> R_co:
        return x  # type: ignore[return-value]  # What the tests are about.


class Fixed(Same[Pair, Result]):
    pass


@pytest.mark.parametrize("make", [lambda: Fixed(), lambda: Same[Pair, Result](), lambda: Chain(Fixed())])
@pytest.mark.parametrize("hooked", [False, True])
def test_an_output_of_another_class_is_refused(make: Any, hooked: bool) -> None:
    module = make()
    if hooked:
        module.register_forward_hook(lambda *_: None)
    with pytest.raises(TypeError, match=r": forward gave a Pair, the output type is Result$"):
        module(Pair(a=torch.ones(1), b=torch.ones(1)))


def test_an_output_of_a_class_that_was_defined_again_is_told_so() -> None:
    def define() -> Any:
        class Answer(TensorClass):
            a: Tensor

        return Answer

    older, newer = define(), define()

    class Give(TensorClassModuleBase[Pair, older]):  # type: ignore[valid-type]
        def forward(self, x: Pair) -> Any:
            return newer(a=x.a)

    with pytest.raises(TypeError) as error:
        Give()(Pair(a=torch.ones(1), b=torch.ones(1)))

    assert str(error.value) == "Give: forward gave an Answer (defined again?), the output type is Answer"


def test_rows_of_the_output_class_are_of_it() -> None:
    class Rows(TensorClassModuleBase[Pair, Result]):
        def forward(self, x: Pair) -> Result:
            return lazy_stack([SumDiff()(x)] * 2)

    assert isinstance(Rows()(Pair(a=torch.ones(1), b=torch.ones(1))), Result)


@pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")
def test_torchscript_is_refused() -> None:
    with pytest.raises(TypeError, match="^SumDiff cannot be scripted: TorchScript has no containers"):
        torch.jit.script(SumDiff())


def test_a_declared_batch_in_a_type_argument_stands_for_its_class() -> None:
    class Named(TensorClassModuleBase[Shaped[Point, "b"], Speed]):  # type: ignore[type-var,unused-ignore]
        def forward(self, x: Point) -> Speed:
            return Speed(speed=x.pos.sum(-1))

    assert Named().as_td_module()(TensorDict({"pos": torch.ones(4, 3)}, batch_size=[4]))["speed"].shape == (4,)
