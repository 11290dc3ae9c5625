"""Dtypes: torch's names, the kinds that stand for one of several, and which annotations take which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._walk import Walk

# A dtype is known by its name ("float32"), by its kind ("float", "int", "bool", "complex"), or as torch's default.
DEFAULT = "default"

FLOATS = ("bfloat16", "float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")

_OTHER_NAMES = {
    "float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64", "short": "int16",
    "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
TORCH = {**{name: name for name in (*FLOATS, *SIGNED, *UNSIGNED, *COMPLEX, "bool")}, **_OTHER_NAMES}

_KINDS = {
    **dict.fromkeys((*FLOATS, DEFAULT, "float"), "float"),
    **dict.fromkeys((*SIGNED, *UNSIGNED, "int"), "int"),
    **dict.fromkeys((*COMPLEX, "complex"), "complex"),
    "bool": "bool",
}
ORDER = ("bool", "int", "float", "complex")

# jaxtyping's classes, and the dtypes that each takes; None: any.
TAKES: dict[str, tuple[str, ...] | None] = {
    "Shaped": None,
    "Num": (*UNSIGNED, *SIGNED, *FLOATS, *COMPLEX),
    "Real": (*UNSIGNED, *SIGNED, *FLOATS),
    "Inexact": (*FLOATS, *COMPLEX),
    "Float": FLOATS,
    "Integer": (*UNSIGNED, *SIGNED),
    "Int": SIGNED,
    "UInt": UNSIGNED,
    "Complex": COMPLEX,
    "Bool": ("bool",),
    **dict.fromkeys(("Key", "PRNGKeyArray", "Int4", "UInt4", "Float8e4m3fn", "Float8e5m2")),
    "BFloat16": ("bfloat16",),
    **{name.title().replace("Uint", "UInt"): (name,) for name in (*FLOATS[1:], *SIGNED, *UNSIGNED, *COMPLEX)},
}


def kind_of(dtype: str | None) -> str | None:
    """The kind of a dtype.

    >>> kind_of("float64"), kind_of("int"), kind_of(None)
    ('float', 'int', None)
    """
    return _KINDS.get(dtype) if dtype is not None else None


def declared(word: str) -> str | None:
    """The dtype of a value that is annotated with one of jaxtyping's classes.

    >>> declared("Float64"), declared("Float"), declared("Shaped")
    ('float64', 'float', None)
    """
    takes = TAKES.get(word)
    if takes is None:
        return None
    kinds = {_KINDS[dtype] for dtype in takes}
    return takes[0] if len(takes) == 1 else kinds.pop() if len(kinds) == 1 else None


def refuses(walk: Walk, word: str | None, dtype: str | None) -> bool:
    """Whether a class of jaxtyping's surely does not take a dtype."""
    takes = TAKES.get(word) if word is not None else None
    if takes is None or dtype is None:
        return False
    if dtype == DEFAULT:
        return not any(kind_of(one) == "float" for one in takes) or ("float32" not in takes and not walk.sets_default())
    if dtype in ORDER and dtype != "bool":
        return not any(kind_of(one) == dtype for one in takes)
    return dtype not in takes


def takes_of(word: str | None) -> tuple[str, ...]:
    """What would do, in the order that messages have."""
    return tuple(sorted(TAKES.get(word or "") or ()))


def shown(dtype: str | None) -> str:
    """A dtype as messages print it."""
    return "float32" if dtype == DEFAULT else str(dtype)


def real(dtype: str | None) -> str | None:
    """The dtype of what is real of a complex tensor: its absolute value, its parts, how far it spreads.

    >>> real("complex64"), real("complex"), real("int64")
    ('float32', 'float', 'int64')
    """
    return {"complex64": "float32", "complex128": "float64", "complex": "float"}.get(dtype or "", dtype)


def wider(one: str | None, other: str | None) -> str | None:
    """The dtype of a result of two tensors with dims; only its kind where that depends.

    >>> wider("float32", "int64"), wider("int32", "int64"), wider("float16", "bfloat16")
    ('float32', 'int64', 'float32')
    """
    a, b = kind_of(one), kind_of(other)
    if a is None or b is None:
        return None
    if one == other:
        return one
    if a != b:
        high = one if ORDER.index(a) > ORDER.index(b) else other
        return high if kind_of(high) != "complex" else "complex"
    if {one, other} in ({"float16", "bfloat16"}, {DEFAULT, "float64"}):
        return "float32" if DEFAULT not in (one, other) else "float64"
    for row in (FLOATS[1:], SIGNED, COMPLEX):
        if one in row and other in row:
            return max(one, other, key=row.index)
    return a
