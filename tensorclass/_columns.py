"""What kind of thing a dataclass field is; there is no public name for it."""

from __future__ import annotations

import dataclasses
import re
import typing
from typing import Any

_FIELD: Any = dataclasses._FIELD  # type: ignore[attr-defined]  # Not in the stubs.
_INIT_VAR: Any = dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]  # Not in the stubs.


def is_field(column: Any) -> bool:
    """Whether it is a field, and no ClassVar or InitVar."""
    return column._field_type is _FIELD


def is_init_var(column: Any) -> bool:
    """Whether it is an InitVar."""
    return column._field_type is _INIT_VAR


def is_class_var(annotation: Any) -> bool:
    """Whether an annotation, or the text of one, is a ClassVar."""
    if isinstance(annotation, str):
        return re.match(r"(\w+\.)?ClassVar\b", annotation) is not None
    return annotation is typing.ClassVar or typing.get_origin(annotation) is typing.ClassVar


def as_init_var(name: str, mark: Any) -> Any:
    """An InitVar with the default None, marked in its metadata."""
    column: Any = dataclasses.field(default=None, kw_only=True)
    column.name, column.type, column._field_type, column.metadata = name, Any, _INIT_VAR, mark
    return column
