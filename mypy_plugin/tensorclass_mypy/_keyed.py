"""Modules with keys: what each reads and writes, and whether that fits what it wraps and what it is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, Expression, TypeInfo

from tensorclass._rules import errors, flow
from tensorclass._rules.nearest import nearest
from tensorclass._rules.sizes import UNKNOWN

from . import _codes, _wraps
from ._containers import flat_key
from ._fields import fields_of
from ._keys import is_key
from ._say import one_edit
from ._types import base_named
from ._values import (
    Class,
    Items,
    Many,
    Mapped,
    Method,
    Net,
    Value,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

READS_KEYS = ("TensorDictModule", "ProbabilisticTensorDictModule", "EnsembleModule", "TensorClassModuleWrapper")
Path = tuple[str, ...]
MODULE_NAMES = "module in_keys out_keys"
PROBABILISTIC = ("ProbabilisticTensorDictModule", "ProbabilisticTensorDictSequential")
SEQUENCES = ("TensorDictSequential", "ProbabilisticTensorDictSequential")


def key_list(walk: Walk, value: Value) -> tuple[Any, ...] | None:
    """Keys given as a list, or one key."""
    thing = walk.here.get(value)
    if isinstance(thing, Items):
        return thing.items if thing.items is not None and all(is_key(key) for key in thing.items) else None
    if isinstance(thing, str):
        return (thing,)
    if isinstance(thing, tuple) and is_key(thing):
        return (thing,)  # A tuple is one nested key.
    return None


def construct(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args) -> Value:
    """TensorDictModule(...) and its kind."""
    if info.name in SEQUENCES:
        return construct_sequence(walk, expr, info, args)
    if info.name.startswith("Probabilistic"):
        from ._probabilistic import construct as probabilistic

        return probabilistic(walk, expr, info, args)
    if info.name == "EnsembleModule":
        made = args.take("module num_copies parameter_init_function expand_input")
        inner = walk.here.get(made.get("module", UNKNOWN))
        known = inner.settings if isinstance(inner, Net) else {}
        made.update({name: known.get(name, UNKNOWN) for name in ("in_keys", "out_keys")})
        return walk.here.new(Net(info.name, info, args.whole, made))
    if info.name != "TensorDictModule" or not args.whole:
        from ._calls import leak

        leak(walk, args.values())
        return walk.here.new(Net(info.name, info, False, touched=True))
    given = args.take(MODULE_NAMES)
    settings: dict[str, Any] = dict(given)
    into = walk.here.get(given.get("in_keys", UNKNOWN))
    if isinstance(into, Mapped) and into.items is not None:
        pairs = into.items.items()
        if given.get("out_to_in_map") is False:  # A dict from keys to arguments.
            pairs = {name: key for key, name in pairs if isinstance(name, str)}.items()
        keyed = {name: key for name, key in pairs if is_key(key)}
        settings["in_map"] = keyed if len(keyed) == len(into.items) else UNKNOWN
        settings["in_keys"] = tuple(keyed.values()) if len(keyed) == len(into.items) else UNKNOWN
        if given.get("out_to_in_map") not in (None, True, False):
            settings["in_map"], settings["in_keys"] = UNKNOWN, UNKNOWN
    else:
        row = key_list(walk, given.get("in_keys", UNKNOWN))
        settings["in_keys"] = UNKNOWN if row is None else row
    out = key_list(walk, given.get("out_keys", UNKNOWN))
    settings["out_keys"] = UNKNOWN if out is None else out
    _wraps.check(walk, expr, settings, args)
    return walk.here.new(Net(info.name, info, True, settings))


def construct_sequence(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args) -> Value:
    """TensorDictSequential(first, second, ...)"""
    values = [value for value, _ in args.positional]
    names: tuple[str, ...] = ()
    if len(values) == 1:
        thing = walk.here.get(values[0])
        if isinstance(thing, Items) and thing.items is not None:
            values = list(thing.items)
        elif isinstance(thing, Mapped) and thing.items is not None:
            names = tuple(str(key) for key in thing.items)
            values = list(thing.items.values())
        elif isinstance(thing, (Items, Mapped, Many)):
            values, args.whole = [], False
    settings: dict[str, Value] = {key: value for key, (value, _) in args.named.items()}
    settings["modules"] = tuple(values) if args.whole else UNKNOWN
    for name, value in zip(names, values):
        settings[name] = value
    settings["names"] = names
    net = Net(info.name, info, True, settings, touched=not args.whole)
    if args.whole:
        _wire(walk, expr, net, values)
    selected = key_list(walk, settings.get("selected_out_keys", UNKNOWN))
    ref = walk.here.new(net)
    if selected is not None:
        check_selected(walk, args.named["selected_out_keys"][1], ref, net, selected)
        walk.here.put(ref, replace(net, settings={**settings, "selected": selected}))
    return ref


def _wire(walk: Walk, expr: CallExpr, net: Net, values: list[Value]) -> None:
    """A read that nobody writes, and that is one edit away from a key written before it."""
    written: list[Any] = []
    dropped: set[Any] = set()
    only = False  # A typed module by key gives a new container: nothing else goes on from there.
    for number, value in enumerate(values):
        module = walk.here.get(value)
        if not isinstance(module, Net):
            return  # A plain callable may write anything.
        reads, writes = in_keys(walk, module), out_keys(walk, module)
        if reads is None or writes is None:
            return
        optional = _wraps.optional_keys(walk, module)
        for key in reads:
            if key in written or key in optional:
                continue
            if key in dropped:
                text = f"module {number} reads {errors.name_of(key)}, which an earlier module no longer writes: "
                text += "it was not selected"
                walk.say(_node(expr, number), _codes.MODULE, text)
                continue
            if only and not any(_inside(key, other) for other in written):
                text = f"module {number} reads {errors.name_of(key)}, and the typed module before it gives "
                text += f"{errors.some_names(written)} only"
                walk.say(_node(expr, number), _codes.MODULE, text)
                continue
            near = nearest(key, written)
            if (
                near is not None
                and one_edit(key, near)
                and near not in reads
                and not _written_later(walk, values, number, key)
            ):
                text = f"module {number} reads {errors.name_of(key)}, which no module before it writes; "
                text += f"did you mean {near!r}?"
                walk.say(_node(expr, number), _codes.MODULE, text)
        if module.kind == "TensorClassModuleWrapper":
            written, only = [], True
        written += writes
        everything = module.settings.get("out_keys", UNKNOWN)
        if isinstance(everything, tuple) and module.kind != "user":
            dropped |= {key for key in everything if key not in writes}


def _inside(key: Any, other: Any) -> bool:
    """A key that sits inside of another, or the other way round."""
    one, two = flat_key(key) or (), flat_key(other) or ()
    return one[: len(two)] == two or two[: len(one)] == one


def _written_later(walk: Walk, values: list[Value], number: int, key: Any) -> bool:
    for value in values[number:]:
        module = walk.here.get(value)
        writes = out_keys(walk, module) if isinstance(module, Net) else None
        if writes is None or key in writes:
            return True
    return False


def _node(expr: CallExpr, number: int) -> Expression:
    return expr.args[number] if number < len(expr.args) and len(expr.args) > 1 else expr


# -- Keys of a module -----------------------------------------------------------------------------------------------


def in_keys(walk: Walk, net: Net) -> tuple[Any, ...] | None:
    """What a module reads from outside."""
    if net.kind in SEQUENCES:
        modules = net.settings.get("modules", UNKNOWN)
        if not isinstance(modules, tuple):
            return None
        reads: list[Any] = []
        written: set[Any] = set()
        for value in modules:
            module = walk.here.get(value)
            if not isinstance(module, Net):
                return None
            some, writes = in_keys(walk, module), out_keys(walk, module)
            if some is None or writes is None:
                return None
            reads += [key for key in some if key not in written and key not in reads]
            written |= set(writes)
        return tuple(reads)
    if net.kind == "user":
        return _own(walk, net, "in_keys")
    keys = net.settings.get("in_keys", UNKNOWN)
    return keys if isinstance(keys, tuple) and net.kind in READS_KEYS else None


def _own(walk: Walk, net: Net, name: str) -> tuple[Any, ...] | None:
    """The keys that a class of the user's names itself: in its body, or in __init__."""
    if net.info is None or base_named(net.info, "TensorDictModuleBase") is None:
        return None
    if name in net.settings:
        return key_list(walk, net.settings[name])
    return None if net.touched and net.exact else key_list(walk, walk.class_attribute(net.info, name))


