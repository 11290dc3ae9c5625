"""Containers as objects of Ray: in its store once, seen by all processes of a machine without a copy."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .._container import Container
from .._functions import cat
from .._rules import errors
from ..io._pack import borrowing

ray: Any = importlib.import_module("ray")  # By name: checkers need not have it.
C = TypeVar("C", bound=Container)
D = TypeVar("D", bound=Container)


class RayObject(Generic[C]):
    """A container in the store of Ray; it may be handed to tasks and actors, and `ray_get` reads it."""

    def __init__(self, container: C) -> None:
        self.reference = ray.put(type(container).consolidate(container))


def ray_put(container: C) -> RayObject[C]:
    """Put a container into the store of Ray, in one piece."""
    return RayObject(container)


def ray_get(held: RayObject[C], copy: bool = False) -> C:
    """The container in the store of Ray; without a copy its tensors are the memory of the store, not to be written."""
    with borrowing():
        out: C = ray.get(held.reference)
    return type(out).clone(out) if copy else type(out).lock_(out)


def ray_map(call: Callable[[C], D], container: C, parts: int | None = None) -> D:
    """call(rows) for parts of a container's rows, each in a process of Ray; what they give, side by side.

    The container is put into the store once, and each process sees the memory there. parts: as many as Ray has CPUs.
    """
    if not container._batch:
        raise errors.ShapeError("ray_map: batch size [] has no rows to share out; a first batch dim would do")
    rows = container._batch[0]
    count = parts or int(ray.cluster_resources().get("CPU", os.cpu_count() or 1))
    step = max(1, -(-rows // count))
    held, task = ray_put(container), ray.remote(_call)
    results = ray.get([task.remote(call, held, start, start + step) for start in range(0, max(rows, 1), step)])
    return cat(results)  # type: ignore[no-any-return]  # Of the class that the calls give.


def _call(call: Callable[[Any], Any], held: RayObject[Any], start: int, stop: int) -> Any:
    whole = ray_get(held)
    out = call(type(whole).__getitem__(whole, slice(start, stop)))
    if not isinstance(out, Container) or not out._batch:
        raise errors.KindError("ray_map: the function must give a container with a batch dim, the rows of its part")
    return type(out).consolidate(out)
