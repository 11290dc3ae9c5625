"""CompositeDistribution: several distributions, sampled and scored together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import Size, Tensor
from torch import distributions as d
from typing_extensions import Self

from ..._container import Container
from ..._rules import errors
from ..._rules.keys import Key, path, unravel
from ..._tensordict import TensorDict
from ..._tree.node import Node, is_tree
from .._aggregate import composite_lp_aggregate
from .._values import deterministic_of, drawn, mean_of


class CompositeDistribution(d.Distribution):
    """Several distributions as one: parameters, values and log-probabilities are containers with an entry for each.

    >>> move, grip = {"loc": torch.zeros(3), "scale": torch.ones(3)}, {"logits": torch.zeros(4)}
    >>> params = TensorDict({"move": move, "grip": grip})
    >>> both = CompositeDistribution(
    ...     params, distribution_map={"move": torch.distributions.Normal, "grip": torch.distributions.Categorical}
    ... )
    >>> list(both.log_prob(both.sample()).keys())
    ['move_log_prob', 'grip_log_prob']

    distribution_map: a class (or function) for each name, which may be a nested key. name_map: other keys for the
    values. extra_kwargs: more arguments, for each name. Under set_composite_lp_aggregate(True) log_prob and entropy are
    one tensor, the sum over all distributions, with the batch size of the parameters as shape.
    """

    has_rsample = True

    def __init__(
        self,
        params: Container,
        distribution_map: Mapping[Any, Any],
        *,
        name_map: Mapping[Any, Key] | None = None,
        extra_kwargs: Mapping[Any, Mapping[str, Any]] | None = None,
        log_prob_key: Key | None = None,
        entropy_key: Key | None = None,
    ) -> None:
        names = {unravel(old): unravel(new) for old, new in (name_map or {}).items()}
        extra = {unravel(key): kwargs for key, kwargs in (extra_kwargs or {}).items()}
        dists: dict[Key, Any] = {}
        for key, make in flat(distribution_map):
            entries = type(params).get(params, key)
            if not is_tree(entries):
                raise errors.KeyMissing(errors.key_missing(key, list(type(params).keys(params))))
            dists[names.get(key, key)] = make(**entries._fields, **extra.get(key, {}))
        self._set_up(dists, params.batch_size, params.device, log_prob_key, entropy_key)

    def _set_up(
        self, dists: dict[Key, Any], batch: Size, device: Any, log_prob_key: Key | None, entropy_key: Key | None
    ) -> None:
        self.dists = dists
        self.log_prob_key: Key = "sample_log_prob" if log_prob_key is None else unravel(log_prob_key)
        self.entropy_key: Key = "entropy" if entropy_key is None else unravel(entropy_key)
        self._device = device
        super().__init__(batch, Size(()), validate_args=False)

    @classmethod
    def from_distributions(cls, params: Container, distributions: Mapping[Any, Any], **options: Any) -> Self:
        """A composite of distributions that are there already; params gives the batch size and device.

        >>> normal = torch.distributions.Normal(torch.zeros(3), 1.0)
        >>> CompositeDistribution.from_distributions(TensorDict(batch_size=[3]), {"a": normal}).sample()["a"].shape
        torch.Size([3])
        """
        names = {unravel(old): unravel(new) for old, new in (options.pop("name_map", None) or {}).items()}
        new = object.__new__(cls)
        dists = {names.get(key, key): dist for key, dist in flat(distributions)}
        new._set_up(
            dists, params.batch_size, params.device, options.pop("log_prob_key", None), options.pop("entropy_key", None)
        )
        return new

    # ---- values -----------------------------------------------------------------------------------------------------

    def _each(self, call: Callable[[Any], Any], samples: Sequence[int] = (), suffix: str = "") -> TensorDict:
        out = TensorDict(batch_size=[*samples, *self.batch_shape], device=self._device)
        for key, dist in self.dists.items():
            out[suffixed(key, suffix)] = call(dist)
        return out

    def sample(self, sample_shape: Sequence[int] = ()) -> TensorDict:  # type: ignore[override]  # Not one tensor.
        """A value of each."""
        return self._each(lambda dist: dist.sample(Size(sample_shape)), sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> TensorDict:  # type: ignore[override]
        """A value of each, with a gradient where a distribution can give one."""
        return self._each(lambda dist: drawn(dist, tuple(sample_shape)), sample_shape)

    @property
    def mode(self) -> TensorDict:  # type: ignore[override]
        """The mode of each."""
        return self._each(lambda dist: dist.mode)

    @property
    def mean(self) -> TensorDict:  # type: ignore[override]
        """The mean of each, estimated by samples where it is not known."""
        return self._each(lambda dist: mean_of(dist, 1000))

    @property
    def median(self) -> TensorDict:
        """The median of each."""
        return self._each(lambda dist: dist.median)

    @property
    def deterministic_sample(self) -> TensorDict:
        """The deterministic value of each."""
        return self._each(lambda dist: deterministic_of(dist, 1000))

    # ---- probabilities ----------------------------------------------------------------------------------------------

    def log_prob(self, value: Container) -> Any:  # type: ignore[override]
        """The log-probability of each value, or (aggregated) their sum."""
        return self._summed(self._log_probs(value)) if composite_lp_aggregate() else self._log_probs(value)

    def _log_probs(self, value: Any) -> TensorDict:
        out = TensorDict(batch_size=self._batch_of(value), device=self._device)
        for key, dist in self.dists.items():
            out[suffixed(key, "_log_prob")] = dist.log_prob(value[key])
        return out

    def _batch_of(self, value: Any) -> Size:
        batch: Size = value.batch_size
        rank = len(self.batch_shape)
        fits = rank <= len(batch) and batch[len(batch) - rank :] == self.batch_shape
        return batch if fits and rank else self.batch_shape

    def log_prob_composite(self, value: Container, include_sum: bool | None = None) -> Container:
        """The log-probability of each value; include_sum (the setting, by default) adds the values and the sum."""
        found = self._log_probs(value)
        if composite_lp_aggregate() if include_sum is None else include_sum:
            found[self.log_prob_key] = self._summed(found)
            type(found).update(found, value)
        return found

    def entropy(self) -> Any:
        """The entropy of each, or (aggregated) their sum."""
        found = self._each(entropy_of, suffix="_entropy")
        return self._summed(found) if composite_lp_aggregate() else found

    def entropy_composite(self, include_sum: bool | None = None) -> TensorDict:
        """The entropy of each; include_sum (the setting, by default) adds the sum."""
        found = self._each(entropy_of, suffix="_entropy")
        if composite_lp_aggregate() if include_sum is None else include_sum:
            found[self.entropy_key] = self._summed(found)
        return found

    def _summed(self, found: TensorDict) -> Tensor:
        rank = len(found.batch_size)
        total: Any = 0
        for leaf in found.values(True, True):
            total = total + (leaf.flatten(rank).sum(-1) if leaf.ndim > rank else leaf)
        summed: Tensor = total
        return summed

    def cdf(self, value: Container) -> TensorDict:  # type: ignore[override]
        """The values, and for each the probability of a smaller one, under its key and _cdf."""
        return self._beside(value, "cdf", "")

    def icdf(self, value: Container) -> TensorDict:  # type: ignore[override]
        """What cdf gives, and each value again, out of its probability, under its key and _icdf."""
        return self._beside(value, "icdf", "_cdf")

    def _beside(self, value: Any, name: str, read: str) -> TensorDict:
        out: TensorDict = type(value).copy(value)
        for key, dist in self.dists.items():
            source = suffixed(key, read) if suffixed(key, read) in value else key
            out[suffixed(key, f"_{name}")] = getattr(dist, name)(value[source])
        return out

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> CompositeDistribution:
        """The same distributions with a larger batch shape."""
        new = object.__new__(CompositeDistribution)
        rank = len(self.batch_shape)
        dists = {key: dist.expand(Size([*batch_shape, *dist.batch_shape[rank:]])) for key, dist in self.dists.items()}
        new._set_up(dists, Size(batch_shape), self._device, self.log_prob_key, self.entropy_key)
        return new

    def __repr__(self) -> str:
        return f"CompositeDistribution({self.dists})"


def entropy_of(dist: Any) -> Tensor:
    """The entropy, or (where it has no formula) an estimate by one sample, minus its log-probability."""
    try:
        found: Tensor = dist.entropy()
    except NotImplementedError:
        found = -dist.log_prob(drawn(dist, ()))
    return found


def suffixed(key: Key, suffix: str) -> Key:
    """A key with something behind its last part.

    >>> suffixed(("agent", "action"), "_log_prob")
    ('agent', 'action_log_prob')
    """
    *above, last = path(key)
    return unravel((*above, last + suffix))


def flat(given: Mapping[Any, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[Key, Any]]:
    """Pairs of key and value of a mapping, mappings in it laid flat as nested keys."""
    for key, value in given.items():
        at = (*above, *path(key))
        if isinstance(value, Mapping) and not isinstance(value, Node):
            yield from flat(value, at)
        else:
            yield unravel(at), value


@d.register_kl(CompositeDistribution, CompositeDistribution)  # type: ignore[untyped-decorator]
def _divergence(one: CompositeDistribution, other: CompositeDistribution) -> Tensor:
    found = TensorDict(batch_size=one.batch_shape)
    for key, dist in one.dists.items():
        if key not in other.dists:
            raise errors.KeyMissing(errors.key_missing(key, list(other.dists)))
        found[key] = d.kl_divergence(dist, other.dists[key])
    return one._summed(found)
