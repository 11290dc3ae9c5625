"""Methods of containers: a row of the op table, or one of the methods about keys, copies and locks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, FuncDef, OverloadedFuncDef, TypeInfo

from tensorclass._rules import errors, table
from tensorclass._rules.reserved import IN_PLACE
from tensorclass._rules.sizes import UNKNOWN, product

from . import _codes, _keys, _made_from, _self_keys
from ._containers import as_field, copied, flat_key, like, misfit, op, refuses, sizes_of
from ._dtypes import kind_of
from ._fields import fields_of
from ._types import is_ours, is_tensor, is_tensorclass, is_tensordict, returned
from ._values import Box, Class, Lambda, Library, Mapped, Method, Net, Ref, Tensor, Unset, Value, has_star, is_int

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

# A new container with the same entries and batch size.
COPIES = {
    "clone", "copy", "to", "cpu", "cuda", "detach", "contiguous", "float", "double", "half", "bfloat16", "int",
    "long", "bool", "short", "rename", "consolidate", "clamp", "addcdiv", "addcmul", "lerp", "to_dense",
    "type", "data",
}  # fmt: skip
# The container itself, its entries the same.
ITSELF = {
    "detach_", "zero_grad", "share_memory_", "requires_grad_", "zero_", "fill_", "refine_names", "pin_memory_",
    "clamp_", "addcdiv_", "addcmul_", "lerp_", "copy_", "apply_", "clear_device_", "auto_device_", "rename_",
}  # fmt: skip
# Questions.
ASKS = {
    "items", "values", "is_empty", "is_contiguous", "is_memmap", "bytes", "device", "depth", "entry_class",
    "get_non_tensor", "non_tensor_items", "sorted_keys", "is_shared", "numpy", "tolist", "saved_path",
    "data_ptr", "is_cuda", "print_schema", "hash", "state_dict", "param_count", "get_item_shape", "is_floating_point",
    "to_namedtuple", "to_struct_array", "is_pinned", "is_meta", "is_cpu", "tensor_split",
}  # fmt: skip


def method(walk: Walk, expr: CallExpr, ref: Value, box: Box, name: str, args: Args) -> Value:
    """ref.name(...)"""
    from ._calls import leak

    if box.info is not None:
        node = box.info.get(name)
        defined = getattr(node.node, "info", None) if node is not None else None
        if defined is not None and not is_ours(defined):  # A method of the user's, perhaps overridden.
            return users(walk, expr, ref, getattr(node, "node", None), args)
    _self_keys.call(walk, box, name, args)
    if box.info is not None and name in IN_PLACE and refuses(walk, expr, box, f"{name}()"):
        leak(walk, args.values())
        return UNKNOWN
    handler = _METHODS.get(name)
    if handler is not None and not args.whole and name not in ("select", "exclude", "replace"):
        leak(walk, [ref, *args.values()])
        return UNKNOWN
    if handler is not None:
        return handler(walk, expr, ref, box, args)
    if name in COPIES:
        return copied(walk, box)
    if name in ITSELF:
        return ref
    if name in ASKS:
        if name in ("items", "values"):
            walk.here.expose(ref)
        return UNKNOWN
    row = table.OPS.get(name) or table.OPS_BY_TORCH.get(name)
    if row is not None and row.family != "join":
        result = op(walk, expr, box, row, args)
        if name.endswith("_") and not name.startswith("_"):
            return ref
        return walk.here.linked(ref, result)
    leak(walk, [ref, *args.values()])
    return UNKNOWN


def users(walk: Walk, expr: CallExpr, ref: Value, node: Any, args: Args) -> Value:
    """A method that a user's class defines: what its annotations say."""
    from . import _hints
    from ._calls import leak

    result: Value = UNKNOWN
    if isinstance(node, FuncDef) and not node.is_static and not node.is_class:
        tree = walk.tree_of(node.fullname)
        hints = _hints.signature(tree, walk.api, node) if tree is not None else None
        hints = _hints.stored(walk, node) if hints is None else hints
        if hints is not None:
            result = _hints.check_call(walk, expr, node, hints, args, True, ref)
        if result is UNKNOWN and node.type is not None:
            result = returned(walk, node.type)
    leak(walk, [ref, *args.values()])
    return result