def out_keys(walk: Walk, net: Net) -> tuple[Any, ...] | None:
    """What a module writes, after select_out_keys."""
    selected = net.settings.get("selected", None)
    if isinstance(selected, tuple):
        return selected
    if selected is UNKNOWN:
        return None
    if net.kind in SEQUENCES:
        modules = net.settings.get("modules", UNKNOWN)
        if not isinstance(modules, tuple):
            return None
        written: list[Any] = []
        for value in modules:
            module = walk.here.get(value)
            writes = out_keys(walk, module) if isinstance(module, Net) else None
            if writes is None:
                return None
            written += [key for key in writes if key not in written]
        return tuple(written)
    keys = _own(walk, net, "out_keys") if net.kind == "user" else net.settings.get("out_keys", UNKNOWN)
    if not isinstance(keys, tuple):
        return None
    return tuple(key for key in keys if key != "_")


def check_selected(walk: Walk, node: Expression, ref: Value, net: Net, selected: tuple[Any, ...]) -> None:
    """Keys to select must be written."""
    writes = out_keys(walk, replace(net, settings={**net.settings, "selected": None}))
    if writes is None:
        return
    for key in selected:
        if key not in writes:
            walk.say(node, _codes.MODULE, errors.not_an_out_key(key, writes))


def check_typed(walk: Walk, expr: CallExpr, net: Net, given: dict[str, Value]) -> None:
    """module.typed(In, Out): in_keys are fields of the one class, fields of the other are out_keys."""
    ends = [given.get(name) for name in ("input_type", "output_type")]
    reads, writes = in_keys(walk, net), out_keys(walk, net)
    if reads is None or writes is None or not all(isinstance(end, Class) for end in ends):
        return
    takes, gives = (fields_of(end.info) if isinstance(end, Class) else None for end in ends)
    if takes is None or gives is None or not isinstance(ends[0], Class) or not isinstance(ends[1], Class):
        return
    for key in reads:
        if (flat_key(key) or ("",))[0] not in takes:
            walk.say(expr, _codes.MODULE, errors.no_field(ends[0].info.name, key, list(takes)))
            return
    there = {(flat_key(key) or ("",))[0] for key in writes} | set(takes)
    for name, field in gives.items():
        if name not in there and not field.has_default and not field.optional and not field.init_only:
            text = f"{ends[1].info.name}.{name} is neither written by the module nor a field of {ends[0].info.name}; "
            walk.say(expr, _codes.MODULE, text + f"the out_keys are {errors.some_names(writes)}")
            return


