"""What a spec is asked, a function each; the answers stand in draw.py, check.py, project.py, encode.py and count.py."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from torch import Size

from ..._rules import errors


def word(spec: Any) -> str:
    """What a user calls a spec: Bounded, be it discrete or continuous."""
    kind: type = getattr(spec, "_kind", type(spec))
    return kind.__name__


def _unknown(spec: Any, question: str) -> Exception:
    name = word(spec)
    return errors.KindError(f"{'an' if name[0] in 'AEIOU' else 'a'} {name} has no {question}")


@singledispatch
def rand(spec: Any, size: Size) -> Any:
    """A random value of the domain, with `size` in front of the spec's own shape."""
    raise _unknown(spec, "rand")


@singledispatch
def full(spec: Any, size: Size, number: int) -> Any:
    """A value filled with a number, be it in the domain or not."""
    raise _unknown(spec, "zero")


@singledispatch
def fault(spec: Any, value: Any) -> str | None:
    """Why a value is not in the domain; None if it is."""
    raise _unknown(spec, "is_in")


@singledispatch
def misfit(spec: Any, value: Any) -> str | None:
    """Why a value has not the shape and dtype of the spec; None if it has."""
    raise _unknown(spec, "type_check")


@singledispatch
def project(spec: Any, value: Any) -> Any:
    """The value of the domain that is nearest."""
    raise _unknown(spec, "project")


@singledispatch
def encode(spec: Any, value: Any) -> Any:
    """A value of Python or numpy, as the tensor that stands for it."""
    raise _unknown(spec, "encode")


@singledispatch
def to_numpy(spec: Any, value: Any) -> Any:
    """The value of numpy that a tensor stands for."""
    raise _unknown(spec, "to_numpy")


@singledispatch
def stack(first: Any, specs: list[Any], dim: int) -> Any:
    """Specs side by side: one of their kind where they are alike but for bounds and masks, else a stack of them."""
    raise _unknown(first, "place in a stack of specs")


@singledispatch
def beside(first: Any, specs: list[Any], dim: int) -> Any:
    """Specs in a stack, alike or not."""
    raise _unknown(first, "place in a stack of specs")


@singledispatch
def cardinality(spec: Any) -> float:
    """How many values the domain has."""
    return float("inf")


@singledispatch
def enumerate_all(spec: Any, use_mask: bool) -> Any:
    """Every value of the domain, along a new first dim."""
    raise _unknown(spec, "enumerate: its domain is not finite")
