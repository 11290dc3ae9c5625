"""TensorDictSequential: its keys, its parts, where it writes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import TensorClassModuleBase, TensorDictModule, TensorDictSequential, WrapModule


def mod(call: Any, reads: Any, writes: Any, **options: Any) -> TensorDictModule:
    return TensorDictModule(call, reads, writes, **options)


def inc(reads: Any, writes: Any) -> TensorDictModule:
    return mod(lambda x: x + 1, [reads], [writes])


def four() -> TensorDictSequential:
    return TensorDictSequential(
        inc("x", "h"),
        mod(lambda h, mask: h * mask, ["h", "mask"], ["y"]),
        mod(lambda x: -x, ["x"], ["z"]),
        mod(lambda h: h * 10, ["h"], ["h"]),
    )


def two(**options: Any) -> TensorDictSequential:
    return TensorDictSequential(inc("x", "h"), mod(lambda h: h * 2, ["h"], ["y"]), **options)


def zeros(**entries: Any) -> TensorDict:
    return TensorDict({"x": torch.zeros(3), **entries}, batch_size=[3])


# ---- keys -----------------------------------------------------------------------------------------------------------


def test_in_keys_are_read_and_not_written_before() -> None:
    assert four().in_keys == ["x", "mask"]


def test_out_keys_stand_where_they_are_written_last_each_once() -> None:
    assert four().out_keys == ["y", "z", "h"]


def test_dropped_outputs_are_no_keys() -> None:
    assert TensorDictSequential(mod(lambda x: (x, x), ["x"], ["a", "_"]), inc("a", "b")).out_keys == ["a", "b"]


def test_what_sits_inside_a_written_entry_is_not_needed() -> None:
    params = mod(lambda x: {"loc": x}, ["x"], ["params"])

    assert TensorDictSequential(params, inc(("params", "loc"), "y")).in_keys == ["x"]


def test_a_nested_sequence_counts_by_its_keys() -> None:
    assert TensorDictSequential(two(), inc("y", "w")).in_keys == ["x"]


def test_keys_follow_when_a_module_changes_its_own() -> None:
    model = two()
    model[1].out_keys = ["w"]

    assert model.out_keys == ["h", "w"]


def test_a_call_with_tensors_gives_all_out_keys_in_order() -> None:
    y, z, h = four()(x=torch.ones(3), mask=torch.tensor([1.0, 0.0, 1.0]))

    assert (y.tolist(), z.tolist(), h.tolist()) == ([2, 0, 2], [-1, -1, -1], [20, 20, 20])


def test_any_callable_can_be_part_and_its_keys_are_not_tracked() -> None:
    model = TensorDictSequential(lambda td: td.set("q", td["x"]), inc("q", "y"))

    assert (model.in_keys, model.out_keys) == (["q"], ["y"])
    assert model(zeros())["y"].tolist() == [1, 1, 1]


def test_a_plain_module_with_keys_is_tracked() -> None:
    class Plain(nn.Module):
        in_keys, out_keys = ["x"], ["y"]

        def forward(self, td: TensorDict) -> TensorDict:
            return td.set("y", td["x"] + 1)

    model = TensorDictSequential(Plain(), inc("y", "z"))

    assert (model.in_keys, model.out_keys) == (["x"], ["y", "z"])
    assert model(zeros())["z"].tolist() == [2, 2, 2]


def test_what_cannot_be_called_cannot_be_part() -> None:
    with pytest.raises(ValueError) as error:
        TensorDictSequential(3)  # type: ignore[arg-type]

    assert str(error.value) == (
        "3 cannot be part of a sequence; a module by key, or a function from container to container, can"
    )


@pytest.mark.parametrize("several", [list, tuple, iter, nn.ModuleList])
def test_several_modules_are_several_arguments(several: Any) -> None:
    given = several([TensorDictModule(torch.neg, ["x"], ["y"])])
    with pytest.raises(ValueError) as error:
        TensorDictSequential(given)

    name = type(given).__name__
    assert str(error.value) == f"a {name} is no module; each is an argument: TensorDictSequential(*modules)"


def test_modules_of_a_dict_of_modules_are_arguments() -> None:
    with pytest.raises(ValueError, match=r"a ModuleDict is no module; .*\(\*modules\.values\(\)\)$"):
        TensorDictSequential(nn.ModuleDict({"a": TensorDictModule(torch.neg, ["x"], ["y"])}))


def test_a_typed_module_is_asked_to_be_made_one_by_key() -> None:
    class Point(TensorClass):
        x: Tensor

    class Move(TensorClassModuleBase[Point, Point]):
        def forward(self, x: Point) -> Point:
            return x

    with pytest.raises(ValueError) as error:
        TensorDictSequential(Move())

    assert str(error.value) == "Move goes from class to class; in a sequence put what its .as_td_module() gives"


def test_nn_sequential_runs_modules_by_key() -> None:
    assert nn.Sequential(inc("x", "h"), inc("h", "y"))(zeros())["y"].tolist() == [2, 2, 2]


# ---- parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        ({"out_keys": ["y"]}, [0, 1]),
        ({"out_keys": ["z"]}, [2]),
        ({"out_keys": "z"}, [2]),
        ({"in_keys": ["h", "mask"]}, [1, 3]),
        ({"in_keys": ["x"]}, [0, 2, 3]),
        ({"in_keys": ["x"], "out_keys": ["h"]}, [0, 3]),
        ({}, [0, 1, 2, 3]),
    ],
)
def test_a_subsequence_keeps_what_it_takes(selection: Any, kept: list[int]) -> None:
    model = four()

    assert list(model.select_subsequence(**selection)) == [model[at] for at in kept]


def test_a_subsequence_reads_and_writes_what_its_modules_do() -> None:
    assert four().select_subsequence(out_keys=["y"]).in_keys == ["x", "mask"]
    assert four().select_subsequence(in_keys=["h", "mask"]).out_keys == ["y", "h"]


def test_a_subsequence_without_modules_is_an_error() -> None:
    with pytest.raises(ValueError) as error:
        two().select_subsequence(in_keys=["q"])

    assert str(error.value) == (
        "No modules left after selection: none computes 'h', 'y' from 'q'; the sequence reads 'x' and writes 'h', 'y'."
    )


def test_a_callable_with_unknown_keys_stays_in_a_subsequence() -> None:
    model = TensorDictSequential(inc("x", "h"), lambda td: td, inc("x", "z"))

    assert [type(one) for one in model.select_subsequence(out_keys=["h"])] == [TensorDictModule, WrapModule]


def test_options_stay_in_a_subsequence() -> None:
    part = two(inplace="empty", partial_tolerant=True).select_subsequence(out_keys=["h"])

    assert (part.inplace, part.partial_tolerant) == ("empty", True)


def test_an_index_gives_a_module_and_a_slice_a_sequence() -> None:
    model = four()

    assert type(model[:2]) is TensorDictSequential and list(model[:2]) == [model[0], model[1]]
    assert list(model[-1:]) == [model[3]] and len(model) == 4


def test_modules_can_have_names() -> None:
    enc, head = mod(nn.Linear(3, 2), ["x"], ["h"]), mod(nn.Linear(2, 1), ["h"], ["y"])
    model = TensorDictSequential({"encoder": enc, "head": head})

    assert (model["encoder"], model["head"], model[1]) == (enc, head, head)
    assert list(model[:1].state_dict()) == ["module.encoder.module.weight", "module.encoder.module.bias"]
    assert list(model.select_subsequence(out_keys=["h"]).module) == ["encoder"]


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError) as error:
        TensorDictSequential({"encoder": inc("x", "h")})["encode"]

    assert str(error.value) == "no module 'encode'; did you mean 'encoder'? The modules here are 'encoder'"


def test_modules_can_be_replaced_deleted_and_added() -> None:
    model = two()
    model[1] = inc("h", "w")
    del model[0]

    assert model.append(inc("w", "v")).out_keys == ["w", "v"]
    assert model.in_keys == ["h"]


def test_parameters_are_named_by_place() -> None:
    assert list(TensorDictSequential(mod(nn.Linear(3, 2), ["x"], ["y"])).state_dict()) == [
        "module.0.module.weight",
        "module.0.module.bias",
    ]


# ---- where it writes ------------------------------------------------------------------------------------------------


def test_it_runs_on_the_input_and_returns_it() -> None:
    td = zeros()

    assert two()(td) is td and sorted(td.keys()) == ["h", "x", "y"]


def test_tensordict_out_gets_the_out_keys_and_the_input_does_not_change() -> None:
    td, dest = zeros().lock_(), TensorDict(batch_size=[3])

    assert two()(td, tensordict_out=dest) is dest
    assert (sorted(dest.keys()), list(td.keys())) == (["h", "y"], ["x"])


@pytest.mark.parametrize(("inplace", "batch"), [(False, ()), ("empty", (3,))])
def test_not_in_place_it_returns_a_new_container_with_the_out_keys(inplace: Any, batch: Any) -> None:
    td = zeros().lock_()
    out = two(inplace=inplace)(td)

    assert (sorted(out.keys()), out.batch_size, list(td.keys())) == (["h", "y"], batch, ["x"])


def test_inplace_true_writes_into_the_input_whatever_the_modules_do() -> None:
    td = zeros()
    model = TensorDictSequential(mod(lambda x: x + 1, ["x"], ["h"], inplace=False), inc("h", "y"), inplace=True)

    assert model(td) is td and sorted(td.keys()) == ["h", "x", "y"]


def test_by_default_each_module_decides() -> None:
    model = TensorDictSequential(mod(lambda x: x + 1, ["x"], ["h"], inplace=False), inc("h", "y"))

    assert sorted(model(zeros()).keys()) == ["h", "y"]


def test_modules_without_their_inputs_are_left_out_where_that_is_tolerated() -> None:
    model = TensorDictSequential(inc("missing", "h"), inc("x", "y"), partial_tolerant=True)

    assert sorted(model(zeros()).keys()) == ["x", "y"]
    assert sorted(TensorDictSequential(*model, partial_tolerant=True, inplace="empty")(zeros()).keys()) == ["y"]


# ---- selection ------------------------------------------------------------------------------------------------------


def test_selected_outputs_and_the_input_stay() -> None:
    model = two()

    assert model.select_out_keys("y") is model
    assert (model.out_keys, model.out_keys_source) == (["y"], ["h", "y"])
    assert sorted(model(zeros(other=torch.ones(3))).keys()) == ["other", "x", "y"]
    assert model(x=torch.zeros(3)).tolist() == [2, 2, 2]


def test_selection_at_construction_does_the_same() -> None:
    assert sorted(two(selected_out_keys=["y"])(zeros()).keys()) == ["x", "y"]


def test_reset_restores_all_outputs() -> None:
    assert sorted(two(selected_out_keys=["y"]).reset_out_keys()(zeros()).keys()) == ["h", "x", "y"]


def test_an_entry_with_the_name_of_an_intermediate_key_gets_the_new_value() -> None:
    td = two(selected_out_keys=["y"])(zeros(h=torch.full((3,), 7.0)))

    assert td["h"].tolist() == [1, 1, 1]


def test_only_out_keys_can_be_selected() -> None:
    with pytest.raises(ValueError) as error:
        two(selected_out_keys=["x"])

    assert str(error.value) == "'x' cannot be selected; the out_keys are 'h', 'y'"


@pytest.mark.parametrize("options", [{"inplace": "empty"}, {"inplace": False}])
def test_selection_counts_where_it_writes_elsewhere(options: Any) -> None:
    assert list(two(selected_out_keys=["y"], **options)(zeros()).keys()) == ["y"]


def test_a_sequence_runs_on_a_typed_instance() -> None:
    class Sample(TensorClass):
        x: Tensor
        h: Tensor | None = None
        y: Tensor | None = None

    sample = Sample(x=torch.zeros(3), batch_size=[3])

    assert two(selected_out_keys=["y"])(sample) is sample
    assert sample.h is None and sample.y is not None and sample.y.tolist() == [2, 2, 2]


def test_an_empty_sequence_returns_its_input() -> None:
    td = zeros()

    assert TensorDictSequential()(td) is td


@pytest.mark.parametrize("options", [{"inplace": True}, {"inplace": False}, {"inplace": "empty"}, {}])
def test_what_a_module_inside_dropped_is_not_given(options: Any) -> None:
    model = TensorDictSequential(inc("x", "h"), mod(torch.neg, ["h"], ["y"], inplace=False), **options)
    written = model(zeros()) if options else model(zeros(), tensordict_out=TensorDict(batch_size=[3]))

    assert written["y"].tolist() == [-1, -1, -1]
    assert ("h" in written) is (options == {"inplace": True})  # It is in the input, which this one returns.


@pytest.mark.parametrize("name", ["in_keys", "out_keys"])
def test_its_keys_are_those_of_its_modules_and_cannot_be_assigned(name: str) -> None:
    with pytest.raises(RuntimeError) as error:
        setattr(two(), name, ["h"])

    assert str(error.value) == (
        f"{name} of a TensorDictSequential are those of what is in it, and cannot be assigned; "
        "select_out_keys keeps some of the outputs"
    )


def test_a_function_that_returns_nothing_is_told_so() -> None:
    with pytest.raises(TypeError) as error:
        TensorDictSequential(print, inc("x", "h"))(zeros())

    assert str(error.value) == "print gave None; it must return the container that it was given"


def test_keys_follow_a_module_that_computes_its_own() -> None:
    class Computed(TensorDictModule):
        name = "first"

        @property
        def out_keys(self) -> list[Any]:  # type: ignore[override]
            return [self.name]

    model = TensorDictSequential(Computed(nn.Identity(), ["x"], ["first"]))
    before = model.out_keys
    model[0].name = "second"

    assert (before, model.out_keys) == (["first"], ["second"])


def test_keys_follow_a_module_put_in_place_of_another() -> None:
    model = two()
    before = model.out_keys
    model.module.append(inc("y", "w"))

    assert (before, model.out_keys) == (["h", "y"], ["h", "y", "w"])
