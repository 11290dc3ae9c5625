"""One entry at a time: the spec hooks of a transform that changes entries each for itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from ..._rules import chain, errors
from ..._rules.keys import Key
from .._entries import drop, prefix
from .._specs.base import TensorSpec
from .._specs.box import Bounded, Unbounded
from .._specs.composite import Composite
from .._transform import Keeps, Pairs, Transform


class Leafwise(Keeps):
    """A transform of entries each for itself; a subclass says what becomes of the spec of one."""

    @property
    def _asks(self) -> tuple[int, str]:
        """How many dims an entry must have after the batch dims, and what they are."""
        return 0, ""

    def _most_at_once(self, steps: int, stop: bool) -> int:
        own = type(self)._call is not Transform._call or type(self)._reset is not Transform._reset
        return 0 if own else steps

    def _leaf_spec(self, spec: Any) -> Any:
        """The spec of an entry after the transform."""
        return spec

    def _leaf_spec_inv(self, spec: Any) -> Any:
        """The spec of an action or state as it is given from outside."""
        return self._leaf_spec(spec)

    def _outward(self, specs: Any) -> Any:
        self._check_shapes(specs, self._reads)
        return respecced(specs, self._pairs, self._leaf_spec, name=type(self).__name__)

    def _inward(self, specs: Any) -> Any:
        self._check_shapes(specs, self._takes)
        return respecced(specs, self._inverse, self._leaf_spec_inv, moves=True, name=type(self).__name__)

    def _check_shapes(self, specs: Any, keys: Iterable[Key]) -> None:
        """Refuse an entry with too few dims: the batch dims are not for the transform."""
        least, which = self._asks
        if not isinstance(specs, Composite):
            return
        for key in keys:
            if key in specs.keys(True):
                shape, batch = tuple(specs[key].shape), tuple(specs[prefix(key)].shape if prefix(key) else specs.shape)
                if len(shape) - len(batch) < least:
                    raise errors.ShapeError(chain.too_few_dims(type(self).__name__, key, shape, batch, least, which))

    def transform_observation_spec(self, observation_spec: Any) -> Any:
        """The spec of each observation that is read."""
        return self._outward(observation_spec)

    def transform_reward_spec(self, reward_spec: Any) -> Any:
        """The spec of each reward that is read."""
        return self._outward(reward_spec)

    def transform_done_spec(self, done_spec: Any) -> Any:
        """The spec of each flag that is read."""
        return self._outward(done_spec)

    def transform_action_spec(self, action_spec: Any) -> Any:
        """The spec of each action as it is given from outside."""
        return self._inward(action_spec)

    def transform_state_spec(self, state_spec: Any) -> Any:
        """The spec of each state as it is given from outside."""
        return self._inward(state_spec)


def respecced(
    specs: Any, pairs: Pairs, leaf_spec: Callable[[Any], Any], moves: bool = False, name: str | None = None
) -> Any:
    """Specs with those under some keys changed; moves: what is under another key then is not under its old one.

    name: the transform, which an error about one of them begins with.
    """
    if not isinstance(specs, Composite):
        return leaf_spec(specs)
    found = {}
    for in_key, out_key in pairs:
        if in_key in specs.keys(True):
            found[out_key] = leaf_spec(specs[in_key]) if name is None else named(name, in_key, specs[in_key], leaf_spec)
    if moves:
        for in_key, out_key in pairs:
            if in_key != out_key and in_key in specs.keys(True):
                drop_spec(specs, in_key)
    for key, spec in found.items():
        specs[key] = spec
    return specs


def named(name: str, key: Key, spec: Any, leaf_spec: Callable[[Any], Any]) -> Any:
    """What a function gives for a spec; what is wrong with it is said with the names of the transform and the key."""
    try:
        return leaf_spec(spec)
    except (RuntimeError, IndexError, ValueError) as error:
        if str(error).startswith(f"{name}: "):
            raise
        shape = list(getattr(spec, "shape", ()))
        raise errors.ShapeError(f"{name}: {errors.name_of(key)} of shape {shape} will not do: {error}") from error


def drop_spec(specs: Any, key: Any) -> None:
    """Forget the spec under a key, and a nested one that is empty then."""
    del specs[key]
    if isinstance(key, tuple) and len(key) > 1 and not list(specs[key[:-1]].keys()):
        drop_spec(specs, key[:-1] if len(key) > 2 else key[0])


def like(spec: Any, value: Tensor) -> Any:
    """A spec of any values that have the shape and dtype of one."""
    return Unbounded(value.shape, device=spec.device, dtype=value.dtype)


def through(spec: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The spec of function(value), for a function that keeps or turns the order: bounds go through it."""
    if not isinstance(spec, Bounded):
        return like(spec, function(spec.zero()))
    ends = [function(spec.low), function(spec.high)]
    low, high = torch.minimum(*ends), torch.maximum(*ends)
    if not low.dtype.is_floating_point:
        return Bounded(low, high, device=spec.device)
    return Bounded(torch.nan_to_num(low, nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf),
                   torch.nan_to_num(high, nan=torch.inf, posinf=torch.inf, neginf=-torch.inf),
                   device=spec.device)  # fmt: skip


def moved(spec: Any, function: Callable[[Any], Any]) -> Any:
    """The spec of function(value), for an op that moves dims: specs have it too."""
    try:
        return function(spec)
    except (RuntimeError, ValueError):  # A mark among n must stay in the last dim, and does not.
        return like(spec, function(spec.zero()))


def _apply_to_composite(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a spec hook that is written for one spec take a Composite: it is called for each of the in_keys.

    >>> from tensorclass.envs import Transform, Unbounded
    >>> class Halve(Transform):
    ...     @_apply_to_composite
    ...     def transform_observation_spec(self, observation_spec):
    ...         return Unbounded((observation_spec.shape[0] // 2,))
    """

    @functools.wraps(method)
    def on_each(self: Any, specs: TensorSpec) -> Any:
        return respecced(specs, self._pairs, lambda spec: method(self, spec))

    return on_each


def _apply_to_composite_inv(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same for actions and states: it is called for each of the in_keys_inv."""

    @functools.wraps(method)
    def on_each(self: Any, specs: TensorSpec) -> Any:
        return respecced(specs, self._inverse, lambda spec: method(self, spec), moves=True)

    return on_each


__all__ = ["Leafwise", "_apply_to_composite", "_apply_to_composite_inv", "drop", "like", "moved", "through"]
