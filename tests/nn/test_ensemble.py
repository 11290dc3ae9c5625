"""Many sets of parameters for one module: functional_vmap and EnsembleModule."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import EnsembleModule, TensorDictModule, functional_vmap

close = torch.testing.assert_close


def layer() -> TensorDictModule:
    return TensorDictModule(nn.Linear(3, 2), ["x"], ["y"])


def given(batch: int = 10) -> TensorDict:
    return TensorDict({"x": torch.randn(batch, 3)}, batch_size=[batch])


# ---- functional_vmap ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", [False, True])
def test_every_set_receives_the_inputs_in_args(loop: bool) -> None:
    nets = [nn.Linear(3, 1) for _ in range(4)]
    x = torch.randn(10, 3)
    y = functional_vmap(nets[0], params=TensorDict.from_modules(*nets), args=(x,), loop=loop)

    close(y, torch.stack([net(x) for net in nets]))


@pytest.mark.parametrize("loop", [False, True])
def test_each_set_gets_its_slice_of_an_input_in_in_dims(loop: bool) -> None:
    nets = [nn.Linear(3, 1) for _ in range(4)]
    x = torch.randn(10, 4, 3)
    y = functional_vmap(
        nets[0], params=TensorDict.from_modules(*nets), kwargs={"input": x}, in_dims={"input": 1}, loop=loop
    )

    close(y, torch.stack([net(x[:, at]) for at, net in enumerate(nets)]))


@pytest.mark.parametrize("loop", [False, True])
def test_all_batch_dims_of_the_parameters_come_first_in_the_outputs(loop: bool) -> None:
    nets = [nn.Linear(3, 1) for _ in range(4)]
    params = TensorDict.from_modules(*nets).reshape(2, 2)
    x = torch.randn(2, 2, 10, 3)

    assert functional_vmap(nets[0], params=params, args=(x[0, 0],), loop=loop).shape == (2, 2, 10, 1)
    y = functional_vmap(nets[0], params=params, kwargs={"input": x}, in_dims={"input": 0}, loop=loop)
    close(y[1, 0], nets[2](x[1, 0]))


def test_a_loop_runs_what_vmap_cannot() -> None:
    nets = [nn.GRU(3, 2, batch_first=True) for _ in range(3)]
    x = torch.randn(5, 7, 3)
    out, hidden = functional_vmap(nets[0], params=TensorDict.from_modules(*nets), args=(x,), loop=True)

    assert (out.shape, hidden.shape) == ((3, 5, 7, 2), (3, 1, 5, 2))
    close(out[1], nets[1](x)[0])


def test_it_leaves_the_module_as_it_was() -> None:
    nets = [nn.Linear(3, 1) for _ in range(2)]
    own = nets[0].weight
    functional_vmap(nets[0], params=TensorDict.from_modules(*nets), args=(torch.zeros(3),))

    assert nets[0].weight is own


@pytest.mark.parametrize("loop", [False, True])
def test_the_parameters_may_be_a_lazy_stack(loop: bool) -> None:
    nets = [nn.Linear(3, 1) for _ in range(2)]
    params, x = TensorDict.from_modules(*nets, lazy_stack=True), torch.randn(10, 3)

    close(functional_vmap(nets[0], params=params, args=(x,), loop=loop), torch.stack([net(x) for net in nets]))


class Tied(nn.Module):
    """One layer under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.a = self.b = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        if (x > 1e6).any():
            raise LookupError
        out: Tensor = self.b(self.a(x))
        return out


def test_a_module_with_one_layer_twice_has_its_own_parameters_again_also_after_an_error() -> None:
    module, x = Tied(), torch.randn(5, 3)
    own = module.a.weight
    params = TensorDict.from_modules(module, module)
    close(functional_vmap(module, params=params, args=(x,), loop=True)[1], module(x))
    with pytest.raises(LookupError):
        functional_vmap(module, params=params, args=(x + 1e7,), loop=True)

    assert module.a.weight is own and module.a is module.b


