"""ProbabilisticTensorDictSequential: modules that make parameters, and values drawn with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._container import Container
from .._rules import errors
from .._rules.keys import Key
from .._settings import FLAGS
from .._tensordict import TensorDict
from ._aggregate import composite_lp_aggregate
from ._interaction import InteractionType
from ._module import Inplace
from ._probabilistic import ProbabilisticTensorDictModule
from ._sequence import Runs, TensorDictSequential
from ._values import value_of
from .distributions import CompositeDistribution
from .distributions._composite import suffixed


class ProbabilisticTensorDictSequential(TensorDictSequential):
    """A sequence with one or more probabilistic modules in it.

    >>> from tensorclass.nn import TensorDictModule
    >>> policy = ProbabilisticTensorDictSequential(
    ...     TensorDictModule(lambda x: (x, x.exp()), in_keys=["x"], out_keys=["loc", "scale"]),
    ...     ProbabilisticTensorDictModule(["loc", "scale"], ["a"], distribution_class=torch.distributions.Normal),
    ... )
    >>> policy.get_dist(TensorDict(x=torch.zeros(3)))
    Normal(loc: torch.Size([3]), scale: torch.Size([3]))

    return_composite: whether the distribution is one of all values, not that of the last module. By default it is where
    there are several probabilistic modules, or the last module is not one.
    """

    def __init__(
        self,
        *modules: Runs | Mapping[str, Runs],
        partial_tolerant: bool = False,
        return_composite: bool | None = None,
        selected_out_keys: Key | Sequence[Key] | None = None,
        inplace: Inplace | None = None,
    ) -> None:
        super().__init__(
            *modules, partial_tolerant=partial_tolerant, selected_out_keys=selected_out_keys, inplace=inplace
        )
        if not self._heads():
            raise errors.OptionError(
                "ProbabilisticTensorDictSequential: no module is probabilistic; a TensorDictSequential would do"
            )
        self._return_composite = return_composite

    def _part_class(self, modules: list[Any]) -> Callable[..., TensorDictSequential]:
        return ProbabilisticTensorDictSequential if any(_heads_in(modules)) else TensorDictSequential

    def _options(self, modules: list[Any]) -> dict[str, Any]:
        options = super()._options(modules)
        return {**options, "return_composite": self._return_composite} if any(_heads_in(modules)) else options

    def _flat(self) -> list[Any]:
        return list(_leaves(self._steps()))

    def _heads(self) -> list[ProbabilisticTensorDictModule]:
        return list(_heads_in(self._steps()))

    @property
    def return_composite(self) -> bool:
        """Whether get_dist gives the distribution of all values."""
        if self._return_composite is not None:
            return self._return_composite
        return len(self._heads()) > 1 or not isinstance(self._flat()[-1], ProbabilisticTensorDictModule)

    # ---- keys -------------------------------------------------------------------------------------------------------

    def _asked(self) -> list[ProbabilisticTensorDictModule]:
        return self._heads() if self.return_composite else self._heads()[-1:]

    @property
    def dist_params_keys(self) -> list[Key]:
        """The keys of the parameters of the distribution."""
        return list(dict.fromkeys(key for head in self._asked() for key in head.dist_params_keys))

    @property
    def dist_sample_keys(self) -> list[Key]:
        """The keys of the values."""
        return list(dict.fromkeys(key for head in self._asked() for key in head.dist_sample_keys))

    @property
    def log_prob_keys(self) -> list[Key]:
        """The keys of the log-probabilities."""
        return list(dict.fromkeys(key for head in self._asked() for key in head.log_prob_keys))

    @property
    def log_prob_key(self) -> Key:
        """The key of the log-probability, where there is one."""
        keys = self.log_prob_keys
        if len(keys) != 1:
            raise errors.StructureError(
                f"there are {len(keys)} log_prob_keys, {errors.some_names(keys)}; log_prob_key is for one"
            )
        return keys[0]

    @property
    def num_samples(self) -> tuple[int, ...]:
        """The leading dims that sampling adds."""
        return tuple([size for head in reversed(self._heads()) for size in head.num_samples])

    @property
    def default_interaction_type(self) -> InteractionType:
        """That of the last probabilistic module."""
        return self._heads()[-1].default_interaction_type

    # ---- the distribution -------------------------------------------------------------------------------------------

    @property
    def det_part(self) -> TensorDictSequential:
        """The modules before the last probabilistic one."""
        flat = self._flat()
        return TensorDictSequential(*flat[: flat.index(self._heads()[-1])], partial_tolerant=self.partial_tolerant)

    def get_dist_params(self, tensordict: Container, tensordict_out: Container | None = None) -> Any:
        """Run the modules before the last probabilistic one; the container with the parameters is returned."""
        part = self.det_part
        return part(tensordict) if tensordict_out is None else part(tensordict, tensordict_out=tensordict_out)

    def build_dist_from_params(self, tensordict: Container) -> Any:
        """The distribution that parameters in a container make; no module runs."""
        if not self.return_composite:
            return self._heads()[-1].get_dist(tensordict)
        found: dict[Key, Any] = {}
        for head in self._heads():
            found.update(_named(head, head.get_dist(tensordict)))
        return CompositeDistribution.from_distributions(tensordict, found)

    def get_dist(self, tensordict: Container, tensordict_out: Container | None = None) -> Any:
        """The distribution: of the last module, or (return_composite) of all probabilistic ones.

        Values that are in the input are what later modules read; others are drawn.
        """
        if not self.return_composite:
            params = self.get_dist_params(tensordict, tensordict_out)
            return self._heads()[-1].get_dist(params)
        found: dict[Key, Any] = {}
        data: Any = type(tensordict).copy(tensordict)
        last = self._heads()[-1]
        for module in self._flat():
            if isinstance(module, ProbabilisticTensorDictModule):
                dist = module.get_dist(data)
                found.update(_named(module, dist))
                if module is last:
                    break
                if not all(key in data for key in module.dist_sample_keys):
                    kind = module.default_interaction_type if FLAGS.interaction is None else FLAGS.interaction
                    module._write(dist, value_of(dist, kind, (), module.n_empirical_estimate), data)
            else:
                data = module(data)
        if tensordict_out is not None:
            type(tensordict_out).update(tensordict_out, data)
        return CompositeDistribution.from_distributions(data, found)

    def log_prob(self, tensordict: Container, *, dist: Any = None) -> Any:
        """The log-probability of the values in a container: a tensor, or (return_composite) one for each value."""
        for head in self._asked():
            head._log_prob_keys.check_setting()
        dist = self.get_dist(tensordict) if dist is None else dist
        if not self.return_composite:
            return self._heads()[-1].log_prob(tensordict, dist=dist)
        if composite_lp_aggregate():
            return dist.log_prob(tensordict)
        return self._renamed(dist.log_prob(tensordict))

    def _renamed(self, found: TensorDict) -> TensorDict:
        out = found.empty()
        for head in self._heads():
            for sample, key in zip(head.dist_sample_keys, head.log_prob_keys):
                out[key] = found[suffixed(sample, "_log_prob")]
        return out


def _leaves(modules: Sequence[Any]) -> Iterator[Any]:
    for module in modules:
        if isinstance(module, TensorDictSequential):
            yield from _leaves(module._steps())
        else:
            yield module


def _heads_in(modules: Sequence[Any]) -> Iterator[ProbabilisticTensorDictModule]:
    return iter([one for one in _leaves(modules) if isinstance(one, ProbabilisticTensorDictModule)])


def _named(head: ProbabilisticTensorDictModule, dist: Any) -> dict[Key, Any]:
    if isinstance(dist, CompositeDistribution):
        return dist.dists
    return {head.dist_sample_keys[0]: dist}
