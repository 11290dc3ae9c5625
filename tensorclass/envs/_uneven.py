"""Environments side by side whose entries differ in shape: lazy stacks of what each of them takes and gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .._lazystack import lazy_stack
from .._rules import errors
from .._tensordict import TensorDict
from .._tree import join
from ._entries import branch, drop
from ._keys import leaves_of
from ._policy import acting
from ._rows import is_reset, mask_paths
from ._typed import view

if TYPE_CHECKING:
    from ._many import Many
    from ._rollout import Options


def rows_in(tensordict: Any) -> list[Any]:
    """The rows of a container: those of a lazy stack are its items."""
    return list(type(tensordict).unbind(tensordict, 0))


def reset(many: Many[Any, Any], tensordict: Any, kwargs: dict[str, Any]) -> Any:
    """Reset all, or those that masks say; the rows of the others stay as they are."""
    out = rows_in(many._reset(tensordict, **kwargs))
    if tensordict is not None:
        for at, row in enumerate(rows_in(tensordict)):
            if mask_paths(row) and not is_reset(row):
                out[at] = branch(row)
                for path in mask_paths(row):
                    drop(out[at], path)
    return lazy_stack(out, 0)


def step(many: Many[Any, Any], tensordict: Any) -> Any:
    """Act: what comes of the action is written under "next" of each row."""
    rows = rows_in(tensordict)
    masks = [row._fields.pop("_step", None) for row in rows]
    if all(mask is None for mask in masks):
        after = many._advance(lazy_stack(rows, 0))
    else:
        every = torch.ones(many.batch_size[1:], dtype=torch.bool)
        after = many._advance_rows(rows, [every if mask is None else mask.reshape(every.shape) for mask in masks])
    for row, what in zip(rows, rows_in(after)):
        row._fields["next"] = what
    return tensordict if tensordict._items is not None else lazy_stack(rows, 0)


def draw(many: Many[Any, Any], tensordict: Any) -> None:
    """Put a random action into each row."""
    for row, spec in zip(rows_in(tensordict), many.full_action_spec.unbind(0)):
        for key, leaf in leaves_of(spec).items():
            row[key] = leaf.rand()


def blank(many: Many[Any, Any]) -> Any:
    """A container without entries for each environment."""
    return lazy_stack([view(TensorDict, {}, many.batch_size[1:], many.device) for _ in range(many.num_workers)])


def onward(many: Many[Any, Any], tensordict: Any) -> Any:
    """What the next step of each starts from."""
    return lazy_stack([many._onward_row(row) for row in rows_in(tensordict)], 0)


def ends(many: Many[Any, Any], rows: list[Any]) -> list[torch.Tensor]:
    """Whether the episode of each is over: a flag for the whole of it."""
    return [torch.stack([row[key].any() for key in many._keys.ends]).any() for row in rows]


def maybe_reset(many: Many[Any, Any], tensordict: Any) -> Any:
    """Reset those whose episode is over."""
    rows = rows_in(tensordict)
    if not any(ends(many, rows)):
        return tensordict
    for row in rows:
        for group in many._keys.groups:
            row[group.key("_reset")] = row[group.key("done")].clone()
    return many.reset(lazy_stack(rows, 0))


def rollout(many: Many[Any, Any], td: Any, asked: Options) -> Any:
    """A rollout of each, side by side: shape [n, T], where the rows are those of a lazy stack."""
    if asked.set_truncated or asked.out is not None or asked.storing_device is not None or asked.auto_cast_to_device:
        raise errors.OptionError(
            "rollout: environments whose entries differ in shape take max_steps, policy, callback, auto_reset, "
            "tensordict and the two break_when_... alone"
        )
    act = acting(many, asked.policy)
    to_all = asked.break_when_all_done
    to_first = asked.break_when_any_done is not False and not to_all
    trails: list[list[Any]] = [[] for _ in range(many.num_workers)]
    over = [torch.tensor(False)] * many.num_workers
    for at in range(asked.max_steps):
        if at:
            td = onward(many, td)
            td = td if to_all else maybe_reset(many, td)
            if asked.callback is not None:
                asked.callback(many, td)
        td = act(td)
        if to_all:
            for row, is_over in zip(rows_in(td), over):
                row["_step"] = ~is_over.expand(many.batch_size[1:])
        td = step(many, td)
        rows = rows_in(td)
        for trail, row, is_over in zip(trails, rows, over):
            trail.append(trail[-1] if to_all and is_over else row)
        over = ends(many, [trail[-1]["next"] for trail in trails])
        if (to_first and any(over)) or (to_all and all(over)):
            break
    return lazy_stack([in_time(trail) for trail in trails], 0)


def in_time(rows: list[Any]) -> Any:
    """The rows of one environment, stacked along time."""
    dim = len(rows[0]._batch)
    whole = join.stack(rows, dim)
    for node in (whole, whole._fields["next"]):
        object.__setattr__(node, "_names", (*[None] * dim, "time"))
    return whole
