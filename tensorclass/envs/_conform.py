"""What an environment gives, against its specs: keys, shapes, batch size; each error names the key."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._rules import errors
from .._rules.keys import Key, path
from .._rules.nearest import suggest_and
from .._tree.node import Node, is_tree, kind
from ._keys import leaves_of
from ._masks import over_batch, reset_masks
from ._specs.leaf import LeafSpec
from ._specs.plain import NonTensor


def not_new(owner: str, method: str, out: Any, given: Any) -> Exception:
    """The error for something other than a new container."""
    if out is given and out is not None:
        what = "the container that it was given"
    else:
        what = kind(out)
    would = "a new TensorDict would do"
    if isinstance(out, dict):
        would = "TensorDict(that_dict, batch_size=self.batch_size) would do"
    if isinstance(out, tuple):
        would += " (GymWrapper(env) takes environments of gymnasium, whose methods return tuples)"
    return errors.StructureError(f"{owner}.{method} returned {what}; {would}")


def check_batch(env: Any, method: str, td: Any) -> None:
    """Refuse a container of another batch size than the environment's."""
    if not isinstance(td, Node):
        raise errors.StructureError(f"{method}: {kind(td)} is no container; a TensorDict would do")
    batch = env.batch_size
    if td._batch == batch:
        return
    if not env.batch_locked and td._batch[: len(batch)] == batch:
        return
    if not td._fields and method == "reset":
        return
    would = "; batch_locked = False in its class allows any" if env.batch_locked and not batch else ""
    raise errors.ShapeError(
        f"{method}: the container has batch size {list(td._batch)}, the environment {list(batch)}; "
        f"they must be equal{would}"
    )


def check(env: Any, method: str, out: Any) -> None:
    """Compare keys and shapes of what a method gave with the specs; dtypes only if the environment asks for it."""
    batch, where = env.batch_size, f"{type(env).__name__}.{method}"
    loose = out._batch[len(batch) :] if not env.batch_locked else ()
    if out._batch != batch and not loose:
        raise errors.ShapeError(
            f"{where} returned batch size {list(out._batch)}; that of the environment is {list(batch)}: "
            "pass batch_size=self.batch_size"
        )
    fields, rewards, device = out._fields, env._keys.rewards, env.device
    for key, shape in env._keys.shapes.items():
        if method == "_reset" and key in rewards:
            continue
        value = fields.get(key) if key.__class__ is str else value_at(fields, key)
        if value is None:
            raise missing(env, method, key, out)
        if isinstance(value, Tensor):
            check_entry(where, key, value, (*batch, *loose, *shape[len(batch) :]) if loose else shape, device)
    if env._checks_types:
        check_dtypes(env, method, out)


def check_entry(where: str, key: Key, value: Tensor, shape: Any, device: Any) -> None:
    """Compare the shape and the device of one entry with those that it should have."""
    if device is not None and value.device != device:
        raise errors.StructureError(
            f"{where}: {errors.name_of(key)} is on {value.device}, the environment on {device}; "
            "make it with device=self.device"
        )
    if value.shape != shape and -1 not in shape:
        raise errors.ShapeError(
            f"{where}: {errors.name_of(key)} has shape {list(value.shape)}; its spec has {list(shape)}"
        )


def check_dtypes(env: Any, method: str, out: Any) -> None:
    """Compare dtypes with the specs: for an environment that is made with run_type_checks=True."""
    for tree in ("full_observation_spec", "full_reward_spec", "full_done_spec"):
        for key, spec in leaves_of(env._full_output[tree]).items():
            value = value_at(out._fields, key)
            if isinstance(value, Tensor) and value.dtype is not spec.dtype:
                raise errors.KindError(
                    f"{type(env).__name__}.{method}: {errors.name_of(key)} has dtype {value.dtype}; "
                    f"its spec has {spec.dtype}"
                )


