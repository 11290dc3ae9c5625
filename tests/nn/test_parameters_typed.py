"""The parameters of a module as an instance of a class that says what they are."""

from __future__ import annotations

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import functional_vmap, soft_update


class Layer(TensorClass):
    weight: Float[Tensor, "*batch out in"]
    bias: Float[Tensor, "*batch out"] | None = None


class Weights(TensorClass):
    first: Layer
    last: Layer


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(self.first(x).relu())
        return out


def test_the_fields_are_the_parameters_themselves() -> None:
    net = Net()
    weights = Weights.from_module(net)

    assert weights.first.weight is net.first.weight
    assert weights.last.bias is None


def test_what_is_put_into_a_module_is_there_for_a_block() -> None:
    net = Net()
    own, weights = net.first.weight, Weights.from_module(net).detach().clone().zero_()
    with weights.to_module(net):
        assert (net(torch.ones(3)) == 0).all()

    assert net.first.weight is own


def test_stacked_parameters_have_a_batch_size_and_are_indexed_by_net() -> None:
    nets = [Net(), Net()]
    weights, x = Weights.from_tensordict(TensorDict.from_modules(*nets)), torch.randn(5, 3)

    assert weights.batch_size == (2,)
    assert torch.equal(weights[1].first.weight, nets[1].first.weight)
    torch.testing.assert_close(functional_vmap(nets[0], params=weights, args=(x,))[1], nets[1](x))


def test_they_are_a_source_and_a_target() -> None:
    net, other = Net(), Net()
    soft_update(Weights.from_module(net), Weights.from_module(other), 1)

    assert torch.equal(net.first.weight, other.first.weight)


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (
            nn.PReLU(),
            "field 'weight' has shape [1], which does not fit \"*batch out in\": it has 1 dim; with batch size [] "
            "it must have 2",
        ),
        (nn.BatchNorm1d(3), "Layer has no field 'running_mean'; its fields are 'weight', 'bias'"),
        (nn.ReLU(), "Layer: no key 'weight'; there are no keys here"),
    ],
)
def test_a_module_of_another_structure_is_an_error(module: nn.Module, said: str) -> None:
    with pytest.raises((TypeError, KeyError, RuntimeError)) as error:
        Layer.from_module(module)

    assert str(error.value) == said
