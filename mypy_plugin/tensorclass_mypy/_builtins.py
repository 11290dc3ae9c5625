"""Methods of lists, dicts and strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorclass._rules.sizes import UNKNOWN

from ._evaluate import elements
from ._values import Items, Mapped, Value

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def of_list(walk: Walk, owner: Value, row: Items, name: str, args: Args) -> Value:
    values = args.values()
    if name == "append" and len(values) == 1 and row.items is not None and len(row.items) < 64:
        walk.here.put(owner, Items((*row.items, values[0])))
        return None
    if name == "extend" and len(values) == 1 and row.items is not None:
        more = elements(walk, values[0])
        if isinstance(more, tuple) and len(more) < 64:
            walk.here.put(owner, Items((*row.items, *more)))
            return None
    if name in ("index", "count"):
        return UNKNOWN
    if name == "copy":
        return walk.here.new(row)
    walk.here.forget((owner, *values))
    return UNKNOWN


def of_dict(walk: Walk, owner: Value, mapped: Mapped, name: str, args: Args) -> Value:
    values = args.values()
    if mapped.items is not None:
        if name == "items" and not values:
            return tuple(mapped.items.items())
        if name in ("keys", "values") and not values:
            return tuple(mapped.items if name == "keys" else mapped.items.values())
        if name == "get" and values and isinstance(values[0], str):
            if values[0] in mapped.items:
                return mapped.items[values[0]]
            return values[1] if len(values) > 1 else None
        if name == "copy":
            return walk.here.new(mapped)
    elif name in ("items", "keys", "values", "get"):
        return UNKNOWN
    walk.here.forget((owner, *values))
    return UNKNOWN


def of_string(walk: Walk, owner: str, name: str, args: Args) -> Value:
    """A method of a str; mypy reads f"h{place}" as calls of join and format."""
    values = args.values()
    if name in ("upper", "lower", "strip", "title") and not values:
        return getattr(owner, name)()
    if name == "join" and len(values) == 1:
        row = elements(walk, values[0])
        if isinstance(row, tuple) and all(isinstance(item, str) for item in row):
            return owner.join(row)
    if name == "format" and args.whole and not args.named:
        if all(isinstance(value, (str, int, float)) for value in values):
            try:
                return owner.format(*values)
            except (ValueError, IndexError, KeyError):
                return UNKNOWN
    return UNKNOWN