def value_at(fields: dict[str, Any], key: Any) -> Any:
    """An entry by path, or None."""
    node: Any = None
    for name in path(key):
        node = fields.get(name)
        fields = node._fields if is_tree(node) else {}
    return node


def missing(env: Any, method: str, key: Key, out: Any) -> Exception:
    """The error for an entry that the specs have and a method has not given."""
    have = [one for one in type(out).keys(out, True, True) if one not in env._keys.shapes]
    here = [one for one in type(out).keys(out, True, True) if one not in env._keys.dones]
    return errors.KeyMissing(
        f"{type(env).__name__}.{method} gave no {errors.name_of(key)}"
        + suggest_and(key, have, f"it gave {errors.some_names(here) if here else 'nothing'}")
    )


def check_actions(env: Any, td: Any) -> None:
    """Refuse a container without an action, after the policy."""
    for key in env._keys.actions:
        if value_at(td._fields, key) is None:
            have = list(type(td).keys(td, True, True))
            raise errors.KeyMissing(f"the policy wrote {errors.key_missing(key, have)}")


def check_known(key: Key, spec: Any) -> None:
    """Refuse to draw an action that is no tensor, or one of whose sizes has only a name."""
    if isinstance(spec, NonTensor) and spec.rand() is None:
        raise errors.KindError(f"no {errors.name_of(key)} can be drawn: its spec is {spec!r}; give a policy")
    if isinstance(spec, LeafSpec) and -1 in spec.shape:
        raise errors.ShapeError(
            f"no {errors.name_of(key)} can be drawn: its spec has shape {list(spec.shape)}, and -1 is any size; "
            "set self.action_spec in __init__ to one that says how many"
        )


def explain_actions(env: Any, td: Any, error: Exception) -> None:
    """After a step has failed: raise what is wrong with the shape of an action, if something is."""
    batch = env.batch_size
    for key, spec in leaves_of(env._full_input["full_action_spec"]).items():
        value = value_at(td._fields, key)
        wanted = (*td._batch, *spec.shape[len(batch) :])
        if isinstance(value, Tensor) and tuple(value.shape) != wanted and -1 not in wanted:
            raise errors.ShapeError(
                f"{type(env).__name__}._step failed; {errors.name_of(key)} has shape {list(value.shape)}, "
                f"its spec has {list(wanted)}"
            ) from error


def versions(env: Any, td: Any) -> dict[Key, tuple[Tensor, int]]:
    """How often the observations at hand have been written to so far."""
    found = {}
    for key in env._keys.observations:
        value = value_at(td._fields, key)
        if isinstance(value, Tensor) and not value.is_inference():
            found[key] = value, value._version
    return found


def check_untouched(env: Any, before: dict[Key, tuple[Tensor, int]]) -> None:
    """Refuse a step that has written to what the environment gave at the step before."""
    for key, (value, version) in before.items():
        if value._version != version:
            raise errors.StructureError(
                f"{type(env).__name__}._step changed {errors.name_of(key)} of the step before in place, and every step "
                "of the rollout would show the last one; return a copy (.clone()) of a tensor that is written to"
            )


def check_not_over(env: Any, out: Any, given: Any) -> None:
    """Refuse an episode that is over right after its reset; rows that were not reset may be over."""
    over = [value_at(out._fields, key) for key in env._keys.ends]
    if not any(bool(one.any()) for one in over if not one.is_meta):  # Nobody knows what a flag without numbers says.
        return
    masks = reset_masks(given, env._keys) if given is not None else {}
    if masks:
        mask = over_batch(masks, out._batch)
        rank = len(out._batch)
        if mask is not None:
            flags = [one.flatten(rank).any(-1, keepdim=True) & mask.reshape(*out._batch, 1) for one in over]
            if not torch.stack(flags).any():
                return
    raise errors.StructureError(
        f"{type(env).__name__} is done right after its reset; return done=False from _reset, "
        "or pass allow_done_after_reset=True"
    )


__all__ = ["check", "check_actions", "check_batch", "check_not_over", "explain_actions", "not_new", "value_at"]
