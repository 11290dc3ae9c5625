"""Containers: how they are made, what their fields are known to be, and what their batch size is after an op."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import Expression, Node
from mypy.types import Instance

from tensorclass._rules import algebra, along, errors, folds, joins, moves, pointwise, table
from tensorclass._rules import annotations as strings
from tensorclass._rules.errors import RuleError
from tensorclass._rules.sizes import RAGGED, UNKNOWN, NotKnown

from . import _codes, _dtypes
from ._arrays import Array, as_tensor
from ._evaluate import elements
from ._fields import Field, fields_of, options_of
from ._hints import fits, to_shape, unlike
from ._operators import no_ones
from ._values import (
    Box,
    Items,
    Many,
    Mapped,
    Number,
    Perhaps,
    Plain,
    Ref,
    Shape,
    Sizes,
    Star,
    Tensor,
    Typed,
    Unset,
    Value,
    has_star,
    is_int,
    is_size,
    own_run,
    same_shape,
    show_shape,
    show_size,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def sentence(text: str) -> str:
    """A sentence of the rules, with the names of sizes as users know them."""
    return re.sub(r"\?(?=[A-Za-z_])", "", text)


def sizes_of(walk: Walk, value: Value) -> Shape:
    """A batch size as it is given: an int, a list, a tuple, None for empty; Python's None: unknown."""
    if value is None:
        return ()
    if is_size(value):
        return (value,)
    if isinstance(value, Sizes):
        return value.row
    row = elements(walk, value) if not isinstance(walk.here.get(value), (Box, Tensor)) else UNKNOWN
    if isinstance(row, tuple) and all(is_size(size) or size is UNKNOWN for size in row):
        return tuple(row)
    return None


def refuses(walk: Walk, node: Node, box: Box, action: str) -> bool:
    """Say that an instance of a frozen class is written to; True if so."""
    if box.info is None or "frozen" not in options_of(box.info):
        return False
    walk.say(node, _codes.FIELD, errors.frozen(box.info.name, action))
    return True


# -- Values in a container ------------------------------------------------------------------------------------------


def misfit(walk: Walk, key: Any, value: Value, batch: Shape) -> str | None:
    """Why a value cannot be in a container of this batch size, or None."""
    thing = walk.here.get(value)
    if batch is None or has_star(batch):
        return None
    if isinstance(thing, Box):
        return _node_misfit(walk, key, thing, batch)
    if not isinstance(thing, Tensor) or thing.shape is None or has_star(thing.shape):
        return None
    if len(thing.shape) >= len(batch) and not any(unlike(walk, a, b) for a, b in zip(thing.shape, batch)):
        return None
    return sentence(errors.batch_mismatch(key, thing.shape, batch))


def _node_misfit(walk: Walk, key: Any, box: Box, batch: Any) -> str | None:
    """A nested container: its batch size starts with the one around it, or all its entries allow that."""
    if box.batch is None or has_star(box.batch):
        return None
    if any(unlike(walk, a, b) for a, b in zip(box.batch, batch)):
        return sentence(errors.node_mismatch(key, box.batch, batch))
    if len(box.batch) >= len(batch):
        return None
    for name, value in box.fields.items():
        wrong = misfit(walk, (*(key if isinstance(key, tuple) else (key,)), name), value, batch)
        if wrong is not None:
            return wrong
    return None


def shorter(one: Shape, other: Shape) -> bool:
    """Whether a shape has surely fewer dims than another."""
    if one is None or other is None or has_star(one):
        return False
    return len(one) < (sum(1 for size in other if not isinstance(size, Star)) if has_star(other) else len(other))


def as_field(walk: Walk, value: Value, batch: Shape = None) -> Value:
    """A value as a container holds it: a dict becomes a node, and a node takes the batch size around it."""
    thing = walk.here.get(value)
    if isinstance(thing, Box) and batch is not None and shorter(thing.batch, batch):
        return walk.here.new(replace(thing, batch=batch, no_batch_size=False))
    if isinstance(thing, Mapped):
        if thing.items is None or not all(isinstance(key, str) for key in thing.items):
            return walk.here.new(Box(None))
        inner = {key: as_field(walk, item) for key, item in thing.items.items()}
        return walk.here.new(Box(None, None, True, None, inner, open=False))
    if isinstance(thing, Array):
        return as_tensor(thing)
    if isinstance(thing, Items) or (isinstance(value, tuple) and value):
        from ._tensor_functions import literal

        shape, dtype = literal(walk, value)
        return UNKNOWN if shape is None or dtype is None else Tensor(shape, dtype)
    if isinstance(value, str):
        return Plain("str")
    if isinstance(value, (int, float, bytes, Number, Perhaps)):
        return UNKNOWN
    return value


