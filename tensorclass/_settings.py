"""Settings of the running thread: what `with set_...` blocks change."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import Self

F = TypeVar("F", bound=Callable[..., Any])


class Flags(threading.local):
    """The settings, a set of them for each thread.

    Not context variables: torch.compile cannot read those. And set on the instance, not on the class, so that compiled
    code checks them again at each call.
    """

    def __init__(self) -> None:
        self.list_to_stack = True
        self.one_value = True  # Equal plain values are stacked to one of them.
        self.skip: bool | list[Any] = False
        self.interaction: Any = None  # An InteractionType, or None outside of a block.
        self.aggregate: bool | None = None  # None: what holds for the whole process.


FLAGS = Flags()


class Setting:
    """A setting as a `with` block and as a decorator; subclasses say which one it is."""

    _flag = ""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        self._before.append(getattr(FLAGS, self._flag))
        setattr(FLAGS, self._flag, self._value)
        return self

    def __exit__(self, *error: object) -> None:
        setattr(FLAGS, self._flag, self._before.pop())

    def _again(self) -> Self:
        # The calls of a decorated function may overlap, in threads: each has its own memory of what was before.
        new = object.__new__(type(self))
        new._value, new._before = self._value, []
        return new

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]  # It takes and gives what the function does.


class set_list_to_stack(Setting):
    """Whether a list of values that are no numbers becomes one value a row (the default) or one plain value.

    >>> with set_list_to_stack(False):
    ...     TensorDict(words=["a", "b"])["words"]
    ['a', 'b']

    Also a decorator; .set() sets it for the rest of the thread.
    """

    _flag = "list_to_stack"

    def __init__(self, mode: bool = True) -> None:
        super().__init__(mode)

    def set(self) -> None:
        """Set it for the rest of this thread."""
        FLAGS.list_to_stack = self._value


class set_capture_non_tensor_stack(Setting):
    """Whether equal plain values are stacked to one value (the default) or stay one value a row.

    >>> rows = [TensorDict(tag="x"), TensorDict(tag="x")]
    >>> torch.stack(rows)["tag"]
    'x'
    >>> with set_capture_non_tensor_stack(False):
    ...     torch.stack(rows)["tag"].tolist()
    ['x', 'x']

    Also a decorator; .set() sets it for the rest of the thread.
    """

    _flag = "one_value"

    def __init__(self, mode: bool = True) -> None:
        super().__init__(mode)

    def set(self) -> None:
        """Set it for the rest of this thread."""
        FLAGS.one_value = self._value


def list_to_stack() -> bool:
    """Whether a list of values becomes one value a row."""
    return FLAGS.list_to_stack
