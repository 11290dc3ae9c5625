"""Skip the modules whose outputs are already there."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from .._rules import errors
from .._rules.flow import written
from .._rules.keys import Key, unravel
from .._settings import FLAGS, Setting

F = TypeVar("F", bound=Callable[..., Any])


def skip_existing() -> bool | list[Key]:
    """Whether modules are skipped whose outputs are there: True, False, or the keys for which they are."""
    return FLAGS.skip


class set_skip_existing(Setting):
    """Skip modules whose out_keys are all in the input: as a `with` block, or on the forward of a module.

    >>> from tensorclass.nn import TensorDictModule
    >>> module = TensorDictModule(lambda x: x + 1, in_keys=["x"], out_keys=["y"])
    >>> with set_skip_existing(True):
    ...     print(module(TensorDict(x=torch.zeros(1), y=torch.ones(1)))["y"])
    tensor([1.])

    A list of keys: only modules all of whose out_keys are in the list. None, on a forward: skip as the block around the
    call says. A module that reads one of its own out_keys always runs.
    """

    _flag = "skip"

    def __init__(
        self, mode: bool | Sequence[Key] | None = True, in_key_attr: str = "in_keys", out_key_attr: str = "out_keys"
    ) -> None:
        super().__init__(mode if mode is None or isinstance(mode, bool) else [unravel(key) for key in mode])
        self._attributes = (in_key_attr, out_key_attr)

    def __enter__(self) -> set_skip_existing:
        if self._value is None:
            raise errors.StructureError("set_skip_existing(None) is for a forward; a block needs True, False or keys")
        return super().__enter__()

    def __call__(self, function: F) -> F:
        """The forward of a module, which returns its input where there is nothing to do."""

        @functools.wraps(function)
        def forward(module: Any, *args: Any, **kwargs: Any) -> Any:
            mode = FLAGS.skip if self._value is None else self._value
            reads, writes = [getattr(module, name, None) for name in self._attributes]
            inputs = args[0] if args else next(iter(kwargs.values()), None)
            if mode is not False and writes and there(mode, reads or [], writes, inputs):
                return inputs
            if self._value is None:
                return function(module, *args, **kwargs)
            with self._again():
                return function(module, *args, **kwargs)

        return forward  # type: ignore[return-value]  # It takes and gives what the function does.


def skips(module: Any, tensordict: Any) -> bool:
    """Whether the current block says not to run a module on this input."""
    return there(FLAGS.skip, module.in_keys, module.out_keys, tensordict)


def there(mode: bool | list[Key], reads: Sequence[Key], writes: Sequence[Key], tensordict: Any) -> bool:
    """Whether all that a module writes is in its input."""
    if torch.compiler.is_compiling():
        raise errors.StructureError("set_skip_existing does not work under torch.compile; leave the block first")
    keys = written(writes)
    if not keys or any(key in reads for key in keys):
        return False
    if isinstance(mode, list) and not all(key in mode for key in keys):
        return False
    return all(key in tensordict for key in keys)
