"""A call of a module is that of nn.Module, whichever way is taken: hooks, other forwards and compiled calls run."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import TensorDict
from tensorclass.nn import TensorDictModule, TensorDictModuleBase, TensorDictSequential


def sample() -> TensorDict:
    return TensorDict(x=torch.ones(3), batch_size=[3])


def module() -> Any:
    return TensorDictModule(torch.neg, ["x"], ["y"])


def sequence() -> Any:
    return TensorDictSequential(TensorDictModule(torch.neg, ["x"], ["y"]))


class Own(TensorDictModuleBase):
    in_keys, out_keys = ["x"], ["y"]

    def forward(self, tensordict: Any) -> Any:
        return tensordict.set("y", -tensordict["x"])


MAKERS = [module, sequence, Own]


@pytest.mark.parametrize("make", MAKERS)
def test_hooks_run(make: Any) -> None:
    model, seen = make(), []
    model.register_forward_pre_hook(lambda *_: seen.append("before"))
    model.register_forward_hook(lambda *_: seen.append("after"))

    assert (model(sample())["y"] == -1).all()
    assert seen == ["before", "after"]


@pytest.mark.parametrize("make", MAKERS)
def test_hooks_for_all_modules_run(make: Any) -> None:
    model, seen = make(), []
    handle = nn.modules.module.register_module_forward_hook(lambda module, *_: seen.append(module))
    try:
        model(sample())
    finally:
        handle.remove()

    assert model in seen


@pytest.mark.parametrize("make", MAKERS)
def test_a_forward_put_into_the_instance_runs(make: Any) -> None:
    model = make()
    model.forward = lambda tensordict: tensordict.set("y", 5.0 * tensordict["x"])

    assert (model(sample())["y"] == 5).all()


def test_the_forward_of_a_subclass_runs() -> None:
    class Twice(TensorDictModule):
        def forward(self, tensordict: Any = None, /, *args: Any, **kwargs: Any) -> Any:
            out = super().forward(tensordict, *args, **kwargs)
            return out.set("y", 2 * out["y"])

    assert (Twice(torch.neg, ["x"], ["y"])(sample())["y"] == -2).all()


@pytest.mark.parametrize("make", MAKERS)
def test_a_compiled_call_runs(make: Any) -> None:
    model, graphs = make(), []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    model.compile(backend=backend)

    assert (model(sample())["y"] == -1).all()
    assert len(graphs) == 1


@pytest.mark.parametrize("make", MAKERS)
def test_a_hook_runs_in_a_compiled_graph(make: Any) -> None:
    model = make()
    model.register_forward_hook(lambda module, args, out: out.set("z", out["y"] + 1))

    out = torch.compile(lambda tensordict: model(tensordict), backend="eager", fullgraph=True)(sample())

    assert (out["z"] == 0).all()


def test_a_class_that_leaves_out_init_is_told_by_torch() -> None:
    class Forgetful(TensorDictModuleBase):
        in_keys, out_keys = ["x"], ["y"]

        def __init__(self) -> None:
            pass

    with pytest.raises(AttributeError, match="_hooks"):
        Forgetful()(sample())


def test_a_module_without_modules_is_called() -> None:
    empty: Any = nn.Sequential()

    assert (TensorDictModule(empty, ["x"], ["y"])(sample())["y"] == 1).all()


def test_an_output_that_does_not_fit_is_refused() -> None:
    def half(x: Tensor) -> Tensor:
        return x[:1]

    with pytest.raises(RuntimeError, match="'y' has shape"):
        TensorDictModule(half, ["x"], ["y"])(sample())


@pytest.mark.parametrize("make", MAKERS)
def test_a_locked_input_is_refused(make: Any) -> None:
    with pytest.raises(RuntimeError, match="locked"):
        make()(sample().lock_())
