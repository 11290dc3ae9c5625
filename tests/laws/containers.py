"""Containers of every kind with batch size (4, 3), and one with a batch dim of size 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, lazy_stack


class Inner(TensorClass):
    x: Tensor


class Typed(TensorClass):
    pos: Float[Tensor, "*batch 2"]
    mass: Tensor
    inner: Inner
    label: str = "none"
    weight: Tensor | None = None


class Frozen(TensorClass, frozen=True):
    pos: Float[Tensor, "*batch 2"]
    mass: Tensor


def numbers(*shape: int) -> Tensor:
    """Different floats, none of them 0, so that a wrong place shows."""
    return torch.arange(1.0, 1.0 + torch.Size(shape).numel()).reshape(shape)


def flat(*batch: int) -> Any:
    return TensorDict({"a": numbers(*batch), "b": numbers(*batch, 2)}, batch_size=batch)


def nested(*batch: int) -> Any:
    """A nested container with more batch dims than its parent."""
    inner = TensorDict({"c": numbers(*batch, 5, 2)}, batch_size=[*batch, 5])
    return TensorDict({"a": numbers(*batch), "n": inner, "m": {"d": numbers(*batch, 2)}}, batch_size=batch)


def with_data(*batch: int) -> Any:
    return TensorDict({"a": numbers(*batch, 2), "tag": "blue", "none": None}, batch_size=batch)


def typed(*batch: int) -> Any:
    inner = Inner(x=numbers(*batch, 2), batch_size=batch)
    return Typed(pos=numbers(*batch, 2), mass=numbers(*batch), inner=inner, batch_size=batch)


def locked(*batch: int) -> Any:
    return nested(*batch).lock_()


def named(*batch: int) -> Any:
    out = flat(*batch)
    out.names = [f"d{dim}" for dim in range(len(batch))]
    return out


def lazy(*batch: int) -> Any:
    """A lazy stack along the first batch dim of what nested() is."""
    return lazy_stack(list(nested(*batch).unbind(0)), 0)


def lazy_last(*batch: int) -> Any:
    """A lazy stack along the last batch dim."""
    return lazy_stack(list(flat(*batch).unbind(len(batch) - 1)), len(batch) - 1)


def lazy_typed(*batch: int) -> Any:
    """A lazy stack of a class."""
    return lazy_stack(list(typed(*batch).unbind(0)), 0)


KINDS: dict[str, Callable[..., Any]] = {
    "flat": flat, "nested": nested, "data": with_data, "typed": typed, "locked": locked, "named": named,
    "lazy": lazy, "lazy last": lazy_last, "lazy typed": lazy_typed,
}  # fmt: skip


def frozen(*batch: int) -> Any:
    return Frozen(pos=numbers(*batch, 2), mass=numbers(*batch), batch_size=batch)


def memmap(*batch: int) -> Any:
    """A container whose tensors are maps of files, which are removed with it."""
    return nested(*batch).memmap()


def with_rows(*batch: int) -> Any:
    """A container with one plain value a row."""
    words = NonTensorStack(*"abcdefghijklmnopqrstuvwx"[: torch.Size(batch).numel()]).reshape(batch)
    return TensorDict({"a": numbers(*batch, 2), "words": words}, batch_size=batch)


# More kinds, for laws that hold for all containers and change none.
EVERY: dict[str, Callable[..., Any]] = {**KINDS, "frozen": frozen, "memmap": memmap, "rows": with_rows}


def base(container: Any) -> type[Any]:
    """The class that every op keeps: an op that needs one tensor makes a lazy stack dense."""
    return next((cls for cls in (Typed, Frozen) if isinstance(container, cls)), TensorDict)


def leaves(container: Any) -> dict[Any, Tensor]:
    """The tensors of a container by key."""
    return dict(container.items(True, True))


def by_feature(call: Callable[[Tensor], Any], leaf: Tensor, batch_dims: int) -> Tensor:
    """call on every feature slice of a leaf, a tensor of batch shape, put together again: the other side of a law."""
    features = leaf.shape[batch_dims:]
    slices = leaf.reshape(*leaf.shape[:batch_dims], -1).unbind(-1)
    done = torch.stack([call(one) for one in slices], -1)
    return done.reshape((*done.shape[:-1], *features))