def read_field(walk: Walk, ref: Value, box: Box, name: str) -> Value:
    """What is known of a field."""
    if name in box.fields:
        return box.fields[name]
    if box.info is None:
        return UNKNOWN
    fields = fields_of(box.info, box.type if isinstance(box.type, Instance) else None) or {}
    field = fields.get(name)
    if field is None:
        return UNKNOWN
    value = declared_value(walk, field, box.batch)
    if field.dims is not None and not field.dims.has_batch and not _as_declared(box.batch):
        # A stack or a row of instances: such a field has more dims, or fewer, than its annotation says.
        return Tensor(None, value.dtype) if isinstance(value, Tensor) else UNKNOWN
    if isinstance(value, Ref) and isinstance(ref, Ref):
        walk.here.put(ref, replace(box, fields={**box.fields, name: value}))
    return value


def _as_declared(batch: Shape) -> bool:
    """Whether no op has given a container its batch size: there is none, or it came as it is."""
    return batch == () or (batch is not None and len(batch) == 1 and isinstance(batch[0], Star))


def declared_value(walk: Walk, field: Field, batch: Shape) -> Value:
    """What the declaration of a field says of its value."""
    if field.optional:
        return UNKNOWN
    value = walk.from_type(field.type)
    if field.dims is None:
        return value
    run = own_run() if batch is None else batch
    # Names of sizes are those of the instance at hand: where that is self, they have names of their own here.
    shape = to_shape(field.dims, {"*batch": run}, free=is_self(run))
    thing = walk.here.get(value)
    if isinstance(thing, Box):
        walk.here.put(value, replace(thing, batch=shape))
        return value
    return Tensor(shape, _dtypes.declared(field.word) if field.word else None) if isinstance(thing, Tensor) else value


def is_self(batch: Shape) -> bool:
    """The batch size of self in a method, which a method's own annotations call *batch as well."""
    return batch is not None and len(batch) > 0 and isinstance(batch[0], Star) and batch[0].owner == 0


def names_bound(walk: Walk, box: Box, without: Iterable[str] = ()) -> dict[str, Any]:
    """The names of sizes in the annotations of a class, as the fields of this instance bind them."""
    bound: dict[str, Any] = {}
    free: set[str] = set()
    for name, field in (fields_of(box.info) or {}).items() if box.info is not None else ():
        if field.dims is None or field.optional or name in without:
            continue
        thing = walk.here.get(box.fields.get(name, UNKNOWN))
        if isinstance(thing, Tensor) and thing.shape is not None and box.batch is not None:
            local = {**bound, "*batch": box.batch}
            if fits(walk, field.dims, thing.shape, local) is None:
                bound.update(local)
        elif is_self(box.batch) and name not in box.fields:
            free |= {one for one in field.dims.names if not one.startswith("*")}
    for one in free:
        bound.setdefault(one, algebra.name(one))
    bound.pop("*batch", None)
    return bound


def against(walk: Walk, field: Field, value: Value, batch: Shape, bound: dict[str, Any]) -> str | None:
    """Why a value does not fit the annotation of a field, or None."""
    thing = walk.here.get(value)
    shape = thing.shape if isinstance(thing, Tensor) else thing.batch if isinstance(thing, Box) else None
    if field.dims is not None and shape is not None and batch is not None:
        local = dict(bound)
        if field.dims.has_batch:
            if not has_star(shape) and not has_star(batch) and len(shape) - len(field.dims.after) != len(batch):
                rank = len(batch) + len(field.dims.after)
                why = f"it has {errors.count(len(shape), 'dim')}; with batch size {show_shape(batch)} "
                return _misfit(field, shape, f"{why}it must have {rank}", isinstance(thing, Box))
            local["*batch"] = batch
        reason = fits(walk, field.dims, shape, local)
        if reason is not None:
            return _misfit(field, shape, reason, isinstance(thing, Box))
        bound.update(local)
        bound.pop("*batch", None)
    if field.casts or not isinstance(thing, Tensor) or not _dtypes.refuses(walk, field.word, thing.dtype):
        return None
    takes = _dtypes.takes_of(field.word)
    return strings.dtype_mismatch(field.name, _dtypes.shown(thing.dtype), field.word or "", takes)


def _misfit(field: Field, shape: Any, why: str, node: bool) -> str:
    what = "batch size" if node else "shape"
    text = field.dims.text if field.dims is not None else ""
    return f'field {field.name!r} has {what} {show_shape(shape)}, which does not fit "{text}": {why}'


