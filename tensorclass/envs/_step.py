"""step_mdp: what comes after a step becomes what the next step starts from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .._rules.errors import Key
from .._rules.keys import path
from .._tensordict import TensorDict
from .._tree.node import is_tree
from ._entries import branch

T = TypeVar("T", bound=TensorDict)
Paths = frozenset[tuple[str, ...]]


def step_mdp(
    tensordict: T,
    next_tensordict: T | None = None,
    keep_other: bool = True,
    exclude_reward: bool = True,
    exclude_done: bool = False,
    exclude_action: bool = True,
    reward_keys: Key | Sequence[Key] = "reward",
    done_keys: Key | Sequence[Key] = "done",
    action_keys: Key | Sequence[Key] = "action",
) -> T:
    """The start of the next step: what is under "next" moves to the root.

    >>> td = TensorDict(obs=torch.zeros(1), action=torch.ones(1), note="kept", next={"obs": torch.ones(1)})
    >>> sorted(step_mdp(td).keys()), step_mdp(td)["obs"]
    (['note', 'obs'], tensor([1.]))

    keep_other: entries of the root that "next" does not have stay. Reward and action are left out unless
    exclude_reward=False, exclude_action=False; exclude_done=True leaves out the done_keys. next_tensordict is written
    to and returned, if given.
    """
    if tensordict._items is not None:  # A lazy stack: item by item.
        moved = [step_mdp(one, None, keep_other, exclude_reward, exclude_done, exclude_action,
                          reward_keys, done_keys, action_keys) for one in tensordict._items]  # fmt: skip
        return tensordict._restack(moved)
    rewards, dones, actions = paths(reward_keys), paths(done_keys), paths(action_keys)
    from_next = (rewards if exclude_reward else NONE) | (dones if exclude_done else NONE)
    from_root = from_next | (actions if exclude_action else NONE)
    after = tensordict._fields["next"]._fields if "next" in tensordict._fields else tensordict["next"]
    kept = tensordict._fields if keep_other else only(tensordict._fields, NONE if exclude_action else actions)
    fields = joined(after, kept, from_next, from_root, ())
    if next_tensordict is not None:
        return next_tensordict.update(fields)
    return tensordict._rebuild(fields, tensordict._batch, tensordict._names)


NONE: Paths = frozenset()


def paths(keys: Any) -> Paths:
    """Keys (one, or several) as paths."""
    if keys is None:
        return NONE
    several: Iterable[Any] = keys if isinstance(keys, (list, set, frozenset, dict)) or _is_many(keys) else [keys]
    return frozenset(path(key) for key in several)


def _is_many(keys: Any) -> bool:
    return isinstance(keys, tuple) and any(isinstance(key, tuple) for key in keys)


def joined(
    after: dict[str, Any], root: dict[str, Any], from_next: Paths, from_root: Paths, at: tuple[str, ...]
) -> dict[str, Any]:
    """Entries of the root that stay, and those of next; what both have nested is joined inside."""
    out = {}
    for key, value in root.items():
        here = (*at, key)
        if here == ("next",) or here in from_root:
            continue
        if is_tree(value):
            below = after.get(key)
            if is_tree(below):
                out[key] = below._like(joined(below._fields, value._fields, from_next, from_root, here))
                continue
            if from_root or key == "next":
                value = value._like(joined({}, value._fields, from_next, from_root, here))
        out[key] = value
    for key, value in after.items():
        here = (*at, key)
        if here in from_next or (is_tree(value) and key in out and is_tree(root.get(key))):
            continue
        if is_tree(value) and from_next:
            value = value._like(joined(value._fields, {}, from_next, from_root, here))
            if not value._fields and after[key]._fields:
                continue
        out[key] = value
    return out


def node_onward(root: Any, after: Any, rewards: Paths, name: str) -> Any:
    """What the next step starts from, of a nested container that is at the root, under next, or at both."""
    if after is None:
        return branch(root)  # A policy may write into it; the row before keeps what it has.
    if root is after or (not rewards and (root is None or root._fields.keys() <= after._fields.keys())):
        return branch(after)
    return after._like(joined(after._fields, {} if root is None else root._fields, rewards, rewards, (name,)))


def only(fields: dict[str, Any], keep: Paths, at: tuple[str, ...] = ()) -> dict[str, Any]:
    """The entries at some paths."""
    out = {}
    for key, value in fields.items():
        here = (*at, key)
        if here in keep:
            out[key] = value
        elif is_tree(value) and any(one[: len(here)] == here for one in keep):
            out[key] = value._like(only(value._fields, keep, here))
    return out