def test_threads_wait_for_each_other() -> None:
    net, x = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(10, 3)
    own = net(x)
    params = [TensorDict.from_modules(net, net).data.clone() * scale for scale in (1, 2, 3)]
    wanted = [functional_vmap(net, params=one, args=(x,)) for one in params]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda one: functional_vmap(net, params=one, args=(x,)), params * 20))

    for one, other in zip(found, wanted * 20):
        close(one, other)
    close(net(x), own)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"params": TensorDict({"n": {"weight": torch.zeros(2, 1)}}, batch_size=[2])},
            "to_module: Linear has nothing for 'n'",
        ),
        ({"in_dims": {"input": 0}}, "in_dims: 'input' is not in kwargs, which are none"),
        (
            {"params": TensorDict()},
            "functional_vmap: the parameters have no batch dims; from_modules makes some that have",
        ),
    ],
)
def test_what_does_not_fit_is_said(options: Any, said: str) -> None:
    nets = [nn.Linear(3, 1) for _ in range(2)]
    with pytest.raises((ValueError, RuntimeError, KeyError)) as error:
        functional_vmap(nets[0], **{"params": TensorDict.from_modules(*nets), **options})

    assert str(error.value) == said


# ---- EnsembleModule -------------------------------------------------------------------------------------------------


def test_the_output_has_a_leading_batch_dim_of_the_copies() -> None:
    ensemble = EnsembleModule(layer(), num_copies=4)
    out = ensemble(given())

    assert out.batch_size == (4, 10) and out["y"].shape == (4, 10, 2)
    assert ensemble.params_td.batch_size == (4,)
    assert not torch.equal(out["y"][0], out["y"][1])


def test_each_copy_is_the_module_with_its_parameters() -> None:
    ensemble, td = EnsembleModule(layer(), num_copies=4), given()
    out = ensemble(td)
    weight, bias = ensemble.params_td["module", "weight"], ensemble.params_td["module", "bias"]

    for at in range(4):
        close(out["y"][at], nn.functional.linear(td["x"], weight[at], bias[at]))


def test_parameters_are_the_stacked_ones_alone_and_all_are_trained() -> None:
    ensemble = EnsembleModule(layer(), num_copies=3)
    ensemble(given())["y"].sum().backward()

    assert sorted(tuple(one.shape) for one in ensemble.parameters()) == [(3, 2), (3, 2, 3)]
    assert all(one.grad is not None for one in ensemble.parameters())
    assert list(ensemble.state_dict()) == ["params_td.module.weight", "params_td.module.bias"]


def test_the_module_itself_is_left_as_it_was() -> None:
    module = layer()
    before = [one.detach().clone() for one in module.parameters()]
    EnsembleModule(module, num_copies=3)(given())

    assert all(torch.equal(old, new) for old, new in zip(before, module.parameters()))
    assert all(one.is_leaf and one.grad is None for one in module.parameters())


def test_without_expansion_each_copy_reads_its_slice() -> None:
    first = EnsembleModule(layer(), num_copies=4)
    second = EnsembleModule(TensorDictModule(nn.Linear(2, 1), ["y"], ["z"]), num_copies=4, expand_input=False)
    middle = first(given())
    out = second(middle)
    weight, bias = second.params_td["module", "weight"], second.params_td["module", "bias"]

    assert out["z"].shape == (4, 10, 1)
    close(out["z"][2], nn.functional.linear(middle["y"][2], weight[2], bias[2]))


def test_without_expansion_the_input_has_a_slice_for_each_copy() -> None:
    ensemble = EnsembleModule(layer(), num_copies=4, expand_input=False)
    with pytest.raises(RuntimeError) as error:
        ensemble(given())

    assert str(error.value) == (
        "EnsembleModule: the input has batch size [10]; with expand_input=False its first dim must be the 4 copies"
    )


def test_it_works_with_dropout_and_without_anything_to_reset() -> None:
    module = TensorDictModule(nn.Sequential(nn.Linear(3, 64), nn.Dropout(0.5)), ["x"], ["y"])
    out = EnsembleModule(module, num_copies=2)(given())["y"]
    plain = EnsembleModule(TensorDictModule(nn.Tanh(), ["x"], ["y"]), num_copies=2)(given())

    assert not torch.equal(out[0] == 0, out[1] == 0)
    assert plain["y"].shape == (2, 10, 3)


