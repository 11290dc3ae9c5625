"""Probabilistic modules and sequences: the value, the log-probability, and where they go."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch import distributions as d
from torch.distributions import constraints

from tensorclass import TensorDict
from tensorclass.nn import (
    CompositeDistribution,
    InteractionType,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    TensorDictSequential,
    composite_lp_aggregate,
    interaction_type,
    set_composite_lp_aggregate,
    set_interaction_type,
    set_skip_existing,
)

MAP = {"cont": d.Normal, ("nested", "disc"): d.Categorical}


def normal(out_keys: Any = "action", **options: Any) -> ProbabilisticTensorDictModule:
    return ProbabilisticTensorDictModule(["loc", "scale"], out_keys, distribution_class=d.Normal, **options)


def params(*batch: int) -> TensorDict:
    return TensorDict({"loc": torch.randn(*batch, 2), "scale": torch.rand(*batch, 2) + 0.5}, batch_size=batch)


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


# ---- interaction types ----------------------------------------------------------------------------------------------


class Plain(d.Distribution):
    """Knows its mean and nothing else."""

    arg_constraints: Any = {}
    support: Any = constraints.real
    has_rsample = False

    def __init__(self, loc: Tensor) -> None:
        self.loc = loc
        super().__init__(loc.shape, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.loc + 7


class Meanless(d.Normal):
    @property
    def mean(self) -> Tensor:
        raise NotImplementedError


def test_random_draws_with_a_gradient_where_there_is_one() -> None:
    td = params(5)
    td["loc"] = td["loc"].requires_grad_()
    torch.manual_seed(0)
    drawn = normal(default_interaction_type="random")(td)["action"]
    torch.manual_seed(0)

    assert drawn.requires_grad
    assert torch.equal(drawn, d.Normal(td["loc"], td["scale"]).rsample())


@pytest.mark.parametrize("kind", ["mode", "mean", "Deterministic", InteractionType.MEAN])
def test_mode_and_mean_are_the_attributes(kind: Any) -> None:
    td = params(5)

    assert torch.equal(normal(default_interaction_type=kind)(td)["action"], td["loc"])


def test_a_mean_that_is_not_there_is_that_of_samples() -> None:
    module = ProbabilisticTensorDictModule(
        ["loc", "scale"], ["a"], distribution_class=Meanless, default_interaction_type="mean", n_empirical_estimate=7
    )
    td = params(5)
    torch.manual_seed(0)
    value = module(td)["a"]
    torch.manual_seed(0)

    assert torch.equal(value, d.Normal(td["loc"], td["scale"]).rsample((7,)).mean(0))


def test_a_mode_or_median_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NotImplementedError) as error:
        normal(default_interaction_type="median")(params(5))

    assert str(error.value) == (
        "Normal has no median; another interaction type, or a class with that attribute, would do"
    )


def test_deterministic_is_the_attribute_where_there_is_one() -> None:
    class Clipped(d.Normal):
        @property
        def deterministic_sample(self) -> Tensor:
            return self.loc.clamp(-1, 1)

    module = ProbabilisticTensorDictModule(["loc", "scale"], ["a"], distribution_class=Clipped)

    assert module(TensorDict(loc=torch.tensor([3.0, -0.5]), scale=torch.ones(2)))["a"].tolist() == [1, -0.5]


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda: d.Categorical(probs=torch.tensor([0.1, 0.7, 0.2])), 1),
        (lambda: d.Bernoulli(torch.tensor(0.8)), 1),
        (lambda: d.Poisson(torch.tensor(3.5)), 3.5),
        (lambda: d.Uniform(torch.tensor(0.0), torch.tensor(1.0)), 0.5),
        (lambda: d.Independent(d.Normal(torch.ones(1), 1.0), 1), 1),
        (lambda: d.Independent(d.Bernoulli(torch.tensor([0.8])), 1), 1),
    ],
)
def test_deterministic_is_the_mode_of_a_choice_and_the_mean_of_all_else(make: Any, value: float) -> None:
    module = ProbabilisticTensorDictModule([], ["a"], distribution_class=make)

    assert module(TensorDict())["a"] == value


def test_of_an_unknown_class_the_support_decides_and_a_warning_says_so() -> None:
    module = ProbabilisticTensorDictModule(["loc"], ["a"], distribution_class=Plain)
    with pytest.warns(UserWarning, match="^Plain has no deterministic_sample; its mean is taken."):
        assert module(TensorDict(loc=torch.zeros(2)))["a"].tolist() == [7, 7]


def test_a_block_is_above_the_default_of_the_module() -> None:
    td = params(5)
    with set_interaction_type("random"):
        assert not torch.equal(normal()(td)["action"], td["loc"])
        with set_interaction_type(None):
            assert torch.equal(normal()(td)["action"], td["loc"])
    assert torch.equal(normal()(td)["action"], td["loc"])


def test_the_block_works_as_a_decorator_too() -> None:
    @set_interaction_type(InteractionType.MODE)
    def act() -> Any:
        return interaction_type()

    assert act() is InteractionType.MODE and interaction_type() is None


def test_without_argument_it_is_deterministic() -> None:
    with set_interaction_type():
        assert interaction_type() is InteractionType.DETERMINISTIC


@pytest.mark.parametrize("name", ["RANDOM", "random", "Random"])
def test_a_type_has_a_name_in_any_case(name: str) -> None:
    assert InteractionType.from_str(name) is InteractionType(name) is InteractionType.RANDOM


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ValueError) as error:
        normal(default_interaction_type="radnom")

    assert str(error.value) == (
        "'radnom' is no interaction type; there are 'mode', 'median', 'mean', 'random', 'deterministic'"
    )


def test_each_thread_has_its_own_type() -> None:
    seen: list[Any] = []
    with set_interaction_type("mode"):
        thread = threading.Thread(target=lambda: seen.append(interaction_type()))
        thread.start()
        thread.join()

    assert seen == [None]


# ---- samples and generators -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "batch"), [(4, (4, 3)), (torch.Size([4, 2]), (4, 2, 3))])
def test_samples_are_leading_batch_dims_of_a_new_container(given: Any, batch: Any) -> None:
    td = params(3)
    out = normal(num_samples=given, default_interaction_type="random", return_log_prob=True)(td)

    assert out is not td and "action" not in td and out.batch_size == batch
    assert out["action"].shape == out["action_log_prob"].shape == out["loc"].shape == (*batch, 2)
    assert len(out["action"].reshape(-1, 3, 2)[:, 0, 0].unique()) == torch.Size(batch[:-1]).numel()


def test_a_deterministic_value_is_repeated() -> None:
    out = normal(num_samples=4)(params(3))

    assert (out["action"] == out["loc"]).all()


def test_a_generator_draws_what_it_draws_elsewhere_and_moves_on() -> None:
    td = TensorDict(loc=torch.zeros(2), scale=torch.ones(2))
    generator = torch.Generator().manual_seed(3)
    module = normal(generator=generator, default_interaction_type="random")
    before = torch.get_rng_state()
    first, second = module(td.copy())["action"], module(td.copy())["action"]
    same = torch.Generator().manual_seed(3)

    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(first, torch.normal(torch.zeros(2), torch.ones(2), generator=same))
    assert torch.equal(second, torch.normal(torch.zeros(2), torch.ones(2), generator=same))


@pytest.mark.parametrize("generator", [3, "seed", ("n", "seed")])
def test_a_seed_or_a_key_stands_for_a_generator(generator: Any) -> None:
    td = TensorDict(
        {"loc": torch.zeros(2), "scale": torch.ones(2), "seed": torch.tensor(3), "n": {"seed": torch.tensor(3)}}
    )
    out = normal(generator=generator, default_interaction_type="random")(td)

    assert torch.equal(
        out["action"], torch.normal(torch.zeros(2), torch.ones(2), generator=torch.Generator().manual_seed(3))
    )


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


@pytest.mark.parametrize("aggregate", [False, True])
def test_the_table_for_two_modules(aggregate: bool) -> None:
    with set_composite_lp_aggregate(aggregate):
        model = chained()
        out = model(TensorDict({"x": torch.randn(3, 2)}, batch_size=[3]))
        written = {"sample_log_prob"} if aggregate else {"a_log_prob", "b_log_prob"}

        assert {key for key in out.keys() if "log_prob" in key} == written
        if aggregate:
            assert torch.equal(out["sample_log_prob"], d.Normal(out["a"], out["scale"]).log_prob(out["b"]))


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


# ---- sequences ------------------------------------------------------------------------------------------------------


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
