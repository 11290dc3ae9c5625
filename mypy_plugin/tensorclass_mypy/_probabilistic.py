"""Modules that sample: parameter names of distributions, sample keys and log-probability keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, Expression, FuncDef, RefExpr, TypeInfo
from mypy.types import CallableType, Instance

from tensorclass._rules import errors
from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._containers import flat_key
from ._keys import is_key
from ._say import meant
from ._values import Box, Class, Items, Mapped, Method, Net, Tensor, Typed, Value

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

INTERACTIONS = ("mode", "median", "mean", "random", "deterministic")


def construct(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args) -> Value:
    """ProbabilisticTensorDictModule(in_keys, out_keys, distribution_class=...)"""
    from ._keyed import key_list

    if not args.whole or info.name != "ProbabilisticTensorDictModule":
        from ._calls import leak

        leak(walk, args.values())
        return walk.here.new(Net(info.name, info, False, touched=True))
    given = args.take("in_keys out_keys")
    settings: dict[str, Any] = dict(given)
    into = walk.here.get(given.get("in_keys", UNKNOWN))
    names: list[Any] | None = None
    where = args.node("in_keys out_keys", "in_keys") or expr
    if isinstance(into, Mapped) and into.items is not None:
        names = list(into.items)
        keys: Any = tuple(into.items.values())
    else:
        keys = key_list(walk, given.get("in_keys", UNKNOWN))
        names = [(flat_key(key) or ("",))[-1] for key in keys] if keys is not None else None
    settings["in_keys"] = UNKNOWN if keys is None else keys
    cls = given.get("distribution_class", UNKNOWN)
    keywords = (
        walk.here.get(given.get("distribution_kwargs", UNKNOWN)) if "distribution_kwargs" in given else Mapped({})
    )
    at = args.named["distribution_class"][1] if "distribution_class" in args.named else None
    made = _made(cls, at)
    if at is not None and made is not None:
        text = f"distribution_class is an instance of {made.name}; give the class: {made.name}"
        walk.say(at, _codes.MODULE, text)
    elif isinstance(cls, Class) and names is not None:
        _check_names(walk, expr, where, cls.info, names, keywords, args)
    elif names is not None:
        _check_callable(walk, where, cls, names, keywords)
    if "default_interaction_type" in args.named:
        check_interaction(walk, args.named["default_interaction_type"][1], given.get("default_interaction_type"))
    composite = isinstance(cls, Class) and cls.info.name == "CompositeDistribution"
    if composite and isinstance(keywords, Mapped) and keywords.items is not None:
        settings["map"] = _map_of(walk, expr, keywords.items, given.get("out_keys"))
    samples = _samples(walk, given, keywords, composite)
    settings["samples"] = samples
    log_probs = _log_probs(walk, expr, given, args, samples, composite)
    settings["log_probs"] = log_probs
    if isinstance(samples, tuple) and isinstance(log_probs, tuple):
        settings["out_keys"] = (*samples, *log_probs)
    else:
        settings["out_keys"] = UNKNOWN
    if (
        isinstance(cls, Class)
        and not composite
        and isinstance(samples, tuple)
        and len(samples) > 1
        and _plain(cls.info)
    ):
        at = args.node("in_keys out_keys", "out_keys") or expr
        text = f"out_keys: {errors.count(len(samples), 'key')} for one sample; {cls.info.name} gives one"
        walk.say(at, _codes.MODULE, text + "; the log-probability has a key of its own (log_prob_key)")
    return walk.here.new(Net(info.name, info, True, settings))


def _made(value: Value, node: Expression | None) -> TypeInfo | None:
    """The class of a distribution that stands where a class is wanted."""
    info = value.type.type if isinstance(value, Typed) and isinstance(value.type, Instance) else None
    if isinstance(node, CallExpr) and isinstance(node.callee, RefExpr) and isinstance(node.callee.node, TypeInfo):
        info = node.callee.node
    return info if info is not None and info.has_base("torch.distributions.distribution.Distribution") else None


def _plain(info: TypeInfo) -> bool:
    """A distribution of torch, which gives one sample."""
    return info.fullname.startswith("torch.distributions.")


def init_names(info: TypeInfo) -> tuple[list[str], list[str], bool] | None:
    """The parameters of a distribution: all, the required ones, and whether any name will do."""
    init = info.get_method("__init__")
    typ = init.type if isinstance(init, FuncDef) else None
    if isinstance(init, FuncDef) and typ is None:
        names = [name or "" for name in init.arg_names[1:]]
        kinds = list(init.arg_kinds[1:])
    elif isinstance(typ, CallableType):
        names = [name for name in typ.arg_names[1:] if name is not None]
        kinds = list(typ.arg_kinds[1:])
    else:
        return None
    if len(names) != len(kinds):
        return None
    starred = any(kind.is_star() for kind in kinds)
    plain = [name for name, kind in zip(names, kinds) if not kind.is_star()]
    needed = [name for name, kind in zip(names, kinds) if kind.is_required()]
    return plain, needed, starred


def _check_names(
    walk: Walk, expr: CallExpr, where: Any, info: TypeInfo, names: list[Any], keywords: Any, args: Args
) -> None:
    """The last part of every in_key, and every keyword, names a parameter of the distribution."""
    found = init_names(info)
    if found is None or found[2] or not found[0]:
        return
    known, needed, _ = found
    wrong = False
    for name in names:
        if isinstance(name, str) and name not in known:
            rest = meant(name, known, f"it takes {errors.some_names(known)}")
            walk.say(where, _codes.MODULE, f"in_keys: {info.name} has no parameter {name!r}{rest}")
            wrong = True
    if isinstance(keywords, Mapped) and keywords.items is not None:
        for name in keywords.items:
            if isinstance(name, str) and name not in known:
                at = (
                    args.node("in_keys out_keys", "distribution_kwargs")
                    if "distribution_kwargs" in args.named
                    else expr
                )
                rest = meant(name, known, f"it takes {errors.some_names(known)}")
                walk.say(at or expr, _codes.MODULE, f"distribution_kwargs: {info.name} has no parameter {name!r}{rest}")
                wrong = True
        missing = [name for name in needed if name not in names and name not in keywords.items]
        if missing and not wrong:
            walk.say(where, _codes.MODULE, f"in_keys: {info.name} needs {errors.some_names(missing)} as well")


def _check_callable(walk: Walk, where: Any, cls: Value, names: list[Any], keywords: Any) -> None:
    """A function that makes the distribution: the last part of every in_key is one of its parameters."""
    from ._wraps import parameters

    _, needed, known, any_name = parameters(walk, cls)
    if needed is None or known is None or any_name or not isinstance(keywords, Mapped) or keywords.items is None:
        return
    for name in names:
        if isinstance(name, str) and name not in known:
            rest = meant(name, known, f"it takes {errors.some_names(known)}")
            walk.say(where, _codes.MODULE, f"in_keys: the distribution has no parameter {name!r}{rest}")
            return
    missing = [name for name in needed if name not in names and name not in keywords.items]
    if missing:
        walk.say(where, _codes.MODULE, f"in_keys: the distribution needs {errors.some_names(missing)} as well")


def _map_of(walk: Walk, expr: CallExpr, keywords: Any, out: Value) -> Any:
    """The distribution_map of a composite one, whose names are those of name_map; one out_key for each, or none."""
    from ._keyed import key_list

    inner = walk.here.get(keywords.get("distribution_map", UNKNOWN))
    if not isinstance(inner, Mapped) or inner.items is None:
        return UNKNOWN
    _check_name_map(walk, expr, inner.items, walk.here.get(keywords.get("name_map", UNKNOWN)))
    keys = key_list(walk, out) if out is not None else None
    if keys is not None and len(keys) != len(inner.items):
        text = f"out_keys {list(keys)} for a distribution_map of {list(inner.items)}; "
        walk.say(expr, _codes.MODULE, text + "give one out-key for each, or none at all")
    return inner.items


def _check_name_map(walk: Walk, expr: CallExpr, parts: Any, names: Any) -> None:
    """The keys of name_map are names of distribution_map."""
    for name in names.items or () if isinstance(names, Mapped) else ():
        if name not in parts:
            rest = meant(name, list(parts), f"they are {errors.some_names(parts)}")
            walk.say(expr, _codes.MODULE, f"name_map: distribution_map has no {errors.name_of(name)}{rest}")
            return


def _samples(walk: Walk, given: dict[str, Value], keywords: Any, composite: bool) -> Any:
    """The keys of the samples."""
    from ._keyed import key_list

    out = given.get("out_keys")
    if out is not None:
        keys = key_list(walk, out)
        return UNKNOWN if keys is None else keys
    if composite and isinstance(keywords, Mapped) and keywords.items is not None:
        inner = walk.here.get(keywords.items.get("distribution_map", UNKNOWN))
        if isinstance(inner, Mapped) and inner.items is not None and "name_map" not in keywords.items:
            return tuple(inner.items) if all(is_key(key) for key in inner.items) else UNKNOWN
        names = walk.here.get(keywords.items.get("name_map", UNKNOWN))
        if isinstance(names, Mapped) and names.items is not None and all(is_key(key) for key in names.items.values()):
            return tuple(names.items.values())
        return UNKNOWN
    return UNKNOWN


def _log_probs(walk: Walk, expr: CallExpr, given: dict[str, Value], args: Args, samples: Any, composite: bool) -> Any:
    """The keys of the log-probabilities that are written."""
    from ._keyed import key_list

    returns = given.get("return_log_prob", False)
    one: Any = given.get("log_prob_key", None)
    many = given.get("log_prob_keys", None)
    if is_key(one) and isinstance(samples, tuple) and one in samples:
        text = f"log_prob_key: {errors.name_of(one)} is the key of a sample; the log-probability would replace it"
        walk.say(args.named.get("log_prob_key", (None, expr))[1], _codes.MODULE, text)
        return UNKNOWN
    keys = key_list(walk, many) if many is not None else None
    if keys is not None:
        where = args.named.get("log_prob_keys", (None, expr))[1]
        for key in keys:
            if isinstance(samples, tuple) and key in samples:
                text = (
                    f"log_prob_keys: {errors.name_of(key)} is the key of a sample; the log-probability would replace it"
                )
                walk.say(where, _codes.MODULE, text)
                return UNKNOWN
        if isinstance(samples, tuple) and len(keys) != len(samples):
            both = f"{errors.count(len(keys), 'key')} for {errors.count(len(samples), 'sample')}"
            walk.say(where, _codes.MODULE, f"log_prob_keys: {both}; give one for each")
            return UNKNOWN
    if returns is False:
        return ()
    if returns is not True or any("lp_aggregate" in name for name in walk.tree.names):
        return UNKNOWN  # The program may say that all samples share one key.
    if keys is not None:
        return keys
    if is_key(one):
        return (one,)
    if one is not None or many is not None or not isinstance(samples, tuple):
        return UNKNOWN
    return tuple(_log_prob_name(key) for key in samples)


def _log_prob_name(key: Any) -> Any:
    if isinstance(key, tuple):
        return (*key[:-1], f"{key[-1]}_log_prob")
    return f"{key}_log_prob"


def property_of(walk: Walk, expr: Any, net: Net, name: str) -> Value:
    """module.log_prob_key and its kind."""
    samples = net.settings.get("samples", UNKNOWN)
    if name == "log_prob_key" and net.kind == "ProbabilisticTensorDictModule":
        if isinstance(samples, tuple) and len(samples) > 1:
            text = f"log_prob_key: there are {len(samples)} samples ({errors.some_names(samples)}); use log_prob_keys"
            walk.say(expr, _codes.MODULE, text)
        return UNKNOWN
    if name == "log_prob_keys":
        keys = net.settings.get("log_probs", UNKNOWN)
        return walk.here.new(Items(keys)) if isinstance(keys, tuple) and keys else UNKNOWN
    return UNKNOWN


def run_on(walk: Walk, expr: CallExpr, net: Net, ref: Value) -> Value:
    """A call with a container: samples are written beside the parameters."""
    from ._keyed_calls import undeclared, write_output
    from ._keys import find

    reads = net.settings.get("in_keys", UNKNOWN)
    for key in reads if isinstance(reads, tuple) else ():
        path = flat_key(key)
        if path is None:
            continue
        _, wrong = find(walk, ref, path)
        wrong = undeclared(walk, ref, path) or wrong
        if wrong is not None:
            walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)}: {wrong}")
        elif isinstance(net.settings.get("map"), Mapping):
            _check_parts(walk, expr, walk.here.get(find(walk, ref, path)[0]), net.settings["map"])
    writes = net.settings.get("out_keys", UNKNOWN)
    if not isinstance(writes, tuple):
        walk.here.forget(ref)
        return ref
    for key in writes:
        value = Tensor() if len(flat_key(key) or ()) == 1 else UNKNOWN
        write_output(walk, expr, ref, key, value)
    return ref


def composite(walk: Walk, expr: CallExpr, info: TypeInfo, args: Args) -> Value:
    """CompositeDistribution(params, distribution_map=...)"""
    given = args.take("params distribution_map")
    names = walk.here.get(given.get("distribution_map", UNKNOWN))
    settings: dict[str, Value] = {}
    box = walk.here.get(given.get("params", UNKNOWN))
    if isinstance(names, Mapped) and names.items is not None and args.whole:
        mapped = walk.here.get(given.get("name_map", None)) if given.get("name_map") is not None else None
        if isinstance(mapped, Mapped) and mapped.items is not None:
            settings["samples"] = tuple(mapped.items.values())
        elif mapped is None:
            settings["samples"] = tuple(names.items)
        _check_name_map(walk, expr, names.items, mapped)
        _check_parts(walk, args.named.get("distribution_map", (None, expr))[1], box, names.items)
    return walk.here.new(Net("CompositeDistribution", info, True, settings))


def _check_parts(walk: Walk, node: Any, box: Any, parts: Mapping[Any, Value]) -> None:
    """The parameters of a composite distribution: under each name of distribution_map, those of its class."""
    if not isinstance(box, Box) or box.open or box.info is not None:
        return
    for name, cls in parts.items():
        path = flat_key(name)
        if path is not None and path[0] not in box.fields:
            walk.say(node, _codes.MODULE, f"distribution_map: {errors.key_missing(name, list(box.fields))}")
        elif path is not None and len(path) == 1:
            _check_parameters(walk, node, name, walk.here.get(box.fields[path[0]]), cls)


def _check_parameters(walk: Walk, expr: Any, name: Any, box: Any, cls: Value) -> None:
    """The parameters of one part of a composite distribution: their names are those of its class."""
    found = init_names(cls.info) if isinstance(cls, Class) else None
    if found is None or found[2] or not found[0] or not isinstance(box, Box) or box.open or box.info is not None:
        return
    for key in box.fields:
        if key not in found[0]:
            rest = meant(key, found[0], f"it takes {errors.some_names(found[0])}")
            text = f"params: {cls.info.name} (of {errors.name_of(name)}) has no parameter {key!r}{rest}"
            walk.say(expr, _codes.MODULE, text)
            return


def method(walk: Walk, expr: CallExpr, ref: Value, net: Net, name: str, args: Args) -> Value:
    """sample, log_prob and so on."""
    from ._calls import leak

    if net.kind == "CompositeDistribution":
        samples = net.settings.get("samples", UNKNOWN)
        if name in ("sample", "rsample") and isinstance(samples, tuple):
            fields = {(flat_key(key) or ("",))[0]: UNKNOWN for key in samples}
            return walk.here.new(Box(None, None, True, None, fields, open=False))
        if name == "log_prob" and args.positional and isinstance(samples, tuple):
            _check_samples(walk, expr, args.positional[0][0], samples, "")
        return UNKNOWN
    if name in ("log_prob", "get_dist", "get_dist_params") and args.positional:
        _check_reads(walk, expr, net, args.positional[0][0])
    if name == "log_prob" and args.positional and net.kind.startswith("Probabilistic"):
        box = walk.here.get(args.positional[0][0])
        last = _last(walk, net)
        samples = last.settings.get("samples", UNKNOWN) if last is not None else UNKNOWN
        if isinstance(box, Box) and isinstance(samples, tuple):
            _check_samples(walk, expr, args.positional[0][0], samples, "; the sample must be in the input")
        return UNKNOWN
    leak(walk, args.values())
    return UNKNOWN


def _check_samples(walk: Walk, expr: CallExpr, ref: Value, samples: tuple[Any, ...], rest: str) -> None:
    """The samples whose log-probability is asked for."""
    from ._keys import find

    for key in samples:
        _, wrong = find(walk, ref, flat_key(key) or ())
        if wrong is not None:
            walk.say(expr, _codes.MODULE, f"log_prob: {wrong}{rest}")
            return


def _check_reads(walk: Walk, expr: CallExpr, net: Net, ref: Value) -> None:
    """What a module reads is in the container whose distribution is asked for."""
    from ._keyed import in_keys
    from ._keys import find

    for key in in_keys(walk, net) or ():
        _, wrong = find(walk, ref, flat_key(key) or ())
        if wrong is not None:
            walk.say(expr, _codes.MODULE, f"in_key {errors.name_of(key)}: {wrong}")
            return


def _last(walk: Walk, net: Net) -> Net | None:
    if net.kind == "ProbabilisticTensorDictModule":
        return net
    modules = net.settings.get("modules", UNKNOWN)
    if isinstance(modules, tuple) and modules:
        last = walk.here.get(modules[-1])
        return last if isinstance(last, Net) and last.kind == "ProbabilisticTensorDictModule" else None
    return None


def interaction(walk: Walk, expr: CallExpr, args: Args) -> None:
    """set_interaction_type("mode"): one of the names."""
    value = args.positional[0][0] if args.positional else args.named.get("type", (UNKNOWN, expr))[0]
    check_interaction(walk, expr, value)


def check_interaction(walk: Walk, expr: Any, value: Value) -> None:
    """An interaction type that is given as a string."""
    if isinstance(value, str) and value.lower() not in INTERACTIONS:
        text = meant(value, INTERACTIONS, f"there are {errors.some_names(INTERACTIONS)}")
        walk.say(expr, _codes.MODULE, f"no interaction type {value!r}{text}")


__all__ = ["Method"]
