"""Every distribution of torch by its class: samples and log-probabilities are torch's own, to the last bit."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch import Tensor
from torch import distributions as d

from tensorclass import TensorDict
from tensorclass.nn import ProbabilisticTensorDictModule, set_interaction_type

ROWS = 4
ones, third = torch.ones(ROWS, 3), torch.full((ROWS, 3), 1 / 3)
spread = torch.arange(1.0, ROWS * 3 + 1).reshape(ROWS, 3) / 5
eye = torch.eye(3).expand(ROWS, 3, 3)

PARAMETERS: dict[type[d.Distribution], dict[str, Tensor]] = {
    d.Bernoulli: {"logits": spread},
    d.Beta: {"concentration1": spread, "concentration0": ones},
    d.Binomial: {"total_count": 5 * ones, "probs": third},
    d.Categorical: {"logits": spread},
    d.Cauchy: {"loc": spread, "scale": ones},
    d.Chi2: {"df": spread},
    d.ContinuousBernoulli: {"probs": third},
    d.Dirichlet: {"concentration": spread},
    d.Exponential: {"rate": spread},
    d.FisherSnedecor: {"df1": spread + 1, "df2": spread + 3},
    d.Gamma: {"concentration": spread, "rate": ones},
    d.GeneralizedPareto: {"loc": spread, "scale": ones, "concentration": third},
    d.Geometric: {"probs": third},
    d.Gumbel: {"loc": spread, "scale": ones},
    d.HalfCauchy: {"scale": spread},
    d.HalfNormal: {"scale": spread},
    d.InverseGamma: {"concentration": spread, "rate": ones},
    d.Kumaraswamy: {"concentration1": spread, "concentration0": ones},
    d.LKJCholesky: {"concentration": ones[:, 0]},
    d.Laplace: {"loc": spread, "scale": ones},
    d.LogNormal: {"loc": spread, "scale": ones},
    d.LogisticNormal: {"loc": spread, "scale": ones},
    d.LowRankMultivariateNormal: {"loc": spread, "cov_factor": eye[..., :1], "cov_diag": ones},
    d.Multinomial: {"probs": spread},
    d.MultivariateNormal: {"loc": spread, "covariance_matrix": eye},
    d.NegativeBinomial: {"total_count": 5 * ones, "probs": third},
    d.Normal: {"loc": spread, "scale": ones},
    d.OneHotCategorical: {"logits": spread},
    d.OneHotCategoricalStraightThrough: {"logits": spread},
    d.Pareto: {"scale": ones, "alpha": spread},
    d.Poisson: {"rate": spread},
    d.RelaxedBernoulli: {"logits": spread, "temperature": torch.tensor(0.5)},
    d.RelaxedOneHotCategorical: {"logits": spread, "temperature": torch.tensor(0.5)},
    d.StudentT: {"df": spread + 1},
    d.Uniform: {"low": spread, "high": spread + 1},
    d.VonMises: {"loc": spread, "concentration": ones},
    d.Weibull: {"scale": spread, "concentration": ones},
    d.Wishart: {"df": 5 * ones[:, 0], "covariance_matrix": eye},
}
EXTRA: dict[Any, dict[str, Any]] = {d.LKJCholesky: {"dim": 3}}  # What is no tensor goes in distribution_kwargs.
# Made from other distributions, not from tensors alone: tested below through a function that makes them.
MADE_OF_OTHERS = {d.Independent, d.MixtureSameFamily, d.TransformedDistribution}
BASES = {d.Distribution, d.ExponentialFamily}


def mixture(loc: Tensor, scale: Tensor, logits: Tensor) -> d.Distribution:
    return d.MixtureSameFamily(d.Categorical(logits=logits), d.Normal(loc, scale))


def independent(loc: Tensor, scale: Tensor) -> d.Distribution:
    return d.Independent(d.Normal(loc, scale), 1)


def squashed(loc: Tensor, scale: Tensor) -> d.Distribution:
    return d.TransformedDistribution(d.Normal(loc, scale), [d.TanhTransform(cache_size=1)])


MADE: dict[Any, dict[str, Tensor]] = {
    mixture: {"loc": spread, "scale": ones, "logits": spread},
    independent: {"loc": spread, "scale": ones},
    squashed: {"loc": spread, "scale": ones},
}


def test_no_distribution_of_torch_is_left_out() -> None:
    known = {value for value in vars(d).values() if inspect.isclass(value) and issubclass(value, d.Distribution)}

    assert known - BASES - MADE_OF_OTHERS == set(PARAMETERS)


@pytest.mark.filterwarnings("ignore:Singular sample detected")  # torch's Wishart, of its own samples.
@pytest.mark.parametrize("made", [*PARAMETERS, *MADE], ids=lambda made: made.__name__)
def test_values_and_log_probabilities_are_those_of_torch(made: Any) -> None:
    parameters = PARAMETERS[made] if made in PARAMETERS else MADE[made]
    extra = EXTRA.get(made, {})
    module = ProbabilisticTensorDictModule(
        in_keys=list(parameters),
        out_keys=["value"],
        distribution_class=made,
        distribution_kwargs=extra,
        return_log_prob=True,
    )
    td = TensorDict(parameters)
    torch.manual_seed(0)
    with set_interaction_type("random"):
        out = module(td)
    torch.manual_seed(0)
    one = made(**parameters, **extra)
    value = one.rsample() if one.has_rsample else one.sample()

    assert torch.equal(out["value"], value)
    assert torch.equal(out["value_log_prob"], one.log_prob(value))
