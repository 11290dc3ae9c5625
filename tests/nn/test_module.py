"""TensorDictModule: what it reads, calls and writes, a test for each sentence of the reference."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, lazy_stack
from tensorclass.nn import TensorDictModule, TensorDictModuleBase

WOULD_DO = "will not do; give a key (a string or a tuple of strings) or a list of keys"


class Particles(TensorClass):
    pos: Tensor
    hidden: Tensor | None = None


class Inner(TensorClass):
    x: Tensor


class Outer(TensorClass):
    inner: Inner
    y: Tensor | None = None


def five(**entries: Any) -> TensorDict:
    return TensorDict({"pos": torch.randn(5, 3), **entries}, batch_size=[5])


def words(error: BaseException) -> str:
    return str(error.args[0])


# ---- wrap a module --------------------------------------------------------------------------------------------------


def test_it_writes_into_the_input_and_returns_it() -> None:
    layer, td = nn.Linear(3, 4), five()
    out = TensorDictModule(layer, in_keys=["pos"], out_keys=["hidden"])(td)

    assert out is td
    assert torch.equal(td["hidden"], layer(td["pos"]))


def test_the_wrapped_module_has_the_prefix_module() -> None:
    module = TensorDictModule(nn.Linear(3, 4), in_keys=["pos"], out_keys=["hidden"])

    assert list(module.state_dict()) == ["module.weight", "module.bias"]


def test_to_moves_it_as_any_module() -> None:
    module = TensorDictModule(nn.Linear(3, 4), in_keys=["pos"], out_keys=["hidden"]).to(torch.float64)

    assert {one.dtype for one in module.parameters()} == {torch.float64}


def test_hooks_of_the_module_and_of_the_wrapped_one_run() -> None:
    seen: list[str] = []
    layer = nn.Linear(3, 4)
    module = TensorDictModule(layer, in_keys=["pos"], out_keys=["hidden"])
    layer.register_forward_hook(lambda *_: seen.append("layer"))
    module.register_forward_hook(lambda *_: seen.append("module"))
    module(five())

    assert seen == ["layer", "module"]


# ---- keys -----------------------------------------------------------------------------------------------------------


def test_a_list_of_in_keys_gives_positional_arguments_in_order() -> None:
    td = TensorDict(a=torch.tensor(5.0), b=torch.tensor(2.0))

    assert TensorDictModule(torch.sub, in_keys=["a", "b"], out_keys=["c"])(td)["c"] == 3


def test_nested_keys_are_read_and_written() -> None:
    shift = TensorDictModule(lambda x: (x + 1, x - 1), [("r", "x")], [("r", "up"), ("s", "down")])
    td = shift(TensorDict({("r", "x"): torch.zeros(2, 3)}, batch_size=[2]))

    assert list(td["r"].keys()) == ["x", "up"]
    assert (td["s", "down"] == -1).all() and td["s"].batch_size == (2,)


@pytest.mark.parametrize(
    ("in_keys", "options"), [({"x": "a", "y": "b"}, {}), ({"a": "x", "b": "y"}, {"out_to_in_map": False})]
)
def test_a_dict_of_in_keys_gives_keyword_arguments(in_keys: Any, options: Any) -> None:
    diff = TensorDictModule(lambda *, x, y: x - y, in_keys, ["c"], **options)

    assert diff(TensorDict(a=torch.tensor(5.0), b=torch.tensor(2.0)))["c"] == 3
    assert diff.in_keys == ["a", "b"]


def test_one_key_can_feed_several_arguments() -> None:
    double = TensorDictModule(lambda x, y: x + y, {"x": "a", "y": "a"}, ["c"])

    assert double(TensorDict(a=torch.tensor(2.0)))["c"] == 4
    assert double(a=torch.tensor(2.0)) == 4


def test_nested_keys_can_be_keys_of_a_dict_of_in_keys() -> None:
    module = TensorDictModule(lambda x: x + 1, {("n", "a"): "x"}, ["c"], out_to_in_map=False)

    assert module(TensorDict({"n": {"a": torch.tensor(1.0)}}))["c"] == 2


def test_a_tuple_is_one_nested_key_and_a_string_one_key() -> None:
    module = TensorDictModule(nn.Identity(), ("a", "b"), "c")

    assert (module.in_keys, module.out_keys) == ([("a", "b")], ["c"])


@pytest.mark.parametrize(
    ("in_keys", "out_keys", "said"),
    [
        ([3], ["a"], f"in_keys: [3] {WOULD_DO}; a dict from argument name to key will do too"),
        (["a"], {"b": "c"}, f"out_keys: {{'b': 'c'}} {WOULD_DO}"),
        (["a"], 4, f"out_keys: 4 {WOULD_DO}"),
    ],
)
def test_what_is_no_key_is_refused(in_keys: Any, out_keys: Any, said: str) -> None:
    with pytest.raises(ValueError) as error:
        TensorDictModule(nn.Identity(), in_keys, out_keys)

    assert words(error.value) == said


def test_a_class_is_no_module() -> None:
    with pytest.raises(ValueError) as error:
        TensorDictModule(nn.Tanh, ["a"], ["b"])

    assert words(error.value) == (
        f"module: {nn.Tanh!r} will not do; give a module, or a function, to call; did you mean Tanh(...)?"
    )


def test_out_keys_can_be_assigned_anew() -> None:
    module = TensorDictModule(lambda x: (x, x + 1), ["x"], ["a", "b"])
    module.out_keys = ["c", "d"]

    assert sorted(module(TensorDict(x=torch.zeros(1))).keys()) == ["c", "d", "x"]


def test_in_keys_can_be_assigned_anew() -> None:
    module = TensorDictModule(lambda x: x + 1, ["x"], ["a"])
    module.in_keys = [("n", "x")]

    assert module(TensorDict({"n": {"x": torch.zeros(())}}))["a"] == 1


# ---- outputs --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Pair:
    a: Tensor
    b: Tensor


@pytest.mark.parametrize(
    "give",
    [
        lambda x: (x + 1, x + 2),
        lambda x: [x + 1, x + 2],
        lambda x: {"b": x + 2, "a": x + 1, "more": x},
        lambda x: Pair(x + 1, x + 2),
        lambda x: TensorDict(b=x + 2, a=x + 1),
    ],
    ids=["tuple", "list", "dict", "dataclass", "container"],
)
def test_outputs_come_as_tuple_dict_dataclass_or_container(give: Any) -> None:
    td = TensorDictModule(give, ["x"], ["a", "b"])(TensorDict(x=torch.tensor(0.0)))

    assert (td["a"], td["b"]) == (1, 2)


def test_a_dict_output_is_read_at_nested_keys() -> None:
    td = TensorDictModule(lambda x: {"n": {"a": x + 1}}, ["x"], [("n", "a")])(TensorDict(x=torch.tensor(0.0)))

    assert td["n", "a"] == 1


def test_a_container_is_written_whole_where_its_one_key_is_not_in_it() -> None:
    td = TensorDictModule(lambda x: {"loc": x}, ["x"], ["params"])(TensorDict(x=torch.tensor(0.0)))

    assert list(td["params"].keys()) == ["loc"]


def test_a_dict_output_without_an_out_key_is_an_error() -> None:
    module = TensorDictModule(lambda x: {"mean": x, "std": x}, ["x"], ["mean", "sdt"])
    with pytest.raises(KeyError) as error:
        module(TensorDict(x=torch.tensor(0.0)))

    assert words(error.value) == "the module gave no output 'sdt'; did you mean 'std'? It gave 'mean', 'std'"


def test_more_tensors_than_out_keys_is_an_error() -> None:
    class Triple(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return x, x, x

    with pytest.raises(RuntimeError) as error:
        TensorDictModule(Triple(), ["pos"], ["a", "b"])(five())

    assert words(error.value) == "There are more tensors (3) than out_keys (['a', 'b']). The module is Triple."


@pytest.mark.parametrize("give", [lambda x: (x,), lambda x: x], ids=["tuple", "tensor"])
def test_more_out_keys_than_tensors_is_an_error(give: Any) -> None:
    with pytest.raises(RuntimeError) as error:
        TensorDictModule(give, ["pos"], ["a", "b"])(five())

    module = f"<lambda> (test_module.py:{give.__code__.co_firstlineno})"
    assert (
        words(error.value) == f"There are more out_keys than tensors: 1 tensor for ['a', 'b']. The module is {module}."
    )


def test_the_out_key_underscore_drops_an_output() -> None:
    td = TensorDictModule(lambda x: (x + 1, x - 1), ["x"], ["y", "_"])(TensorDict(x=torch.zeros(2)))

    assert list(td.keys()) == ["x", "y"]


def test_a_dropped_output_may_be_anything() -> None:
    td = TensorDictModule(nn.LSTM(3, 4, batch_first=True), ["x"], ["h", "_"])(TensorDict(x=torch.zeros(2, 5, 3)))

    assert td["h"].shape == (2, 5, 4)


# ---- missing inputs and errors --------------------------------------------------------------------------------------


def test_a_missing_input_is_none_to_the_wrapped_module() -> None:
    td = TensorDictModule(lambda x, mask: x if mask is None else x * mask, ["pos", "mask"], ["y"])(five())

    assert torch.equal(td["y"], td["pos"])


def test_a_module_that_cannot_take_none_fails_with_the_missing_keys_and_the_nearest() -> None:
    module = TensorDictModule(nn.Linear(3, 4), in_keys=["pos"], out_keys=["hidden"])
    with pytest.raises(KeyError) as error:
        module(TensorDict({"poss": torch.zeros(5, 3)}, batch_size=[5]))

    assert words(error.value) == (
        "Some tensors that the module needs were not found: 'pos' (did you mean 'poss'?); the keys here are 'poss'; "
        "the following inputs are None: {'pos'}."
    )
    assert isinstance(error.value.__cause__.__cause__, TypeError)  # type: ignore[union-attr]  # What Linear said.


def test_an_input_that_is_none_is_not_offered_as_the_nearest_key() -> None:
    with pytest.raises(KeyError) as error:
        TensorDictModule(nn.Linear(3, 4), ["x"], ["y"])(TensorDict(x=None, z=torch.ones(3)))

    said = "Some tensors that the module needs were not found; the keys here are 'z'; the following inputs are None: "
    assert words(error.value) == said + "{'x'}."


def test_strict_names_the_first_missing_key_before_the_call() -> None:
    called: list[int] = []
    module = TensorDictModule(lambda x, y: called.append(1), ["pos", "vel"], ["hidden"], strict=True)
    with pytest.raises(KeyError) as error:
        module(five())

    assert words(error.value) == "no key 'vel'; the keys here are 'pos'"
    assert called == []


def test_an_error_is_raised_again_and_its_cause_names_the_module() -> None:
    module = TensorDictModule(nn.Linear(4, 4), in_keys=["pos"], out_keys=["hidden"])
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied") as error:
        module(five())

    assert type(error.value.__cause__) is RuntimeError
    assert str(error.value.__cause__) == (
        "TensorDictModule failed with operation\n    Linear(in_features=4, out_features=4, bias=True)\n"
        "    in_keys=['pos']\n    out_keys=['hidden']."
    )


def test_the_cause_of_an_error_is_kept_below() -> None:
    def fail(x: Tensor) -> Tensor:
        raise ValueError("no") from LookupError("why")

    with pytest.raises(ValueError, match="^no$") as error:
        TensorDictModule(fail, ["pos"], ["y"])(five())

    assert isinstance(error.value.__cause__.__cause__, LookupError)  # type: ignore[union-attr]


# ---- where the outputs go -------------------------------------------------------------------------------------------


def test_inplace_false_writes_into_a_new_container_without_batch_size() -> None:
    td = five()
    out = TensorDictModule(nn.Linear(3, 4), ["pos"], ["hidden"], inplace=False)(td)

    assert (list(out.keys()), out.batch_size, out.device, list(td.keys())) == (["hidden"], (), None, ["pos"])


def test_inplace_empty_writes_into_a_new_container_like_the_input() -> None:
    td = five().to("cpu").lock_()
    out = TensorDictModule(nn.Linear(3, 4), ["pos"], ["hidden"], inplace="empty")(td)

    assert (list(out.keys()), out.batch_size, out.device) == (["hidden"], td.batch_size, td.device)
    assert list(td.keys()) == ["pos"]


def test_inplace_empty_keeps_the_class() -> None:
    particles = Particles(pos=torch.randn(5, 3), batch_size=[5])
    out = TensorDictModule(nn.Linear(3, 4), ["pos"], ["hidden"], inplace="empty")(particles)

    assert type(out) is Particles and out.batch_size == (5,)
    assert particles.hidden is None and out.hidden is not None


def test_inplace_is_one_of_three() -> None:
    with pytest.raises(ValueError) as error:
        TensorDictModule(nn.Identity(), ["x"], ["y"], inplace="full")  # type: ignore[arg-type]

    assert words(error.value) == "inplace: 'full' is none of True, False and 'empty'"


@pytest.mark.parametrize("inplace", [True, False, "empty"])
def test_tensordict_out_is_written_and_returned_whatever_inplace_is(inplace: Any) -> None:
    td, dest = five(), TensorDict(batch_size=[5])
    module = TensorDictModule(nn.Linear(3, 4), ["pos"], ["hidden"], inplace=inplace)

    assert module(td, tensordict_out=dest) is dest
    assert (list(dest.keys()), list(td.keys())) == (["hidden"], ["pos"])


def test_a_locked_input_is_not_written() -> None:
    with pytest.raises(RuntimeError) as error:
        TensorDictModule(nn.Linear(3, 4), ["pos"], ["hidden"])(five().lock_())

    assert words(error.value) == (
        "cannot set 'hidden': the container is locked; call .unlock_() on it first, or work on a .clone()"
    )


# ---- other containers -----------------------------------------------------------------------------------------------


def test_it_runs_on_a_typed_instance_and_returns_it() -> None:
    encoder = TensorDictModule(nn.Linear(3, 4), ["pos"], ["hidden"])
    particles = Particles(pos=torch.randn(5, 3), batch_size=[5])

    assert encoder(particles) is particles
    assert particles.hidden is not None and particles.hidden.shape == (5, 4)


def test_an_out_key_must_be_a_field_of_the_class() -> None:
    with pytest.raises(AttributeError) as error:
        TensorDictModule(nn.Linear(3, 4), ["pos"], ["speed"])(Particles(pos=torch.randn(5, 3), batch_size=[5]))

    assert words(error.value) == (
        "Cannot set the attribute 'speed': Particles has no such field. Its fields are 'pos', 'hidden'."
    )


def test_it_reads_nested_classes() -> None:
    outer = Outer(inner=Inner(x=torch.ones(2), batch_size=[2]), batch_size=[2])

    TensorDictModule(lambda x: x + 1, [("inner", "x")], ["y"])(outer)

    assert outer.y is not None and outer.y.tolist() == [2, 2]


def test_it_runs_on_a_lazy_stack() -> None:
    stack = lazy_stack([five(), five()])
    out = TensorDictModule(nn.Linear(3, 4), ["pos"], ["hidden"])(stack)

    assert out is stack and out["hidden"].shape == (2, 5, 4)


def test_it_reads_plain_data() -> None:
    td = TensorDictModule(lambda x, name: x + len(name), ["x", "name"], ["y"])(
        TensorDict(x=torch.tensor(1), name="abc")
    )

    assert td["y"] == 4


def test_a_method_can_be_called_in_place_of_forward() -> None:
    td = TensorDictModule(nn.Embedding(3, 2), ["x"], ["y"], method="extra_repr", method_kwargs={})

    assert td.out_keys == ["y"]
    assert TensorDictModule(nn.Bilinear(1, 1, 1), ["a", "b"], ["y"], method="forward")(
        TensorDict(a=torch.zeros(2, 1), b=torch.zeros(2, 1))
    )["y"].shape == (2, 1)


# ---- a module of one's own ------------------------------------------------------------------------------------------


class Plain(TensorDictModuleBase):
    in_keys = ["x"]
    out_keys = ["y", "z"]

    def forward(self, tensordict: TensorDict) -> TensorDict:
        tensordict["y"] = tensordict["x"] + 1
        tensordict["z"] = tensordict["x"] + 2
        return tensordict


@pytest.mark.parametrize("by_keyword", [False, True])
def test_options_of_the_method_are_given_to_forward_too(by_keyword: bool) -> None:
    module = TensorDictModule(lambda x, scale=1: scale * x, ["x"], ["y"], method_kwargs={"scale": 3})

    assert (module(x=torch.ones(2)) if by_keyword else module(TensorDict(x=torch.ones(2)))["y"]).tolist() == [3, 3]


def test_keys_in_the_class_are_the_keys_of_the_module() -> None:
    assert (Plain().in_keys, Plain().out_keys) == (["x"], ["y", "z"])


def test_a_module_without_keys_says_so() -> None:
    class Bare(TensorDictModuleBase):
        pass

    with pytest.raises(RuntimeError) as error:
        Bare().in_keys  # noqa: B018

    assert words(error.value) == "Bare has no in_keys; write them in the class, or set them in its __init__"


def test_outputs_of_any_module_can_be_selected_and_reset() -> None:
    module = Plain().select_out_keys("z")

    assert sorted(module(TensorDict(x=torch.zeros(1))).keys()) == ["x", "z"]
    assert (module.out_keys, module.out_keys_source) == (["z"], ["y", "z"])
    assert sorted(module.reset_out_keys()(TensorDict(x=torch.zeros(1))).keys()) == ["x", "y", "z"]


def test_only_outputs_can_be_selected() -> None:
    with pytest.raises(ValueError) as error:
        Plain().select_out_keys("w")

    assert words(error.value) == "'w' cannot be selected; the out_keys are 'y', 'z'"


def test_selection_removes_the_outputs_not_selected_and_nothing_else() -> None:
    two = TensorDictModule(lambda x: (x + 1, x + 2), ["x"], ["a", "b"]).select_out_keys("b")
    td = two(TensorDict(x=torch.zeros(3), a=torch.ones(3), other=torch.ones(3)))

    assert sorted(td.keys()) == ["b", "other", "x"]


def test_layers_are_initialized_again() -> None:
    module = TensorDictModule(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4)), ["x"], ["y"])
    before = [one.detach().clone() for one in module.parameters()]
    module.reset_parameters_recursive()

    assert not any(torch.equal(old, new) for old, new in zip(before, module.parameters()))


def test_parameters_in_a_container_are_initialized_again_there() -> None:
    module = TensorDictModule(nn.Linear(3, 4), ["x"], ["y"])
    own = [one.detach().clone() for one in module.parameters()]
    params = TensorDict.from_module(module).data.clone().zero_()

    assert module.reset_parameters_recursive(params) is params
    assert params["module", "weight"].abs().sum() > 0
    assert all(torch.equal(old, new) for old, new in zip(own, module.parameters()))


def test_torchscript_is_refused() -> None:
    with pytest.raises(TypeError) as error, pytest.warns(DeprecationWarning):
        torch.jit.script(Plain())

    assert words(error.value) == "Plain cannot be scripted: TorchScript has no containers; torch.compile would do"
