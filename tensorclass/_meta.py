"""The metaclass that makes a class body into a typed class."""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import field as field
from typing import Any

from typing_extensions import dataclass_transform

from ._cached import replace_cached
from ._declare import BadField, declare, options_of, refuse_slots, running, unknown_option
from ._tree import pytree


# On the metaclass, so that checkers see the constructor of every class, with batch_size= and with frozen=True.
@dataclass_transform(eq_default=False, field_specifiers=(field,))
class TensorClassMeta(ABCMeta):
    """Makes a class body into a typed class."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        frozen: bool | None = None,
        autocast: bool | None = None,
        nocast: bool | None = None,
        tensor_only: bool | None = None,
        shadow: bool | None = None,
        kw_only: bool = False,
        **others: Any,
    ) -> Any:
        if not any(isinstance(base, TensorClassMeta) for base in bases):  # TensorClass itself
            return super().__new__(mcls, name, bases, namespace, **others)
        given = {
            "frozen": frozen,
            "autocast": autocast,
            "nocast": nocast,
            "tensor_only": tensor_only,
            "shadow": shadow,
        }
        bracketed = tuple(
            option for base in namespace.get("__orig_bases__", ()) for option in getattr(base, "_bracketed", ())
        )
        written = {key: value for key, value in namespace.items() if key != "__classcell__"}
        refuse_slots(name, namespace)
        replace_cached(namespace, bases)
        namespace["_own_init"] = "__init__" in namespace
        namespace["_options"] = options_of(bases, given, bracketed)
        try:
            cls: Any = super().__new__(mcls, name, bases, namespace, **others)
        except TypeError as problem:
            if others and "keyword" in str(problem):  # No __init_subclass__ takes it: it was meant for us.
                raise unknown_option(next(iter(others))) from None
            raise
        cls._written = written  # @tensorclass(...) makes the class once more, with options
        declare(cls, kw_only, running(cls.__module__))
        pytree.register(cls)
        return cls

    def __setattr__(cls, name: str, value: Any) -> None:
        if name == "__dataclass_params__" and "_columns" in cls.__dict__:  # @dataclass begins with it.
            raise BadField(f"{cls.__name__} is a dataclass as it is; leave @dataclass out")
        super().__setattr__(name, value)

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, namespace)
