"""Modules that read and write named fields: from class to class, or by key."""

from __future__ import annotations

from .._params import TensorDictParams as TensorDictParams
from . import distributions as distributions
from ._aggregate import composite_lp_aggregate as composite_lp_aggregate
from ._aggregate import set_composite_lp_aggregate as set_composite_lp_aggregate
from ._base import TensorDictModuleBase as TensorDictModuleBase
from ._chain import Chain as Chain
from ._cudagraph import CudaGraphModule as CudaGraphModule
from ._dispatch import dispatch as dispatch
from ._ensemble import EnsembleModule as EnsembleModule
from ._graph import Graph as Graph
from ._interaction import InteractionType as InteractionType
from ._interaction import interaction_type as interaction_type
from ._interaction import set_interaction_type as set_interaction_type
from ._module import TensorDictModule as TensorDictModule
from ._optim import param_groups as param_groups
from ._probabilistic import ProbabilisticTensorDictModule as ProbabilisticTensorDictModule
from ._probabilistic_sequence import ProbabilisticTensorDictSequential as ProbabilisticTensorDictSequential
from ._probabilistic_typed import ProbabilisticModule as ProbabilisticModule
from ._sequence import TensorDictSequential as TensorDictSequential
from ._skip import set_skip_existing as set_skip_existing
from ._skip import skip_existing as skip_existing
from ._target import soft_update as soft_update
from ._typed import TensorClassModuleBase as TensorClassModuleBase
from ._typed_by_key import TypedByKey as TypedByKey
from ._typed_wrapper import TensorClassModuleWrapper as TensorClassModuleWrapper
from ._vmap import functional_vmap as functional_vmap
from ._wrappers import TensorDictModuleWrapper as TensorDictModuleWrapper
from ._wrappers import WrapModule as WrapModule
from ._wrappers import as_tensordict_module as as_tensordict_module
from ._wrappers import make_tensordict as make_tensordict
from .distributions import AddStateIndependentNormalScale as AddStateIndependentNormalScale
from .distributions import CompositeDistribution as CompositeDistribution
from .distributions import Delta as Delta
from .distributions import NormalParamExtractor as NormalParamExtractor
from .distributions import OneHotCategorical as OneHotCategorical
from .distributions import TanhNormal as TanhNormal
from .distributions import TruncatedNormal as TruncatedNormal
from .distributions import add_custom_mapping as add_custom_mapping
from .distributions import biased_softplus as biased_softplus
from .distributions import inv_softplus as inv_softplus
from .distributions import mappings as mappings
from .distributions import rand_one_hot as rand_one_hot

__all__ = [
    "AddStateIndependentNormalScale",
    "Chain",
    "CompositeDistribution",
    "CudaGraphModule",
    "Delta",
    "EnsembleModule",
    "Graph",
    "InteractionType",
    "NormalParamExtractor",
    "OneHotCategorical",
    "ProbabilisticModule",
    "ProbabilisticTensorDictModule",
    "ProbabilisticTensorDictSequential",
    "TanhNormal",
    "TensorClassModuleBase",
    "TensorClassModuleWrapper",
    "TensorDictModule",
    "TensorDictModuleBase",
    "TensorDictModuleWrapper",
    "TensorDictParams",
    "TensorDictSequential",
    "TruncatedNormal",
    "TypedByKey",
    "WrapModule",
    "add_custom_mapping",
    "as_tensordict_module",
    "biased_softplus",
    "composite_lp_aggregate",
    "dispatch",
    "distributions",
    "functional_vmap",
    "interaction_type",
    "inv_softplus",
    "make_tensordict",
    "mappings",
    "param_groups",
    "rand_one_hot",
    "set_composite_lp_aggregate",
    "set_interaction_type",
    "set_skip_existing",
    "skip_existing",
    "soft_update",
]
