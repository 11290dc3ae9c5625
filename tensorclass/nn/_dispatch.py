"""Call a module with plain tensors: arguments in, a container built, results out."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from .._rules import errors
from .._rules.flow import DISCARD
from .._rules.keys import Key
from .._tensordict import TensorDict
from .._tree.node import Node
from ._keys import argument_name, keys_of

F = TypeVar("F", bound=Callable[..., Any])
MISSING: Any = object()
ENABLED = os.environ.get("DISPATCH_TDNN_MODULES", "1").lower() not in ("0", "false", "no", "off")


@overload
def dispatch(forward: F, /) -> F: ...
@overload
def dispatch(
    separator: str = "_",
    source: str | Sequence[Key] = "in_keys",
    dest: str | Sequence[Key] = "out_keys",
    auto_batch_size: bool = True,
) -> Callable[[F], F]: ...
def dispatch(
    separator: Any = "_",
    source: str | Sequence[Key] = "in_keys",
    dest: str | Sequence[Key] = "out_keys",
    auto_batch_size: bool = True,
) -> Any:
    """Let the forward of a module take tensors: by position, or by a keyword named after the key.

    >>> from tensorclass.nn import TensorDictModuleBase
    >>> class Double(TensorDictModuleBase):
    ...     in_keys, out_keys = [("robot", "joints")], ["doubled"]
    ...     @dispatch
    ...     def forward(self, tensordict):
    ...         return tensordict.set("doubled", 2 * tensordict["robot", "joints"])
    >>> Double()(robot_joints=torch.ones(2))
    tensor([2., 2.])

    separator: joins the parts of a nested key in a keyword. source, dest: the keys, or the attributes that hold them.
    auto_batch_size: whether the container has the leading dims that all arguments share as batch size, or none.
    """
    if callable(separator):
        return _dispatching(separator, "_", source, dest, auto_batch_size)
    return lambda forward: _dispatching(forward, separator, source, dest, auto_batch_size)


def _dispatching(
    forward: Callable[..., Any], separator: str, source: str | Sequence[Key], dest: str | Sequence[Key], auto: bool
) -> Callable[..., Any]:
    if not ENABLED:
        return forward
    first = next(iter(list(inspect.signature(forward).parameters)[1:]), "tensordict")

    @functools.wraps(forward)
    def call(self: Any, tensordict: Any = MISSING, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(tensordict, Node):
            return forward(self, tensordict, *args, **kwargs)
        if first in kwargs:
            return forward(self, **kwargs)
        args = () if tensordict is MISSING else (tensordict, *args)
        tensordict, args, kwargs = _packed(_keys(self, "in_keys", source), args, kwargs, separator)
        if auto:
            tensordict.auto_batch_size_()
        out = forward(self, tensordict, *args, **kwargs)
        return _results(out, _keys(self, "out_keys", dest))

    del call.__wrapped__  # torch.export binds arguments to the signature: it must be the one that takes tensors.
    return call


def with_tensors(self: Any, tensordict: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call of a module with what is no container: for a forward that asks itself, which saves a call."""
    if "tensordict" in kwargs:
        return self.forward(kwargs.pop("tensordict"), *args, **kwargs)
    if not ENABLED:
        raise TypeError(errors.no_container(kwargs))
    args = () if tensordict is MISSING else (tensordict, *args)
    tensordict, args, kwargs = _packed(_keys(self, "in_keys", "in_keys"), args, kwargs, "_")
    return _results(self.forward(tensordict, *args, **kwargs), _keys(self, "out_keys", "out_keys"))


def _results(out: Any, keys: Sequence[Key]) -> Any:
    values = tuple([out[key] for key in keys if key != DISCARD])
    return values[0] if len(values) == 1 else values


def _keys(module: Any, usual: str, given: str | Sequence[Key]) -> Sequence[Key]:
    if given == usual:
        # The list itself, where there is one: the property copies it.
        kept: list[Key] | None = module.__dict__.get(f"_{usual}")
        if kept is not None and (usual == "in_keys" or module._selected is None):
            return kept
    return getattr(module, given) if isinstance(given, str) else keys_of("keys", given)


def _packed(
    keys: Sequence[Key], args: tuple[Any, ...], kwargs: dict[str, Any], separator: str
) -> tuple[TensorDict, tuple[Any, ...], dict[str, Any]]:
    """The arguments that are inputs in a container, and the rest of them."""
    tensordict = TensorDict()
    fields = tensordict._fields
    place = 0
    for key in keys:
        if key in fields or (fields and key.__class__ is tuple and key in tensordict):
            continue  # One key that feeds two arguments.
        name = key if isinstance(key, str) else argument_name(key, separator)
        if place < len(args):
            if name in kwargs:
                raise errors.StructureError("Duplicated argument in args and kwargs.")
            tensordict[key] = args[place]
            place += 1
        elif name in kwargs:
            tensordict[key] = kwargs.pop(name)
    return tensordict, args[place:], kwargs