def _subsequence(walk: Walk, expr: CallExpr, net: Net, args: Args) -> Value:
    """sequence.select_subsequence(in_keys, out_keys): some module must be left."""
    given = args.take("in_keys out_keys")
    modules = net.settings.get("modules", UNKNOWN)
    reads, writes = (
        None if given.get(name) is None else key_list(walk, given[name]) for name in ("in_keys", "out_keys")
    )
    unread = [
        one for name, one in (("in_keys", reads), ("out_keys", writes)) if one is None and given.get(name) is not None
    ]
    if not isinstance(modules, tuple) or not args.whole or unread:
        return UNKNOWN
    flows = []
    for value in modules:
        module = walk.here.get(value)
        some = in_keys(walk, module) if isinstance(module, Net) else None
        gives = out_keys(walk, module) if isinstance(module, Net) else None
        if some is None or gives is None:
            return UNKNOWN
        flows.append(flow.Flow(some, gives))
    if writes is None and net.settings.get("selected") is not None:
        writes = out_keys(walk, net)
    kept = flow.subsequence(flows, reads, writes)
    every = flow.sequence(flows)
    if not kept:
        text = errors.none_left(
            every.reads if reads is None else reads, every.writes if writes is None else writes, *every[:2]
        )
        walk.say(expr, _codes.MODULE, text)
        return UNKNOWN
    settings = {"modules": tuple(modules[at] for at in kept)}
    return walk.here.new(Net("TensorDictSequential", net.info, False, settings))


# -- Attributes and methods -----------------------------------------------------------------------------------------


def attribute(walk: Walk, expr: Any, ref: Value, net: Net, name: str) -> Value:
    if name in ("in_keys", "out_keys"):
        keys = in_keys(walk, net) if name == "in_keys" else out_keys(walk, net)
        return UNKNOWN if keys is None else walk.here.new(Items(keys))
    if name == "module" and net.kind in SEQUENCES and isinstance(net.settings.get("modules"), tuple):
        rows = {str(place): module for place, module in enumerate(net.settings["modules"])}
        return UNKNOWN if net.settings.get("names") else walk.here.new(Net("ModuleList", None, True, rows))
    if name == "module":
        return net.settings.get("module", UNKNOWN)
    if name in ("log_prob_key", "log_prob_keys", "dist_sample_keys", "dist_params_keys", "sample_log_prob_key"):
        from ._probabilistic import property_of

        return property_of(walk, expr, net, name)
    return Method(ref, name)


def method(walk: Walk, expr: CallExpr, ref: Value, net: Net, name: str, args: Args) -> Value:
    if name == "select_out_keys":
        from ._keys import strings

        keys = strings(walk, args)
        selected = tuple(key for key, _ in keys) if keys is not None else UNKNOWN
        if isinstance(selected, tuple):
            check_selected(walk, expr, ref, net, selected)
        walk.here.put(ref, replace(net, settings={**net.settings, "selected": selected}))
        return ref
    if name == "select_subsequence" and net.kind in SEQUENCES and not net.touched:
        return _subsequence(walk, expr, net, args)
    if name == "typed" and net.kind in (*READS_KEYS, *SEQUENCES) and not net.touched:
        check_typed(walk, expr, net, args.take("input_type output_type"))
        return UNKNOWN
    if name == "reset_out_keys":
        walk.here.put(ref, replace(net, settings={**net.settings, "selected": None}))
        return ref
    if name in ("forward", "__call__"):
        from ._keyed_calls import run

        return run(walk, expr, ref, net, args)
    if name in ("sample", "rsample", "log_prob", "get_dist", "build_dist_from_params", "mode", "mean") or net.kind in (
        "CompositeDistribution",
    ):
        from ._probabilistic import method as probabilistic

        return probabilistic(walk, expr, ref, net, name, args)
    from ._calls import leak

    leak(walk, args.values())
    if name in ("append", "insert", "extend", "__setitem__"):
        walk.here.put(ref, replace(net, settings={}, touched=True))
    return UNKNOWN
