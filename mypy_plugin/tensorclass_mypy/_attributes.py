"""Attributes and items: reading, writing and deleting them, and calls of methods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, Decorator, Expression, FuncDef, IndexExpr, MemberExpr, NameExpr, TypeInfo, Var
from mypy.types import Instance

from tensorclass._rules import errors, indexing
from tensorclass._rules.errors import RuleError
from tensorclass._rules.sizes import UNKNOWN, Ints, Mask, NotKnown

from . import _arrays, _builtins, _codes, _constants, _hints, _keys, _self_keys
from ._arrays import Array
from ._containers import (
    against,
    as_field,
    flat_key,
    like,
    misfit,
    names_bound,
    read_field,
    refuses,
    sentence,
    shorter,
    sizes_of,
    store,
)
from ._dtypes import kind_of, real
from ._evaluate import elements
from ._fields import fields_of, names_of
from ._state import State
from ._types import is_library, is_ours, returned
from ._values import (
    Box,
    Class,
    Cut,
    Dtype,
    Function,
    Items,
    Library,
    Mapped,
    Method,
    Named,
    Net,
    Pieces,
    Ref,
    Results,
    Sizes,
    Star,
    Tensor,
    Typed,
    Value,
    has_star,
    is_int,
    is_size,
    same_shape,
    sizes_value,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk


def read(walk: Walk, expr: MemberExpr, owner: Value) -> Value:
    """owner.name"""
    name = expr.name
    thing = walk.here.get(owner)
    if isinstance(thing, Tensor):
        return read_tensor(walk, thing, owner, name)
    if isinstance(thing, Box):
        return read_box(walk, expr, owner, thing, name)
    if isinstance(thing, Net):
        from ._modules import attribute

        return attribute(walk, expr, owner, thing)
    if isinstance(owner, tuple) and name in ("values", "indices") and len(owner) == 2:
        if all(isinstance(walk.here.get(one), (Tensor, Box)) for one in owner):  # What max, sort and their kind give.
            return owner[name == "indices"]
    if isinstance(owner, Named) and name in owner.names:
        return owner[owner.names.index(name)]
    if isinstance(owner, Results) and not hasattr(owner, name):
        walk.say(expr, _codes.CALL, f"the module gives a tuple of {len(owner)}, which has no {name!r}")
        return UNKNOWN
    if isinstance(thing, (Items, Mapped)) or isinstance(owner, (str, tuple)):
        return Method(owner, name)
    if isinstance(owner, Class):
        return read_class(walk, owner, name)
    if isinstance(owner, Array):
        return _arrays.read(owner, name) if name == "shape" else Method(owner, name)
    if isinstance(owner, Typed):
        return read_typed(walk, owner, name)
    if owner is None:
        nothing(walk, expr.expr)
    return Method(owner, name) if owner is UNKNOWN else UNKNOWN


def nothing(walk: Walk, expr: Expression) -> None:
    """x.get("key").sum(), where there is no such key and so None to go on with."""
    if not isinstance(expr, CallExpr) or not isinstance(expr.callee, MemberExpr) or expr.callee.name != "get":
        return
    holder, key = expr.callee.expr, expr.args[0] if len(expr.args) == 1 else None
    if not isinstance(holder, NameExpr) or key is None:
        return
    path = flat_key(walk.evaluate(key))
    wrong = _keys.find(walk, walk.evaluate(holder), path)[1] if path is not None else None
    if wrong is not None:
        walk.say(expr, _codes.KEY, f"{wrong}; get() gives None")


def read_tensor(walk: Walk, tensor: Tensor, owner: Value, name: str) -> Value:
    shape = tensor.shape
    if name == "shape":
        return sizes_value(shape)
    if name == "ndim":
        return UNKNOWN if shape is None or has_star(shape) else len(shape)
    if name in ("data", "grad"):
        return Tensor(shape, tensor.dtype)
    if name in ("real", "imag"):
        return Tensor(shape, real(tensor.dtype))
    if name in ("T", "mT", "H", "mH"):
        if shape is None or len(shape) < 2 or has_star(shape if "m" not in name else shape[-2:]):
            return Tensor(None, tensor.dtype)
        return Tensor((*shape[:-2], shape[-1], shape[-2]), tensor.dtype) if len(shape) == 2 or "m" in name else Tensor()
    if name == "dtype":
        return Dtype(tensor.dtype) if tensor.dtype is not None else UNKNOWN
    return Method(owner, name)


def read_box(walk: Walk, expr: MemberExpr, owner: Value, box: Box, name: str) -> Value:
    known = box.batch is not None and not has_star(box.batch)
    user = None
    if box.info is not None:
        fields = fields_of(box.info) or {}
        if name in fields:
            from ._keys import readable

            return readable(walk, expr, box, name, read_field(walk, owner, box, name))
        node = box.info.get(name)
        if node is not None and isinstance(node.node, (FuncDef, Decorator)):
            defined = node.node.info
            if not is_ours(defined):
                user = node.node
    if user is not None:
        if isinstance(user, FuncDef) and box.exact and not user.is_static and not user.is_class:
            return Function(user, owner, True)
        if isinstance(user, Decorator) and user.func.is_property:
            return _hints.property_of(walk, owner, user.func)
        made = maker(user, Class(box.info)) if box.info is not None and box.exact else None
        return made or Method(owner, name)
    if name in ("batch_size", "shape"):
        return sizes_value(box.batch)
    if name in ("ndim", "batch_dims"):
        return len(box.batch or ()) if known else UNKNOWN
    if name == "is_locked":
        return UNKNOWN
    return Method(owner, name)


def maker(method: FuncDef | Decorator, cls: Class) -> Function | None:
    """A class method or a static method, that nothing else decorates, of a class."""
    func = method.func if isinstance(method, Decorator) else method
    if not (func.is_class or func.is_static) or (isinstance(method, Decorator) and method.decorators):
        return None
    return Function(func, cls, func.is_class)


def read_class(walk: Walk, cls: Class, name: str) -> Value:
    node = cls.info.get(name)
    if node is None:
        return UNKNOWN
    if isinstance(node.node, (FuncDef, Decorator)) and not is_library(node.node.info):
        return maker(node.node, cls) or UNKNOWN
    if isinstance(node.node, Var) and node.node.is_final and node.node.final_value is not None:
        return node.node.final_value
    if isinstance(node.node, Var) and cls.info.is_enum:
        value = _constants.member_value(cls.info, name) if cls.info.has_base("builtins.str") else UNKNOWN
        return value if isinstance(value, str) else Library(f"{cls.info.fullname}.{name}")
    value = UNKNOWN if cls.perhaps else _constants.of_class(walk, cls.info, name)
    return Method(cls, name) if value is UNKNOWN else value


def read_typed(walk: Walk, owner: Typed, name: str) -> Value:
    typ = owner.type
    if isinstance(typ, Instance):
        node = typ.type.get(name)
        if node is not None and isinstance(node.node, Var) and node.node.type is not None:
            from mypy.expandtype import expand_type_by_instance
            from mypy.maptype import map_instance_to_supertype

            declared = node.node.type
            if node.node.info and typ.type.has_base(node.node.info.fullname):
                declared = expand_type_by_instance(declared, map_instance_to_supertype(typ, node.node.info))
            return walk.from_type(declared)
        if node is not None and isinstance(node.node, Decorator) and node.node.func.is_property:
            return returned(walk, node.node.func.type)
    return Method(owner, name)


# -- Writing --------------------------------------------------------------------------------------------------------


def write(walk: Walk, target: MemberExpr, owner: Value, value: Value, source: Expression | None) -> None:
    """owner.name = value"""
    thing = walk.here.get(owner)
    node = source or target
    if isinstance(thing, Box):
        if target.name == "batch_size":
            resize(walk, node, owner, thing, value)
        elif target.name == "names":
            names = elements(walk, value)
            if isinstance(names, tuple) and thing.batch is not None and not has_star(thing.batch):
                if len(names) != len(thing.batch):
                    dims = errors.count(len(thing.batch), "batch dim")
                    walk.say(
                        node, _codes.BATCH, f"names: {errors.count(len(names), 'name')} for {dims}; give one for each"
                    )
        elif thing.info is not None and target.name in (fields_of(thing.info) or {}):
            write_entry(walk, node, owner, thing, target.name, value)
        elif thing.info is not None and target.name[0] != "_" and _is_made_here(thing.info, target.name):
            text = errors.no_field_to_set(thing.info.name, target.name, names_of(thing.info) or [])
            walk.say(target, _codes.FIELD, text)
    elif isinstance(thing, Net):
        settings = {**thing.settings, target.name: value}
        walk.here.put(owner, replace(thing, settings=settings))
    elif isinstance(thing, Tensor) and target.name == "data":
        if not (isinstance(value, Tensor) and same_shape(thing.shape, value.shape)):
            walk.here.forget_shapes()
    else:
        walk.here.forget(value)


def _is_made_here(info: TypeInfo, name: str) -> bool:
    """An attribute that the class declares nowhere, which mypy takes an assignment in a method to make."""
    symbol, setter = info.get(name), info.get("__setattr__")
    owner = getattr(setter.node, "info", None) if setter is not None else None
    own = owner is not None and not is_ours(owner) and owner.fullname != "builtins.object"
    return symbol is not None and symbol.implicit and fields_of(info) is not None and not own


def resize(walk: Walk, node: Expression, owner: Value, box: Box, value: Value) -> None:
    """x.batch_size = ...: every field must have it."""
    batch = sizes_of(walk, value)
    declared = (fields_of(box.info) or {}) if box.info is not None else {}
    for name, inner in box.fields.items():
        wrong, code = misfit(walk, name, inner, batch), _codes.BATCH
        field = declared.get(name)
        if wrong is None and field is not None and field.dims is not None and field.dims.has_batch:
            wrong, code = against(walk, field, inner, batch, {}), _codes.SHAPE
        if wrong is not None:
            walk.say(node, code, wrong)
            batch = None
            break
    walk.here.put(owner, replace(walk.here.get(owner), batch=batch, no_batch_size=False))
    regrow(walk, box, batch)


def regrow(walk: Walk, box: Box, batch: Any) -> None:
    """Nested containers grow with the one around them."""
    for inner in box.fields.values():
        thing = walk.here.get(inner)
        if isinstance(thing, Box) and (thing.batch is None or batch is None or shorter(thing.batch, batch)):
            walk.here.put(inner, replace(thing, batch=batch, no_batch_size=False))
            regrow(walk, thing, batch)


def write_entry(walk: Walk, node: Expression, owner: Value, box: Box, key: Any, value: Value) -> None:
    """A value goes under a key: the batch size and the annotation are checked."""
    if box.locked is True:
        walk.say(
            node, _codes.FIELD if box.info is not None else _codes.KEY, errors.locked(f"set {errors.name_of(key)}")
        )
    value = as_field(walk, value)
    wrong = misfit(walk, key, value, box.batch)
    code = _codes.BATCH
    if wrong is None and box.info is not None and isinstance(key, str):
        field = (fields_of(box.info) or {}).get(key)
        if field is not None and (field.dims is None or field.dims.has_batch):
            others = names_bound(walk, box, (key,))
            wrong, code = against(walk, field, value, box.batch, others), _codes.SHAPE
    if wrong is not None:
        walk.say(node, code, wrong)
        value = UNKNOWN
    store(walk, owner, key, as_field(walk, value, box.batch))


# -- Items ----------------------------------------------------------------------------------------------------------


def read_item(walk: Walk, expr: IndexExpr, owner: Value, index: Value) -> Value:
    """owner[index]"""
    thing = walk.here.get(owner)
    if isinstance(thing, Items) and thing.items is not None:
        return pick(walk, expr, thing.items, index, True)
    if isinstance(owner, tuple):
        return pick(walk, expr, owner, index, False)
    if isinstance(owner, Sizes):
        return pick_sizes(owner.row, index)
    if isinstance(thing, Mapped):
        if thing.items is not None and isinstance(index, (str, int)) and index in thing.items:
            return thing.items[index]
        if thing.closed and thing.items is not None and isinstance(index, str):
            walk.say(expr, _codes.KEY, errors.key_missing(index, list(thing.items)))
            return UNKNOWN
        walk.here.expose(owner)
        return UNKNOWN
    if isinstance(thing, Tensor):
        from ._tensors import indexed

        return indexed(walk, expr, thing, index)
    if isinstance(thing, Box):
        from ._keys import is_key, read_key

        if is_key(index):
            _self_keys.item(walk, expr.index, thing, index)
            return read_key(walk, expr, owner, thing, index)
        if isinstance(index, (str, tuple)) and _has_string(index):
            return UNKNOWN
        if index is UNKNOWN and not _surely_index(walk, expr.index):
            walk.here.expose(owner)
            return UNKNOWN
        return walk.here.linked(owner, indexed_box(walk, expr, thing, index))
    if isinstance(thing, Net):
        from ._modules import item

        return item(walk, expr, owner, thing, index)
    if isinstance(owner, Typed) and isinstance(owner.type, Instance):
        from ._types import item_of_type

        if owner.type.type.fullname in ("builtins.list", "builtins.tuple", "typing.Sequence") and not isinstance(
            index, Cut
        ):
            return item_of_type(walk, owner.type)
        if owner.type.type.fullname == "builtins.dict" and len(owner.type.args) == 2:
            return walk.from_type(owner.type.args[1])
    return UNKNOWN


def _has_string(index: Any) -> bool:
    return isinstance(index, str) or (isinstance(index, tuple) and any(_has_string(item) for item in index))


def _surely_index(walk: Walk, expr: Expression) -> bool:
    """An index of unknown value that is no key, by its type."""
    from ._types import known_type

    typ = known_type(walk, expr)
    return isinstance(typ, Instance) and typ.type.fullname in ("builtins.int", "torch._tensor.Tensor")


def pick(walk: Walk, expr: IndexExpr, row: tuple[Value, ...], index: Value, is_list: bool) -> Value:
    """An element or a piece of a row of values."""
    if is_int(index):
        if -len(row) <= index < len(row):
            return row[index]
        if isinstance(row, Pieces):  # A tuple's own type is mypy's to check.
            walk.say(expr, _codes.SHAPE, f"index: {index} is out of range for {errors.count(len(row), 'value')}")
        return UNKNOWN
    if isinstance(index, Cut):
        parts = (index.start, index.stop, index.step)
        if all(part is None or is_int(part) for part in parts):
            piece = row[slice(*parts)]
            return walk.here.new(Items(piece)) if is_list else tuple(piece)
    walk.here.expose(row)
    return UNKNOWN


def pick_sizes(row: tuple[Value, ...], index: Value) -> Value:
    """A size or some sizes of a shape with a run of dims."""
    from ._tensors import size_at

    if not isinstance(index, Cut):
        return size_at(row, index)
    if index.step is not None or not all(part is None or is_int(part) for part in (index.start, index.stop)):
        return UNKNOWN
    place = next(at for at, size in enumerate(row) if isinstance(size, Star))
    start, stop = index.start, index.stop
    if start is not None and start >= 0:
        if start > place:
            return UNKNOWN
    elif start is not None and len(row) + start <= place:
        return UNKNOWN
    if stop is not None and (stop > place if stop >= 0 else len(row) + stop <= place):
        return UNKNOWN
    return sizes_value(row[start:stop])


def index_items(walk: Walk, index: Value) -> Any:
    """An index as the rules take it; UNKNOWN when it cannot be known what it does."""
    if isinstance(index, tuple):
        items = tuple(index_items(walk, item) for item in index)
        return UNKNOWN if any(item is UNKNOWN for item in items) else items
    if index is None or index is ... or isinstance(index, bool) or is_size(index):
        return index
    if isinstance(index, Cut):
        parts = [part if part is None or is_size(part) else UNKNOWN for part in (index.start, index.stop, index.step)]
        return slice(*parts)
    thing = walk.here.get(index)
    if isinstance(thing, Tensor) and thing.shape is not None and not has_star(thing.shape):
        if kind_of(thing.dtype) == "bool":
            return Mask(thing.shape)
        return Ints(thing.shape) if kind_of(thing.dtype) == "int" else UNKNOWN
    if isinstance(thing, Items) and thing.items is not None:
        if all(is_int(item) for item in thing.items):
            return Ints((len(thing.items),))
        if thing.items and all(isinstance(item, bool) for item in thing.items):
            return Mask((len(thing.items),), sum(thing.items))
    return UNKNOWN


def batch_at(walk: Walk, expr: Expression, box: Box, index: Value) -> Any:
    """The batch size of x[index], or None."""
    items = index_items(walk, index)
    if box.batch is None:
        return None
    if items is UNKNOWN:
        return None if has_star(box.batch) else _too_many(walk, expr, box, index)
    try:
        if has_star(box.batch):
            from ._tensors import star_index

            return star_index(box.batch, items)
        return indexing.after(box.batch, items)
    except RuleError as error:
        text = sentence(str(error))
        if box.batch == () and box.no_batch_size:
            text += "; no batch_size was given where this was made"
        walk.say(expr, _codes.BATCH, text)
    except (NotKnown, TypeError, ValueError, AttributeError):
        pass
    return None


def _too_many(walk: Walk, expr: Expression, box: Box, index: Value) -> None:
    """Some index that is no key, for a container without batch dims."""
    if box.batch == () and box.no_batch_size and (is_size(index) or isinstance(index, (Cut, Tensor))):
        text = "index: 1 index for 0 batch dims (batch size []); no batch_size was given where this was made"
        walk.say(expr, _codes.BATCH, text)


def indexed_box(walk: Walk, expr: IndexExpr, box: Box, index: Value) -> Value:
    """x[index] of a container."""
    batch = batch_at(walk, expr, box, index)
    return like(walk, box, batch, keep=False)


def write_item(
    walk: Walk, target: IndexExpr, owner: Value, index: Value, value: Value, source: Expression | None
) -> None:
    """owner[index] = value"""
    thing = walk.here.get(owner)
    if isinstance(thing, Items):
        row = thing.items
        if row is not None and is_int(index) and -len(row) <= index < len(row):
            changed = list(row)
            changed[index] = value
            walk.here.put(owner, Items(tuple(changed)))
        else:
            walk.here.forget(value)
            walk.here.forget(owner)
    elif isinstance(thing, Mapped):
        if thing.items is not None and isinstance(index, (str, int)):
            walk.here.put(owner, Mapped({**thing.items, index: value}))
        else:
            walk.here.forget(value)
            walk.here.forget(owner)
    elif isinstance(thing, Box):
        from ._keys import is_key, write_key

        action = f"set {index!r}" if isinstance(index, str) else "write rows in place"
        if refuses(walk, source or target, thing, action):
            return
        if is_key(index):
            _self_keys.item(walk, source or target, thing, index, value, True)
            write_key(walk, source or target, owner, thing, index, value)
            return
        if thing.info is None and not thing.open and not thing.fields:  # Rows make the entries that are not there.
            thing = replace(thing, open=True)
            walk.here.put(owner, thing)
        if index is UNKNOWN or _has_string(index):
            walk.here.forget(value)
            walk.here.forget(owner) if not _surely_index(walk, target.index) else None
        else:
            write_rows(walk, target, thing, index, value, source or target)
    elif isinstance(thing, Net):
        walk.here.put(owner, replace(thing, settings={}, touched=True))
    elif isinstance(thing, Tensor):
        from ._tensors import write_rows as write_tensor_rows

        write_tensor_rows(walk, source or target, target, thing, index, walk.here.get(value))
    else:
        walk.here.forget(value)


def write_rows(walk: Walk, target: IndexExpr, box: Box, index: Value, value: Value, node: Expression) -> None:
    """x[index] = y: the batch size of y must be that of the rows, or broadcast to it."""
    other = walk.here.get(value)
    batch = batch_at(walk, target, box, index)
    if batch is None or not isinstance(other, Box) or other.batch is None or has_star(other.batch):
        return
    from tensorclass._rules import pointwise

    from ._hints import unlike

    try:
        both = pointwise.broadcast("index", batch, other.batch)
    except RuleError:
        both = None
    except Exception:  # A size that cannot be compared.
        return
    if both is None or len(both) != len(batch) or any(unlike(walk, a, b) for a, b in zip(both, batch)):
        text = f"index: the rows have batch size {list(batch)}, the value has {list(other.batch)}; they must be equal"
        walk.say(node, _codes.BATCH, sentence(text))


def delete_item(walk: Walk, target: IndexExpr, owner: Value, index: Value) -> None:
    """del owner[index]"""
    thing = walk.here.get(owner)
    if isinstance(thing, Box):
        from ._keys import delete_key, is_key

        if is_key(index):
            _self_keys.item(walk, target.index, thing, index)
            delete_key(walk, target, owner, thing, index)
            return
    if isinstance(thing, Net):
        walk.here.put(owner, replace(thing, settings={}, touched=True))
    walk.here.forget(owner)


# -- Context managers -----------------------------------------------------------------------------------------------


def enter(walk: Walk, expr: Expression, value: Value) -> Value:
    """`with value as x`"""
    thing = walk.here.get(value)
    return value if isinstance(thing, Box) else UNKNOWN


def leave(walk: Walk, expr: Expression, value: Value) -> None:
    """The end of the block: a view hands what is new in it back to what it is a view of."""
    if isinstance(expr, CallExpr) and isinstance(expr.callee, MemberExpr) and expr.callee.name == "view":
        walk.here.forget(walk.evaluate(expr.callee.expr))


# -- Methods --------------------------------------------------------------------------------------------------------


def method(walk: Walk, expr: CallExpr, called: Method, args: Args) -> Value:
    """owner.name(...)"""
    from ._calls import leak, unknown

    owner, name = called.owner, called.name
    thing = walk.here.get(owner)
    if isinstance(thing, Tensor):
        from ._tensors import method as tensor_method

        return tensor_method(walk, expr, thing, name, args)
    if isinstance(thing, Box):
        from ._methods import method as container_method

        return container_method(walk, expr, owner, thing, name, args)
    if isinstance(thing, Net):
        from ._modules import method as module_method

        return module_method(walk, expr, owner, thing, name, args)
    if isinstance(thing, Items):
        return _builtins.of_list(walk, owner, thing, name, args)
    if isinstance(thing, Mapped):
        return _builtins.of_dict(walk, owner, thing, name, args)
    if isinstance(owner, str):
        return _builtins.of_string(walk, owner, name, args)
    if isinstance(owner, tuple):
        if name == "numel" and all(is_size(size) for size in owner):
            from tensorclass._rules.sizes import product

            return product(owner)
        return UNKNOWN
    if isinstance(owner, Array):
        return _arrays.method(owner, name, args)
    if isinstance(owner, Class):
        from ._methods import class_method

        return class_method(walk, expr, owner, name, args)
    if isinstance(owner, Typed):
        leak(walk, args.values())
        return typed_method(walk, owner, name)
    return unknown(walk, expr, args)


def typed_method(walk: Walk, owner: Typed, name: str) -> Value:
    """A method of which mypy alone knows what it gives."""
    return UNKNOWN


__all__ = ["Ref", "Star", "State", "names_of", "read", "write"]
