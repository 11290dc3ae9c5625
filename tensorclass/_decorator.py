"""@tensorclass: the decorator form, which makes a plain class body into a TensorClass."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, field
from typing import Any, TypeVar, overload

from typing_extensions import dataclass_transform

from ._meta import TensorClassMeta
from ._tensorclass import TensorClass

C = TypeVar("C")


@overload
@dataclass_transform(eq_default=False, field_specifiers=(field,))
def tensorclass(cls: type[C], /) -> type[C]: ...
@overload
@dataclass_transform(eq_default=False, field_specifiers=(field,))
def tensorclass(
    *,
    frozen: bool = False,
    autocast: bool = False,
    nocast: bool = False,
    tensor_only: bool = False,
    shadow: bool = False,
    kw_only: bool = False,
) -> Callable[[type[C]], type[C]]: ...
def tensorclass(cls: type | None = None, /, **options: bool) -> Any:
    """Make a class body into a TensorClass of the same name.

    >>> @tensorclass
    ... class Sample:
    ...     image: torch.Tensor
    >>> Sample(image=torch.zeros(4, 2), batch_size=[4])[0].image.shape
    torch.Size([2])

    Checkers need the mypy plugin to see the inherited methods; `class Sample(TensorClass)` they see without it.
    """
    if cls is None:
        return lambda body: _remade(body, options)
    return _remade(cls, options)


def _remade(body: type, options: dict[str, bool]) -> Any:
    if isinstance(body, TensorClassMeta):
        if not options:
            return body
        bases, namespace = body.__bases__, dict(body.__dict__["_written"])
    else:
        bases = (*(base for base in body.__bases__ if base is not object), TensorClass)
        namespace = {name: value for name, value in vars(body).items() if name not in ("__dict__", "__weakref__")}
        if "__dataclass_params__" in namespace:
            namespace = _without_dataclass(namespace)
        if "__orig_bases__" in namespace:
            namespace["__orig_bases__"] = (*namespace["__orig_bases__"], TensorClass)
    namespace["__qualname__"] = body.__qualname__
    made: Any = TensorClassMeta(body.__name__, bases, namespace, **options)
    _hand_over(body, made)
    return made


def _without_dataclass(namespace: dict[str, Any]) -> dict[str, Any]:
    """The body of a class as it was before @dataclass, which @tensorclass stands over, wrote to it."""
    fields = namespace["__dataclass_fields__"]
    written = {name for name, value in namespace.items() if _is_generated(value)}
    written |= {"__dataclass_fields__", "__dataclass_params__", "__match_args__", "__hash__"}
    body = {name: value for name, value in namespace.items() if name not in written}
    own = [fields[name] for name in namespace.get("__annotations__", ()) if name in fields]
    body.update({one.name: one for one in own if one.default_factory is not MISSING or not one.init})
    return body


def _is_generated(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and inspect.unwrap(value).__code__.co_filename == "<string>"


def _hand_over(body: type, made: type) -> None:
    """Let `super()` and `__class__` in methods mean the class that was made."""
    for value in vars(made).values():
        for function in _functions(value):
            for cell in function.__closure__ or ():
                try:
                    if cell.cell_contents is body:
                        cell.cell_contents = made
                except ValueError:  # an empty cell
                    continue


def _functions(value: Any) -> Iterator[types.FunctionType]:
    if isinstance(value, types.FunctionType):
        yield value
    elif isinstance(value, (classmethod, staticmethod)):
        yield from _functions(value.__func__)
    elif isinstance(value, property):
        for part in (value.fget, value.fset, value.fdel):
            yield from _functions(part)
    elif hasattr(value, "func"):
        yield from _functions(value.func)
    elif hasattr(value, "__wrapped__"):
        yield from _functions(value.__wrapped__)
