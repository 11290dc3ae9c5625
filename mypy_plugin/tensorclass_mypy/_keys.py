"""Keys of containers whose entries are known: what is read, written, renamed and dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, Expression, Node
from mypy.types import Instance

from tensorclass._rules import errors
from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._containers import as_field, flat_key, misfit, read_field, sentence, store
from ._fields import fields_of
from ._values import Box, Items, Mapped, Ref, Tensor, Uneven, Unset, Value

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def is_key(index: Value) -> bool:
    """A string, or a tuple of strings."""
    return flat_key(index) is not None


def missing(box: Box, path: tuple[str, ...], depth: int) -> str:
    """The sentence for a key that is not there."""
    text = errors.key_missing(path[depth], list(box.fields))
    return f"{text} (under {errors.name_of(path[:depth])})" if depth else text


def find(walk: Walk, ref: Value, path: tuple[str, ...]) -> tuple[Value, str | None]:
    """The value at the end of a path, and the sentence if it is surely not there."""
    value = ref
    for depth, name in enumerate(path):
        box = walk.here.get(value)
        if not isinstance(box, Box):
            if isinstance(box, Tensor) and depth:
                return UNKNOWN, None
            return UNKNOWN, None
        if box.info is not None:
            if name not in (fields_of(box.info) or [name]):
                return UNKNOWN, None  # Said by the class itself.
            value = read_field(walk, value, box, name)
            continue
        if name not in box.fields:
            return UNKNOWN, None if box.open else missing(box, path, depth)
        value = box.fields[name]
    return value, None


def read_key(walk: Walk, expr: Node, ref: Value, box: Box, key: Any) -> Value:
    """x["key"]"""
    path = flat_key(key)
    if path is None:
        return UNKNOWN
    value, wrong = find(walk, ref, path)
    if wrong is not None:
        walk.say(expr, _codes.KEY, wrong)
    return readable(walk, expr, box, key, value)


def readable(walk: Walk, expr: Node, box: Box, key: Any, value: Value) -> Value:
    """A value that is read, unless reading it is an error."""
    if isinstance(value, Unset):
        if isinstance(key, str) and box.info is not None:
            walk.say(expr, _codes.FIELD, errors.not_set(box.info.name, key))
        return UNKNOWN
    if isinstance(value, Uneven):
        walk.say(expr, _codes.BATCH, sentence(errors.shapes_differ(key, [shape or () for shape in value.shapes])))
        return UNKNOWN
    return value


def write_key(walk: Walk, node: Expression, ref: Value, box: Box, key: Any, value: Value) -> None:
    """x["key"] = value"""
    from ._attributes import write_entry

    path = flat_key(key)
    if path is None:
        walk.here.forget(ref)
        return
    if len(path) == 1:
        if box.info is not None and path[0] not in (fields_of(box.info) or {}):
            return
        write_entry(walk, node, ref, box, path[0], value)
        return
    parent: Any = ref
    for depth, name in enumerate(path[:-1]):
        at = walk.here.get(parent)
        if not isinstance(at, Box):
            walk.here.forget(value)
            return
        if at.info is None and name not in at.fields:
            wrong = misfit(walk, path, value, at.batch)
            if wrong is not None:
                walk.say(node, _codes.BATCH, wrong)
            elif not at.open:
                store(walk, parent, path[depth:], as_field(walk, value))
            return
        parent = read_field(walk, parent, at, name)
    inner = walk.here.get(parent)
    if isinstance(inner, Box):
        write_key(walk, node, parent, inner, path[-1], value)
    else:
        walk.here.forget(value)


def delete_key(walk: Walk, node: Node, ref: Value, box: Box, key: Any) -> Value:
    """del x["key"], x.del_("key"), x.pop("key"): the value that was there."""
    path = flat_key(key)
    if path is None:
        walk.here.forget(ref)
        return UNKNOWN
    value, wrong = find(walk, ref, path)
    if wrong is not None:
        walk.say(node, _codes.KEY, wrong)
        return UNKNOWN
    parent, _ = find(walk, ref, path[:-1])
    inner = walk.here.get(parent)
    if isinstance(inner, Box) and isinstance(parent, Ref):
        if inner.locked is True:
            walk.say(node, _codes.KEY, errors.locked(f"delete {errors.name_of(path)}"))
        fields = {name: item for name, item in inner.fields.items() if name != path[-1]}
        walk.here.put(parent, replace(inner, fields=fields))
    return value


def strings(walk: Walk, args: Args) -> list[tuple[Any, Expression]] | None:
    """Keys given as arguments, or as one list of them; None when some are not known."""
    found: list[tuple[Any, Expression]] = []
    if not args.whole:
        return None
    for value, node in args.positional:
        thing = walk.here.get(value)
        if isinstance(thing, Items):
            if thing.items is None:
                return None
            found += [(item, node) for item in thing.items]
        else:
            found.append((value, node))
    return found if all(is_key(key) for key, _ in found) else None


def select(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args, keep: bool) -> Value:
    """x.select(...) and x.exclude(...)"""
    keys = strings(walk, args)
    inplace = args.named.get("inplace", (False, expr))[0]
    strict = args.named.get("strict", (True, expr))[0]
    if keys is None or inplace is not False:
        if inplace is not False:
            walk.here.forget(ref)
            return ref
        return walk.here.new(replace(box, fields={}, open=True, locked=False))
    if keep and strict is True and box.info is None:
        for key, node in keys:
            _, wrong = find(walk, ref, flat_key(key) or ())
            if wrong is not None:
                walk.say(node, _codes.KEY, wrong)
                return walk.here.new(replace(box, fields={}, open=True, locked=False))
    paths = [flat_key(key) or () for key, _ in keys]
    if any(len(path) > 1 for path in paths):
        return walk.here.new(replace(box, fields={}, open=True, locked=False))
    names = {path[0] for path in paths if path}
    fields = {name: value for name, value in box.fields.items() if (name in names) == keep}
    if keep and box.open:  # What was selected may have been there all the same.
        fields.update({name: UNKNOWN for name in names if name not in box.fields})
    if box.info is not None:  # What is left out of a typed class is unset, whatever its annotation says.
        fields.update({name: _left_out(box, name) for name in fields_of(box.info) or {} if (name in names) != keep})
    return walk.here.new(replace(box, fields=fields, locked=False, open=box.open and not keep))


def _left_out(box: Box, name: str) -> Value:
    """A field that is dropped: one that may be None reads as None, any other is an error to read."""
    field = (fields_of(box.info) or {}).get(name) if box.info is not None else None
    return UNKNOWN if field is None or field.optional or field.type is None else Unset()


def rename(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.rename_key_(old, new)"""
    given = args.take("old_key new_key safe")
    old, new = flat_key(given.get("old_key")), flat_key(given.get("new_key"))
    if old is None or new is None or len(old) > 1 or len(new) > 1:
        walk.here.forget(ref)
        return ref
    value, wrong = find(walk, ref, old)
    if wrong is not None:
        walk.say(expr, _codes.KEY, wrong)
        return ref
    fields = {name: item for name, item in box.fields.items() if name not in (old[0], new[0])}  # pyright: ignore[reportGeneralTypeIssues]  # Of length 1 here.
    walk.here.put(ref, replace(walk.here.get(ref), fields={**fields, new[0]: value}))  # pyright: ignore[reportGeneralTypeIssues]  # Of length 1 here.
    return ref