def keys(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return _keys.keys_of(box) if not args.values() else UNKNOWN


def set_(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.set(key, value)"""
    given = args.take("key item")
    key, value = given.get("key", UNKNOWN), given.get("item", given.get("value", UNKNOWN))
    if _keys.is_key(key):
        if given.get("inplace", False) is False:
            node = args.node("key item", "item") or expr
            _keys.write_key(walk, node, ref, box, key, value)
    else:
        walk.here.forget(value)
        walk.here.forget(ref)
    return ref


def set_inplace(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.set_(key, value): the key must be there."""
    given = args.take("key item")
    key = flat_key(given.get("key", UNKNOWN))
    if key is not None:
        code = _codes.KEY
        _, wrong = _keys.find(walk, ref, key)
        if wrong is None:
            name = key if len(key) != 1 else key[0]
            wrong, code = misfit(walk, name, given.get("item", UNKNOWN), box.batch), _codes.BATCH
        if wrong is not None:
            walk.say(expr, code, wrong)
    return ref


def pop(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    given = args.take("key default")
    key = given.get("key", UNKNOWN)
    if not _keys.is_key(key):
        walk.here.forget(ref)
        return UNKNOWN
    if "default" in given:
        walk.quiet += 1
        value = _keys.delete_key(walk, expr, ref, box, key)
        walk.quiet -= 1
        return value
    return _keys.delete_key(walk, expr, ref, box, key)


def delete(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    key = args.positional[0][0] if args.positional else UNKNOWN
    if box.info is None and _keys.is_key(key):
        _keys.delete_key(walk, expr, ref, box, key)
    else:
        walk.here.forget(ref)
    return ref


def replace_(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.replace(a=..., b=...), x.replace({...}): a copy with other values."""
    new = copied(walk, box)
    if not args.whole:
        walk.here.forget(new)
        return new
    entries: dict[Any, tuple[Value, Any]] = dict(args.named)
    if args.positional:
        thing = walk.here.get(args.positional[0][0])
        if isinstance(thing, Mapped) and thing.items is not None:
            entries.update({key: (value, args.positional[0][1]) for key, value in thing.items.items()})
        else:
            walk.here.forget(new)
            return new
    batch_given = "batch_size" in entries
    for key, (value, node) in entries.items():
        if key in ("batch_size", "device", "names"):
            continue
        current = walk.here.get(new)
        if isinstance(current, Box) and _keys.is_key(key):
            if batch_given:
                walk.here.put(new, replace(current, fields={**current.fields, key: value}))
            else:
                _keys.write_key(walk, node, new, current, key, value)
    if batch_given:
        current = walk.here.get(new)
        walk.here.put(new, replace(current, batch=sizes_of(walk, entries["batch_size"][0])))
    return new


def select(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return _keys.select(walk, expr, ref, box, args, True)


def exclude(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return _keys.select(walk, expr, ref, box, args, False)


def update(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return _keys.update(walk, expr, ref, box, args, False)


def update_inplace(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return _keys.update(walk, expr, ref, box, args, True)


def lock(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    walk.here.put(ref, replace(box, locked=True))
    return ref


def unlock(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    walk.here.put(ref, replace(box, locked=None))
    return ref


def memmap(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.memmap(): a locked copy on disk."""
    new = copied(walk, box)
    walk.here.put(new, replace(walk.here.get(new), locked=True))
    return new


def memmap_inplace(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    walk.here.put(ref, replace(box, locked=True))
    return ref


def to_tensordict(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    new = walk.here.get(copied(walk, box))
    fields = {key: value for key, value in new.fields.items() if value is not None and not isinstance(value, Unset)}
    return walk.here.new(
        replace(new, info=None, type=None, fields=fields, open=new.open or box.info is not None and _gaps(box))
    )


def _gaps(box: Box) -> bool:
    return box.info is not None and any(name not in box.fields for name in fields_of(box.info) or [""])


def size(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    if box.batch is None or has_star(box.batch):
        return UNKNOWN
    if not args.values():
        return box.batch
    dim = args.values()[0]
    return box.batch[dim] if is_int(dim) and -len(box.batch) <= dim < len(box.batch) else UNKNOWN


def dim(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return UNKNOWN if box.batch is None or has_star(box.batch) else len(box.batch)


def numel(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return UNKNOWN if box.batch is None or has_star(box.batch) else product(box.batch)


def empty(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    if box.info is not None:
        return walk.here.new(replace(box, fields={}, open=True, locked=False))
    return walk.here.new(replace(box, fields={}, open=bool(args.values()), locked=False))


def parameters_of(count: Any) -> int | None:
    """How many arguments a lambda or a function takes, if it takes a fixed number."""
    if isinstance(count, Lambda):
        arguments = count.node.arguments
        if any(argument.kind.is_star() or argument.initializer is not None for argument in arguments):
            return None
        return len(arguments)
    return None


def apply(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args, extra: int = 0) -> Value:
    """x.apply(f, *others): f is called with one value of each container."""
    function = args.positional[0][0] if args.positional else args.named.get("fn", (UNKNOWN, expr))[0]
    wanted = parameters_of(function)
    count = max(len(args.positional), 1) + extra
    if wanted is not None and wanted != count and args.whole and args.positional:
        word = "named_apply" if extra else "apply"
        gives = "a name and " if extra else ""
        values = errors.count(count - extra, "value")
        walk.say(expr, _codes.MODULE, f"{word}: the function is called with {gives}{values}, and it takes {wanted}")
    for other, node in args.positional[1:] if not args.named else ():
        theirs = walk.here.get(other)
        if isinstance(theirs, Box) and theirs.info is None and box.info is None and not theirs.open:
            missing = [key for key in box.fields if key not in theirs.fields]
            if missing:
                walk.say(node, _codes.KEY, errors.key_missing(missing[0], list(theirs.fields)))
    from ._calls import leak

    batch = sizes_of(walk, args.named["batch_size"][0]) if "batch_size" in args.named else box.batch
    leak(walk, args.values())
    if args.named.keys() - {"batch_size", "device", "names"}:
        return walk.here.new(Box(box.info, box.type, box.exact))
    return walk.here.new(Box(box.info, box.type, box.exact, batch, dict.fromkeys(box.fields, UNKNOWN), open=box.open))


def named_apply(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return apply(walk, expr, ref, box, args, 1)


def auto_batch_size(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    walk.here.put(ref, replace(box, batch=None, no_batch_size=False))
    return ref


def to_module(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    from ._modules import check_parameters

    if args.positional:
        check_parameters(walk, expr, box, walk.here.get(args.positional[0][0]))
    for value, _ in args.named.values():
        walk.here.forget(value)  # swap_dest takes the old parameters.
    return UNKNOWN


def get(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return _keys.get(walk, expr, ref, box, args)


def where(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.where(condition, other)"""
    from ._joins import where as join_where

    given = args.take("condition other")
    if given.keys() - {"condition", "other"}:
        walk.here.forget(tuple(given.values()))  # out= is written to.
        return UNKNOWN
    return join_where(walk, expr, given.get("condition", UNKNOWN), box)


def flatten_keys(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.flatten_keys("."): the entries of nested containers under one name each."""
    given = args.take("separator inplace")
    between = given.get("separator", ".")
    if box.info is not None or given.get("inplace", False) is not False or not isinstance(between, str):
        walk.here.forget(ref)
        return UNKNOWN
    fields = _flat(walk, box, between)
    return walk.here.new(replace(box, fields=fields or {}, open=fields is None, locked=False))


def _flat(walk: Walk, box: Box, between: str) -> dict[str, Value] | None:
    found: dict[str, Value] = {}
    if box.open:
        return None
    for name, value in box.fields.items():
        inner = walk.here.get(value)
        if isinstance(inner, Box):
            under = _flat(walk, inner, between) if inner.info is None else None
            if under is None:
                return None
            found.update({f"{name}{between}{key}": item for key, item in under.items()})
        elif value is UNKNOWN:
            return None  # Perhaps a container.
        else:
            found[name] = value
    return found


def unflatten_keys(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.unflatten_keys("."): which names are split is left open."""
    if args.take("separator inplace").get("inplace", False) is not False:
        walk.here.forget(ref)
        return ref
    walk.here.expose(ref)  # The nodes that are there already are in the result too.
    return walk.here.new(Box(box.info, box.type, box.exact, box.batch))


def masked_fill(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.masked_fill(mask, value): the mask is an index of its rows."""
    masked(walk, expr, box, args)
    return like(walk, box)


def masked_fill_inplace(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    masked(walk, expr, box, args)
    return ref


def masked_select(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return like(walk, box, masked(walk, expr, box, args), keep=False)


def masked(walk: Walk, expr: CallExpr, box: Box, args: Args) -> Any:
    """The batch size of the rows that a mask picks."""
    from ._attributes import batch_at

    mask = walk.here.get(args.take("mask").get("mask", UNKNOWN))
    return batch_at(walk, expr, box, mask) if isinstance(mask, Tensor) and kind_of(mask.dtype) == "bool" else None


def at_rows(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.get_at(key, index), x.set_at_(key, value, index): the key must be there."""
    key = flat_key(args.take("key").get("key", UNKNOWN))
    if key is not None:
        _, wrong = _keys.find(walk, ref, key)
        if wrong is not None:
            walk.say(expr, _codes.KEY, wrong)
    return UNKNOWN


def clear(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    walk.here.put(ref, replace(box, fields={}, open=box.info is not None))
    return ref


def as_other(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.expand_as(other), x.view_as(other)"""
    other = walk.here.get(args.values()[0]) if args.values() else UNKNOWN
    batch = other.batch if isinstance(other, Box) else other.shape if isinstance(other, Tensor) else None
    return like(walk, box, batch, keep=False)


def densify(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    """x.densify(pad=0): the uneven dims have one size, which nobody has worked out here; a mask is one more entry."""
    return UNKNOWN if "mask" in args.take("pad mask") else like(walk, box, None, keep=False)


def get_item(walk: Walk, expr: CallExpr, ref: Value, box: Box, args: Args) -> Value:
    return like(walk, box, None, keep=False)


_METHODS: dict[str, Any] = {
    "get": get,
    "keys": keys,
    "set": set_,
    "set_": set_inplace,
    "pop": pop,
    "del_": delete,
    "replace": replace_,
    "select": select,
    "exclude": exclude,
    "update": update,
    "update_": update_inplace,
    "rename_key_": _keys.rename,
    "lock_": lock,
    "unlock_": unlock,
    "memmap": memmap,
    "memmap_": memmap_inplace,
    "memmap_like": memmap,
    "to_tensordict": to_tensordict,
    "size": size,
    "dim": dim,
    "ndimension": dim,
    "numel": numel,
    "empty": empty,
    "apply": apply,
    "named_apply": named_apply,
    "auto_batch_size_": auto_batch_size,
    "to_module": to_module,
    "where": where,
    "densify": densify,
    "masked_fill": masked_fill,
    "masked_fill_": masked_fill_inplace,
    "masked_select": masked_select,
    "get_at": at_rows,
    "clear": clear,
    "expand_as": as_other,
    "view_as": as_other,
    "reshape_as": as_other,
    "flatten_keys": flatten_keys,
    "unflatten_keys": unflatten_keys,
    "max": _made_from.extremes,
    "min": _made_from.extremes,
    "new_zeros": _made_from.sized,
    "new_ones": _made_from.sized,
    "new_empty": _made_from.sized,
    "new_full": _made_from.sized,
    "to_dict": _made_from.as_dict,
}


def _is_own(info: TypeInfo, name: str) -> bool:
    """The class method is the library's, and makes instances as it does."""
    symbol = info.get(name)
    owner = getattr(symbol.node, "info", None) if symbol is not None else None
    return owner is not None and is_ours(owner)


def from_entries(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args) -> Value:
    """C.from_dict({...}) and C.from_tensordict(td): the entries are the fields."""
    from ._calls import leak

    node = args.positional[0][1]
    thing = walk.here.get(as_field(walk, args.positional[0][0]))
    fields = fields_of(info)
    if isinstance(thing, Box) and not thing.open and fields is not None and args.whole:
        for key in thing.fields:
            if key not in fields:
                walk.say(node, _codes.FIELD, errors.no_field(info.name, key, list(fields)))
                break
        for name, field in fields.items():
            if name not in thing.fields and not field.has_default and not field.optional and not field.init_only:
                walk.say(node, _codes.FIELD, f"{info.name}: {errors.key_missing(name, list(thing.fields))}")
                break
    given = args.take("source")
    batch = None
    if given.get("batch_size") is not None and not given.keys() & {"auto_batch_size", "batch_dims"}:
        batch = sizes_of(walk, given["batch_size"])
    for key, value in thing.fields.items() if isinstance(thing, Box) else ():
        wrong = misfit(walk, key, value, batch)
        if wrong is not None:
            walk.say(node, _codes.BATCH, wrong)
            batch = None
    leak(walk, args.values())
    return walk.here.new(Box(info, None, True, batch))


def class_method(walk: Walk, expr: CallExpr, owner: Class, name: str, args: Args) -> Value:
    """C.name(...): from_dict, from_module, load_memmap, ..."""
    from ._calls import leak

    info = owner.info
    if is_tensordict(info) and name == "from_module" and args.positional:
        from ._modules import parameters_as_box

        return parameters_as_box(walk, walk.here.get(args.positional[0][0]))
    if name in ("from_dict", "from_tensordict") and is_tensorclass(info) and args.positional and _is_own(info, name):
        return from_entries(walk, expr, info, args)
    if name == "from_dict" and args.positional and (is_tensordict(info) or is_tensorclass(info)):
        value = as_field(walk, args.positional[0][0])
        thing = walk.here.get(value)
        given = args.take("source batch_size")
        batch = sizes_of(walk, given.get("batch_size"))
        if given.keys() & {"auto_batch_size", "batch_dims"}:
            batch = None
        elif given.get("batch_size") is None and value is args.positional[0][0] and isinstance(thing, Box):
            batch = thing.batch
        if is_tensordict(info) and isinstance(thing, Box):
            for key, inner in thing.fields.items():
                wrong = misfit(walk, key, inner, batch)
                if wrong is not None:
                    walk.say(expr, _codes.BATCH, wrong)
                    batch = None
            return walk.here.new(replace(thing, batch=batch))
        leak(walk, args.values())
        return walk.here.new(Box(info if is_tensorclass(info) else None, None, True, batch))
    if args.positional and _is_method_of(walk, args.positional[0][0], info, name):
        from ._attributes import method
        from ._calls import Args

        rest = Args(args.positional[1:], args.named, args.whole)
        return method(walk, expr, Method(args.positional[0][0], name), rest)
    leak(walk, args.values())
    return UNKNOWN


def _is_method_of(walk: Walk, value: Value, info: TypeInfo, name: str) -> bool:
    """Whether C.name(value) is value.name(): a plain method of the library, which no class of the value overrides."""
    symbol, thing = info.get(name), walk.here.get(value)
    if symbol is None or not isinstance(symbol.node, (FuncDef, OverloadedFuncDef)) or symbol.node.is_static:
        return False
    if isinstance(thing, Tensor):
        return is_tensor(info)
    own = thing.info if isinstance(thing, (Box, Net)) else None
    if own is None:
        return isinstance(thing, Box) and is_tensordict(info)
    found = own.get(name)
    return found is not None and found.node is symbol.node


__all__ = ["Library", "Method", "Ref", "class_method", "method"]
