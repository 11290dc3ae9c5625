"""Construction: instances of typed classes and TensorDicts, with their fields checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import ARG_STAR2, CallExpr, Expression, TypeInfo
from mypy.types import Instance
from mypy.typevars import fill_typevars_with_any

from tensorclass._rules import annotations as strings
from tensorclass._rules import errors
from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._containers import against, as_field, declared_value, misfit, sentence, sizes_of, store
from ._fields import OWN, Field, fields_of, options_of
from ._types import is_ours
from ._values import Box, Mapped, Shape, Star, Tensor, Value, has_star, show_shape

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def construct(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args, exact: bool = True) -> Value:
    """An instance of a user's class."""
    fields = fields_of(info)
    typ = fill_typevars_with_any(info)
    instance = typ if isinstance(typ, Instance) else None
    if fields is None or not args.whole or _own_init(info):
        from ._calls import leak

        leak(walk, args.values())
        return walk.here.new(Box(info, instance, exact))
    order = [field.name for field in fields.values() if not field.kw_only]
    given: dict[str, tuple[Value, Expression]] = {}
    for name, pair in zip(order, args.positional):
        given[name] = pair
    given.update(args.named)
    if ARG_STAR2 in expr.arg_kinds:
        _spread(walk, expr, info, fields, given)
    values = {name: as_field(walk, value) for name, (value, _) in given.items() if name in fields}
    for field in fields.values():
        if field.name not in values and field.has_default and not field.init_only:
            values[field.name] = None if field.optional else UNKNOWN
    values = {name: value for name, value in values.items() if not fields[name].init_only}
    voted = False
    if "batch_size" in given and given["batch_size"][0] is not None:
        batch = sizes_of(walk, given["batch_size"][0])
    else:
        batch, voted = vote(walk, expr, fields, values, given)
    no_batch = not voted and "batch_size" not in given
    broken = check_fields(walk, expr, fields, values, given, batch)
    if _post_init(info):
        for value in values.values():
            walk.here.forget(value)
        return walk.here.new(Box(info, instance, exact, batch if not broken else None))
    values = {name: refined(walk, fields[name], as_field(walk, value, batch), batch) for name, value in values.items()}
    return walk.here.new(
        Box(
            info,
            instance,
            exact,
            None if broken else batch,
            values,
            open=False,
            locked="frozen" in options_of(info) or False,
            no_batch_size=no_batch,
        )
    )


def _spread(walk: Walk, expr: CallExpr, info: TypeInfo, fields: dict[str, Field], given: dict[str, Any]) -> None:
    """Body(**mapping) with a mapping that is known: its keys are fields, and every field has a value."""
    for name, (_, node) in given.items():
        if name not in fields and name not in OWN and name not in expr.arg_names:
            walk.say(node, _codes.FIELD, errors.no_field(info.name, name, list(fields)))
            return
    for field in fields.values():
        if field.name not in given and not field.has_default:
            text = f"{info.name}: no value for {field.name!r}, and it has no default"
            walk.say(expr, _codes.FIELD, text)
            return


def _own_init(info: TypeInfo) -> bool:
    method = info.get_method("__init__")

    return method is not None and not is_ours(method.info) and method.line > 0 and not _generated(info, "__init__")


def _generated(info: TypeInfo, name: str) -> bool:
    for base in info.mro:
        if name in base.names:
            return base.names[name].plugin_generated
    return False


def _post_init(info: TypeInfo) -> bool:
    method = info.get_method("__post_init__")
    return method is not None and not method.info.fullname.startswith("tensorclass.")


def vote(
    walk: Walk, expr: CallExpr, fields: dict[str, Field], values: dict[str, Value], given: dict[str, Any]
) -> tuple[Shape, bool]:
    """The batch size read off the fields with *batch, and whether any field has a vote."""
    ballots: list[tuple[errors.Key, strings.Dims, tuple[Any, ...]]] = []
    runs: list[tuple[str, tuple[Any, ...]]] = []
    silent = False
    for name, field in fields.items():
        if field.may_be_spec and values.get(name, UNKNOWN) is not None:
            silent = True
        if field.dims is None or not field.dims.has_batch or field.init_only:
            continue
        value = values.get(name, UNKNOWN)
        thing = walk.here.get(value)
        if value is None:
            continue
        shape: Shape = thing.shape if isinstance(thing, Tensor) else thing.batch if isinstance(thing, Box) else None
        if shape is not None and has_star(shape):
            runs.append((name, shape[: len(shape) - len(field.dims.after)]))
        if shape is None or has_star(shape):
            silent = True
            continue
        ballots.append((name, field.dims, shape))
    if not ballots and runs:
        return vote_of_runs(walk, expr, runs), True
    if not ballots and not silent:
        return (), any(field.dims is not None and field.dims.has_batch for field in fields.values())
    batch, wrong = strings.vote(ballots)
    if wrong is not None:
        walk.say(expr, _codes.BATCH, sentence(wrong))
        return None, True
    return (tuple(batch) if ballots else None), True


