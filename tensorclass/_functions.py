"""torch.stack(containers) and all other functions of torch on containers: one dict for every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._methods.functions import METHODS
from ._rules import errors
from ._tree import walk
from ._tree.node import Node

LIKE: dict[str, Callable[..., Tensor]] = {
    "zeros_like": torch.zeros_like, "ones_like": torch.ones_like, "empty_like": torch.empty_like,
    "rand_like": torch.rand_like, "randn_like": torch.randn_like, "full_like": torch.full_like,
    "randint_like": torch.randint_like,
}  # fmt: skip
KEEP = (
    "clone detach clamp lerp addcmul addcdiv masked_fill masked_select tensor_split min max numel is_contiguous".split()
)
STARRED = ("dims", "shape", "size", "repeats", "shifts")


def call_torch(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What torch's function does to containers, or NotImplemented."""
    handler = HANDLERS.get(func)
    if handler is None:
        with torch._C.DisableTorchFunctionSubclass():  # torch's own words, or an operator that takes any pytree.
            return func(*args, **kwargs)
    return handler(*args, **kwargs)


def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """torch.stack of containers."""
    items = listed("stack", tensors)
    done = type(lead(items))._join("stack", items, dim)
    return done if out is None else type(out).update(out, done, inplace=True)


def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """torch.cat of containers."""
    items = listed("cat", tensors)
    done = type(lead(items))._join("cat", items, dim)
    return done if out is None else type(out).update(out, done, inplace=True)


def listed(op: str, items: Any) -> list[Any]:
    """The items of a join: containers all."""
    found: list[Any] = list(items)
    if not found:
        raise errors.ShapeError(f"{op}: no containers were given; at least one would do")
    kinds = {*map(type, found)}
    if len(kinds) == 1 and isinstance(found[0], Node):
        return found
    for number, item in enumerate(found):
        if not isinstance(item, Node):
            raise errors.KindError(f"{op}: item {number} is a {type(item).__name__}, no container")
    return found


def lead(items: list[Any]) -> Any:
    """The item whose class knows how to join: a lazy stack where there is one."""
    first = items[0]
    for item in {type(item): item for item in items}.values():
        if item._join_rank > first._join_rank:
            first = item
    return first


def where(condition: Any, input: Any, other: Any, *, out: Any = None) -> Any:
    """torch.where with containers."""
    if isinstance(input, Node):
        return type(input).where(input, condition, other)  # type: ignore[attr-defined]
    return type(other).where(other, ~torch.as_tensor(condition), input)


def like(name: str) -> Callable[..., Any]:
    """torch.zeros_like and its kin."""
    call = LIKE[name]

    def make(input: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("memory_format", None)
        out = walk.each(input, lambda leaf: call(leaf, *args, **kwargs))
        if kwargs.get("device") is not None:
            object.__setattr__(out, "_device", torch.device(kwargs["device"]))
        return out

    return make


def method(name: str) -> Callable[..., Any]:
    """The function that is a method of every container."""

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        starred = [kwargs.pop(word) for word in STARRED if word in kwargs and name in STARS]
        if not isinstance(input, Node):  # The container is the second operand: torch.add(tensor, td).
            if args and isinstance(args[0], Node):
                return type(args[0])._reflected(args[0], name, input)
            return NotImplemented
        return getattr(type(input), name)(input, *starred, *args, **kwargs)

    return call


STARS = ("permute", "reshape", "view", "expand", "flip", "repeat")


def _handlers() -> dict[Any, Callable[..., Any]]:
    found: dict[Any, Callable[..., Any]] = {}
    for spelled, name in [*METHODS.items(), *[(name, name) for name in KEEP]]:
        call = method(name)
        for home in (torch, Tensor, torch.special):
            func = getattr(home, spelled, None)
            if func is not None and callable(func):
                found.setdefault(func, call)
    for name in LIKE:
        found[getattr(torch, name)] = like(name)
    for name, join_ in (("stack", stack), ("cat", cat), ("concat", cat), ("concatenate", cat)):
        found[getattr(torch, name)] = join_
    found[torch.where] = where
    found[torch.softmax] = method("softmax")
    found[torch.bitwise_not] = method("__invert__")
    return found


HANDLERS = _handlers()

__all__ = ["call_torch", "cat", "stack", "where"]
