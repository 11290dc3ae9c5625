"""Plain data as JSON, and back without loss."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

Json: TypeAlias = Any  # Honest Any: mypy knows no recursive alias of dicts and lists that is pleasant to write.


class NotPlain(Exception):
    """A value that has no form in JSON; it would have to be pickled."""


def is_json(value: object) -> bool:
    """Whether JSON gives the very same value back."""
    kind = type(value)
    if kind is float:
        return math.isfinite(value)  # type: ignore[arg-type]  # A float.
    if kind is list:
        return all(map(is_json, value))  # type: ignore[call-overload]  # A list.
    if kind is dict:
        return all(type(key) is str and is_json(one) for key, one in value.items())  # type: ignore[attr-defined]
    return value is None or kind in (str, int, bool)


def encode(value: Any) -> Json:
    """A value as JSON, with a tag for each kind that JSON does not have.

    >>> encode((1, b"x"))
    {'tuple': [1, {'bytes': 'eA=='}]}
    """
    kind = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if kind is list:
        return [encode(one) for one in value]
    if kind is dict:
        return {"dict": [[encode(key), encode(one)] for key, one in value.items()]}
    if kind is torch.Size:
        return {"size": list(value)}
    if kind in (tuple, set, frozenset):
        return {kind.__name__: [encode(one) for one in value]}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if kind is complex:
        return {"complex": [value.real, value.imag]}
    if kind is torch.dtype:
        return {"dtype": str(value).removeprefix("torch.")}
    if kind is torch.device:
        return {"device": str(value)}
    raise NotPlain(kind.__name__)


def decode(form: Json) -> Any:
    """The value of a form that encode made; ValueError for anything else."""
    kind = type(form)
    if form is None or kind in (str, int, float, bool):
        return form
    if kind is list:
        return [decode(one) for one in form]
    if kind is dict and len(form) == 1:
        ((tag, inner),) = form.items()
        if tag in _DECODERS:
            try:
                return _DECODERS[tag](inner)
            except (TypeError, KeyError, RuntimeError, OverflowError) as error:
                raise ValueError(f"{form!r} is no plain value") from error
    raise ValueError(f"{form!r} is no plain value")


def _dtype(name: str) -> torch.dtype:
    found = vars(torch).get(name)
    if not isinstance(found, torch.dtype):
        raise TypeError(name)
    return found


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "dict": lambda pairs: {decode(key): decode(one) for key, one in pairs},
    "size": torch.Size,
    "tuple": lambda items: tuple([decode(one) for one in items]),
    "set": lambda items: {decode(one) for one in items},
    "frozenset": lambda items: frozenset([decode(one) for one in items]),
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "complex": lambda pair: complex(*pair),
    "dtype": _dtype,
    "device": torch.device,
}


def lossy(value: Any) -> Json:
    """What a reader that knows nothing of our tags gets to see."""
    kind = type(value)
    if is_json(value):
        return value
    if kind in (list, tuple, set, frozenset, torch.Size):
        return [lossy(one) for one in value]
    if kind is dict:
        return {str(key): lossy(one) for key, one in value.items()}
    return str(value)
