"""The door of a field: what is stored for a value that the user gives, or why it cannot be the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._fields import Field, Options
from ._rules import errors
from ._rules.annotations import dtype_mismatch
from ._tree.contract import as_tensor
from ._tree.node import Node, kind


def take(owner: str, at: Field, value: Any, options: Options, device: torch.device | None) -> Any:
    """What a field stores for a value that the user gave, batch size aside: the value or a tensor made from it."""
    if isinstance(value, Tensor):
        return _take_tensor(owner, at, value, options)
    if isinstance(value, Node) and not (value._is_data and at.data):
        return _take_node(owner, at, value)
    if value is None:
        if at.optional:
            return None
        raise errors.KindError(f"field {at.name!r} of {owner} cannot be None; it is declared {at.words}")
    if options.autocast:
        return _cast(owner, at, value, device)
    if at.anything or at.data or options.nocast:
        if options.tensor_only:
            raise errors.KindError(f"field {at.name!r} of {owner} got {kind(value)}; with tensor_only it takes no data")
        return value
    if at.tensor is not None:
        made = as_tensor(at.name, value, device)
        if made is not None:
            wanted = at.tensor.dtypes
            if wanted and made.dtype not in wanted and torch.can_cast(made.dtype, _usual(wanted)):
                made = made.to(_usual(wanted))  # 1 is as good a float as 1.0
            return _take_tensor(owner, at, made, options)
    elif isinstance(value, Mapping):
        return _take_mapping(owner, at, value)
    raise _wrong_kind(owner, at, value)


def _wrong_kind(owner: str, at: Field, value: Any) -> errors.KindError:
    return errors.KindError(f"field {at.name!r} of {owner} is declared {at.words}; it got {kind(value)}")


def _take_tensor(owner: str, at: Field, value: Tensor, options: Options) -> Any:
    if at.tensor is None:
        if options.autocast and at.data:
            return _cast(owner, at, value, None)
        if at.held and not at.data and not at.anything:
            raise _wrong_kind(owner, at, value)
        return value
    wanted = at.tensor.dtypes
    if wanted is None or value.dtype in wanted:
        return value
    if options.autocast and len(wanted):
        return value.to(_usual(wanted))
    takes = sorted(str(dtype).removeprefix("torch.") for dtype in wanted)
    given = str(value.dtype).removeprefix("torch.")
    raise errors.KindError(dtype_mismatch(at.name, given, at.tensor.word.partition("[")[0], takes))


def _usual(dtypes: frozenset[torch.dtype]) -> torch.dtype:
    usual = [torch.get_default_dtype(), torch.int64, torch.bool, torch.complex64, *sorted(dtypes, key=str)]
    return next(dtype for dtype in usual if dtype in dtypes)


def _take_node(owner: str, at: Field, value: Node) -> Any:
    if at.anything or not at.held or any(isinstance(value, one.type) for one in at.nodes):
        return value
    raise _wrong_kind(owner, at, value)


def _take_mapping(owner: str, at: Field, value: Mapping[Any, Any]) -> Any:
    for one in at.nodes:
        if hasattr(one.type, "_declared"):
            name = one.type.__name__
            raise errors.KindError(
                f"field {at.name!r} of {owner} is declared {at.words}; it got a dict, "
                f"and {name}.from_dict would make it {kind_word(name)}"
            )
        return one.type.from_dict(value, auto_batch_size=False) if hasattr(one.type, "from_dict") else value
    raise _wrong_kind(owner, at, value)


def kind_word(name: str) -> str:
    """A class name with its article."""
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"


def _cast(owner: str, at: Field, value: Any, device: torch.device | None) -> Any:
    """autocast: the value as the annotation wants it."""
    if at.anything or any(isinstance(value, one.type) for one in at.data):
        return value
    try:
        if at.tensor is not None:
            return _take_tensor(owner, at, torch.as_tensor(value, device=device), Options(autocast=True))
        for one in at.nodes:
            if isinstance(value, Mapping):
                return one.type.from_dict(value)
        for one in at.data:
            if one.type in (int, float, bool, str, complex, list, tuple):
                plain: Any = value.tolist() if isinstance(value, Tensor) else value
                return one.type(plain)
    except (TypeError, ValueError, RuntimeError) as problem:
        raise _wrong_kind(owner, at, value) from problem
    return value