def test_it_follows_to_another_dtype_and_to_evaluation() -> None:
    module = TensorDictModule(nn.Sequential(nn.Linear(3, 2), nn.Dropout(1.0)), ["x"], ["y"])
    ensemble = EnsembleModule(module, num_copies=2).to(torch.float64).eval()
    out = ensemble(TensorDict({"x": torch.randn(5, 3, dtype=torch.float64)}, batch_size=[5]))["y"]

    assert out.dtype == torch.float64 and (out != 0).any()


def test_copies_can_be_initialized_again() -> None:
    ensemble = EnsembleModule(layer(), num_copies=2)
    before = ensemble.params_td["module", "weight"].detach().clone()
    ensemble.reset_parameters_recursive()

    assert not torch.equal(ensemble.params_td["module", "weight"], before)


def test_it_can_be_called_with_tensors() -> None:
    assert EnsembleModule(layer(), num_copies=4)(x=torch.randn(10, 3)).shape == (4, 10, 2)


def test_a_module_without_keys_is_no_module_by_key() -> None:
    with pytest.raises(TypeError) as error:
        EnsembleModule(nn.Linear(3, 2), num_copies=2)  # type: ignore[arg-type]

    said = "EnsembleModule: a Linear has no in_keys and out_keys; TensorDictModule(module, in_keys, out_keys) has"
    assert str(error.value) == said


def test_a_parameter_can_be_asked_for_by_its_name() -> None:
    ensemble = EnsembleModule(TensorDictModule(nn.Linear(3, 2), ["x"], ["y"]), num_copies=2)

    assert ensemble.get_parameter("params_td.module.weight") is ensemble.params_td["module", "weight"]


def test_a_functional_call_takes_other_parameters() -> None:
    ensemble = EnsembleModule(TensorDictModule(nn.Linear(3, 2), ["x"], ["y"]), num_copies=2)
    zeros = {name: torch.zeros_like(one) for name, one in ensemble.named_parameters()}

    assert not torch.func.functional_call(ensemble, zeros, (), {"x": torch.ones(3)}).any()


def test_there_is_at_least_one_copy() -> None:
    with pytest.raises(ValueError) as error:
        EnsembleModule(layer(), num_copies=0)

    assert str(error.value) == "num_copies: 0 copies; 1 at least is needed"


class Sample(TensorClass):
    x: Tensor
    y: Tensor | None = None


def test_it_runs_on_a_typed_instance() -> None:
    out = EnsembleModule(layer(), num_copies=2)(Sample(x=torch.randn(5, 3), batch_size=[5]))

    assert type(out) is Sample and out.batch_size == (2, 5)


# ---- what parameters in containers are for --------------------------------------------------------------------------


def test_a_target_network_follows_softly() -> None:
    net = nn.Linear(2, 1)
    source = TensorDict.from_module(net).data
    target = source.clone().zero_()
    target.update_(target.lerp(source, 0.1))

    close(target["weight"], 0.1 * net.weight.detach())


def test_gradients_for_each_sample() -> None:
    net = nn.Linear(3, 1)
    x, params = torch.randn(5, 3), TensorDict.from_module(net).detach()

    def loss(p: TensorDict, row: Tensor) -> Tensor:
        with p.to_module(net):
            out: Tensor = net(row).square().sum()
        return out

    grads = torch.vmap(torch.func.grad(loss), (None, 0))(params, x)
    for at in range(5):
        own = torch.autograd.grad(net(x[at]).square().sum(), net.weight)[0]
        close(grads["weight"][at], own)


def test_an_inner_loop_of_meta_learning_has_gradients_of_the_outer_parameters() -> None:
    net = nn.Linear(3, 1)
    x, params = torch.randn(5, 3), TensorDict.from_module(net)
    with params.to_module(net):
        inner = torch.autograd.grad(net(x).square().mean(), list(params.values()), create_graph=True)
    moved = TensorDict({key: value - 0.1 * step for (key, value), step in zip(params.items(), inner)})
    with moved.to_module(net):
        net(x).square().mean().backward()

    assert net.weight.grad is not None and net.weight.grad.abs().sum() > 0
