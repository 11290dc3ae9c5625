"""Joins of containers: stack, cat and lazy_stack, and other functions of the tensorclass package."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr

from tensorclass._rules import errors, joins, table
from tensorclass._rules.errors import RuleError
from tensorclass._rules.sizes import UNKNOWN, same

from . import _codes
from ._containers import like, op, sentence
from ._evaluate import elements
from ._hints import unlike
from ._state import join_values
from ._types import known_type
from ._values import Box, Many, Mapped, Ref, Tensor, Uneven, Value, has_star, is_int, show_shape

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

PURE = {
    "is_tensor_collection", "is_non_tensor", "unravel_key", "unravel_key_list", "expand_as_right", "assert_close",
    "assert_allclose_td", "pad", "where", "densify",
}  # fmt: skip


def function(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value:
    """A function of the package."""
    from ._calls import leak

    short = name.rsplit(".", 1)[1]
    if not args.whole:
        leak(walk, args.values())
        return UNKNOWN
    if short in ("stack", "cat", "lazy_stack", "concat"):
        return join(walk, expr, "cat" if short == "concat" else short, args)
    if short == "reveal_batch":
        from ._functions import reveal_batch

        return reveal_batch(walk, expr, args)
    if short == "set_interaction_type":
        from ._probabilistic import interaction

        interaction(walk, expr, args)
        return UNKNOWN
    if short == "where" and len(args.positional) == 3:
        box = walk.here.get(args.positional[1][0])
        return where(walk, expr, args.positional[0][0], box) if isinstance(box, Box) else UNKNOWN
    if short in PURE or short in ("set_skip_existing", "set_list_to_stack"):
        return UNKNOWN
    if short == "from_dict" and args.positional:
        from ._construct import filled

        thing = walk.here.get(args.positional[0][0])
        if isinstance(thing, Mapped) and thing.items is not None and len(args.values()) == 1:
            return filled(walk, expr, None, dict(thing.items), None, {})
    leak(walk, args.values())
    typ = known_type(walk, expr)
    return walk.from_type(typ) if typ is not None else UNKNOWN


def items_of(walk: Walk, args: Args) -> tuple[Any, Value]:
    """The items of a join and its dim."""
    given = args.take("tensors dim")
    source = given.get("tensors", given.get("items", given.get("list_of_tensordicts", UNKNOWN)))
    return elements(walk, source), given.get("dim", 0)


def join(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value:
    """stack, cat and lazy_stack of containers."""
    items, dim = items_of(walk, args)
    if isinstance(items, Many):
        box = walk.here.get(items.each)
        if not isinstance(box, Box):
            return UNKNOWN
        batch = None
        if name != "cat" and box.batch is not None and is_int(dim) and not has_star(box.batch):
            place = dim if dim >= 0 else dim + len(box.batch) + 1
            if 0 <= place <= len(box.batch):
                batch = (*box.batch[:place], UNKNOWN, *box.batch[place:])
        return like(walk, box, batch, keep=False)
    if not isinstance(items, tuple) or not items:
        return UNKNOWN
    boxes = [walk.here.get(item) for item in items]
    if not all(isinstance(box, Box) for box in boxes):
        return UNKNOWN
    first = boxes[0]
    merged: Any = items[0]
    for item in items[1:]:
        merged = _alike(walk, merged, item)
    result = walk.here.get(merged) if isinstance(merged, Ref) else None
    box = result if isinstance(result, Box) else replace(first, fields={}, open=True)
    if name == "lazy_stack":
        new = lazy(walk, expr, boxes, box, dim)
        walk.here.linked(new, items)
        return new
    wrong = _differ(walk, name, boxes)
    if wrong is not None:
        # A lazy stack takes what differs as one more item of its own.
        if name == "stack" or not any(one.lazy for one in boxes):
            walk.say(expr, wrong[0], wrong[1])
        return like(walk, box, None, keep=False)
    batches = [one.batch for one in boxes]
    if not is_int(dim) or any(batch is None or has_star(batch) for batch in batches):
        return like(walk, box, None, keep=False)
    try:
        batch = (joins.stack if name == "stack" else joins.cat)(batches, dim)
    except RuleError as error:
        walk.say(expr, _codes.BATCH, sentence(str(error)))
        return like(walk, box, None, keep=False)
    except Exception:  # A size that the rule cannot compare.
        return like(walk, box, None, keep=False)
    for number, one in enumerate(boxes[1:], 1):
        wrong = _named(walk, name, first.batch, one.batch, number, dim)
        if name == "stack" or not (first.lazy or one.lazy):
            wrong = wrong or _features(walk, name, first, one, number, dim)
        if wrong is not None:
            walk.say(expr, wrong[0], wrong[1])
            break
    return like(walk, replace(box, batch=first.batch), batch, keep=False)


def _named(walk: Walk, name: str, first: Any, batch: Any, number: int, dim: int) -> tuple[Any, str] | None:
    """Two batch sizes of names that a caller may choose apart."""
    place = dim % len(first) if name == "cat" else None
    if not any(unlike(walk, a, b) for at, (a, b) in enumerate(zip(first, batch)) if at != place):
        return None
    rule = f"they may differ in dim {place} alone" if name == "cat" else "they must be equal"
    more = " (lazy_stack keeps items of different sizes)" if name == "stack" else ""
    text = f"{name}: item 0 has batch size {show_shape(first)}, item {number} has {show_shape(batch)}; {rule}{more}"
    return _codes.BATCH, text


def _alike(walk: Walk, one: Value, other: Value) -> Value:
    """What two items share, without forgetting either."""
    if isinstance(one, Ref) and isinstance(other, Ref) and one.id != other.id:
        copy = walk.here.copy()
        joined = join_values(copy, one, other)
        thing = copy.get(joined)
        if isinstance(thing, Box):
            for ident, inner in copy.heap.items():
                walk.here.heap.setdefault(ident, inner)
            return walk.here.new(thing)
        return UNKNOWN
    return one


def lazy(walk: Walk, expr: CallExpr, boxes: list[Any], box: Box, dim: Value) -> Any:
    """lazy_stack: sizes may differ (they read -1), and so may keys."""
    if box.info is None and not any(one.open for one in boxes):
        names = [name for name in boxes[0].fields if all(name in one.fields for one in boxes)]
        box = replace(box, open=False, fields={name: box.fields.get(name, UNKNOWN) for name in names})
    batch: Any = None
    ragged, place = False, 0
    batches = [one.batch for one in boxes]
    if is_int(dim) and not any(one is None or has_star(one) for one in batches):
        if len({len(one) for one in batches}) == 1:
            place = dim if dim >= 0 else dim + len(batches[0]) + 1
            if 0 <= place <= len(batches[0]):
                row = []
                for sizes in zip(*batches):
                    alike = all(same(size, sizes[0]) is True for size in sizes)
                    ragged = ragged or any(same(size, sizes[0]) is False for size in sizes)
                    row.append(sizes[0] if alike else UNKNOWN)
                batch = (*row[:place], len(boxes), *row[place:])
    new = like(walk, box, batch, keep=False)
    thing = walk.here.get(new)
    fields = {key: _stacked(walk, boxes, key) for key in thing.fields}
    walk.here.put(new, replace(thing, lazy=True, ragged=ragged and batch is not None, fields=fields))
    return new


def _stacked(walk: Walk, boxes: list[Any], key: str) -> Value:
    """An entry of a lazy stack: it cannot be read where its shape is another one in each item."""
    shapes = []
    for box in boxes:
        thing = walk.here.get(box.fields.get(key, UNKNOWN))
        if not isinstance(thing, Tensor) or thing.shape is None or not all(is_int(size) for size in thing.shape):
            return UNKNOWN
        shapes.append(thing.shape)
    return Uneven(tuple(shapes)) if len(set(shapes)) > 1 else UNKNOWN


def _kind(box: Box) -> str:
    return f"a {box.info.name}" if box.info is not None else "a TensorDict"


def _differ(walk: Walk, name: str, boxes: list[Any]) -> tuple[Any, str] | None:
    """Items of different classes, or with different keys."""
    first = boxes[0]
    for number, box in enumerate(boxes[1:], 1):
        if box.info is not first.info and box.exact and first.exact:
            text = f"{name}: item 0 is {_kind(first)}, item {number} is {_kind(box)}; items must have one class"
            return _codes.FIELD, text
        if box.info is None and first.info is None and not box.open and not first.open:
            missing = [key for key in first.fields if key not in box.fields]
            extra = [key for key in box.fields if key not in first.fields]
            if missing or extra:
                which = f"item {number}" if missing else "item 0"
                return _codes.KEY, errors.keys_differ(name, missing or extra, which)
    return None


def _features(walk: Walk, name: str, first: Box, box: Box, number: int, dim: int) -> tuple[Any, str] | None:
    """Entries whose shapes differ off the joined dim, or that are set in one item only."""
    for key, value in first.fields.items():
        if key not in box.fields:
            continue
        one, other = walk.here.get(value), walk.here.get(box.fields[key])
        if (one is None) != (other is None) and isinstance(one or other, (Tensor, Box)):
            shown = [_shown(thing) for thing in (one, other)]
            text = f"{name}: {key!r} is {shown[0]} in item 0 and {shown[1]} in item {number}; they must be alike"
            return _codes.FIELD, text + " (lazy_stack keeps items that differ)"
        if not isinstance(one, Tensor) or not isinstance(other, Tensor) or one.shape is None or other.shape is None:
            continue
        if has_star(one.shape) or has_star(other.shape):
            continue
        place = dim if dim >= 0 or first.batch is None else dim + len(first.batch)
        differ = len(one.shape) != len(other.shape) or any(
            unlike(walk, a, b)
            for at, (a, b) in enumerate(zip(one.shape, other.shape))
            if name == "stack" or at != place
        )
        if differ:
            text = (
                f"{name}: {key!r} is {_shown(one)} in item 0 and {_shown(other)} in item {number}; they must be alike"
            )
            return _codes.SHAPE, text + " (lazy_stack keeps items that differ)"
    return None


def _shown(thing: Any) -> str:
    if isinstance(thing, Tensor):
        return "a tensor" if thing.shape is None else f"a tensor of shape {show_shape(thing.shape)}"
    return "None" if thing is None else "a container"


def where(walk: Walk, expr: CallExpr, condition: Value, box: Box) -> Value:
    """Rows of one container where a condition of the batch size holds, of another elsewhere."""
    thing = walk.here.get(condition)
    shape = thing.shape if isinstance(thing, Tensor) else None
    if shape is not None and box.batch is not None and not has_star(shape) and not has_star(box.batch):
        if len(shape) > len(box.batch) or any(unlike(walk, a, b) for a, b in zip(shape, box.batch)):
            walk.say(expr, _codes.BATCH, sentence(errors.condition_mismatch(shape, box.batch)))
            return like(walk, box, None, keep=False)
    return like(walk, box)


def torch_function(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value | None:
    """torch.name(container, ...); None when no argument is a container."""
    if not args.whole:
        return None
    if name in ("stack", "cat", "concat", "concatenate"):
        items, _ = items_of(walk, args)
        each = items[0] if isinstance(items, tuple) and items else items.each if isinstance(items, Many) else UNKNOWN
        if isinstance(walk.here.get(each), Box):
            return join(walk, expr, "stack" if name == "stack" else "cat", args)
        return None
    if name == "where" and len(args.positional) == 3:
        box = walk.here.get(args.positional[1][0])
        return where(walk, expr, args.positional[0][0], box) if isinstance(box, Box) else None
    if not args.positional:
        return None
    box = walk.here.get(args.positional[0][0])
    if not isinstance(box, Box):
        return None
    row = table.OPS_BY_TORCH.get(name) or table.OPS.get(name)
    if row is None or row.family == "join":
        return like(walk, box) if name.endswith("_like") or name == "clone" else UNKNOWN
    from ._calls import Args

    return op(walk, expr, box, row, Args(args.positional[1:], args.named, args.whole))