def store(walk: Walk, ref: Value, key: Any, value: Value) -> None:
    """Put a value under a key, or under a path of them; nodes on the way are made."""
    box = walk.here.get(ref)
    if not isinstance(box, Box):
        return
    path = flat_key(key)
    if path is None:
        walk.here.put(ref, replace(box, fields={}, open=True))
        return
    name, rest = path[0], path[1:]
    if not rest:
        walk.here.put(ref, replace(box, fields={**box.fields, name: value}))
        return
    inner = box.fields.get(name, UNKNOWN)
    if inner is UNKNOWN and (box.open or name in box.fields or box.info is not None):
        return
    if inner is UNKNOWN:
        inner = walk.here.new(Box(None, None, True, box.batch, {}, open=False, locked=box.locked))
        walk.here.put(ref, replace(box, fields={**box.fields, name: inner}))
    store(walk, inner, rest, value)


def flat_key(key: Any) -> tuple[str, ...] | None:
    """A key as the names to follow."""
    if isinstance(key, str):
        return (key,)
    if isinstance(key, tuple) and key:
        parts: list[str] = []
        for part in key:
            inner = flat_key(part)
            if inner is None:
                return None
            parts += inner
        return tuple(parts)
    return None


# -- Ops ------------------------------------------------------------------------------------------------------------


def like(walk: Walk, box: Box, batch: Shape = None, *, keep: bool = True) -> Value:
    """A new container of the same class: the same batch size unless another is given, the leaves unknown."""
    return walk.here.new(
        Box(
            box.info,
            box.type,
            box.exact,
            box.batch if keep else batch,
            shaped(walk, box, box.batch if keep else batch),
            open=box.open,
            locked=False,
            lazy=box.lazy,
        )
    )


def shaped(walk: Walk, box: Box, batch: Shape) -> dict[str, Value]:
    """The fields after an op on the batch dims: their feature dims stay."""
    fields: dict[str, Value] = {}
    for key, value in box.fields.items():
        thing = walk.here.get(value)
        if isinstance(thing, Tensor):
            tail = tail_of(thing.shape, box.batch)
            if tail is None and box.info is not None:
                continue  # What the class declares says more.
            fields[key] = Tensor(None if tail is None or batch is None else (*batch, *tail), thing.dtype)
        elif isinstance(thing, Box):
            tail = tail_of(thing.batch, box.batch)
            inner = None if tail is None or batch is None else (*batch, *tail)
            fields[key] = like(walk, thing, inner, keep=False)
        elif isinstance(value, (Plain, Unset)) or value is None:
            fields[key] = value
        else:
            fields[key] = UNKNOWN
    return fields


def tail_of(shape: Shape, batch: Shape) -> Shape:
    """The dims of an entry behind the batch dims."""
    if shape is None or batch is None:
        return None
    if has_star(shape) or has_star(batch):
        return shape[len(batch) :] if same_shape(shape[: len(batch)], batch) else None
    return shape[len(batch) :]


def copied(walk: Walk, box: Box, seen: bool = True) -> Value:
    """A clone: the same facts about other things."""
    fields = {}
    for key, value in box.fields.items():
        thing = walk.here.get(value)
        fields[key] = copied(walk, thing) if isinstance(thing, Box) else value
    return walk.here.new(replace(box, fields=fields, locked=False))


def op(walk: Walk, expr: Node, box: Box, row: table.Op, args: Args) -> Value:
    """A row of the table: the batch size after it, or the sentence of its rule."""
    given: dict[str, Any] = {}
    values = [plain(walk, value) for value, _ in args.positional]
    known = args.whole
    for param in row.params:
        if param.name in args.named:
            given[param.name] = plain(walk, args.named[param.name][0])
        elif param.kind == "star":
            rest, values = values, []
            if rest:
                given[param.name] = tuple(rest)
        elif values:
            given[param.name] = values.pop(0)
    if (row.name in ("all", "any") and "dim" not in given) or (row.family == "fold" and "reduce" in args.named):
        return UNKNOWN  # A bool, or one tensor of all entries.
    if row.family in ("pointwise", "cast"):
        return like(walk, box)
    if row.family == "pair":
        other = walk.here.get(args.positional[0][0]) if args.positional else UNKNOWN
        return operate(walk, expr, row.name, box, other)
    if not known or box.batch is None or has_star(box.batch):
        return like(walk, box, None, keep=False) if row.family != "split" else Many(like(walk, box, None, keep=False))
    if row.family == "fold" and "dim" not in given:
        return like(walk, box, (), keep=False)
    sizes = tuple(RAGGED if size is UNKNOWN and box.ragged else size for size in box.batch)
    batch, said = after(walk, expr, row, sizes, given)
    if batch is not None and row.family != "split" and RAGGED in [size for size in batch if is_int(size)]:
        batch = tuple(UNKNOWN if is_int(size) and size == RAGGED else size for size in batch)
    if row.family == "split":
        if batch is None:
            return UNKNOWN if said else Many(like(walk, box, None, keep=False))
        from ._values import Pieces

        parts: Any = batch[:64]
        return Pieces(like(walk, box, tuple(one), keep=False) for one in parts) if len(batch) <= 64 else UNKNOWN
    return like(walk, box, batch, keep=False)


