"""Functions and modules made into modules by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import nn

from .._container import Container
from .._rules import errors
from .._rules.flow import Flow
from .._rules.keys import Key
from .._tensordict import TensorDict
from ._base import TensorDictModuleBase
from ._dispatch import dispatch
from ._graph import short_name
from ._keys import keys_of
from ._module import TensorDictModule, check_keyed


class TensorDictModuleWrapper(TensorDictModuleBase):
    """A module by key around another: a base for classes that do something before or after it.

    The wrapped module is called as a module, so that its hooks run. Other attributes are those of the wrapped module.
    """

    def __init__(self, td_module: TensorDictModuleBase) -> None:
        super().__init__()
        check_keyed(type(self).__name__, td_module)
        self.td_module = td_module

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "td_module" or name.startswith("__"):
                raise
            return getattr(super().__getattr__("td_module"), name)

    def _flow_keys(self) -> tuple[list[Key], list[Key]]:
        return list(self.td_module.in_keys), list(self.td_module.out_keys)

    @dispatch(auto_batch_size=False)
    def forward(self, tensordict: Container, *args: Any, **kwargs: Any) -> Container:
        """Call the wrapped module."""
        out: Container = self.td_module(tensordict, *args, **kwargs)
        return out


class WrapModule(TensorDictModuleBase):
    """A function from container to container as a module, its keys known or not.

    >>> double = WrapModule(lambda td: td.set("y", 2 * td["x"]), in_keys=["x"], out_keys=["y"])
    >>> double(TensorDict(x=torch.ones(2)))["y"]
    tensor([2., 2.])

    inplace: put what the function returns into the input and return that.
    """

    def __init__(
        self,
        func: Callable[[Any], Any],
        *,
        inplace: bool = False,
        in_keys: Key | Sequence[Key] | None = None,
        out_keys: Key | Sequence[Key] | None = None,
    ) -> None:
        super().__init__()
        self.func = func
        self._inplace = inplace
        self._tracked = in_keys is not None or out_keys is not None
        self._in_keys = [] if in_keys is None else keys_of("in_keys", in_keys)
        self._out_keys = [] if out_keys is None else keys_of("out_keys", out_keys)

    def _flow(self) -> Flow:
        return Flow(tuple(self.in_keys), tuple(self.out_keys), self._tracked)

    @dispatch(auto_batch_size=False)
    def forward(self, tensordict: Container) -> Container:
        """Call the function."""
        out: Container = self.func(tensordict)
        if out is None:
            raise errors.KindError(f"{short_name(self.func)} gave None; it must return the container that it was given")
        if not self._inplace or out is tensordict:
            return out
        type(tensordict).update(tensordict, out)
        return tensordict

    def __repr__(self) -> str:
        func = self.func
        name = repr(func) if isinstance(func, nn.Module) else getattr(func, "__name__", repr(func))
        return f"WrapModule({name})" if not self._tracked else super().__repr__()


def as_tensordict_module(
    *, in_keys: Key | Sequence[Key] | Mapping[Any, Any], out_keys: Key | Sequence[Key]
) -> Callable[[Callable[..., Any]], TensorDictModule]:
    """A decorator that makes a function a TensorDictModule.

    >>> @as_tensordict_module(in_keys=["x"], out_keys=["y"])
    ... def double(x):
    ...     return 2 * x
    >>> double(TensorDict(x=torch.ones(2)))["y"]
    tensor([2., 2.])
    """
    return lambda function: TensorDictModule(function, in_keys, out_keys)


def make_tensordict(
    input_dict: Mapping[Any, Any] | None = None,
    batch_size: Any = None,
    device: Any = None,
    auto_batch_size: bool | None = None,
    **entries: Any,
) -> TensorDict:
    """A TensorDict from a dict and keyword arguments.

    >>> make_tensordict(a=torch.zeros(2, 3), b=torch.zeros(2), auto_batch_size=True).batch_size
    torch.Size([2])

    auto_batch_size: as batch size, the leading dims that all entries share.
    """
    made: TensorDict = TensorDict(input_dict, batch_size, device, **entries)
    return made.auto_batch_size_() if auto_batch_size and batch_size is None else made
