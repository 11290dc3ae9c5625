"""check_env_specs: does an environment give what its specs say? And fake_tensordict, what they say as zeros."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._rules import errors
from .._rules.nearest import suggest
from ._classes import has_fields, names_of
from ._conform import value_at
from ._keys import leaves_of
from ._specs.asked import fault, word
from ._specs.leaf import shape_fits
from ._typed import view


def fake(env: Any) -> Any:
    """Zeros with the keys, shapes and dtypes of a step."""
    root: dict[str, Any] = {}
    after: dict[str, Any] = {}
    output, given = env._full_output, env._full_input
    batch, device = env.batch_size, env.device
    td = view(env._transition, root, batch, device)
    nxt = view(env._next, after, batch, device)
    for tree, places in (
        (output["full_observation_spec"], (td, nxt)),
        (given["full_action_spec"], (td,)),
        (given["full_state_spec"], (td, nxt)),
        (output["full_reward_spec"], (nxt,)),
        (output["full_done_spec"], (td, nxt)),
    ):
        for key, spec in leaves_of(tree).items():
            for place in places:
                if key not in place:
                    place[key] = spec.zero()
    root["next"] = nxt
    return td


def check_env_specs(
    env: Any,
    return_contiguous: bool | None = None,
    check_dtype: bool = True,
    seed: int | None = None,
    tensordict: Any = None,
    break_when_any_done: bool = True,
) -> None:
    """Run an environment for a few steps, and compare what it gives with its specs.

    AssertionError names the key: one that is missing or too much, a shape, a dtype (unless check_dtype=False), a value
    out of its domain.
    """
    with torch.random.fork_rng(enabled=seed is not None):
        if seed is not None:
            env.set_seed(seed)
        given = {} if tensordict is None else {"tensordict": tensordict, "auto_reset": False}
        try:
            real = env.rollout(3, break_when_any_done=break_when_any_done, **given)
        except (errors.RuleError, KeyError) as error:
            raise AssertionError(f"{type(env).__name__}: {error.args[0] if error.args else error}") from error
    expected = fake(env)
    batch = tuple(real._batch[:-1])
    loose = batch[len(env.batch_size) :]
    compare_keys(env, expected, real)
    for where, at in (("", ()), ("next ", ("next",))):
        for tree in trees(env, bool(at)):
            for key, spec in leaves_of(tree).items():
                values = value_at(real._fields, at + (key if isinstance(key, tuple) else (key,)))
                if values is None:
                    continue
                check_values(f"{where}{errors.name_of(key)}", spec, values, env.batch_size, loose, check_dtype)


def trees(env: Any, after: bool) -> list[Any]:
    """The specs of what stands at the root, or under next."""
    output, given = env._full_output, env._full_input
    shared = [output["full_observation_spec"], output["full_done_spec"], given["full_state_spec"]]
    return [*shared, output["full_reward_spec"]] if after else [*shared, given["full_action_spec"]]


def compare_keys(env: Any, expected: Any, real: Any) -> None:
    """Refuse keys that are missing, or too much."""
    wanted, have = keys_of(expected), keys_of(real)
    states = {at for key in env._keys.states for at in both(key)}
    for key in in_order(wanted - have - states):
        raise AssertionError(
            f"the specs have {errors.name_of(key)}, which {type(env).__name__} does not give"
            f"{suggest(key, in_order(have - wanted))}"
        )
    for key in in_order(have - wanted):
        raise AssertionError(
            f"{type(env).__name__} gives {errors.name_of(key)}, which no spec has"
            f"{suggest(key, in_order(wanted - have)) or without_shape(env, key)}"
        )


def without_shape(env: Any, key: Any) -> str:
    """The end of the sentence, for a field of a class that does not say its shape."""
    for cls in env._classes:
        if has_fields(cls) and key in names_of(cls).names:
            would = f'{key}: Annotated[Tensor, Unbounded((3,))], or Float[Tensor, "*batch 3"], would do'
            return f"; its annotation in {cls.__name__} says no shape: {would}"
    return ""


def both(key: Any) -> list[Any]:
    """A key at the root, and under next."""
    return [key, ("next", *((key,) if isinstance(key, str) else key))]


def in_order(keys: set[Any]) -> list[Any]:
    """Keys at the root first, then nested ones."""
    return sorted(keys, key=lambda key: (not isinstance(key, str), str(key)))


def keys_of(td: Any) -> set[Any]:
    """The keys of all leaves."""
    return set(type(td).keys(td, True, True))


def check_values(name: str, spec: Any, values: Any, batch: Any, loose: Any, check_dtype: bool) -> None:
    """Compare the values of all steps with the spec of one."""
    if not isinstance(values, Tensor):
        return
    rank = len(batch) + len(loose)
    wanted = (*batch, *loose, *spec.shape[len(batch) :])
    shape = (*values.shape[:rank], *values.shape[rank + 1 :])
    if len(shape) != len(wanted) or not shape_fits(shape, torch.Size(wanted)):
        raise AssertionError(f"{name} has shape {list(shape)}; its spec has {list(wanted)}")
    if check_dtype and values.dtype != spec.dtype:
        raise AssertionError(f"{name} has dtype {values.dtype}; its spec has {spec.dtype}")
    if spec.device is not None and values.device != spec.device:
        raise AssertionError(f"{name} is on {values.device}; its spec on {spec.device}")
    if loose:
        return
    for step in values.unbind(rank):
        if check_dtype and not spec.is_in(step):
            raise AssertionError(f"{name} is out of the domain of its {word(spec)}: {fault(spec, step)}")


__all__ = ["check_env_specs", "fake"]
