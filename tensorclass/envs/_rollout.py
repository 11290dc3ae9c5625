"""Rollouts: steps in a row, until an episode is over, until all are, or for so many steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from .._lazystack import lazy_stack
from .._rules import errors
from .._tree import join
from . import _conform as conform
from ._entries import branch
from ._flags import any_over
from ._masks import merged, with_mask
from ._numbers import at_least
from ._policy import acting, cast_to
from ._step import NONE, joined
from ._typed import view

LARGE = 64  # The batch size from which on that pays.


class Options(NamedTuple):
    """What rollout was asked for."""

    max_steps: int
    policy: Any
    callback: Callable[..., Any] | None
    auto_reset: bool
    auto_cast_to_device: bool
    break_when_any_done: bool | None
    break_when_all_done: bool
    tensordict: Any
    set_truncated: bool
    out: Any
    storing_device: Any


class BothStops(errors.RuleError, TypeError):
    """A rollout that is asked to stop at the first and at the last."""


def rollout(env: Any, asked: Options) -> Any:
    """The steps of an environment, as one container [*B, T]."""
    if asked.break_when_any_done and asked.break_when_all_done:
        raise BothStops("rollout: break_when_any_done and break_when_all_done exclude each other; give one of them")
    asked = asked._replace(max_steps=at_least(1, "rollout", "max_steps", asked.max_steps))
    check_truncated(env, asked)
    act = acting(env, asked.policy)
    if asked.auto_cast_to_device:
        act = cast_to(env, asked.policy, act)
    td = start(env, asked)
    whole = env._at_once(td, asked)
    if whole is not None:
        return whole
    if asked.break_when_all_done:
        rows = until_all(env, td, act, asked)
    else:
        rows = in_a_row(env, td, act, asked, stop=asked.break_when_any_done is not False)
    if asked.set_truncated:
        cut_off(env, rows[-1])
    return finished(rows, asked)


def start(env: Any, asked: Options) -> Any:
    """Where the first step starts from."""
    given = asked.tensordict
    if asked.auto_reset:
        return env.reset() if given is None else env.reset(given)
    if given is None:
        raise errors.StructureError("rollout: auto_reset=False goes on from a container; give it as tensordict=")
    conform.check_batch(env, "rollout", given)
    own = branch(given)._fields  # What the caller holds is not written to, at any depth.
    own.pop("next", None)
    td = view(env._transition, own, given._batch, given._device)
    if any(conform.value_at(td._fields, key) is None for key in env._keys.ends):
        return td
    return env.maybe_reset(td)


def one_step(env: Any, td: Any, act: Any) -> Any:
    """Act and step: the container with the action, and what came of it under next."""
    td = act(td)
    after = env._advance(td)
    fields = td._fields
    before = fields.get("next")
    if before is not None:
        after._fields = joined(after._fields, before._fields, NONE, NONE, ())
    fields["next"] = after
    return td


def checked_step(env: Any, td: Any, act: Any) -> Any:
    """The first step of a rollout: actions that are missing are named, and what comes back is compared."""
    td = act(td)
    conform.check_actions(env, td)
    before = conform.versions(env, td)
    try:
        td = one_step(env, td, _given)
        conform.check(env, "_step", td._fields["next"])
    except Exception as error:
        conform.explain_actions(env, td, error)
        raise
    conform.check_untouched(env, before)
    return td


def _given(td: Any) -> Any:
    return td


def over(plan: Any, td: Any) -> bool:
    """Whether some episode is over after a step."""
    after = td._fields["next"]._fields
    if plan.flat and len(plan.ends) == 1:
        done = after[plan.ends[0]]
        return bool(done if done.numel() == 1 else done.any())
    return any_over([conform.value_at(after, key) for key in plan.ends])


def in_a_row(env: Any, td: Any, act: Any, asked: Options, stop: bool) -> list[Any]:
    """Steps until the first episode is over (stop), or so many, each episode that is over being reset."""
    plan, last, callback = env._keys, asked.max_steps - 1, asked.callback
    td = checked_step(env, td, act)
    rows = [stored(td, asked)]
    for _ in range(last):
        is_over = over(plan, td)
        if is_over and stop:
            break
        td = env._onward(td)
        if is_over:
            td = env.reset(with_mask(td, plan))
        if callback is not None:
            callback(env, td)
        td = one_step(env, td, act)
        rows.append(stored(td, asked))
    return rows


def until_all(env: Any, td: Any, act: Any, asked: Options) -> list[Any]:
    """Steps until all episodes are over; the last step of those that are over is repeated."""
    plan, last, callback = env._keys, asked.max_steps - 1, asked.callback
    td = checked_step(env, td, act)
    rows = [stored(td, asked)]
    for _ in range(last):
        active = ~rows_over(plan, td)
        if not active.any():
            break
        before = td
        td = env._onward(td)
        if callback is not None:
            callback(env, td)
        if active.all():
            td = one_step(env, td, act)
        else:
            td = some_step(env, td, act, active, before)
        rows.append(stored(td, asked))
    return rows


def some_step(env: Any, td: Any, act: Any, active: torch.Tensor, before: Any) -> Any:
    """A step of the episodes that are not over; the others repeat the row before."""
    td = act(td)
    td._fields["_step"] = active
    after = env._stepped(td)
    fields = {key: value for key, value in td._fields.items() if key != "_step"}
    mask = active.unsqueeze(-1)
    fields = merged(fields, before._fields, mask, {}, ())
    older = before._fields["next"]
    fields["next"] = older._like(merged(after._fields, older._fields, mask, {}, ()))
    return view(td.__class__, fields, td._batch, td._device)


def rows_over(plan: Any, td: Any) -> torch.Tensor:
    """Which rows of the batch are over: by the flag of the whole if there is one, else when all agents are."""
    after, rank = td._fields["next"]._fields, len(td._batch)
    flags = [conform.value_at(after, key).flatten(rank).all(-1) for key in plan.ends]
    return flags[0] if len(flags) == 1 else torch.stack(flags).all(0)


def check_truncated(env: Any, asked: Options) -> None:
    """Refuse to set a flag that is not there."""
    if asked.set_truncated and not any("truncated" in group.names for group in env._keys.groups):
        raise errors.StructureError(
            "rollout: set_truncated=True sets 'truncated', which the environment does not have; "
            "env.add_truncated_keys() adds it"
        )


def cut_off(env: Any, td: Any) -> None:
    """Say of the last step that the rollout ended there."""
    after = td._fields["next"]
    after = td._fields["next"] = after._like(dict(after._fields))
    for group in env._keys.groups:
        if "truncated" in group.names:
            for name in ("truncated", "done"):
                after[group.key(name)] = torch.ones_like(conform.value_at(after._fields, group.key(name)))


def stored(td: Any, asked: Options) -> Any:
    """A row as it is kept."""
    return td if asked.storing_device is None else td.to(asked.storing_device)


def finished(rows: list[Any], asked: Options) -> Any:
    """The rows, stacked along time."""
    dim = len(rows[0]._batch)
    try:
        whole = join.stack(rows, dim, along_time)
    except errors.RuleError:  # Rows that differ in keys or shapes stay as they are.
        lazy: Any = lazy_stack(rows, dim)
        lazy.names = [*lazy.names[:-1], "time"]
        return lazy
    names = (*[None] * dim, "time")
    for node in (whole, whole._fields["next"]):
        object.__setattr__(node, "_names", names)
    return whole if asked.out is None else written(whole, asked.out)


def along_time(column: list[torch.Tensor], dim: int) -> torch.Tensor:
    """torch.stack; numbers of a large batch are stacked in front and turned, which takes half the time."""
    first = column[0]
    batch, features = first.shape[:dim], first.shape[dim:]
    if dim == 0 or features.numel() != 1 or batch.numel() < LARGE:
        return torch.stack(column, dim)
    turned = torch.stack(column).reshape(len(column), -1).t().contiguous()
    return turned.reshape(*batch, len(column), *features)


def written(whole: Any, out: Any) -> Any:
    """A rollout in the container that the caller gave for it."""
    steps = whole._batch[-1]
    if out._batch[:-1] != whole._batch[:-1] or out._batch[-1] < steps:
        raise errors.ShapeError(
            f"rollout: out has batch size {list(out._batch)}, the rollout {list(whole._batch)}; they must be equal"
        )
    if out._batch[-1] == steps:
        return out.update_(whole) if out._fields else out.update(whole)
    out[..., :steps] = whole
    return out[..., :steps]
