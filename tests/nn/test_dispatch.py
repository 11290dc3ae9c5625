"""A module called with tensors."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import TensorDict
from tensorclass.nn import TensorDictModule, TensorDictModuleBase, TensorDictSequential, dispatch

ONES = torch.ones(2)


def add(**options: Any) -> TensorDictModule:
    return TensorDictModule(lambda a, b: a + 2 * b, [("n", "a"), "b"], ["c"], **options)


class Recording(TensorDictModuleBase):
    in_keys = ["a", ("n", "b")]
    out_keys = ["c"]

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    @dispatch
    def forward(self, tensordict: TensorDict, scale: float = 1.0) -> TensorDict:
        self.seen.append(tensordict)
        return tensordict.set("c", scale * tensordict["a"])


def test_one_out_key_gives_one_tensor() -> None:
    assert torch.equal(add()(n_a=ONES, b=ONES), 3 * ONES)


def test_several_out_keys_give_a_tuple_in_their_order() -> None:
    up, down = TensorDictModule(lambda x: (x + 1, x - 1), ["x"], ["up", "down"])(x=torch.zeros(()))

    assert (up, down) == (1, -1)


def test_the_keyword_of_a_nested_key_joins_its_parts() -> None:
    assert torch.equal(add()(n_a=ONES, b=0 * ONES), ONES)


def test_tensors_can_be_given_by_position_in_the_order_of_in_keys() -> None:
    assert torch.equal(add()(ONES, 0 * ONES), ONES)
    assert torch.equal(add()(ONES, b=ONES), 3 * ONES)


def test_the_same_input_both_ways_is_an_error() -> None:
    with pytest.raises(RuntimeError) as error:
        add()(ONES, n_a=ONES)

    assert str(error.value) == "Duplicated argument in args and kwargs."


def test_dropped_outputs_are_left_out() -> None:
    module = TensorDictModule(lambda x: (x, x + 1, x + 2), ["x"], ["a", "_", "b"])

    assert [float(one) for one in module(x=torch.tensor(0.0))] == [0, 2]


def test_the_container_of_a_module_has_no_batch_size() -> None:
    seen: list[Any] = []

    def look(td: TensorDict) -> TensorDict:
        seen.append(td.batch_size)
        return td

    TensorDictSequential(look, TensorDictModule(nn.Identity(), ["x"], ["y"]))(x=ONES)

    assert seen == [torch.Size([])]


def test_the_container_of_dispatch_has_the_dims_that_all_arguments_share() -> None:
    module = Recording()
    module(a=torch.zeros(2, 3), n_b=torch.zeros(2))

    assert module.seen[0].batch_size == (2,)
    assert module.seen[0]["n"].batch_size == (2,)


def test_what_is_no_input_goes_to_forward() -> None:
    assert Recording()(a=ONES, n_b=ONES, scale=3.0).tolist() == [3, 3]
    assert Recording()(ONES, ONES, 4.0).tolist() == [4, 4]
    assert Recording()(TensorDict(a=ONES), 5.0)["c"].tolist() == [5, 5]


def test_a_container_can_be_given_by_the_name_of_the_argument() -> None:
    assert Recording()(tensordict=TensorDict(a=ONES))["c"].tolist() == [1, 1]


def test_separator_source_and_dest_can_be_chosen() -> None:
    class Other(TensorDictModuleBase):
        in_keys, out_keys = ["unused"], ["unused"]

        @dispatch(separator="__", source=[("n", "a")], dest="gives", auto_batch_size=False)
        def forward(self, tensordict: TensorDict) -> TensorDict:
            assert tensordict.batch_size == ()
            return tensordict.set("c", tensordict["n", "a"] + 1)

    module = Other()
    module.gives = ["c"]  # type: ignore[assignment]  # A plain attribute.

    assert module(n__a=ONES).tolist() == [2, 2]


def test_more_tensors_than_inputs_are_an_error() -> None:
    with pytest.raises(TypeError) as error:
        TensorDictModule(nn.Tanh(), ["a"], ["c"])(ONES, ONES)

    assert str(error.value) == "the in_keys are ['a']; 1 argument more than that"


def test_a_missing_input_is_named() -> None:
    with pytest.raises(KeyError) as error:
        TensorDictModule(torch.add, ["a", "b"], ["c"])(ONES)

    assert error.value.args[0] == (
        "Some tensors that the module needs were not found; the keys here are 'a'; "
        "the following inputs are None: {'b'}."
    )


def test_keyword_calls_can_be_turned_off_before_the_import() -> None:
    program = (
        "import torch\n"
        "from tensorclass import TensorDict\n"
        "from tensorclass.nn import TensorDictModule\n"
        "module = TensorDictModule(torch.abs, ['x'], ['y'])\n"
        "print(module(TensorDict(x=-torch.ones(())))['y'].item())\n"
        "try:\n    module(x=torch.ones(()))\nexcept TypeError as error:\n    print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"DISPATCH_TDNN_MODULES": "0", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == ["1.0", "TypeError"]


def test_torch_export_takes_keyword_calls() -> None:
    model = TensorDictSequential(
        TensorDictModule(nn.Linear(3, 4), ["a"], ["h"]), TensorDictModule(nn.Linear(4, 1), ["h"], ["v"])
    ).select_out_keys("v")
    x: Tensor = torch.randn(2, 3)
    program = torch.export.export(model, args=(), kwargs={"a": x})

    assert torch.equal(program.module()(a=x), model(a=x))
