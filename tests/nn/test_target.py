"""soft_update: parameters that follow other parameters."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from tensorclass import TensorDict
from tensorclass.nn import EnsembleModule, TensorDictModule, soft_update

close = torch.testing.assert_close


def nets() -> tuple[nn.Module, nn.Module]:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    net(torch.randn(5, 3))
    return net, nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


@pytest.mark.parametrize("tau", [0, 0.25, 1])
def test_every_parameter_goes_that_part_of_the_way(tau: float) -> None:
    source, target = nets()
    before = copy.deepcopy(target)
    soft_update(target, source, tau)

    for one, other, old in zip(target.parameters(), source.parameters(), before.parameters()):
        close(one, old + tau * (other - old))


def test_it_is_in_place_and_no_gradient_flows() -> None:
    source, target = nets()
    own = list(target.parameters())
    soft_update(target, source, 0.5)

    assert all(one is other and one.grad_fn is None for one, other in zip(target.parameters(), own))
    assert all(one.grad is None for one in source.parameters())


def test_running_means_follow_and_counts_are_copied() -> None:
    source, target = nets()
    soft_update(target, source, 0.5)

    close(target[1].running_mean, 0.5 * source[1].running_mean)  # type: ignore[index]
    assert target[1].num_batches_tracked == 1  # type: ignore[index]


def test_a_module_a_container_and_an_ensemble_are_all_right() -> None:
    ensemble = EnsembleModule(TensorDictModule(nn.Linear(3, 2), ["x"], ["y"]), num_copies=2)
    target = ensemble.params_td.data.clone().zero_()
    soft_update(target, ensemble.params_td, 0.5)
    net, other = nn.Linear(3, 2), nn.Linear(3, 2)
    soft_update(TensorDict.from_module(net), other, 1)

    close(target["module", "weight"], 0.5 * ensemble.params_td["module", "weight"].data)
    assert torch.equal(net.weight, other.weight)


def test_a_parameter_under_two_names_moves_once() -> None:
    target, source = (nn.ModuleDict({"a": nn.Linear(3, 2)}) for _ in range(2))
    target["b"], source["b"] = target["a"], source["a"]
    wanted = target["a"].weight.detach().lerp(source["a"].weight.detach(), 0.5)  # type: ignore[operator]
    soft_update(target, source, 0.5)

    close(target["a"].weight.detach(), wanted)  # type: ignore[operator]


def test_a_source_of_another_dtype_is_converted() -> None:
    net, half = nn.Linear(3, 2), nn.Linear(3, 2).to(torch.float16)
    soft_update(net, half, 1)

    assert torch.equal(net.weight, half.weight.float())


@pytest.mark.parametrize(
    ("source", "tau", "said"),
    [
        (nn.Linear(3, 2), 1.5, "soft_update: tau is 1.5; it is a part of the way, between 0 and 1"),
        (nn.Linear(2, 2), 0.5, "soft_update: 'weight' has shape [2, 3] in the target and [2, 2] in the source"),
        (
            nn.Linear(3, 2, bias=False),
            0.5,
            "soft_update: the second container has no 'bias'; both must have the same keys",
        ),
        (3, 0.5, "soft_update: int has no parameters; give a module or a container"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_written(source: Any, tau: float, said: str) -> None:
    target = nn.Linear(3, 2)
    before = copy.deepcopy(target.state_dict())
    with pytest.raises((ValueError, RuntimeError, KeyError, TypeError)) as error:
        soft_update(target, source, tau)

    assert str(error.value) == said
    close(target.state_dict(), before)


def test_it_compiles_in_one_graph() -> None:
    torch._dynamo.reset()
    source, target = nn.Linear(3, 2), nn.Linear(3, 2)
    wanted = target.weight.detach().lerp(source.weight.detach(), 0.3)
    torch.compile(lambda: soft_update(target, source, 0.3), backend="eager", fullgraph=True)()

    close(target.weight.detach(), wanted)
