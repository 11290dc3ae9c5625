"""Probabilistic modules: the value, the log-probability, and where they go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch import distributions as d
from torch.distributions import constraints

from tensorclass import TensorDict
from tensorclass.nn import (
    CompositeDistribution,
    ProbabilisticTensorDictModule,
    composite_lp_aggregate,
    set_composite_lp_aggregate,
    set_interaction_type,
    set_skip_existing,
)
from tests.nn.normals import normal, params

MAP = {"cont": d.Normal, ("nested", "disc"): d.Categorical}


def heads(**options: Any) -> ProbabilisticTensorDictModule:
    kwargs = {"distribution_map": MAP, **options.pop("distribution_kwargs", {})}
    return ProbabilisticTensorDictModule(
        ["params"], distribution_class=CompositeDistribution, distribution_kwargs=kwargs, **options
    )


def head_params() -> TensorDict:
    entries = {
        "cont": {"loc": torch.randn(3, 4), "scale": torch.ones(3, 4)},
        ("nested", "disc"): {"logits": torch.randn(3, 5)},
    }
    return TensorDict({"params": TensorDict(entries, batch_size=[3])}, batch_size=[3])


# ---- a module -------------------------------------------------------------------------------------------------------


def test_it_builds_the_distribution_of_its_entries_and_writes_a_value() -> None:
    td = params(5)
    out = normal()(td)

    assert out is td and torch.equal(td["action"], td["loc"])
    assert torch.equal(normal().get_dist(td).scale, td["scale"])


def test_the_last_part_of_a_key_is_the_argument() -> None:
    module = ProbabilisticTensorDictModule([("p", "loc"), ("p", "scale")], ["a"], distribution_class=d.Normal)

    assert module(TensorDict(p=params(5)))["a"].shape == (5, 2)


def test_a_dict_of_in_keys_maps_arguments_to_keys() -> None:
    module = ProbabilisticTensorDictModule({"loc": "mu", "scale": "sigma"}, ["a"], distribution_class=d.Normal)

    assert module(TensorDict(mu=torch.ones(2), sigma=torch.ones(2)))["a"].tolist() == [1, 1]


def test_a_key_that_is_no_argument_is_an_error_that_says_so() -> None:
    module = ProbabilisticTensorDictModule(["loc", "sigma"], ["a"], distribution_class=d.Normal)  # type: ignore[tensorclass-module]
    with pytest.raises(TypeError) as error:
        module(TensorDict(loc=torch.ones(2), sigma=torch.ones(2)))

    assert str(error.value) == (
        "Normal.__init__() got an unexpected keyword argument 'sigma'; Normal was called with 'loc', 'sigma': the last "
        "part of an in-key is the argument it is for, or in_keys is a dict from argument to key"
    )


def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(KeyError) as error:
        normal()(TensorDict(loc=torch.ones(2)))

    assert str(error.value) == "no key 'scale'; the keys here are 'loc'"


def test_the_default_distribution_copies_its_input() -> None:
    assert ProbabilisticTensorDictModule(["param"], ["copy"])(TensorDict(param=torch.ones(2)))["copy"].tolist() == [
        1,
        1,
    ]


def test_any_callable_that_gives_a_distribution_will_do() -> None:
    def rows(loc: Tensor, scale: Tensor) -> d.Distribution:
        return d.Independent(d.Normal(loc, scale), 1)

    module = ProbabilisticTensorDictModule(["loc", "scale"], ["a"], distribution_class=rows, return_log_prob=True)

    assert module(params(5))["a_log_prob"].shape == (5,)


def test_two_out_keys_for_one_value_are_an_error() -> None:
    with pytest.raises(RuntimeError) as error:
        normal(["a", "b"])(params(5))

    assert str(error.value) == "There are more out_keys than tensors: 1 tensor for ['a', 'b']."


def test_a_call_with_tensors_gives_value_and_log_probability() -> None:
    value, log_prob = normal(return_log_prob=True)(loc=torch.zeros(2), scale=torch.ones(2))

    assert torch.equal(log_prob, d.Normal(torch.zeros(2), torch.ones(2)).log_prob(value))


def test_it_samples_again_unless_it_may_skip() -> None:
    td = params(5).set("action", torch.full((5, 2), 9.0))
    with set_skip_existing(True):
        assert (normal()(td)["action"] == 9).all()

    assert not (normal()(td)["action"] == 9).any()


def test_distribution_kwargs_are_arguments_too() -> None:
    module = ProbabilisticTensorDictModule(
        ["loc"], ["a"], distribution_class=d.Normal, distribution_kwargs={"scale": 2.0}
    )

    assert module.get_dist(TensorDict(loc=torch.zeros(2))).scale.tolist() == [2, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda: d.Beta(torch.ones(2), torch.ones(2)),
        lambda: d.Cauchy(torch.zeros(2), 1.0),
        lambda: d.Gamma(torch.ones(2), 1.0),
        lambda: d.Binomial(3, torch.full((2,), 0.5)),
        lambda: d.Dirichlet(torch.ones(2)),
        lambda: d.Gumbel(torch.zeros(2), 1.0),
        lambda: d.LogNormal(torch.zeros(2), 1.0),
        lambda: d.MultivariateNormal(torch.zeros(2), torch.eye(2)),
        lambda: d.MixtureSameFamily(d.Categorical(torch.ones(2)), d.Normal(torch.zeros(2), 1.0)),
        lambda: d.TransformedDistribution(d.Normal(torch.zeros(2), 1.0), [d.TanhTransform()]),
        lambda: d.RelaxedBernoulli(torch.tensor(1.0), torch.full((2,), 0.5)),
        lambda: d.VonMises(torch.zeros(2), torch.ones(2)),
        lambda: d.OneHotCategorical(torch.ones(2)),
        lambda: d.StudentT(torch.full((2,), 3.0)),
        lambda: d.Geometric(torch.full((2,), 0.5)),
    ],
)
def test_samples_and_log_probabilities_of_any_distribution_are_torchs_own_to_the_bit(make: Any) -> None:
    module = ProbabilisticTensorDictModule([], ["a"], distribution_class=make, return_log_prob=True)
    torch.manual_seed(0)
    with set_interaction_type("random"):
        out = module(TensorDict())
    torch.manual_seed(0)
    dist = make()
    value = dist.rsample() if dist.has_rsample else dist.sample()

    assert torch.equal(out["a"], value) and torch.equal(out["a_log_prob"], dist.log_prob(value))
    deterministic = ProbabilisticTensorDictModule([], ["a"], distribution_class=make)
    assert deterministic(TensorDict())["a"].shape == value.shape  # Without a warning, which would be an error here.


# ---- where the log-probability goes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("out_key", "options", "separate", "together"),
    [
        ("action", {}, "action_log_prob", "sample_log_prob"),
        (("agent", "action"), {}, ("agent", "action_log_prob"), "sample_log_prob"),
        ("action", {"log_prob_key": "lp"}, "lp", "lp"),
    ],
)
@pytest.mark.parametrize("aggregate", [False, True])
def test_the_table_for_one_out_key(out_key: Any, options: Any, separate: Any, together: Any, aggregate: bool) -> None:
    with set_composite_lp_aggregate(aggregate):
        module = normal([out_key], return_log_prob=True, **options)
        td = module(params(5))
        key = together if aggregate else separate

        assert module.out_keys == [out_key, key] and module.log_prob_key == key
        assert torch.equal(td[key], d.Normal(td["loc"], td["scale"]).log_prob(td[out_key]))
        assert td[key].shape == (5, 2)


def test_the_table_for_log_prob_keys() -> None:
    assert normal(return_log_prob=True, log_prob_keys=["lp"])(params(5))["lp"].shape == (5, 2)
    with set_composite_lp_aggregate(True), pytest.raises(RuntimeError) as error:
        normal(return_log_prob=True, log_prob_keys=["lp"])

    assert str(error.value) == (
        "composite_lp_aggregate is set to True: log-probabilities are summed up, under one key; "
        "give log_prob_key instead of log_prob_keys"
    )


@pytest.mark.parametrize("aggregate", [False, True])
def test_the_table_for_a_composite(aggregate: bool) -> None:
    with set_composite_lp_aggregate(aggregate):
        module = heads(return_log_prob=True, default_interaction_type="random")
        td = module(head_params())
        total = ["sample_log_prob"] if aggregate else []

        assert module.out_keys == ["cont", ("nested", "disc"), "cont_log_prob", ("nested", "disc_log_prob"), *total]
        assert td["cont_log_prob"].shape == (3, 4) and td["nested", "disc_log_prob"].shape == (3,)
        if aggregate:
            each = td["cont_log_prob"].sum(-1) + td["nested", "disc_log_prob"]
            torch.testing.assert_close(td["sample_log_prob"], each)
            torch.testing.assert_close(module.log_prob(td), each)
        else:
            assert "sample_log_prob" not in td
            assert list(module.log_prob(td).keys(True, True)) == ["cont_log_prob", ("nested", "disc_log_prob")]


def test_another_setting_than_at_construction_is_an_error() -> None:
    module = normal(return_log_prob=True)
    with set_composite_lp_aggregate(True), pytest.raises(RuntimeError) as error:
        module(params(5))

    assert str(error.value) == (
        "composite_lp_aggregate is set to True, the module was built when it was False; "
        "choose it before modules are built, and keep it"
    )


def test_the_setting_holds_for_a_block_or_for_good() -> None:
    setting = set_composite_lp_aggregate(True)
    setting.set()
    try:
        assert composite_lp_aggregate() is True
        with set_composite_lp_aggregate(False):
            assert composite_lp_aggregate() is False
    finally:
        setting.unset()
    assert composite_lp_aggregate() is False


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"log_prob_keys": ["x", "y"]}, "2 log_prob_keys for 1 out_key ['action']; give one for each"),
        ({"log_prob_keys": ["x"], "log_prob_key": "y"}, "give log_prob_keys, or log_prob_key, not both"),
        ({"log_prob_key": "action"}, "'action' is the key of a value; its log-probability needs another key"),
    ],
)
def test_keys_for_log_probabilities_that_do_not_fit_are_refused(options: Any, said: str) -> None:
    with pytest.raises(ValueError) as error:
        normal(return_log_prob=True, **options)

    assert str(error.value) == said


def test_one_key_for_several_log_probabilities_is_refused() -> None:
    with pytest.raises(RuntimeError) as error:
        heads(return_log_prob=True, log_prob_key="lp")

    assert str(error.value) == (
        "composite_lp_aggregate is set to False: each value has a log-probability of its own; "
        "give log_prob_keys instead of log_prob_key"
    )
    with pytest.raises(RuntimeError) as error:
        heads(return_log_prob=True).log_prob_key  # noqa: B018

    assert str(error.value) == (
        "there are 2 log_prob_keys, 'cont_log_prob', ('nested', 'disc_log_prob'); log_prob_key is for one"
    )


def test_log_prob_keys_of_a_composite_are_for_its_values_in_order() -> None:
    td = heads(return_log_prob=True, log_prob_keys=["x", ("n", "y")])(head_params())

    assert td["x"].shape == (3, 4) and td["n", "y"].shape == (3,)


# ---- composites in a module -----------------------------------------------------------------------------------------


def test_out_keys_are_the_names_of_the_distributions() -> None:
    assert heads().out_keys == ["cont", ("nested", "disc")]


def test_a_name_map_writes_values_elsewhere() -> None:
    module = heads(
        distribution_kwargs={"name_map": {"cont": ("q", "c"), ("nested", "disc"): "dd"}}, return_log_prob=True
    )
    td = module(head_params())

    assert module.out_keys == [("q", "c"), "dd", ("q", "c_log_prob"), "dd_log_prob"]
    assert td["q", "c_log_prob"].shape == (3, 4) and td["dd"].shape == (3,)


def test_other_out_keys_are_a_name_map() -> None:
    td = heads(out_keys=["u", "v"], return_log_prob=True)(head_params())

    assert {"u", "v", "u_log_prob", "v_log_prob"} <= set(td.keys()) and "cont" not in td


def test_out_keys_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError) as error:
        heads(out_keys=["u"])

    assert str(error.value) == (
        "out_keys ['u'] for a distribution_map of ['cont', ('nested', 'disc')]; give one out-key for each, or none at "
        "all"
    )


def test_a_composite_can_be_sampled_several_times() -> None:
    out = heads(num_samples=2, return_log_prob=True, default_interaction_type="random")(head_params())

    assert (
        out.batch_size == (2, 3) and out["cont"].shape == (2, 3, 4) and out["nested", "disc_log_prob"].shape == (2, 3)
    )


# ---- what is checked, and when --------------------------------------------------------------------------------------


class Picky(d.Normal):
    """Says that its values are large, and gives small ones."""

    support = constraints.greater_than(1e9)  # type: ignore[assignment]  # It need not be the one of a Normal.


@pytest.fixture
def validated() -> Iterator[None]:
    """As in a new process: the first torch.compile of a process has all distributions skip their checks."""
    before = d.Distribution._validate_args
    d.Distribution.set_default_validate_args(True)
    yield
    d.Distribution.set_default_validate_args(before)


def picky(kind: str, **options: Any) -> ProbabilisticTensorDictModule:
    return ProbabilisticTensorDictModule(
        ["loc", "scale"],
        ["action"],
        distribution_class=Picky,
        distribution_kwargs=options,
        return_log_prob=True,
        default_interaction_type=kind,
    )


@pytest.mark.usefixtures("validated")
def test_a_drawn_value_is_not_looked_for_in_the_support() -> None:
    assert "action_log_prob" in picky("random")(params(3))


@pytest.mark.usefixtures("validated")
@pytest.mark.parametrize(("kind", "options"), [("mode", {}), ("random", {"validate_args": True})])
def test_a_value_that_is_not_drawn_is_and_so_is_every_value_where_the_user_says_so(kind: str, options: Any) -> None:
    with pytest.raises(ValueError, match="support"):
        picky(kind, **options)(params(3))


@pytest.mark.usefixtures("validated")
def test_where_the_log_prob_fails_nothing_is_written() -> None:
    td = params(3)
    with pytest.raises(ValueError, match="support"):
        picky("mode")(td)

    assert list(td.keys()) == ["loc", "scale"]
