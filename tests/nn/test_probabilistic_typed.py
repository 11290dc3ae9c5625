"""A distribution head from class to class."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal
from typing_extensions import assert_type

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import Chain, ProbabilisticModule, TensorClassModuleBase, set_interaction_type


class Obs(TensorClass):
    obs: Tensor


class Params(TensorClass):
    loc: Tensor
    scale: Tensor


class Action(TensorClass):
    action: Tensor
    log_prob: Tensor | None = None


class Bare(TensorClass):
    action: Tensor


class Net(TensorClassModuleBase[Obs, Params]):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Obs) -> Params:
        loc = self.layer(x.obs)
        return Params(loc=loc, scale=torch.ones_like(loc), batch_size=x.batch_size)


class Head(ProbabilisticModule[Params, Action]):
    def dist(self, x: Params) -> Normal:
        return Normal(x.loc, x.scale)


class BareHead(ProbabilisticModule[Params, Bare]):
    def dist(self, x: Params) -> Normal:
        return Normal(x.loc, x.scale)


def params() -> Params:
    return Params(loc=torch.randn(5, 2), scale=torch.ones(5, 2), batch_size=[5])


def test_it_takes_a_value_by_the_interaction_type() -> None:
    given = params()
    torch.manual_seed(0)
    with set_interaction_type("random"):
        drawn = Head()(given)
    torch.manual_seed(0)

    assert torch.equal(Head()(given).action, given.loc)
    assert torch.equal(drawn.action, Normal(given.loc, given.scale).rsample())
    assert torch.equal(Head("random")(given).action, given.loc) is False


def test_a_field_for_the_log_probability_gets_it() -> None:
    given = params()
    out = Head()(given)

    assert out.log_prob is not None and torch.equal(out.log_prob, Head().log_prob(given, out))
    assert BareHead()(given).to_dict().keys() == {"action"}


def test_the_distribution_is_of_the_class_that_dist_says() -> None:
    dist = Head().dist(params())
    assert_type(dist, Normal)
    assert_type(Head()(params()), Action)

    assert type(dist) is Normal


def test_it_is_part_of_a_chain_and_works_by_key() -> None:
    policy = Chain(Net(), Head())
    out = policy.as_td_module()(TensorDict({"obs": torch.randn(5, 3)}, batch_size=[5]))

    assert sorted(out.keys()) == ["action", "log_prob"]


def test_the_output_has_one_field_for_the_value() -> None:
    class Two(TensorClass):
        a: Tensor
        b: Tensor

    class Wrong(ProbabilisticModule[Params, Two]):
        def dist(self, x: Params) -> Normal:
            return Normal(x.loc, x.scale)

    with pytest.raises(TypeError) as error:
        Wrong()(params())

    assert str(error.value) == (
        "Two: 2 fields without default ('a', 'b'); the output of a ProbabilisticModule has one, for the value"
    )