def update(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args, existing: bool) -> Value:
    """x.update({...}) and x.update_({...})"""
    from ._attributes import write_entry

    source = args.positional[0][0] if args.positional else args.named.get("source", (UNKNOWN, expr))[0]
    thing = walk.here.get(source)
    entries: dict[Any, Value] | None = None
    if isinstance(thing, Mapped) and thing.items is not None:
        entries = dict(thing.items)
    elif isinstance(thing, Box) and not thing.open:
        entries = {key: value for key, value in thing.fields.items() if not (thing.info is not None and value is None)}
    if entries is None:
        walk.here.forget(source)
        walk.here.put(ref, replace(box, fields={} if box.info is None else {}, open=True))
        return ref
    for key, value in entries.items():
        path = flat_key(key)
        if path is None:
            walk.here.forget(ref)
            return ref
        if existing and box.info is None:
            _, wrong = find(walk, ref, path)
            if wrong is not None:
                walk.say(expr, _codes.KEY, wrong)
                continue
        current = walk.here.get(ref)
        if not isinstance(current, Box):
            return ref
        inner = walk.here.get(value)
        if isinstance(inner, (Box, Mapped)) and (current.open or path[0] in current.fields):
            walk.here.forget(current.fields.get(path[0], UNKNOWN))  # Merged into what is there.
            walk.here.forget(value)
            continue
        if len(path) == 1 and (current.info is None or path[0] in (fields_of(current.info) or {})):
            if existing:
                write_entry(walk, expr, ref, replace(current, locked=False), path[0], value)
            else:
                write_entry(walk, expr, ref, current, path[0], value)
        else:
            write_key(walk, expr, ref, current, key, value)
    return ref


def get(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.get("key", default)"""
    given = args.take("key default")
    path = flat_key(given.get("key"))
    if path is None:
        return UNKNOWN
    value, wrong = find(walk, ref, path)
    if wrong is not None or isinstance(value, Unset):
        return given.get("default", None)
    return UNKNOWN if isinstance(value, Uneven) else value


def keys_of(box: Box) -> Value:
    """x.keys(), when every key is known and x is no typed class with fields that may be unset."""
    if box.open or box.info is not None:
        return UNKNOWN
    return tuple(box.fields)


__all__ = ["Instance", "Tensor"]
