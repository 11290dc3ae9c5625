"""Settings that hold for a with block, each thread its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_LIST_TO_STACK: ContextVar[bool] = ContextVar("list_to_stack", default=True)


class set_list_to_stack:
    """Whether a list of values that are no numbers becomes one value a row (the default) or one plain value.

    >>> with set_list_to_stack(False):
    ...     TensorDict(words=["a", "b"])["words"]
    ['a', 'b']

    Also a decorator; .set() sets it for good.
    """

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self._token = _LIST_TO_STACK.set(self.mode)

    def __exit__(self, *error: object) -> None:
        _LIST_TO_STACK.reset(self._token)

    def __call__(self, function: F) -> F:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with set_list_to_stack(self.mode):
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]  # The same signature.

    def set(self) -> None:
        """Set it for the rest of this thread."""
        _LIST_TO_STACK.set(self.mode)


def list_to_stack() -> bool:
    """Whether a list of values becomes one value a row."""
    return _LIST_TO_STACK.get()
