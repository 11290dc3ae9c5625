"""From what stands in a class body to a type: strings, forward references, type variables."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, ForwardRef, TypeVar

Names = Mapping[str, Any]


class Unresolved(Exception):
    """An annotation names something that is not there (yet)."""


class Scope:
    """Where the names in the annotations of one class are looked up.

    Class creation passes the variables of the function that makes the class.  They are not kept: at first construction
    the functions that are running then are looked at instead.
    """

    def __init__(self, owner: type, around: Names | None = None) -> None:
        self.owner = owner
        module = sys.modules.get(owner.__module__)
        self.module: dict[str, Any] = vars(module) if module is not None else {}
        parameters = {str(one.__name__): one for one in getattr(owner, "__type_params__", ())}
        mine = {owner.__name__: owner, **parameters}
        self.places: list[Names] = [around or {}, mine] if around is not None else [*_running(owner), mine]

    def look_up(self, text: str) -> Any:
        """The value of a string annotation."""
        local: dict[str, Any] = {}
        for place in self.places:
            local.update(place)
        try:
            return eval(text, self.module, local)
        except NameError:
            # Names of the class body come last: a field may be called as its own type is.
            local = {**vars(self.owner), **local}
        except Exception as problem:
            raise Unresolved(text) from problem
        try:
            return eval(text, self.module, local)
        except Exception as problem:
            raise Unresolved(text) from problem


def _running(owner: type) -> Iterator[Names]:
    """The variables of the running functions, outermost first, in which the class was defined."""
    outer = owner.__qualname__.split(".<locals>")[:-1]
    names = {part.rpartition(".")[2] for part in outer}
    found = []
    frame = sys._getframe(1) if names else None
    while frame is not None:
        if frame.f_code.co_name in names and frame.f_globals.get("__name__") == owner.__module__:
            found.append(dict(frame.f_locals))
        frame = frame.f_back
    yield from reversed(found)


def settle(annotation: Any, scope: Scope, bound: Mapping[Any, Any]) -> Any:
    """An annotation with the strings read, and the wrappers that say nothing about the value taken off.

    `bound` says what the type variables stand for.
    """
    for _ in range(32):  # an alias may name an alias; a chain that never ends means nothing
        if isinstance(annotation, ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            annotation = scope.look_up(annotation)
        elif isinstance(annotation, TypeVar):
            annotation = bound[annotation] if annotation in bound else _limit(annotation)
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        elif typing.get_origin(annotation) in _WRAPPERS:
            annotation = typing.get_args(annotation)[0]
        elif annotation in _SELF:
            annotation = scope.owner
        else:
            return annotation
    raise Unresolved(str(annotation))


def _limit(variable: TypeVar) -> Any:
    if variable.__bound__ is not None:
        return variable.__bound__
    return typing.Union[variable.__constraints__] if variable.__constraints__ else Any  # noqa: UP007


def alternatives(annotation: Any, scope: Scope, bound: Mapping[Any, Any]) -> list[Any]:
    """The members of a union, settled; a type that is no union is its only member."""
    annotation = settle(annotation, scope, bound)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [one for part in typing.get_args(annotation) for one in alternatives(part, scope, bound)]
    return [annotation]


def arguments(alias: Any, bound: Mapping[Any, Any]) -> dict[Any, Any]:
    """What the type variables of a class stand for in Pair[Obs]."""
    origin = typing.get_origin(alias)
    variables = getattr(origin, "__parameters__", ())
    given = [bound.get(one, one) if isinstance(one, TypeVar) else one for one in typing.get_args(alias)]
    return dict(zip(variables, given))


def by_owner(cls: type, bound: Mapping[Any, Any]) -> dict[type, dict[Any, Any]]:
    """What type variables stand for in the annotations of each base class, as in class ObsPair(Pair[Obs])."""
    found: dict[type, dict[Any, Any]] = {cls: dict(bound)}
    waiting = [cls]
    while waiting:
        owner = waiting.pop()
        for base in owner.__dict__.get("__orig_bases__", owner.__bases__):
            origin = typing.get_origin(base) or base
            if isinstance(origin, type) and origin is not typing.Generic and origin not in found:
                found[origin] = arguments(base, found[owner])
                waiting.append(origin)
    return found


def _known(*names: str) -> tuple[Any, ...]:
    modules = [typing, sys.modules.get("typing_extensions")]
    return tuple(getattr(module, name) for module in modules for name in names if hasattr(module, name))


_WRAPPERS: tuple[Any, ...] = _known("Final", "Required", "NotRequired", "ReadOnly")
_SELF: tuple[Any, ...] = _known("Self")
