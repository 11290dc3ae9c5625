"""From a class body to a typed class: fields, options, what is refused, and the generated __init__."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._accessors import compiled, write_init
from ._columns import as_init_var, is_class_var, is_field, is_init_var
from ._construct import Absent, frozen
from ._container import Container
from ._fields import Field, Options, read_all
from ._resolve import Scope, by_owner
from ._rules import errors
from ._rules.nearest import suggest
from ._rules.reserved import IN_PLACE, RESERVED

if TYPE_CHECKING:
    from ._declared import Declared

OPTIONS = tuple(one.name for one in dataclasses.fields(Options))
DOORS = ("batch_size", "device", "names")


class BadField(errors.RuleError, TypeError):
    """A field that a class cannot declare."""


class BadOption(errors.OptionError, TypeError):
    """A keyword in the header of a class that is no option."""


def unknown_option(name: str) -> Exception:
    """The error for a keyword in the header of a class that nothing takes."""
    known = (*OPTIONS, "kw_only")
    return BadOption(
        f"unknown class option {name!r}{suggest(name, known) or f'; the options are {errors.some_names(known)}'}"
    )


class Unset:
    """Stands in a class for a field that shadows a property, so that the value in the instance is found first."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            raise AttributeError(f"{self.name!r} is a field; read it on an instance")
        return instance.__getattr__(self.name)


def options_of(bases: tuple[type, ...], given: Mapping[str, bool | None], bracketed: tuple[str, ...]) -> Options:
    """The options of a class: those of its bases, then those in brackets, then those given as keywords."""
    chosen: dict[str, bool] = {}
    for base in reversed(bases):
        inherited = getattr(base, "_options", None)
        if inherited is not None:
            chosen.update({name: True for name in OPTIONS if getattr(inherited, name)})
    chosen.update(dict.fromkeys(bracketed, True))
    chosen.update({name: value for name, value in given.items() if value is not None})
    return Options(**chosen)


def refuse_slots(name: str, namespace: dict[str, Any]) -> None:
    """Take __slots__ out of a class body: fields sit in the instance __dict__, and there is nothing else to keep."""
    slots = namespace.pop("__slots__", ())
    fields = namespace.get("__annotations__", {})
    for slot in (slots,) if isinstance(slots, str) else slots:
        if slot not in fields and slot not in ("__dict__", "__weakref__"):
            raise BadField(f"{name} has {slot!r} in __slots__, which is no field; declare it as one")


def declare(cls: type[Declared], kw_only: bool, around: Mapping[str, Any]) -> None:
    """Make the fields of a new class known, and write its __init__ unless the body has one."""
    own = [name for name, annotation in inspect.get_annotations(cls).items() if not is_class_var(annotation)]
    _refuse_names(cls, own)
    _as_dataclass(cls, own, kw_only)
    columns: dict[str, Any] = cls.__dict__["__dataclass_fields__"]
    for door in DOORS:
        columns.pop(door, None) if _is_door(columns.get(door)) else None
    fields = [name for name, column in columns.items() if is_field(column)]
    for name in fields:
        _strip_default(cls, name)
    cls._columns = [column for column in columns.values() if is_field(column) or is_init_var(column)]
    cls._annotated = {name: _owner(cls, name) for name in fields}
    _refuse_order(cls)
    for door in DOORS:
        if door not in columns:
            # dataclasses.replace reads an InitVar with a default off the instance and hands it on: so the batch stays.
            columns[door] = as_init_var(door, _DOOR)
    cls._pending = ()
    finish(cls, around)


def read_fields(cls: type[Declared], bound: Mapping[Any, Any]) -> dict[str, Field]:
    """The fields of a generic class, when its type variables stand for these."""
    scopes = {owner: Scope(owner) for owner in set(cls._annotated.values())}
    return read_all(cls._annotated, scopes, by_owner(cls, bound))[0]


def finish(cls: type[Declared], around: Mapping[str, Any] | None = None) -> None:
    """Resolve the annotations; those that name something not there yet are tried again at first construction."""
    scopes = {owner: Scope(owner, around) for owner in set(cls._annotated.values())}
    declared, unresolved = read_all(cls._annotated, scopes, by_owner(cls, {}))
    for column in cls._columns:  # x: Tensor = None means Tensor | None, as it always did.
        if column.default is None and column.name in declared:
            declared[column.name] = dataclasses.replace(declared[column.name], optional=True)
    cls._declared = declared
    cls._pending = tuple(unresolved) if around is not None else ()
    _refuse_data(cls)
    init = _stub(cls) if cls._pending else write_init(cls, cls._columns, declared, cls._options)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    if not cls._pending:
        init.__signature__ = _signature(cls, init)
    simple = {} if cls._options.frozen else {name: one.simple for name, one in declared.items()}
    cls._simple = {name: one for name, one in simple.items() if one is not None}
    cls._init_fields = init
    if not cls._own_init:
        cls.__init__ = init  # type: ignore[method-assign]
    cls._is_frozen = cls._options.frozen
    if cls._is_frozen:
        for name in IN_PLACE:
            if name not in cls.__dict__:
                setattr(cls, name, _refusal(name))


