"""Keys that mypy's hooks do not see: on values of type Self, and where the value is known and its type is `str`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import DictExpr, Expression, Node, StrExpr
from mypy.types import Instance, TypeVarType, get_proper_type
from mypy.typevars import fill_typevars_with_any

from tensorclass._rules import errors
from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._containers import flat_key
from ._fields import OWN, fields_of, names_of
from ._typed_keys import MERGES, NAMES, READS, WRITES, lookup
from ._types import is_tensorclass
from ._values import Box, Items, Mapped, Tensor, Value

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

READING = READS | {"get_non_tensor"}


def instance_of(box: Box) -> Instance | None:
    """The class of a container with fields, as a type."""
    if box.info is None:
        return None
    typ = get_proper_type(box.type.upper_bound) if isinstance(box.type, TypeVarType) else box.type
    found = typ if isinstance(typ, Instance) else fill_typevars_with_any(box.info)
    return found if isinstance(found, Instance) and is_tensorclass(found.type) else None


def of_self(box: Box) -> bool:
    """A value that mypy knows by a type variable only: its hooks say nothing of it."""
    return isinstance(box.type, TypeVarType)


def call(walk: Walk, box: Box, name: str, args: Args) -> None:
    """x.name(...) with keys among the arguments."""
    instance = instance_of(box)
    if instance is None:
        return
    pairs = args.positional
    if name in READING and pairs:
        key(walk, instance, pairs[0][0], pairs[0][1])
    elif name in WRITES and pairs:
        write = key(walk, instance, pairs[0][0], pairs[0][1], True)
        if write and len(pairs) > 1 and of_self(box):
            kind(walk, instance, pairs[0][0], pairs[1][0], pairs[1][1])
    elif name in NAMES:
        for place, (value, node) in enumerate(pairs):
            row = walk.here.get(value)
            for one in (row.items or ()) if isinstance(row, Items) else (value,):
                key(walk, instance, one, node, name == "rename_key_" and place == 1)
    elif name in MERGES:
        _merge(walk, instance, name, args, of_self(box))


def item(walk: Walk, node: Node, box: Box, name: Value, value: Value = UNKNOWN, write: bool = False) -> None:
    """x["key"], x["key"] = value, del x["key"]"""
    instance = instance_of(box)
    if instance is not None and key(walk, instance, name, node, write) and write and of_self(box):
        kind(walk, instance, name, value, node)


def _merge(walk: Walk, instance: Instance, name: str, args: Args, kinds: bool) -> None:
    """update and replace: the keys of a dict, and keyword arguments."""
    for value, node in args.positional[:1]:
        _entries(walk, instance, value, node, kinds)
    if name != "replace" or not kinds:
        return
    for one, (value, node) in args.named.items():
        if one not in OWN and key(walk, instance, one, node):
            kind(walk, instance, one, value, node)


def _entries(walk: Walk, instance: Instance, value: Value, node: Expression, kinds: bool) -> None:
    """The keys of a dict, and of dicts in it."""
    row = walk.here.get(value)
    if not isinstance(row, Mapped) or row.items is None:
        return
    nodes = _nodes(node)
    for one, item in row.items.items():
        at = nodes.get(one, (node, node))
        if not key(walk, instance, one, at[0]):
            continue
        field = (fields_of(instance.type, instance) or {}).get(one) if isinstance(one, str) else None
        inner = field.plain if field is not None else None
        if isinstance(inner, Instance) and is_tensorclass(inner.type) and isinstance(walk.here.get(item), Mapped):
            _entries(walk, inner, item, at[1], kinds)
        elif kinds:
            kind(walk, instance, one, item, at[1])


def _nodes(expr: Expression) -> dict[Any, tuple[Expression, Expression]]:
    if not isinstance(expr, DictExpr):
        return {}
    return {key.value: (key, value) for key, value in expr.items if isinstance(key, StrExpr)}


def key(walk: Walk, instance: Instance, value: Value, node: Node, write: bool = False) -> bool:
    """Say that a key is no field; True if it is one."""
    path = flat_key(value)
    if path is None:
        return False
    _, wrong, _ = lookup(instance, path)
    if wrong is None:
        return True
    if write and len(path) == 1:
        wrong = errors.no_field_to_set(instance.type.name, path[0], names_of(instance.type) or [])
    walk.say(node, _codes.FIELD, wrong)
    return False


def kind(walk: Walk, instance: Instance, name: Value, value: Value, node: Node) -> None:
    """Say that a tensor goes where a container belongs, or the other way round."""
    path = flat_key(name)
    field = (fields_of(instance.type, instance) or {}).get(path[0]) if path is not None and len(path) == 1 else None
    wanted = field.plain if field is not None else None
    thing = walk.here.get(value)
    if not isinstance(wanted, Instance) or path is None:
        return
    found: str | None = None
    if is_tensorclass(wanted.type) and isinstance(thing, (Tensor, Mapped)):
        found = "a Tensor" if isinstance(thing, Tensor) else "a dict"
    elif wanted.type.fullname == "torch._tensor.Tensor" and (isinstance(thing, str) or isinstance(thing, Box)):
        found = "a str" if isinstance(thing, str) else f"a {thing.info.name}" if thing.info is not None else None
    if found is not None:
        what = "a Tensor" if wanted.type.name == "Tensor" else f"a {wanted.type.name}"
        walk.say(node, _codes.FIELD, f"field {errors.name_of(path)} is {what}, and the value is {found}")
