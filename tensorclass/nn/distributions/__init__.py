"""Distributions beyond torch.distributions, and what makes their parameters."""

from __future__ import annotations

from ._composite import CompositeDistribution as CompositeDistribution
from ._delta import Delta as Delta
from ._extractors import AddStateIndependentNormalScale as AddStateIndependentNormalScale
from ._extractors import NormalParamExtractor as NormalParamExtractor
from ._mappings import add_custom_mapping as add_custom_mapping
from ._mappings import biased_softplus as biased_softplus
from ._mappings import inv_softplus as inv_softplus
from ._mappings import mappings as mappings
from ._onehot import OneHotCategorical as OneHotCategorical
from ._onehot import rand_one_hot as rand_one_hot
from ._tanh import TanhNormal as TanhNormal
from ._truncated import TruncatedNormal as TruncatedNormal

__all__ = [
    "AddStateIndependentNormalScale", "CompositeDistribution", "Delta", "NormalParamExtractor", "OneHotCategorical",
    "TanhNormal", "TruncatedNormal", "add_custom_mapping", "biased_softplus", "inv_softplus", "mappings",
    "rand_one_hot",
]  # fmt: skip
