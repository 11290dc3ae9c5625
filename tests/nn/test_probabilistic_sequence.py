"""Sequences with probabilistic modules: their distribution, their log-probability, their keys."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch import distributions as d

from tensorclass import TensorDict
from tensorclass.nn import (
    CompositeDistribution,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    TensorDictSequential,
    set_composite_lp_aggregate,
    set_interaction_type,
)
from tests.nn.normals import normal


def policy(**options: Any) -> ProbabilisticTensorDictSequential:
    return ProbabilisticTensorDictSequential(
        TensorDictModule(nn.Linear(3, 4), ["obs"], ["params"]),
        TensorDictModule(NormalParamExtractor(), ["params"], ["loc", "scale"]),
        normal(return_log_prob=True),
        **options,
    )


def chained(**options: Any) -> ProbabilisticTensorDictSequential:
    return ProbabilisticTensorDictSequential(
        TensorDictModule(lambda x: (x, x.exp()), ["x"], ["loc", "scale"]),
        normal("a", return_log_prob=True),
        ProbabilisticTensorDictModule(
            {"loc": "a", "scale": "scale"}, ["b"], distribution_class=d.Normal, return_log_prob=True
        ),
        **options,
    )


def test_get_dist_gives_the_distribution_and_writes_what_leads_to_it() -> None:
    td = TensorDict({"obs": torch.randn(5, 3)}, batch_size=[5])
    dist = policy().get_dist(td)

    assert list(td.keys()) == ["obs", "params", "loc", "scale"]
    assert torch.equal(dist.loc, td["loc"])


def test_get_dist_params_runs_all_but_the_last_module() -> None:
    td = TensorDict({"obs": torch.randn(5, 3)}, batch_size=[5])

    assert policy().get_dist_params(td) is td and list(td.keys()) == ["obs", "params", "loc", "scale"]
    dest = TensorDict()
    assert policy().get_dist_params(TensorDict(obs=torch.randn(5, 3)), tensordict_out=dest) is dest


def test_log_prob_is_that_of_the_values_in_the_container() -> None:
    model = policy()
    with set_interaction_type("random"):
        td = model(TensorDict({"obs": torch.randn(5, 3)}, batch_size=[5]))

    torch.testing.assert_close(model.log_prob(td), td["action_log_prob"])


def test_several_probabilistic_modules_make_a_composite() -> None:
    td = TensorDict({"x": torch.randn(3, 2)}, batch_size=[3])
    dist = chained().get_dist(td)

    assert isinstance(dist, CompositeDistribution) and list(dist.dists) == ["a", "b"]
    assert list(td.keys()) == ["x"]


def test_a_later_module_reads_the_value_of_an_earlier_one() -> None:
    model = chained()
    with set_interaction_type("random"):
        out = model(TensorDict({"x": torch.randn(3, 2)}, batch_size=[3]))
    found = model.log_prob(out)

    assert torch.equal(model.get_dist(out).dists["b"].loc, out["a"])
    for key in ("a_log_prob", "b_log_prob"):
        torch.testing.assert_close(found[key], out[key])


def test_return_composite_can_be_turned_off() -> None:
    td = TensorDict({"x": torch.randn(3, 2)}, batch_size=[3])
    model = chained(return_composite=False)

    assert isinstance(model.get_dist(td), d.Normal)
    assert list(td.keys()) == ["x", "loc", "scale", "a", "a_log_prob"]
    assert isinstance(model.log_prob(model(td)), Tensor)


def test_a_composite_is_returned_where_the_last_module_is_not_probabilistic() -> None:
    model = ProbabilisticTensorDictSequential(*policy(), TensorDictModule(torch.abs, ["action"], ["size"]))

    assert model.return_composite
    assert list(model.get_dist(TensorDict(obs=torch.randn(3))).dists) == ["action"]


def test_aggregated_the_log_probability_of_several_is_one_tensor() -> None:
    with set_composite_lp_aggregate(True):
        model = chained()
        out = model(TensorDict({"x": torch.randn(3, 2)}, batch_size=[3]))

        assert model.log_prob(out).shape == (3,)


@pytest.mark.parametrize("aggregate", [False, True])
def test_the_table_for_two_modules(aggregate: bool) -> None:
    with set_composite_lp_aggregate(aggregate):
        model = chained()
        out = model(TensorDict({"x": torch.randn(3, 2)}, batch_size=[3]))
        written = {"sample_log_prob"} if aggregate else {"a_log_prob", "b_log_prob"}

        assert {key for key in out.keys() if "log_prob" in key} == written
        if aggregate:
            assert torch.equal(out["sample_log_prob"], d.Normal(out["a"], out["scale"]).log_prob(out["b"]))


def test_a_sequence_knows_its_keys() -> None:
    model = chained()

    assert model.dist_params_keys == ["loc", "scale", "a"]
    assert model.dist_sample_keys == ["a", "b"]
    assert model.log_prob_keys == ["a_log_prob", "b_log_prob"]
    assert (policy().log_prob_key, policy().num_samples) == ("action_log_prob", ())


def test_parts_without_a_probabilistic_module_are_plain() -> None:
    model = policy()

    assert type(model[:2]) is TensorDictSequential and type(model[1:]) is ProbabilisticTensorDictSequential
    assert type(model.select_subsequence(out_keys=["loc"])) is TensorDictSequential
    assert type(model.det_part) is TensorDictSequential


def test_a_sequence_without_a_probabilistic_module_is_refused() -> None:
    with pytest.raises(ValueError) as error:
        ProbabilisticTensorDictSequential(TensorDictModule(torch.abs, ["a"], ["b"]))

    assert str(error.value) == (
        "ProbabilisticTensorDictSequential: no module is probabilistic; a TensorDictSequential would do"
    )


def test_a_nested_probabilistic_sequence_counts() -> None:
    outer = ProbabilisticTensorDictSequential(TensorDictModule(nn.Identity(), ["raw"], ["obs"]), policy())
    td = TensorDict({"raw": torch.randn(5, 3)}, batch_size=[5])

    assert isinstance(outer.get_dist(td), d.Normal) and outer.out_keys[-1] == "action_log_prob"


def test_outputs_can_be_selected() -> None:
    model = policy(selected_out_keys=["action"])

    assert sorted(model(TensorDict({"obs": torch.randn(5, 3)}, batch_size=[5])).keys()) == ["action", "obs"]
