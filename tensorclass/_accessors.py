"""The source of __init__, written once a class: the common case in a few comparisons, anything else to `set_up`.

What a field must fulfil becomes a condition in Python, so that making an instance costs little more than the checks.
The source has a file name of its own, under which tracebacks and debuggers show it.
"""

from __future__ import annotations

import dataclasses
import linecache
from collections.abc import Mapping
from typing import Any

from torch import Size, Tensor

from ._columns import is_init_var
from ._construct import Absent, missing_argument, set_up, unknown_arguments
from ._fields import Field, Options
from ._rules.annotations import Dims, plain_name
from ._tree.contract import as_size
from ._tree.node import Node

# Names of ours in the source start so; a field may be called batch, Tensor or len.
_OURS = {
    "_t_Tensor": Tensor,
    "_t_special": (Tensor, Node, Absent),
    "_t_as_size": as_size,
    "_t_empty": Size(()),
    "_t_set_up": set_up,
    "_t_unknown_arguments": unknown_arguments,
    "_t_missing_argument": missing_argument,
    "_t_factory": Absent.FACTORY,
    "_t_required": Absent.REQUIRED,
    "_t_isinstance": isinstance,
    "_t_len": len,
    "_t_object": object,
    "_t_RuntimeError": RuntimeError,
}
_DOORS = ("batch_size", "device", "names")


class _Slow(Exception):
    """A field that the fast path has no condition for."""


def write_init(cls: Any, columns: list[Any], declared: Mapping[str, Field], options: Options) -> Any:
    """The __init__ of a class: `columns` are its dataclass fields, InitVars included."""
    source, names = init_source(cls, columns, declared, options)
    return compiled(source, {**_OURS, **names, "_t_class": cls}, f"{cls.__qualname__}.__init__")


def write_make(cls: Any, columns: list[Any], declared: Mapping[str, Field], options: Options) -> Any:
    """Like the __init__ of a class, without __post_init__; None where some column is no argument."""
    if not all(one.init for one in columns) or any(one.name in _DOORS for one in columns):
        return None
    stored = [one for one in columns if not is_init_var(one)]
    source, names = init_source(cls, stored, declared, options, runs_post_init=False)
    return compiled(source, {**_OURS, **names, "_t_class": cls}, f"{cls.__qualname__} out of entries")


def compiled(source: str, names: dict[str, Any], title: str) -> Any:
    """The function that a source defines, with a file name under which tracebacks find its lines."""
    number = 0
    while (file := f"<tensorclass {title}{f' {number}' if number else ''}>") in linecache.cache:
        number += 1
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names["__init__"]


def init_source(
    cls: Any, columns: list[Any], declared: Mapping[str, Field], options: Options, runs_post_init: bool = True
) -> tuple[str, dict[str, Any]]:
    """The source of __init__ and the values that it names."""
    names: dict[str, Any] = {}
    own = "_t_self" if any(one.name == "self" for one in columns) else "self"
    doors = [door for door in _DOORS if all(one.name != door for one in columns)]
    lines = [f"def __init__({', '.join([own, *_parameters(columns, names, doors)])}):"]
    lines += ["    if _t_unknown:", "        raise _t_unknown_arguments(_t_class, _t_unknown)"]
    for one in columns:
        if is_init_var(one) and one.default is dataclasses.MISSING:
            missing = f"raise _t_missing_argument(_t_class, {one.name!r})"
            lines += [f"    if {one.name} is _t_required:", f"        {missing}"]
        if one.default_factory is not dataclasses.MISSING:
            names[f"_t_make_{one.name}"] = one.default_factory
            if one.init:
                lines += [f"    if {one.name} is _t_factory:", f"        {one.name} = _t_make_{one.name}()"]
            else:
                lines.append(f"    {one.name} = _t_make_{one.name}()")
        elif one.default is not dataclasses.MISSING and (_is_heavy(one.default) or not one.init):
            lines += [f"    if {one.name} is _t_factory:"] if one.init else []
            lines.append(f"    {'    ' if one.init else ''}{one.name} = _t_default_{one.name}")
    stored = [one.name for one in columns if not is_init_var(one) and _has_value(one)]
    values = "{" + ", ".join(f"{name!r}: {name}" for name in stored) + "}"
    given = ", ".join(door if door in doors else "None" for door in _DOORS)
    slow = f"_t_set_up({own}, {values}, {given})"
    try:
        lines += _fast(own, [declared[name] for name in stored], options, names, doors, slow, cls._in_dict)
    except _Slow:
        lines.append(f"    {slow}")
    if runs_post_init and hasattr(cls, "__post_init__"):
        lines.append(f"    {own}.__post_init__({', '.join(one.name for one in columns if is_init_var(one))})")
    return "\n".join(lines) + "\n", names


def _is_heavy(default: Any) -> bool:
    # torch.compile cannot read a tensor that is the default of a parameter; as a global it can.
    return not (default is None or isinstance(default, (bool, int, float, str)))


def _has_value(column: Any) -> bool:
    missing = dataclasses.MISSING
    return column.init or column.default is not missing or column.default_factory is not missing


def _parameters(columns: list[Any], names: dict[str, Any], doors: list[str]) -> list[str]:
    shown: dict[bool, list[str]] = {False: [], True: []}
    for one in columns:
        default = ""
        if one.default is not dataclasses.MISSING:
            names[f"_t_default_{one.name}"] = one.default
            default = "=_t_factory" if _is_heavy(one.default) else f"=_t_default_{one.name}"
        elif one.default_factory is not dataclasses.MISSING:
            default = "=_t_factory"
        else:
            # Python's own error for a missing argument would come before ours for a misspelt one.
            default = "=_t_required"
        if one.init:
            shown[one.kw_only is True].append(one.name + default)
    return [*shown[False], "*", *shown[True], *(f"{door}=None" for door in doors), "**_t_unknown"]