def after(walk: Walk, expr: Node, row: Any, batch: Any, given: dict[str, Any]) -> tuple[Any, bool]:
    """The batch size after a row, and whether its rule refused."""
    if any(has_unknown(value) for value in given.values()):
        given = dict(given)
    try:
        return table.after(row, batch, given), False
    except RuleError as error:
        if any(has_unknown(value) for value in given.values()) and row.family == "move":
            return None, False  # An unknown number was compared; only what is surely wrong is said.
        walk.say(expr, _codes.BATCH, sentence(str(error)))
        return None, True
    except (NotKnown, TypeError, ValueError, AttributeError, KeyError, IndexError, AssertionError):
        return None, False


def has_unknown(value: Value) -> bool:
    if isinstance(value, (tuple, list)):
        return any(has_unknown(item) for item in value)
    return value is UNKNOWN or isinstance(value, (Typed, Ref))


def plain(walk: Walk, value: Value) -> Any:
    """A value as the rules want it: lists as tuples, index tensors by their shapes."""
    thing = walk.here.get(value)
    if isinstance(thing, Items):
        return UNKNOWN if thing.items is None else tuple(plain(walk, item) for item in thing.items)
    if isinstance(thing, tuple):
        return tuple(plain(walk, item) for item in thing)
    if isinstance(thing, Tensor):
        return thing if thing.shape is not None and not has_star(thing.shape) else UNKNOWN
    if thing is None or isinstance(thing, (str, bool, float)) or is_size(thing):
        return thing
    return UNKNOWN


_BROADCAST = ("==", "!=", "<", "<=", ">", ">=")


def operate(walk: Walk, node: Node, name: str, a: Any, b: Any) -> Value:
    """An operator with a container on a side."""
    box, other = (a, b) if isinstance(a, Box) else (b, a)
    if not isinstance(other, Box):
        return like(walk, box)
    word = _WORDS.get(name, name)
    if box.info is None and other.info is None and not box.open and not other.open:
        missing, extra = ([key for key in x.fields if key not in y.fields] for x, y in ((box, other), (other, box)))
        if missing or extra:
            which = "the second container" if missing else "the first container"
            walk.say(node, _codes.KEY, errors.keys_differ(word, missing[:1] or extra, which))
            return like(walk, box, None, keep=False)
    if box.batch is None or other.batch is None or has_star(box.batch) or has_star(other.batch):
        return like(walk, box, None, keep=False)
    try:
        batch = pointwise.broadcast(word, box.batch, other.batch)
    except RuleError as error:
        walk.say(node, _codes.BATCH, sentence(str(error)))
        return like(walk, box, None, keep=False)
    except Exception:  # A size that the rule cannot compare: nothing is known.
        return like(walk, box, None, keep=False)
    for x, y in zip(reversed(box.batch), reversed(other.batch)):
        if unlike(walk, x, y) and no_ones(x, y) and not any(is_int(size) and size == 1 for size in (x, y)):
            text = f"{word}: batch sizes {show_shape(box.batch)} and {show_shape(other.batch)} do not broadcast; "
            walk.say(node, _codes.BATCH, f"{text}{show_size(x)} is not {show_size(y)}")
            return like(walk, box, None, keep=False)
    return like(walk, box, batch, keep=False)


_WORDS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "remainder", "**": "pow", "==": "eq",
    "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor",
}  # fmt: skip


def rows(walk: Walk, expr: Expression | None, ref: Value, box: Box) -> Any:
    """Iterating over a container goes over its rows."""
    batch = box.batch
    if batch == () and box.no_batch_size and expr is not None:
        walk.say(
            expr, _codes.BATCH, "iteration: the batch size is [] because no batch_size was given, so there are no rows"
        )
        return UNKNOWN
    row = like(walk, box, None if batch is None or has_star(batch) or not batch else batch[1:], keep=False)
    if batch and not has_star(batch) and is_int(batch[0]) and batch[0] <= 8:
        return tuple(walk.fresh(row) for _ in range(batch[0]))
    return Many(row)


ROWS = (along, folds, joins, moves, pointwise)  # Importing them fills the table.
