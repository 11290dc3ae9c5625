"""A call of a module is that of nn.Module, whichever way is taken: hooks, other forwards and compiled calls run."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounter
from torch.nn.modules import module as hooks

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
    handle = hooks.register_module_forward_hook(lambda module, *_: seen.append(module))
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


HOOKS: dict[str, Any] = {
    "forward": lambda inner, seen: inner.register_forward_hook(lambda *_: seen.append(inner)),
    "forward with kwargs": lambda inner, seen: inner.register_forward_hook(
        lambda *_: seen.append(inner), with_kwargs=True
    ),
    "forward pre": lambda inner, seen: inner.register_forward_pre_hook(lambda *_: seen.append(inner)),
    "backward": lambda inner, seen: inner.register_full_backward_hook(lambda *_: seen.append(inner)),
    "backward pre": lambda inner, seen: inner.register_full_backward_pre_hook(lambda *_: seen.append(inner)),
    "forward of all": lambda inner, seen: hooks.register_module_forward_hook(lambda module, *_: seen.append(module)),
    "forward pre of all": lambda inner, seen: hooks.register_module_forward_pre_hook(
        lambda module, *_: seen.append(module)
    ),
    "backward of all": lambda inner, seen: hooks.register_module_full_backward_hook(
        lambda module, *_: seen.append(module)
    ),
    "backward pre of all": lambda inner, seen: hooks.register_module_full_backward_pre_hook(
        lambda module, *_: seen.append(module)
    ),
}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("by_keyword", [False, True])
@pytest.mark.filterwarnings("ignore:For backward hooks", "ignore:Full backward hook")  # Of the module around it.
def test_hooks_of_the_wrapped_module_run(hook: str, by_keyword: bool) -> None:
    inner, seen = nn.Linear(3, 2), list[Any]()
    model, x = TensorDictModule(inner, ["x"], ["y"]), torch.ones(3, requires_grad=True)
    handle = HOOKS[hook](inner, seen)
    try:
        y = model(x=x) if by_keyword else model(TensorDict(x=x))["y"]
        y.sum().backward()
    finally:
        handle.remove()

    assert seen.count(inner) == 1


def test_a_call_of_its_own_of_the_wrapped_module_runs() -> None:
    class Called(nn.Linear):
        def __call__(self, x: Tensor) -> Tensor:
            y: Tensor = super().__call__(x)
            return y + 1

    inner = Called(3, 2)

    assert torch.equal(TensorDictModule(inner, ["x"], ["y"])(x=torch.ones(3)), inner.forward(torch.ones(3)) + 1)


def test_a_forward_put_into_the_wrapped_module_runs() -> None:
    inner = nn.Linear(3, 3)
    inner.forward = torch.neg  # type: ignore[method-assign]  # As users do it.

    assert (TensorDictModule(inner, ["x"], ["y"])(sample())["y"] == -1).all()


def test_a_compiled_call_of_the_wrapped_module_runs() -> None:
    class Negation(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return -x

    inner, counter = Negation(), CompileCounter()
    inner.compile(backend=counter)
    TensorDictModule(inner, ["x"], ["y"])(x=torch.ones(3))

    assert counter.frame_count == 1


def test_a_profile_names_the_wrapped_module() -> None:
    model = TensorDictModule(nn.Linear(3, 2), ["x"], ["y"])
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True) as profile:
        model(x=torch.ones(3))

    assert "nn.Module: Linear_0" in {event.name for event in profile.events() or ()}


@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_knows_the_wrapped_module(strict: bool) -> None:
    model = TensorDictModule(nn.Linear(3, 2), ["x"], ["y"])
    program = torch.export.export(model, args=(), kwargs={"x": torch.ones(1, 3)}, strict=strict)

    (linear,) = [node for node in program.graph.nodes if node.op == "call_function"]
    assert [name for name, _ in linear.meta["nn_module_stack"].values()] == ["", "module"]


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
