"""Calls of modules with keys: on a container, or with a tensor for each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, TypeInfo

from tensorclass._rules import errors
from tensorclass._rules.sizes import UNKNOWN

from . import _codes, _wraps
from ._containers import as_field, copied, flat_key, misfit, store
from ._fields import fields_of
from ._keyed import SEQUENCES, Path, in_keys, out_keys
from ._keys import find
from ._say import meant
from ._types import is_tensorclass
from ._values import (
    Box,
    Class,
    Function,
    Lambda,
    Library,
    Mapped,
    Net,
    Outputs,
    Plain,
    Ref,
    Tensor,
    Value,
    show_shape,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

TAKEN = frozenset({"tensordict", "tensordict_out", "params"})  # By any call of a module.


def run(walk: Walk, expr: CallExpr, ref: Value, net: Net, args: Args) -> Value:
    """module(td), or module(*tensors)"""
    from ._calls import leak

    if (
        "tensordict_out" in args.named
        or len(args.positional) > 1
        and isinstance(walk.here.get(args.positional[1][0]), Box)
    ):
        leak(walk, args.values())
        return UNKNOWN
    first = args.positional[0][0] if args.positional else UNKNOWN
    thing = walk.here.get(first)
    if isinstance(thing, Box) and not net.touched:
        return run_on(walk, expr, net, first)
    if (isinstance(thing, Tensor) or not args.positional) and args.whole and not net.touched:
        return dispatch(walk, expr, net, args)
    leak(walk, args.values())
    return UNKNOWN


def dispatch(walk: Walk, expr: CallExpr, net: Net, args: Args, more: Sequence[str] = ()) -> Value:
    """A call with plain tensors, one for each in_key; `more` is what forward takes besides."""
    reads, writes = in_keys(walk, net), out_keys(walk, net)
    if reads is None:
        return UNKNOWN
    names = ["_".join(flat_key(key) or ()) for key in reads]
    optional = {"_".join(flat_key(key) or ()) for key in _wraps.optional_keys(walk, net)}
    count = len(args.positional)
    if len(reads) < count <= len(reads) + len(more):
        return UNKNOWN
    if count > len(reads):
        takes = errors.count(len(reads), "tensor")
        text = f"the module takes {takes} (in_keys {errors.some_names(reads)}); {count} are given"
        walk.say(expr, _codes.MODULE, text)
        return UNKNOWN
    taken = _taken(walk, net) if set(args.named).difference(names, more, TAKEN) else None
    for name in args.named:
        if taken is not None and name not in taken.union(names, more):
            rest = meant(name, names, f"its in_keys are {errors.some_names(reads)}")
            walk.say(expr, _codes.MODULE, f"the module has no in_key {name!r}{rest}")
            return UNKNOWN
    if "tensordict" in args.named:
        return UNKNOWN
    missing = [name for name in names[count:] if name not in args.named and name not in optional]
    if missing:
        text = f"the module takes {errors.count(len(reads), 'tensor')}; {errors.some_names(missing)} is missing"
        walk.say(expr, _codes.MODULE, text)
        return UNKNOWN
    if writes is None:
        return UNKNOWN
    return Outputs(Tensor() for _ in writes) if len(writes) != 1 else Tensor()


def _taken(walk: Walk, net: Net) -> frozenset[str] | None:
    """What a call may name besides the in_keys: what the wrapped callables take.  None: that is not known."""
    taken = TAKEN
    if net.kind in SEQUENCES:
        modules = net.settings.get("modules", UNKNOWN)
        for module in modules if isinstance(modules, tuple) else (UNKNOWN,):
            thing = walk.here.get(module)
            inner = _taken(walk, thing) if isinstance(thing, Net) else None
            if inner is None:
                return None
            taken |= inner
    elif net.kind == "TensorDictModule":
        _, _, named, any_name = _wraps.parameters(walk, net.settings.get("module", UNKNOWN))
        return None if any_name else taken.union(named or ())
    return taken


def run_on(walk: Walk, expr: CallExpr, net: Net, ref: Value) -> Value:
    """A call with a container."""
    if net.kind in SEQUENCES:
        return run_sequence(walk, expr, net, ref)
    if net.kind == "EnsembleModule":
        return run_ensemble(walk, expr, net, ref)
    if net.kind == "ProbabilisticTensorDictModule":
        from ._probabilistic import run_on as probabilistic

        return probabilistic(walk, expr, net, ref)
    if net.kind == "TensorClassModuleWrapper":
        return run_wrapper(walk, expr, net, ref)
    if net.kind != "TensorDictModule":
        walk.here.forget(ref)
        return UNKNOWN
    values = read_inputs(walk, expr, net, ref)
    writes = net.settings.get("out_keys", UNKNOWN)
    box = walk.here.get(ref)
    inplace = net.settings.get("inplace", True)
    target: Value = ref
    if inplace is False or inplace == "empty":
        target = walk.here.new(Box(None, None, True, () if inplace is False else box.batch, {}, open=False))
    elif inplace is not True:
        walk.here.forget(ref)
        return UNKNOWN
    if not isinstance(writes, tuple) or not isinstance(box, Box):
        walk.here.forget(target)
        return target
    results = outputs(walk, expr, net, values, len(writes))
    chosen = out_keys(walk, net)
    for key, value in zip(writes, results):
        if key == "_" or (chosen is not None and key not in chosen):
            continue
        write_output(walk, expr, target, key, value)
    return target


def read_inputs(walk: Walk, expr: CallExpr, net: Net, ref: Value) -> list[Value] | None:
    """The values of the in_keys; says which are surely missing or of another kind."""
    reads = net.settings.get("in_keys", UNKNOWN)
    if not isinstance(reads, tuple):
        return None
    optional = _wraps.optional_keys(walk, net)
    values: list[Value] = []
    for key in reads:
        path = flat_key(key) or ()
        value, wrong = find(walk, ref, path)
        unknown_field = undeclared(walk, ref, path)
        if unknown_field is not None:
            walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)}: {unknown_field}")
        elif wrong is not None and key not in optional:
            walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)}: {wrong}")
        elif value is None and key not in optional and _wraps.needs_tensor(walk, net, key):
            walk.say(
                expr,
                _codes.MODULE,
                f"in_key {errors.name_of(key)}: the field is not set, and the module needs a tensor",
            )
        elif isinstance(value, Plain) and _wraps.needs_tensor(walk, net, key):
            walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)} is a str, and the module needs a tensor")
        elif value is UNKNOWN and _is_str_field(walk, ref, path) and _wraps.needs_tensor(walk, net, key):
            walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)} is a str, and the module needs a tensor")
        values.append(value)
    return values


def _is_str_field(walk: Walk, ref: Value, path: Path) -> bool:
    box = walk.here.get(ref)
    if not isinstance(box, Box) or box.info is None or len(path) != 1:
        return False
    field = (fields_of(box.info) or {}).get(path[0])
    typ: Any = field.plain if field is not None else None
    return getattr(getattr(typ, "type", None), "fullname", "") in ("builtins.str", "builtins.bytes")


def undeclared(walk: Walk, ref: Value, path: Path) -> str | None:
    """The sentence for a path through typed classes that leads nowhere."""
    value = ref
    for name in path:
        box = walk.here.get(value)
        if not isinstance(box, Box) or box.info is None:
            if isinstance(box, Box):
                value = box.fields.get(name, UNKNOWN)
                continue
            return None
        fields = fields_of(box.info)
        if fields is None:
            return None
        if name not in fields:
            return errors.no_field(box.info.name, name, list(fields))
        from ._containers import read_field

        value = read_field(walk, value, box, name)
    return None


def outputs(walk: Walk, expr: CallExpr, net: Net, values: list[Value] | None, count: int) -> list[Value]:
    """What the wrapped callable gives, one value for each out_key."""
    from ._calls import Args, apply

    unknown: list[Value] = [UNKNOWN] * count
    if values is None:
        return unknown
    callee = net.settings.get("module", UNKNOWN)
    names = net.settings.get("in_map")
    if isinstance(names, dict):
        args = Args([], {str(name): (value, expr) for name, value in zip(names, values) if isinstance(name, str)})
        if len(args.named) != len(values):
            return unknown
    elif names is UNKNOWN:
        return unknown
    else:
        args = Args([(value, expr) for value in values])
    if not isinstance(callee, (Lambda, Function, Library, Ref)) or isinstance(callee, Class):
        return unknown
    result = apply(walk, expr, callee, args)
    if walk.state is None:
        return unknown
    if isinstance(walk.here.get(result), Mapped):
        return unknown  # Read by the names of its entries.
    if count == 1:
        return [result]
    if isinstance(result, tuple) and len(result) == count:
        return list(result)
    return unknown


def write_output(walk: Walk, expr: CallExpr, ref: Value, key: Any, value: Value) -> None:
    """An out_key is written into the container."""
    box = walk.here.get(ref)
    path = flat_key(key)
    if not isinstance(box, Box) or path is None:
        return
    unknown_field = undeclared(walk, ref, path)
    if unknown_field is not None:
        walk.say(expr, _codes.MODULE, f"out_key {errors.name_of(key)}: {unknown_field}")
        return
    if box.info is not None and len(path) == 1:
        field = (fields_of(box.info) or {}).get(path[0])
        typ: Any = field.plain if field is not None else None
        info = getattr(typ, "type", None)
        is_str = isinstance(info, TypeInfo) and info.fullname == "builtins.str"
        if isinstance(info, TypeInfo) and (is_tensorclass(info) or is_str) and isinstance(value, Tensor):
            text = f"out_key {errors.name_of(key)}: the field is a {info.name}, and the module gives a tensor"
            walk.say(expr, _codes.MODULE, text)
            return
    value = as_field(walk, value)
    wrong = misfit(walk, key, value, box.batch)
    if wrong is None and box.info is not None and len(path) == 1:
        from ._containers import against

        field = (fields_of(box.info) or {}).get(path[0])
        wrong = (
            against(walk, field, value, box.batch, {})
            if field is not None and field.dims is not None and field.dims.has_batch
            else None
        )
    if wrong is not None:
        walk.say(expr, _codes.BATCH, f"out_key {errors.name_of(key)}: {wrong}")
        value = UNKNOWN
    if box.locked is True and box.info is not None:
        walk.say(expr, _codes.MODULE, errors.locked(f"set {errors.name_of(key)}"))
    store(walk, ref, key, as_field(walk, value, box.batch))


def run_sequence(walk: Walk, expr: CallExpr, net: Net, ref: Value) -> Value:
    """One module after the other."""
    from ._calls import Args, apply

    modules = net.settings.get("modules", UNKNOWN)
    box = walk.here.get(ref)
    if not isinstance(modules, tuple) or not isinstance(box, Box):
        walk.here.forget(ref)
        return UNKNOWN
    before = set(box.fields)
    tolerant = net.settings.get("partial_tolerant", False)
    selected = net.settings.get("selected", None)
    inplace = net.settings.get("inplace", None)
    value: Value = ref
    for number, module in enumerate(modules):
        thing = walk.here.get(module)
        if isinstance(thing, Net) and tolerant is not False:
            skipped = _skipped(walk, thing, value)
            if skipped is not None:
                if tolerant is True and not _any_optional(walk, thing) and _unread(walk, modules, number):
                    walk.say(expr, _codes.MODULE, f"module {number} never runs (partial_tolerant): {skipped}")
                    return walk.here.new(replace(box, fields={}, open=True))
                continue
        result = apply(walk, expr, module, Args([(value, expr)]))
        if walk.state is None:
            return UNKNOWN
        if isinstance(walk.here.get(result), Box):
            value = result
        else:
            walk.here.forget(value)
            value = walk.here.new(Box(None))
    if inplace is not None and inplace is not True:
        new = copied(walk, walk.here.get(value))
        walk.here.forget(ref)
        walk.here.forget(new)
        return new
    if isinstance(selected, tuple):
        after = walk.here.get(value)
        if isinstance(after, Box) and after.info is None:
            keep = {(flat_key(key) or ("",))[0] for key in selected} | before
            walk.here.put(value, replace(after, fields={k: v for k, v in after.fields.items() if k in keep}))
    elif selected is UNKNOWN:
        walk.here.forget(value)
    return value


def _skipped(walk: Walk, net: Net, ref: Value) -> str | None:
    reads = in_keys(walk, net)
    for key in reads or ():
        _, wrong = find(walk, ref, flat_key(key) or ())
        if wrong is not None:
            return wrong
    return None


def _unread(walk: Walk, modules: tuple[Value, ...], number: int) -> bool:
    """Whether a module before writes what no module after it reads: then the module that is left out has a typo."""
    nets = [walk.here.get(module) for module in modules]
    for place, net in enumerate(nets[:number]):
        writes = out_keys(walk, net) if isinstance(net, Net) else None
        later = [in_keys(walk, one) if isinstance(one, Net) else None for one in nets[place + 1 :]]
        if writes is None or any(reads is None for reads in later):
            return False
        if not any(key in (reads or ()) for key in writes for reads in later):
            return True
    return False


def _any_optional(walk: Walk, net: Net) -> bool:
    return bool(_wraps.optional_keys(walk, net))


def run_wrapper(walk: Walk, expr: CallExpr, net: Net, ref: Value) -> Value:
    """A typed module as one by key: a new container with the fields of its output class."""
    for key in in_keys(walk, net) or ():
        _, wrong = find(walk, ref, flat_key(key) or ())
        if wrong is not None:
            walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)}: {wrong}")
    new = walk.here.new(Box(None, None, True, None, {}, open=False))
    for key in out_keys(walk, net) or ():
        store(walk, new, key, UNKNOWN)
    return new


def run_ensemble(walk: Walk, expr: CallExpr, net: Net, ref: Value) -> Value:
    """Every copy on the same input, or each on its own row of it."""
    inner = walk.here.get(net.settings.get("module", UNKNOWN))
    box = walk.here.get(ref)
    copies, expand = net.settings.get("num_copies", UNKNOWN), net.settings.get("expand_input", True)
    if not isinstance(inner, Net) or not isinstance(box, Box) or not isinstance(expand, bool):
        return walk.here.new(Box(None))
    if inner.kind == "TensorDictModule" and box.info is None:
        reads = inner.settings.get("in_keys", UNKNOWN)
        for key in reads if isinstance(reads, tuple) else ():
            _, wrong = find(walk, ref, flat_key(key) or ())
            if wrong is not None:
                walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)}: {wrong}")
                return walk.here.new(Box(None))
    batch: Any = None
    if box.batch is not None:
        if expand:
            batch = (copies, *box.batch)
        elif not box.batch or (isinstance(copies, int) and isinstance(box.batch[0], int) and box.batch[0] != copies):
            text = f"EnsembleModule: without expand_input the first batch dim is the {copies} copies; "
            text += f"the batch size is {show_shape(box.batch)}"
            walk.say(expr, _codes.BATCH, text)
            return walk.here.new(Box(None))
        else:
            batch = box.batch
    if not expand:
        return walk.here.new(Box(None, None, True, batch))
    walk.quiet += 1
    trial = copied(walk, box)
    result = walk.here.get(run_on(walk, expr, inner, trial))
    walk.quiet -= 1
    if not isinstance(result, Box):
        return walk.here.new(Box(None, None, True, batch))
    fields = {}
    for key, value in result.fields.items():
        thing = walk.here.get(value)
        shape = thing.shape if isinstance(thing, Tensor) else None
        known = isinstance(thing, Tensor) and shape is not None
        fields[key] = Tensor((copies, *(shape or ())), thing.dtype) if known else UNKNOWN
    return walk.here.new(Box(None, None, True, batch, fields, open=result.open))