def _refusal(name: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not name.startswith("__"):
            raise frozen(self, f"{name}()")
        is_key = name == "__setitem__" and isinstance(args[0], str)
        raise frozen(self, f"set {args[0]!r}" if is_key else "write rows in place")

    refuse.__name__ = name
    return refuse


def _stub(cls: type[Declared]) -> Any:
    source = (
        "def __init__(self, *args, **kwargs):\n"
        "    _t_finish(_t_class)\n"
        "    _t_class._init_fields(self, *args, **kwargs)\n"
    )
    return compiled(source, {"_t_finish": finish_late, "_t_class": cls}, f"{cls.__qualname__}.__init__, first call")


def finish_late(cls: type[Declared]) -> None:
    """Resolve at first construction what class creation could not."""
    if cls._pending:
        finish(cls)


# To the compiler this is a constant: it runs once, while tracing, and leaves nothing in the graph.
finish_late._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _refuse_names(cls: type[Declared], own: list[str]) -> None:
    for name in own:
        if name == "batch_size" or _is_internal(cls, name):
            raise BadField(f"field {name!r} of {cls.__name__}: the name is taken by the library; rename it")
        if name in RESERVED and not cls._options.shadow:
            raise BadField(
                f"field {name!r} of {cls.__name__} would hide TensorClass.{name}; rename it, or pass shadow=True"
            )


_OF_OTHERS = frozenset({"_dim", "_values"})  # Attributes of other containers that the engine asks every one for.


def _is_internal(cls: type, name: str) -> bool:
    """Whether the library itself keeps, or calls, something of that name on an instance."""
    if not name.startswith("_") or name.startswith("__"):
        return False
    package = __name__.partition(".")[0]
    ours = [owner for owner in cls.__mro__ if owner.__module__.partition(".")[0] == package]
    return name.startswith("_t_") or name in _OF_OTHERS or any(name in vars(owner) for owner in ours)


def _as_dataclass(cls: type[Declared], own: list[str], kw_only: bool) -> None:
    """Let dataclasses read the body: order, defaults, InitVar, KW_ONLY, ClassVar, and its own mistakes."""
    for name in own:
        # Without this, what a field shadows (a method, a property) would count as its default.
        if name not in cls.__dict__ and hasattr(cls, name):
            setattr(cls, name, dataclasses.field())
    documented = cls.__doc__
    cls.__doc__ = documented or "."  # dataclass would spend time on a signature
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    cls.__doc__ = documented
    for name in (
        "__repr__",
        "__eq__",
    ):  # One that dataclass wrote for a plain base knows the fields of that base alone.
        owner = next(owner for owner in cls.__mro__ if name in owner.__dict__)
        if not issubclass(owner, Container) and "__dataclass_params__" in owner.__dict__:
            setattr(cls, name, getattr(Container, name))
    if cls.__dict__.get("__replace__") is getattr(dataclasses, "_replace", ...):
        delattr(cls, "__replace__")  # From Python 3.13 on; ours does not run __post_init__ again.


def _strip_default(cls: type, name: str) -> None:
    if name in cls.__dict__:
        delattr(cls, name)
    hidden = inspect.getattr_static(cls, name, None)
    if hasattr(type(hidden), "__set__"):
        setattr(cls, name, Unset(name))


def _owner(cls: type, name: str) -> type:
    return next(owner for owner in cls.__mro__ if name in owner.__dict__.get("__annotations__", ()))


def _refuse_order(cls: type[Declared]) -> None:
    seen = None
    for one in cls._columns:
        if not one.init or one.kw_only is True:
            continue
        if one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING:
            seen = one.name
        elif seen is not None:
            raise BadField(
                f"field {one.name!r} of {cls.__name__} has no default but follows {seen!r}, which has one; "
                "give it a default, or pass kw_only=True"
            )


def _refuse_data(cls: type[Declared]) -> None:
    for at in cls._declared.values() if cls._options.tensor_only else ():
        if at.data:
            raise BadField(
                f"field {at.name!r} of {cls.__name__} is declared {at.words}; "
                "with tensor_only a field holds tensors or containers"
            )


_DOOR: Any = {"tensorclass": "an argument of the constructor, not a field"}


def _is_door(column: Any) -> bool:
    return column is not None and column.metadata is _DOOR


def _signature(cls: type[Declared], init: Any) -> inspect.Signature:
    signature = inspect.signature(init)
    known = {name: owner.__dict__["__annotations__"].get(name) for name, owner in _annotations(cls).items()}
    defaults = {one.name: one.default for one in cls._columns if one.default is not dataclasses.MISSING}
    shown = [
        one.replace(
            annotation=known.get(name, inspect.Parameter.empty),
            default=inspect.Parameter.empty if one.default is Absent.REQUIRED else defaults.get(name, one.default),
        )
        for name, one in signature.parameters.items()
        if name != "_t_unknown"
    ]
    return signature.replace(parameters=shown, return_annotation=None)


def _annotations(cls: type) -> dict[str, type]:
    return {name: owner for owner in reversed(cls.__mro__) for name in owner.__dict__.get("__annotations__", ())}


def running(module: str) -> dict[str, Any]:
    """The variables of the functions that are running in a module, where a class is being made there."""
    found: list[dict[str, Any]] = []
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != module:
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop.
    while frame is not None and frame.f_globals.get("__name__") == module and frame.f_locals is not frame.f_globals:
        found.append(frame.f_locals)
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop.
    return {name: value for place in reversed(found) for name, value in place.items()}
