"""ProbabilisticTensorDictModule: parameters in, a distribution, a value out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution

from .._container import Container
from .._rules import errors
from .._rules.keys import Key, path
from .._settings import FLAGS
from .._tensordict import TensorDict
from .._tree.node import Node, is_tree
from ._base import TensorDictModuleBase, leave_out
from ._dispatch import MISSING, with_tensors
from ._generator import Source, drawing_from
from ._graph import shown_keys
from ._interaction import InteractionType, interaction_of
from ._keys import arguments_of, keys_of
from ._log_prob_keys import LogProbKeys
from ._skip import skips
from ._values import value_of
from .distributions import CompositeDistribution, Delta
from .distributions._composite import flat

NO_FIELDS: dict[Key, Any] = {}


class ProbabilisticTensorDictModule(TensorDictModuleBase):
    """Builds a distribution out of entries and writes a value of it.

    >>> from torch.distributions import Normal
    >>> head = ProbabilisticTensorDictModule(["loc", "scale"], ["action"], distribution_class=Normal)
    >>> head(TensorDict(loc=torch.zeros(2), scale=torch.ones(2)))["action"]
    tensor([0., 0.])

    in_keys: the last part of each is an argument of the distribution, or a dict from argument name to key.
    return_log_prob: write the log-probability too, under log_prob_key(s). num_samples: that many values, as new leading
    batch dims of a new container. generator: a torch.Generator, a seed, or the key of an entry that is one.
    """

    _selects_itself = True

    def __init__(
        self,
        in_keys: Key | Sequence[Key] | Mapping[str, Key],
        out_keys: Key | Sequence[Key] | None = None,
        *,
        default_interaction_type: InteractionType | str = InteractionType.DETERMINISTIC,
        distribution_class: Any = Delta,
        distribution_kwargs: Mapping[str, Any] | None = None,
        return_log_prob: bool = False,
        log_prob_keys: Sequence[Key] | None = None,
        log_prob_key: Key | None = None,
        n_empirical_estimate: int = 1000,
        num_samples: int | Sequence[int] | None = None,
        generator: torch.Generator | int | Key | None = None,
    ) -> None:
        super().__init__()
        self._in_keys, names = arguments_of(in_keys, None)
        self._names = [path(key)[-1] for key in self._in_keys] if names is None else names
        self.distribution_class = distribution_class
        self.distribution_kwargs = dict(distribution_kwargs or {})
        # A class makes a distribution for this call alone; a function may give one that somebody else has too.
        self._drops_check = isinstance(distribution_class, type) and "validate_args" not in self.distribution_kwargs
        self._composite = isinstance(distribution_class, type) and issubclass(distribution_class, CompositeDistribution)
        self._samples = self._sample_keys(out_keys)
        self.default_interaction_type = interaction_of(default_interaction_type)
        self.return_log_prob = return_log_prob
        self._log_prob_keys = LogProbKeys(self._samples, self._composite, log_prob_keys, log_prob_key, return_log_prob)
        self.n_empirical_estimate = n_empirical_estimate
        self.num_samples = _sizes(num_samples)
        self._source = Source(generator)
        self._out_keys = [*self._samples, *self._log_prob_keys.written] if return_log_prob else list(self._samples)

    def _sample_keys(self, out_keys: Any) -> list[Key]:
        if not self._composite:
            return ["_"] if out_keys is None else keys_of("out_keys", out_keys)
        if "distribution_map" not in self.distribution_kwargs:
            raise errors.OptionError("distribution_kwargs: a CompositeDistribution needs a distribution_map there")
        names = [key for key, _ in flat(self.distribution_kwargs["distribution_map"])]
        renamed = dict(flat(self.distribution_kwargs.get("name_map") or {}))
        own = [renamed.get(name, name) for name in names]
        given = own if out_keys is None else keys_of("out_keys", out_keys)
        if len(given) != len(own):
            raise errors.OptionError(
                f"out_keys {given} for a distribution_map of {names}; give one out-key for each, or none at all"
            )
        if set(given) != set(own):
            self.distribution_kwargs["name_map"] = dict(zip(names, given))
        return given

    # ---- keys -------------------------------------------------------------------------------------------------------

    @property
    def dist_params_keys(self) -> list[Key]:
        """The keys of the parameters."""
        return self.in_keys

    @property
    def dist_sample_keys(self) -> list[Key]:
        """The keys of the values."""
        return list(self._samples)

    @property
    def log_prob_keys(self) -> list[Key]:
        """The keys of the log-probabilities, one for each value."""
        return list(self._log_prob_keys.each if not self._log_prob_keys.aggregate else self._log_prob_keys.written)

    @property
    def log_prob_key(self) -> Key:
        """The key of the log-probability, where there is one."""
        return self._log_prob_keys.single

    # ---- the distribution -------------------------------------------------------------------------------------------

    def get_dist(self, tensordict: Container) -> Any:
        """The distribution that the entries of a container make."""
        return self._distribution(self._params_in(tensordict))

    build_dist_from_params = get_dist

    def _params_in(self, tensordict: Any) -> dict[str, Any]:
        own = self.__dict__
        fields = tensordict._fields if tensordict.__class__ is TensorDict else NO_FIELDS
        params = {}
        for name, key in zip(own["_names"], own["_in_keys"]):
            params[name] = fields[key] if key in fields else tensordict[key]
        return params

    def _distribution(self, params: dict[str, Any]) -> Any:
        own = self.__dict__  # nn.Module has a slow way to attributes.
        try:
            return own["distribution_class"](**params, **own["distribution_kwargs"])
        except TypeError as error:
            if "argument" not in str(error):
                raise
            name = getattr(self.distribution_class, "__name__", repr(self.distribution_class))
            raise TypeError(
                f"{error}; {name} was called with {errors.some_names([*params, *self.distribution_kwargs])}: the last "
                "part of an in-key is the argument it is for, or in_keys is a dict from argument to key"
            ) from error

    def log_prob(self, tensordict: Container, *, dist: Any = None) -> Any:
        """The log-probability of the values in a container."""
        self._log_prob_keys.check_setting()
        dist = self.get_dist(tensordict) if dist is None else dist
        if isinstance(dist, CompositeDistribution):
            return dist.log_prob(tensordict)
        return dist.log_prob(tensordict[self._samples[0]])

    # ---- the call ---------------------------------------------------------------------------------------------------

    def forward(
        self, tensordict: Any = MISSING, /, *args: Any, tensordict_out: Container | None = None, **kwargs: Any
    ) -> Any:
        """Take a value and write it; on tensors, for those of the out_keys."""
        if not isinstance(tensordict, Node):
            if tensordict_out is not None:
                kwargs["tensordict_out"] = tensordict_out
            return with_tensors(self, tensordict, args, kwargs)
        if FLAGS.skip is not False and tensordict_out is None and skips(self, tensordict):
            return tensordict
        own = self.__dict__
        if own["return_log_prob"]:
            own["_log_prob_keys"].check_setting()
        params = self._params_in(tensordict)
        dist = self._distribution(params)
        kind = FLAGS.interaction or own["default_interaction_type"]
        samples, source = own["num_samples"], own["_source"]
        if source.given is None:
            value = value_of(dist, kind, samples, own["n_empirical_estimate"])
        else:
            with drawing_from(source.generator(tensordict, params)):
                value = value_of(dist, kind, samples, own["n_empirical_estimate"])
        if kind is InteractionType.RANDOM and own["_drops_check"] and isinstance(dist, Distribution):
            dist._validate_args = False  # What was drawn is in the support: log_prob need not look.
        out: Any = tensordict if tensordict_out is None else tensordict_out
        if samples and tensordict_out is None:
            out = type(tensordict).expand(tensordict, *samples, *tensordict._batch)
        if value.__class__ is not Tensor and is_tree(value):
            self._write_tree(dist, value, out)
        else:
            self._write(dist, value, out)
        if self._selected is not None:
            leave_out(out, [key for key in self.out_keys_source if key not in self._selected])
        return out

    def _write_tree(self, dist: Any, value: Any, out: Any) -> None:
        for key in self._samples:
            out[key] = value[key]
        if self.return_log_prob:
            self._write_log_probs(dist, value, out)

    def _write(self, dist: Any, value: Any, out: Any) -> None:
        own = self.__dict__
        keys = own["_samples"]
        if len(keys) != 1:
            raise errors.StructureError(errors.more_out_keys(1, keys))
        key: Key = keys[0]
        if not own["return_log_prob"]:
            if key != "_":
                out[key] = value
            return
        log_prob, at = dist.log_prob(value), own["_log_prob_keys"].single  # Before the first write: they may fail.
        if out.__class__ is TensorDict and key.__class__ is at.__class__ is str and not out._locked:
            batch = out._batch
            plain = out._device is None and key != "_" and not (value.is_nested or log_prob.is_nested)
            if plain and value.shape[: len(batch)] == batch and log_prob.shape[: len(batch)] == batch:
                out._fields[key], out._fields[at] = value, log_prob  # Without a second look by the container.
                return
        if key != "_":
            out[key] = value
        out[at] = log_prob

    def _write_log_probs(self, dist: Any, value: Any, out: Any) -> None:
        found: TensorDict = dist.log_prob_composite(value, include_sum=False)
        for key, leaf in zip(self._log_prob_keys.each, found.values(True, True)):
            out[key] = leaf
        if self._log_prob_keys.aggregate:
            out[self._log_prob_keys.total] = dist._summed(found)

    def __repr__(self) -> str:
        name = getattr(self.distribution_class, "__name__", repr(self.distribution_class))
        return f"{type(self).__name__}({shown_keys(self.in_keys)} -> {name} -> {shown_keys(self.out_keys)})"


def _sizes(given: Any) -> tuple[int, ...]:
    return () if given is None else (given,) if isinstance(given, int) else tuple(given)
