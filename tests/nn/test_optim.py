"""param_groups: an optimizer with options by key."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from tensorclass import TensorDict, TensorDictParams
from tensorclass.nn import param_groups


def net() -> nn.ModuleDict:
    return nn.ModuleDict({"actor": nn.Linear(3, 2), "critic": nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))})


def rates(groups: list[dict[str, Any]], params: nn.Module) -> dict[str, float]:
    """The learning rate of every parameter, by name."""
    optimizer = torch.optim.SGD(groups, lr=0.5)
    by_id = {id(one): group["lr"] for group in optimizer.param_groups for one in group["params"]}
    return {name: by_id[id(one)] for name, one in params.named_parameters()}


@pytest.mark.parametrize("as_module", [False, True])
def test_a_parameter_has_the_options_of_the_longest_key_above_it_or_none(as_module: bool) -> None:
    module = net()
    params = TensorDict.from_module(module, as_module=as_module)
    groups = param_groups(params, {"critic": {"lr": 0.1}, ("critic", "1"): {"lr": 0.2}})

    assert rates(groups, module) == {
        "actor.weight": 0.5,
        "actor.bias": 0.5,
        "critic.0.weight": 0.1,
        "critic.0.bias": 0.1,
        "critic.1.weight": 0.2,
        "critic.1.bias": 0.2,
    }


def test_a_step_moves_each_group_at_its_rate() -> None:
    params = TensorDictParams(TensorDict(a=torch.ones(1), b=torch.ones(1)))
    optimizer = torch.optim.SGD(param_groups(params, {"a": {"lr": 0.25}}), lr=0.5)
    (params["a"] + params["b"]).backward()
    optimizer.step()

    assert (params["a"].item(), params["b"].item()) == (0.75, 0.5)


def test_buffers_are_in_no_group_and_tied_parameters_in_one() -> None:
    module = nn.ModuleDict({"a": nn.BatchNorm1d(2)})
    module["b"] = module["a"]
    groups = param_groups(module, {"b": {"lr": 0.1}})

    assert [len(group["params"]) for group in groups] == [2]


def test_groups_without_parameters_are_left_out() -> None:
    assert len(param_groups(net(), {"actor": {}, "critic": {}})) == 2


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("critik", "param_groups: no key 'critik'; did you mean 'critic'? The keys here are 'actor', 'critic'"),
        (
            ("actor", "scale"),
            "param_groups: no key ('actor', 'scale'); did you mean ('actor', 'bias')? The keys here are "
            "('actor', 'bias'), ('actor', 'weight'), ('critic', '0'), ('critic', '1')",
        ),
    ],
)
def test_a_key_that_names_no_parameter_is_an_error(key: Any, said: str) -> None:
    with pytest.raises(KeyError) as error:
        param_groups(net(), {key: {"lr": 0.1}})

    assert str(error.value) == said