# The fast path --------------------------------------------------------------------------------------------------------


def _fast(
    own: str,
    fields: list[Field],
    options: Options,
    names: dict[str, Any],
    doors: list[str],
    slow: str,
    in_dict: bool,
) -> list[str]:
    if options.autocast or not in_dict:
        raise _Slow
    writer = _Conditions(names)
    for one in fields:
        writer.add(one)
    first = [f"{door} is None" for door in ("device", "names") if door in doors]
    if writer.voter is None and any(one.votes for one in fields):
        first.append("batch_size is not None")  # Only fields that may be None could tell it.
    head = " and ".join([*first, *writer.kinds]) or "True"
    inferred = writer.voter or "_t_empty"
    store = [f"        _t_store[{one.name!r}] = {one.name}" for one in fields]
    slots = {"batch": "_t_batch", "device": None, "names": None, "locked": False, "leaves": None, "cache": None}
    shapes = ["    if _t_fits:", "        try:", *(f"            {line}" for line in writer.shapes)]
    # A nested tensor of the strided layout has no shape.
    shapes += ["        except _t_RuntimeError:", "            _t_fits = False"]
    return [
        f"    _t_fits = {head}",
        *(shapes if writer.shapes else []),
        "    if _t_fits:",
        f"        _t_batch = {inferred} if batch_size is None else _t_as_size(batch_size)",
        "        _t_dims = _t_len(_t_batch)",
        *(f"        {line}" for line in writer.sizes),
        f"        _t_fits = {' and '.join(writer.checks) or True}",
        "    if _t_fits:",
        f"        _t_store = {own}.__dict__",
        *store,
        *(f"        _t_object.__setattr__({own}, '_{slot}', {value})" for slot, value in slots.items()),
        "    else:",
        f"        {slow}",
    ]


class _Conditions:
    """Conditions in Python for the fields of a class: first the kinds, then shapes against the batch size."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self.kinds: list[str] = []
        self.shapes: list[str] = []
        self.sizes: list[str] = []
        self.checks: list[str] = []
        self.voter: str | None = None  # the expression of the batch size that the first voting field tells
        self.bound: dict[str, str] = {}  # where the size of a named dim is read
        self.seen: dict[str, str] = {}  # the shape of the first field with this annotation
        self.last: str | None = None  # the shape checked last: fields often have the same one

    def add(self, one: Field) -> None:
        if one.anything or (one.data and (one.tensor or one.nodes)) or len(one.held) > max(1, len(one.data)):
            raise _Slow
        if one.data or not one.held:
            self.kinds.append(f"not _t_isinstance({one.name}, _t_special)")
            return
        held = one.held[0]
        kind, shape = "_t_Tensor", f"{one.name}.shape"
        if held.is_node:
            kind, shape = f"_t_class_{one.name}", f"{one.name}._batch"
            self.names[kind] = held.type
        is_kind = f"_t_isinstance({one.name}, {kind})"
        dtypes = []
        if held.dtypes is not None:
            word = f"_t_dtypes_{held.word.partition('[')[0]}"
            self.names[word] = held.dtypes
            dtypes = [f"{one.name}.dtype in {word}"]
        if one.optional:
            fits = [is_kind, *self._fits(held.dims, shape, False), *dtypes]
            self.checks.append(f"({one.name} is None or {' and '.join(fits)})")
            return
        self.kinds.append(is_kind)
        self.shapes.append(f"_t_shape_{one.name} = {shape}")
        shape = f"_t_shape_{one.name}"
        if self.voter is None and held.dims is not None and held.dims.has_batch:
            behind = len(held.dims.after)
            self.voter = f"{shape}[:-{behind}]" if behind else shape
        self.checks += [*self._fits(held.dims, shape, True), *dtypes]

    def _fits(self, dims: Dims | None, shape: str, is_local: bool) -> list[str]:
        leading = f"{shape}[:_t_dims] == _t_batch"
        if dims is None:
            if is_local:
                last, self.last = self.last, shape
                return [leading if last is None else f"({shape} == {last} or {leading})"]
            return [leading]
        if dims.text in self.seen:
            return [f"{shape} == {self.seen[dims.text]}"]
        if dims.before and dims.many is not None:
            raise _Slow
        ones = dims.before + dims.after
        fixed = dims.fixed
        if is_local and dims.exact:
            self.seen[dims.text] = shape
        if dims.has_batch and fixed is not None:
            return [f"{shape} == {self._whole(fixed)}"]
        if dims.many is not None and not dims.has_batch and dims.many.name is not None:
            raise _Slow
        rank = f"_t_dims + {len(ones)}" if dims.has_batch else str(len(ones))
        found = [f"_t_len({shape}) {'==' if dims.many is None or dims.has_batch else '>='} {rank}", leading]
        for place, one in enumerate(ones, -len(ones)):
            found += self._size(one.size, one.broadcast, f"{shape}[{place}]", is_local)
        return found

    def _size(self, size: Any, broadcast: bool, there: str, is_local: bool) -> list[str]:
        if broadcast:
            raise _Slow
        if size is None:
            return []
        if isinstance(size, int):
            return [f"{there} == {size}"]
        name = plain_name(size)
        if name is None or (name not in self.bound and not is_local):
            raise _Slow
        known = self.bound.setdefault(name, there)
        return [] if known == there else [f"{there} == {known}"]

    def _whole(self, fixed: tuple[int, ...]) -> str:
        if not fixed:
            return "_t_batch"
        name = "_t_whole_" + "_".join(map(str, fixed))
        line = f"{name} = (*_t_batch, {', '.join(map(str, fixed))})"
        if line not in self.sizes:
            self.sizes.append(line)
        return name