def vote_of_runs(walk: Walk, expr: CallExpr, runs: list[tuple[str, tuple[Any, ...]]]) -> Shape:
    """The batch size, where the fields come from other containers: it is a run of dims."""
    first, batch = runs[0]
    for name, mine in runs[1:]:
        if not batch or not mine or batch[0] != mine[0] or not isinstance(mine[0], Star):
            return None
        if len(batch) != len(mine):
            both = f"fields {errors.name_of(first)} and {errors.name_of(name)}"
            text = f"{both} disagree on *batch: {show_shape(batch)} and {show_shape(mine)}"
            walk.say(expr, _codes.BATCH, text)
            return None
    return batch if has_star(batch) else None


def check_fields(
    walk: Walk,
    expr: Expression,
    fields: dict[str, Field],
    values: dict[str, Value],
    given: dict[str, tuple[Value, Expression]],
    batch: Shape,
) -> bool:
    """Check every value against the batch size and its annotation; say what does not fit."""
    bound: dict[str, Any] = {}
    for name, value in values.items():
        if name not in given or value is UNKNOWN:
            continue
        wrong = misfit(walk, name, value, batch)
        code = _codes.BATCH
        if wrong is None:
            wrong, code = against(walk, fields[name], value, batch, bound), _codes.SHAPE
        if wrong is not None:
            walk.say(given[name][1], code, wrong)
            return True
    return False


def refined(walk: Walk, field: Field, value: Value, batch: Shape) -> Value:
    """A value with what its declaration adds."""
    if isinstance(value, Tensor) and field.dims is not None:
        declared = declared_value(walk, field, batch)
        if isinstance(declared, Tensor):
            return Tensor(value.shape if value.shape is not None else declared.shape, value.dtype or declared.dtype)
    thing = walk.here.get(value)
    if isinstance(thing, Box) and thing.batch is None and batch is not None and thing.info is None:
        walk.here.put(value, replace(thing, batch=batch))
    if value is UNKNOWN:
        return declared_value(walk, field, batch)
    return value


def construct_tensordict(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args) -> Value:
    """TensorDict({...}, batch_size) or TensorDict(a=..., batch_size=...)."""
    typ = fill_typevars_with_any(info)
    instance = typ if isinstance(typ, Instance) else None
    names = "source batch_size device names non_blocking lock"
    given = args.take(names)
    options = set(names.split())
    if info.name == "TensorDictParams" and len(args.values()) == 1:
        inside = walk.here.get(args.values()[0])
        if isinstance(inside, Box) and inside.info is None and not inside.open:
            return args.values()[0]  # The same entries, under another name.
    if not args.whole or info.name != "TensorDict":
        from ._calls import leak

        leak(walk, args.values())
        return walk.here.new(Box(None, instance))
    source = given.get("source", given.get("data"))
    nodes: dict[str, Expression] = {}
    fields: dict[str, Value] | None = {}
    thing = walk.here.get(source)
    if isinstance(thing, Mapped):
        fields = (
            None
            if thing.items is None or not all(isinstance(k, (str, tuple)) for k in thing.items)
            else dict(thing.items)
        )
        at = args.node(names, "source") if args.positional or "source" in args.named else None
        nodes.update(_dict_nodes(at))
    elif isinstance(thing, Box):
        fields = None if thing.open else dict(thing.fields)
    elif source is not None:
        fields = None
    for key, (value, node) in args.named.items():
        if key not in options and key != "data":
            nodes[key] = node
            if fields is not None:
                fields[key] = value
    batch = sizes_of(walk, given.get("batch_size"))
    if isinstance(thing, Box) and given.get("batch_size") is None:
        batch = thing.batch
    if fields is None:
        walk.here.forget(source)
        return walk.here.new(Box(None, instance, True, batch))
    return filled(walk, expr, instance, fields, batch, nodes, "batch_size" not in given)


def _dict_nodes(expr: Any) -> dict[str, Expression]:
    found = {}
    if type(expr).__name__ == "DictExpr":
        for key, value in expr.items:
            if type(key).__name__ == "StrExpr":
                found[key.value] = value
    return found


def filled(
    walk: Walk,
    expr: Expression,
    instance: Instance | None,
    fields: dict[Any, Value],
    batch: Shape,
    nodes: dict[str, Expression],
    no_batch_size: bool = False,
) -> Value:
    """A TensorDict with these entries, each checked."""
    ref = walk.here.new(Box(None, instance, True, batch, {}, open=False, locked=False, no_batch_size=no_batch_size))
    for key, value in fields.items():
        value = as_field(walk, value)
        thing = walk.here.get(value)
        if (
            isinstance(thing, Box)
            and thing.batch is None
            and thing.info is None
            and batch is not None
            and not thing.open
        ):
            walk.here.put(value, replace(thing, batch=batch))
            for inner_key, inner in thing.fields.items():
                wrong = misfit(walk, inner_key, inner, batch)
                if wrong is not None:
                    walk.say(nodes.get(key, expr), _codes.BATCH, wrong)
        wrong = misfit(walk, key, value, batch)
        if wrong is not None:
            walk.say(nodes.get(key, expr) if isinstance(key, str) else expr, _codes.BATCH, wrong)
            walk.here.put(ref, replace(walk.here.get(ref), batch=None))
            value = UNKNOWN
        store(walk, ref, key, as_field(walk, value, batch))
    return ref
