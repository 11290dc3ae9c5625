"""What acts: a policy of any kind, as a function that puts the action into a container."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn

from .._rules import errors
from .._rules.keys import Key, path
from .._tree.node import Node, kind
from ..nn import TensorClassModuleBase
from ..nn._ends import keys_of_class
from ..nn._hooks import is_hooked
from ..nn._module import is_module
from ..nn._typed import ends_of
from ._classes import built, flat, has_fields
from ._conform import value_at
from ._keys import is_masked

Act = Callable[[Any], Any]
AHEAD = 32  # So many random actions are drawn at a time.
BY_CONTAINER = ("tensordict", "td", "data")  # A forward with one such parameter takes the container itself.


def acting(env: Any, policy: Any) -> Act:
    """A policy (none: at random) as a function from a container to the same one, or another, with the action in it."""
    if policy is None:
        return _random(env)
    if isinstance(policy, type) or not callable(policy):
        made = f"; did you mean {policy.__name__}(...)?" if isinstance(policy, type) else "; give a callable"
        raise errors.KindError(f"policy: {policy!r} will not do{made}")
    if _wants_observation(env, policy):
        return _typed(env, policy)
    if isinstance(policy, TensorClassModuleBase):
        return _typed_by_key(env, policy)
    if isinstance(policy, nn.Module) and not is_module(policy) and not _takes_container(policy):
        return _by_leaves(env, policy)
    return _settled(env, policy)


def _random(env: Any) -> Act:
    """Random actions, drawn many at a time while each draw is like the one before."""
    specs: dict[str, Any] | None = None
    left: list[Any] = []
    begun = False

    def act(td: Any) -> Any:
        nonlocal specs, left, begun
        if not begun:  # Only now: a reset may have put a mask on the spec.
            specs, begun = env._drawn_ahead(), True
        if not specs or any(is_masked(spec) for spec in specs.values()):
            env.rand_action(td) if draws_itself(env) else env._draw(td)
            return td
        if not left:
            rows = (AHEAD, *td._batch[len(env.batch_size) :])
            left = list(zip(*[spec.rand(rows).unbind(0) for spec in specs.values()]))
        for key, value in zip(specs, left.pop()):
            td._fields[key] = value
        return td

    return act


def draws_itself(env: Any) -> bool:
    """Whether the author of an environment says how a random action is drawn."""
    ours = __name__.partition(".")[0]
    methods = (type(env)._draw, type(env).rand_action)
    return any(method.__module__.partition(".")[0] != ours for method in methods)


def _typed(env: Any, policy: Any) -> Act:
    cls = env._classes[0]

    def act(td: Any) -> Any:
        td._fields.update(flat(policy(built(td, cls))))
        return td

    return act


def _typed_by_key(env: Any, policy: TensorClassModuleBase[Any, Any]) -> Act:
    """A typed policy that is made for another class than that of the observations: by key, if the keys are there."""
    takes, obs = ends_of(policy)[0], env._classes[0]
    lacking = [key for key in keys_of_class(takes) if key not in env._keys.observations]
    if lacking and has_fields(obs):
        name = type(policy).__name__
        raise errors.KindError(f"policy: {name} takes {takes.__name__}; the observations are {obs.__name__}")
    return _settled(env, policy.as_td_module())


def _by_leaves(env: Any, policy: nn.Module) -> Act:
    reads, writes = reads_of(policy, env._keys.observations), env._keys.actions

    def act(td: Any) -> Any:
        given = policy(*[value_at(td._fields, key) for key in reads])
        values = given if isinstance(given, tuple) else (given,)
        if len(values) < len(writes):
            raise errors.StructureError(
                f"policy: the module gave {errors.count(len(values), 'value')} for {errors.some_names(writes)}"
            )
        for key, value in zip(writes, values):
            td[key] = value
        return td

    return act


def reads(env: Any, policy: Any) -> list[Key] | None:
    """Which entries a policy reads; None where that is not known."""
    if not isinstance(policy, nn.Module):
        return keys_of_class(env._classes[0]) if callable(policy) and _wants_observation(env, policy) else None
    if _wants_observation(env, policy):
        return keys_of_class(env._classes[0])
    if isinstance(policy, TensorClassModuleBase):
        return keys_of_class(ends_of(policy)[0])
    if not is_module(policy):
        return None if _takes_container(policy) else reads_of(policy, env._keys.observations)
    by_key = [one for one in policy.modules() if is_module(one)]
    says_all = all(type(one).__module__.startswith("tensorclass.nn.") and not is_hooked(one) for one in by_key)
    keyed = cast(Any, policy)  # Other classes, and hooks, may read more; and what is under "next" is read again.
    moves_on = any(path(key)[0] == "next" for key in keyed.out_keys)
    return list(keyed.in_keys) if says_all and not moves_on else None


def reads_of(policy: nn.Module, observations: list[Key]) -> list[Key]:
    """Which observations a module takes: those that its parameters are named after, or as many as it has parameters.

    What transforms add (a count of steps, a sum of rewards) comes last in the specs, and so is not in the way.
    """
    needed = _needed(policy.forward)
    if needed is None:
        return observations
    if needed and all(name in observations for name in needed):
        return list(needed)
    return observations[: len(needed)]


def _settled(env: Any, policy: Any) -> Act:
    """A callable by key: it writes into the container, or gives another, or the action."""

    def act(td: Any) -> Any:
        given = policy(td)
        if given is td or given is None:
            return td
        if isinstance(given, Tensor):
            td[env.action_key] = given
            return td
        if not isinstance(given, Node):
            raise errors.KindError(f"policy: it gave {kind(given)}; a container with the action would do")
        return type(td).update(td, flat(given))

    return act


def _wants_observation(env: Any, policy: Any) -> bool:
    """Whether a policy takes the class of the observations of this environment, not a container by key."""
    cls = env._classes[0]
    if not has_fields(cls):
        return False
    if isinstance(policy, TensorClassModuleBase):
        takes = ends_of(policy)[0]
        return not isinstance(takes, type) or issubclass(cls, takes)
    parameter = _first_parameter(policy.forward if isinstance(policy, nn.Module) else policy)
    return parameter is not None and (parameter.annotation is cls or parameter.annotation == cls.__name__)


def _takes_container(policy: nn.Module) -> bool:
    parameter = _first_parameter(policy.forward)
    if parameter is None:
        return False
    hint = parameter.annotation
    hint = typing.get_origin(hint) or hint
    return parameter.name in BY_CONTAINER or (isinstance(hint, type) and issubclass(hint, Node))


def _first_parameter(function: Any) -> inspect.Parameter | None:
    needed = _needed(function)
    return next(iter(needed.values())) if needed is not None and len(needed) == 1 else None


def _needed(function: Any) -> dict[str, inspect.Parameter] | None:
    """The parameters that a call must give, or None where any number will do."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_POSITIONAL for one in parameters.values()):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {name: one for name, one in parameters.items() if one.default is one.empty and one.kind in kinds}


def cast_to(env: Any, policy: Any, act: Act) -> Act:
    """A policy on its own device: what it reads is moved there, what it gives is moved back."""
    parameter = next(iter(policy.parameters()), None) if isinstance(policy, nn.Module) else None
    if parameter is None or parameter.device == env.device:
        return act

    def moved(td: Any) -> Any:
        out = act(td.to(parameter.device))
        return out.to(env.device) if env.device is not None else out.to(torch.device("cpu"))

    return moved
