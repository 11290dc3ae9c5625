"""The distributions that torch does not have, and what makes their parameters."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch import distributions as d

from tensorclass import TensorDict
from tensorclass.nn import (
    AddStateIndependentNormalScale,
    CompositeDistribution,
    Delta,
    NormalParamExtractor,
    OneHotCategorical,
    TanhNormal,
    TruncatedNormal,
    add_custom_mapping,
    biased_softplus,
    inv_softplus,
    rand_one_hot,
    set_composite_lp_aggregate,
)
from tensorclass.nn.distributions import mappings

close = torch.testing.assert_close
MAP: Any = {"c": d.Normal, ("n", "d"): d.Categorical}


def params() -> TensorDict:
    entries = {"c": {"loc": torch.randn(3, 4), "scale": torch.ones(3, 4)}, ("n", "d"): {"logits": torch.randn(3, 5)}}
    return TensorDict(entries, batch_size=[3])


def composite(**options: Any) -> CompositeDistribution:
    return CompositeDistribution(params(), MAP, **options)


# ---- composite ------------------------------------------------------------------------------------------------------


def test_samples_are_containers_with_an_entry_for_each() -> None:
    sample = composite().sample((2,))

    assert sample.batch_size == (2, 3)
    assert (sample["c"].shape, sample["n", "d"].shape) == ((2, 3, 4), (2, 3))


def test_each_value_and_log_probability_is_that_of_its_distribution() -> None:
    given = params()
    dist = CompositeDistribution(given, MAP)
    torch.manual_seed(0)
    sample = dist.rsample()
    torch.manual_seed(0)
    one = d.Normal(given["c", "loc"], given["c", "scale"])
    other = d.Categorical(logits=given["n", "d", "logits"])

    assert torch.equal(sample["c"], one.rsample()) and torch.equal(sample["n", "d"], other.sample())
    found = dist.log_prob(sample)
    assert torch.equal(found["c_log_prob"], one.log_prob(sample["c"]))
    assert torch.equal(found["n", "d_log_prob"], other.log_prob(sample["n", "d"]))
    assert torch.equal(dist.entropy()["c_entropy"], one.entropy())
    assert torch.equal(dist.mode["n", "d"], other.mode) and torch.equal(dist.mean["c"], one.mean)
    assert torch.equal(dist.deterministic_sample["n", "d"], other.mode)


def test_aggregated_the_sum_has_the_batch_shape() -> None:
    dist = composite()
    sample = dist.sample()
    each = dist.log_prob(sample)
    with set_composite_lp_aggregate(True):
        close(dist.log_prob(sample), each["c_log_prob"].sum(-1) + each["n", "d_log_prob"])
        assert dist.entropy().shape == (3,)
        assert "sample_log_prob" in dist.log_prob_composite(sample) and "entropy" in dist.entropy_composite()


def test_leaves_keep_their_batch_where_the_root_has_none() -> None:
    entries: Any = {
        "c": {"loc": torch.zeros(3, 4), "scale": torch.ones(3, 4)},
        ("n", "d"): {"logits": torch.zeros(3, 5)},
    }
    dist = CompositeDistribution(TensorDict(entries), MAP)

    assert dist.log_prob(dist.sample())["n", "d_log_prob"].shape == (3,)


def test_a_name_map_moves_values() -> None:
    dist = composite(name_map={"c": ("q", "c")})

    assert list(dist.log_prob(dist.sample()).keys(True, True)) == [("q", "c_log_prob"), ("n", "d_log_prob")]


def test_extra_arguments_go_to_the_distribution_they_are_for() -> None:
    given = TensorDict({"c": {"loc": torch.zeros(3)}}, batch_size=[3])
    dist = CompositeDistribution(given, {"c": d.Normal}, extra_kwargs={"c": {"scale": 2.0}})

    assert dist.dists["c"].scale.tolist() == [2, 2, 2]


def test_cdf_and_icdf_stand_beside_the_values_where_they_exist() -> None:
    dist = CompositeDistribution(TensorDict({"c": {"loc": torch.zeros(3), "scale": torch.ones(3)}}), {"c": d.Normal})
    sample = dist.sample()
    back = dist.icdf(dist.cdf(sample))

    assert list(back.keys()) == ["c", "c_cdf", "c_icdf"] and list(sample.keys()) == ["c"]
    close(back["c_icdf"], sample["c"])
    with pytest.raises(NotImplementedError):
        composite().cdf(composite().sample())


def test_parameters_that_are_not_there_are_named() -> None:
    with pytest.raises(KeyError) as error:
        CompositeDistribution(params(), {"cc": d.Normal})

    assert str(error.value) == "no key 'cc'; did you mean 'c'? The keys here are 'c', 'n'"


def test_a_composite_of_given_distributions() -> None:
    dist = CompositeDistribution.from_distributions(TensorDict(batch_size=[3]), {"a": d.Normal(torch.zeros(3), 1.0)})

    assert dist.sample()["a"].shape == (3,)


def test_the_divergence_is_the_sum_of_divergences() -> None:
    one, other = composite(), composite()
    each = [d.kl_divergence(one.dists[key], other.dists[key]) for key in one.dists]

    close(d.kl_divergence(one, other), each[0].sum(-1) + each[1])


def test_it_expands() -> None:
    assert composite().expand((2, 3)).sample()["n", "d"].shape == (2, 3)


# ---- the others -----------------------------------------------------------------------------------------------------


def test_delta_is_its_parameter() -> None:
    dist = Delta(torch.tensor([1.0, 2.0]))

    assert dist.sample((3,)).shape == (3, 2) and dist.mode is dist.mean is dist.deterministic_sample is dist.param
    assert dist.log_prob(torch.tensor([1.0, 3.0])).tolist() == [torch.inf, -torch.inf]
    assert Delta(torch.zeros(3, 2), event_shape=(2,)).log_prob(torch.zeros(3, 2)).shape == (3,)


def test_one_hot_is_a_categorical_as_vectors() -> None:
    logits = torch.tensor([[0.0, 1.0, 0.0], [5.0, 0.0, 0.0]])
    dist, index = OneHotCategorical(logits=logits), d.Categorical(logits=logits)
    torch.manual_seed(0)
    sample = dist.sample((4,))
    torch.manual_seed(0)

    assert torch.equal(sample.argmax(-1), index.sample((4,))) and (sample.sum(-1) == 1).all()
    assert torch.equal(dist.log_prob(sample), index.log_prob(sample.argmax(-1)))
    assert dist.mode.tolist() == dist.deterministic_sample.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert torch.equal(dist.entropy(), index.entropy()) and torch.equal(dist.mean, index.probs)  # type: ignore[no-untyped-call]
    assert dist.enumerate_support().shape == (3, 2, 3)


def test_one_hot_passes_the_gradient_of_the_probabilities() -> None:
    probs = torch.tensor([0.2, 0.8], requires_grad=True)
    (OneHotCategorical(probs=probs).rsample() * torch.tensor([1.0, 3.0])).sum().backward()

    assert probs.grad is not None and probs.grad.abs().sum() > 0


def test_rand_one_hot_takes_scores_or_probabilities() -> None:
    assert rand_one_hot(torch.tensor([0.0, 99.0])).tolist() == [0, 1]
    assert rand_one_hot(torch.tensor([0.0, 1.0]), do_softmax=False).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("loc", "scale", "a", "b"), [(0.0, 1.0, -1.0, 1.0), (2.0, 0.5, -1.0, 1.5), (0.0, 3.0, -0.5, torch.inf)]
)
def test_truncated_normal_agrees_with_numerical_integration(loc: float, scale: float, a: float, b: float) -> None:
    dist = TruncatedNormal(torch.tensor(loc, dtype=torch.float64), scale, a, b)
    x = torch.linspace(a, min(b, loc + 12 * scale), 200001, dtype=torch.float64)
    p = dist.log_prob(x).exp()

    def integral(y: Tensor) -> Tensor:
        return torch.trapezoid(y, x)

    close(integral(p), torch.tensor(1.0, dtype=torch.float64), rtol=1e-6, atol=1e-6)
    close(integral(p * x), dist.mean, rtol=1e-6, atol=1e-6)
    close(integral(p * (x - dist.mean) ** 2), dist.variance, rtol=1e-5, atol=1e-6)
    close(integral(-p * dist.log_prob(x)), dist.entropy(), rtol=1e-5, atol=1e-6)
    close(dist.cdf(dist.icdf(torch.tensor(0.3, dtype=torch.float64))), torch.tensor(0.3, dtype=torch.float64))
    sample = dist.sample((1000,))
    assert bool(((sample >= a) & (sample <= b)).all())


def test_truncated_normal_has_a_mode_within_its_bounds_and_a_gradient() -> None:
    loc = torch.tensor([0.5, 3.0], requires_grad=True)
    dist = TruncatedNormal(loc, torch.ones(2), -1.0, 1.0)
    dist.rsample().sum().backward()

    assert dist.mode.tolist() == [0.5, 1] and loc.grad is not None
    assert dist.expand((4, 2)).sample().shape == (4, 2)
    with pytest.raises(ValueError, match="within the support"):
        TruncatedNormal(loc, torch.ones(2), -1.0, 1.0, validate_args=True).log_prob(torch.full((2,), 1.5))
    with pytest.raises(ValueError, match="a must be below b"):
        TruncatedNormal(0.0, 1.0, 1.0, -1.0)


def test_tanh_normal_integrates_to_one_between_its_bounds() -> None:
    dist = TanhNormal(torch.tensor(0.3, dtype=torch.float64), torch.tensor(0.8, dtype=torch.float64), -2.0, 4.0)
    x = torch.linspace(-2 + 1e-9, 4 - 1e-9, 400001, dtype=torch.float64)

    close(torch.trapezoid(dist.log_prob(x).exp(), x), torch.tensor(1.0, dtype=torch.float64), rtol=1e-5, atol=1e-5)
    close(dist.deterministic_sample, 1 + 3 * torch.tensor(0.3, dtype=torch.float64).tanh())
    assert torch.equal(dist.median, dist.deterministic_sample)


def test_tanh_normal_sums_over_its_event_dims_and_is_finite_at_the_bounds() -> None:
    dist = TanhNormal(torch.zeros(3, 2), torch.ones(3, 2), event_dims=1)
    sample = dist.rsample()

    assert dist.log_prob(sample).shape == (3,)
    assert dist.log_prob(torch.ones(3, 2)).isfinite().all()


def test_tanh_normal_knows_its_own_samples_exactly_also_where_tanh_is_flat() -> None:
    loc = torch.full((5, 1), 10.0, requires_grad=True)
    dist = TanhNormal(loc, torch.ones(5, 1), -2.0, 2.0, event_dims=1)
    torch.manual_seed(0)
    found = dist.log_prob(dist.rsample())
    found.sum().backward()

    torch.manual_seed(0)
    normal = d.Normal(loc.detach(), 1.0).sample().double()
    slope = 2 * (1 - normal.tanh() ** 2)
    close(found, (d.Normal(10.0, 1.0).log_prob(normal) - slope.log()).float().squeeze(-1))
    # A sample further out is more probable by twice the distance, so the gradient leads back to the middle.
    close(loc.grad, torch.full((5, 1), 2.0))


def test_tanh_normal_knows_a_sample_only_as_long_as_it_is_the_last_one() -> None:
    dist = TanhNormal(torch.zeros(4), torch.ones(4))
    first, second = dist.sample(), dist.sample((2,))

    close(dist.log_prob(first), dist.log_prob(first.clone()))
    close(dist.log_prob(second), dist.log_prob(second.clone()))
    assert second.shape == (2, 4) and not dist.sample().requires_grad


def test_tanh_normal_knows_a_sample_only_as_it_was_drawn() -> None:
    dist = TanhNormal(torch.zeros(4), torch.ones(4))
    sample = dist.sample().mul_(0.5)
    close(dist.log_prob(sample), dist.log_prob(sample.clone()))
    with torch.inference_mode():
        sample = dist.sample()
        close(dist.log_prob(sample), dist.log_prob(sample.clone()))


def test_the_extractor_splits_the_last_dim_and_makes_the_scale_positive() -> None:
    value = torch.randn(3, 8)
    loc, scale, other = NormalParamExtractor()(value, torch.zeros(5))

    assert torch.equal(loc, value[:, :4]) and (scale > 0).all() and other.shape == (5,)
    assert NormalParamExtractor("relu", scale_lb=0.1)(-torch.ones(4))[1].tolist() == pytest.approx([0.1, 0.1])


# What the peer gives for -2, 0, 1, 3.
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("biased_softplus_1.0", [0.2161, 1.0000, 1.7323, 3.5645]),
        ("biased_softplus_0.5", [0.0921, 0.5000, 1.0102, 2.6274]),
        ("biased_softplus", [0.2161, 1.0000, 1.7323, 3.5645]),
        ("softplus", [0.1269, 0.6931, 1.3133, 3.0486]),
        ("exp", [0.1353, 1.0000, 2.7183, 20.0855]),
        ("relu", [0.0, 0.0, 1.0, 3.0]),
        ("expln", [0.1353, 1.0000, 1.6931, 2.3863]),
    ],
)
def test_mappings_have_their_known_values(name: str, values: list[float]) -> None:
    close(mappings(name)(torch.tensor([-2.0, 0.0, 1.0, 3.0])), torch.tensor(values), rtol=1e-4, atol=1e-4)


def test_an_unknown_mapping_is_an_error_until_it_is_added() -> None:
    with pytest.raises(NotImplementedError) as error:
        NormalParamExtractor("sofplus")

    assert str(error.value) == (
        "no mapping 'sofplus'; did you mean 'softplus'? There are 'softplus', 'exp', 'relu', 'expln', "
        "'none', 'biased_softplus'"
    )
    add_custom_mapping("squared", torch.square)
    assert NormalParamExtractor("squared")(torch.tensor([1.0, 3.0]))[1].tolist() == [9]


def test_a_biased_softplus_gives_its_bias_at_zero_and_no_less_than_its_least() -> None:
    close(biased_softplus(0.3, 0.1)(torch.zeros(1)), torch.tensor([0.3]))
    assert biased_softplus(0.3, 0.1)(torch.tensor([-99.0])) >= 0.1
    close(torch.nn.functional.softplus(torch.tensor(inv_softplus(1.0))), torch.tensor(1.0))
    close(torch.nn.functional.softplus(inv_softplus(torch.tensor(0.5))), torch.tensor(0.5))


def test_a_scale_that_does_not_depend_on_the_state_is_a_parameter_or_a_buffer() -> None:
    learned = AddStateIndependentNormalScale(2)
    fixed = AddStateIndependentNormalScale((2,), scale_mapping="softplus", make_param=False, init_value=0.5)
    loc, scale, other = fixed(torch.zeros(3, 2), torch.ones(1))

    assert [name for name, _ in learned.named_parameters()] == ["state_independent_scale"] == list(fixed.state_dict())
    assert list(fixed.parameters()) == [] and scale.shape == loc.shape and other.shape == (1,)
    close(scale[0, 0], torch.tensor(0.9741), rtol=1e-4, atol=1e-4)
    assert learned(torch.zeros(3, 2))[1].tolist() == [[1, 1]] * 3
