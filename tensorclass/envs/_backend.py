"""set_gym_backend: code that picks a backend picks the only one that there is."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from typing_extensions import Self

from .._rules import errors


class set_gym_backend(ContextDecorator):
    """Does nothing: Gymnasium is the only backend. It is a decorator and a context manager, and has a method set().

    >>> with set_gym_backend("gymnasium"):
    ...     pass
    >>> set_gym_backend("gym")
    Traceback (most recent call last):
    tensorclass._rules.errors.OptionError: set_gym_backend: 'gym' is not supported; 'gymnasium' is
    """

    def __init__(self, backend: Any = "gymnasium") -> None:
        name = getattr(backend, "__name__", backend)
        if name != "gymnasium":
            raise errors.OptionError(f"set_gym_backend: {name!r} is not supported; 'gymnasium' is")

    def set(self) -> None:
        """Use it from now on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass
