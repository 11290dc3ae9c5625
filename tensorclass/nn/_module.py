"""TensorDictModule: a callable that reads and writes the entries of a container."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor, is_tensor, nn
from torch.compiler import is_dynamo_compiling

from .._container import Container
from .._rules import errors
from .._rules.keys import Key
from .._settings import FLAGS
from .._tensordict import TensorDict
from .._tree.node import Node, kind
from ._base import TensorDictModuleBase, leave_out
from ._dispatch import ENABLED, MISSING, with_tensors
from ._graph import name_of
from ._hooks import is_hooked, straight
from ._keys import arguments_of, keys_of
from ._outputs import values_for
from ._skip import skips

Inplace = bool | Literal["empty"]


class TensorDictModule(TensorDictModuleBase):
    """A module, or any callable, with the keys that it reads and writes.

    >>> layer = TensorDictModule(torch.nn.Linear(3, 4), in_keys=["pos"], out_keys=["hidden"])
    >>> layer(TensorDict({"pos": torch.zeros(5, 3)}, batch_size=[5]))["hidden"].shape
    torch.Size([5, 4])
    >>> layer(pos=torch.zeros(5, 3)).shape
    torch.Size([5, 4])

    in_keys: positional arguments, or a dict from argument name to key (from key to argument name with
    out_to_in_map=False). out_keys: a key for each output, "_" to drop it. inplace: True writes into the input, False
    into a new TensorDict without batch size, "empty" into one with the batch size and device of the input. strict: an
    input that is not there is an error before the call; it is None otherwise. method, method_kwargs: which method
    to call, and options that every call gets.
    """

    _selects_itself = True

    def __init__(
        self,
        module: Callable[..., Any],
        in_keys: Key | Sequence[Key] | Mapping[Any, Any],
        out_keys: Key | Sequence[Key],
        *,
        out_to_in_map: bool | None = None,
        inplace: Inplace = True,
        method: str | None = None,
        method_kwargs: Mapping[str, Any] | None = None,
        strict: bool = False,
        get_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if isinstance(module, type) or not callable(module):
            made = f"; did you mean {module.__name__}(...)?" if isinstance(module, type) else ""
            raise errors.OptionError(f"module: {module!r} will not do; give a module, or a function, to call{made}")
        if inplace not in (True, False, "empty"):
            raise errors.OptionError(errors.no_inplace(inplace))
        self._in_keys, self._names = arguments_of(in_keys, out_to_in_map)
        self._out_keys = keys_of("out_keys", out_keys)
        self._inplace: Inplace = inplace
        self._method, self._method_kwargs = method, dict(method_kwargs or {})
        self._strict = strict
        self._get_kwargs = dict(get_kwargs or {})
        flat = self._names is None and all(isinstance(key, str) for key in self._in_keys)
        self._is_flat = flat and not (strict or get_kwargs or method or method_kwargs)
        self._is_quick = self._may_be_quick()
        self.module = module

    def _keys_changed(self) -> None:
        self._is_flat = self._is_quick = False

    def _may_be_quick(self) -> bool:
        """Whether __call__ knows a short way: from strings to one string, in place, by the forward of this file."""
        keys: list[Key] = self._out_keys  # type: ignore[assignment]  # Set in __init__.
        one_key = len(keys) == 1 and isinstance(keys[0], str) and keys[0] != "_"
        return self._is_flat and one_key and self._inplace is True and type(self).forward is TensorDictModule.forward

    @property
    def inplace(self) -> Inplace:
        """Where the outputs go."""
        return self._inplace

    if not TYPE_CHECKING:

        def __call__(self, tensordict=MISSING, /, *args, **kwargs):
            own = self.__dict__
            is_quick = tensordict.__class__ is TensorDict and own["_is_quick"] and FLAGS.skip is False
            hooked = is_hooked(self)
            if not is_quick or args or kwargs or hooked or "forward" in own:
                given = args if tensordict is MISSING else (tensordict, *args)
                return super().__call__(*given, **kwargs) if hooked else self.forward(*given, **kwargs)
            try:
                reads, fields, call = own["_in_keys"], tensordict._fields, self._callee()
                result = call(fields.get(reads[0])) if len(reads) == 1 else call(*[fields.get(key) for key in reads])
                key = own["_out_keys"][0]
                tensordict[key] = result if isinstance(result, Tensor) else values_for(result, [key], self)[0]
                return tensordict
            except Exception as error:
                again, cause = self._explained(error, tensordict)
                raise again from cause

    def _callee(self) -> Any:
        if is_dynamo_compiling():
            return self.module  # A graph tells by this name where an operation comes from.
        own = self.__dict__  # nn.Module.__getattr__ would take a microsecond to find the module.
        return own["module"] if "module" in own else straight(own["_modules"]["module"])

    def forward(
        self, tensordict: Any = MISSING, /, *args: Any, tensordict_out: Container | None = None, **kwargs: Any
    ) -> Any:
        """Read, call, write: on a container; or on tensors, for those of the out_keys."""
        if not isinstance(tensordict, Node):
            if tensordict_out is not None:
                kwargs["tensordict_out"] = tensordict_out
            elif tensordict is MISSING and not args and self._is_flat and ENABLED and FLAGS.skip is False:
                inputs = [kwargs.get(key) for key in self.__dict__["_in_keys"]]
                if len(inputs) == len(kwargs) and all(map(is_tensor, inputs)):
                    return self._on_tensors(inputs, kwargs)
            return with_tensors(self, tensordict, args, kwargs)
        if FLAGS.skip is not False and tensordict_out is None and skips(self, tensordict):
            return tensordict
        try:
            result = self._called(tensordict, args, kwargs)
            in_place = tensordict_out is None and self._inplace is True
            out = tensordict if in_place else self._target(tensordict, tensordict_out)
            keys: list[Key] = self._out_keys  # type: ignore[assignment]  # Set in __init__.
            self._write(values_for(result, keys, self), keys, out)
            return out
        except Exception as error:
            again, cause = self._explained(error, tensordict)
            raise again from cause

    def _on_tensors(self, inputs: list[Any], given: dict[str, Any]) -> Any:
        """A keyword call that is all tensors: no container is built where none is seen."""
        keys: list[Key] = self._out_keys  # type: ignore[assignment]  # Set in __init__.
        selected = self._selected
        try:
            result = self._callee()(*inputs)
            if isinstance(result, Tensor) and len(keys) == 1 and selected is None and keys[0] != "_":
                return result
            outputs = dict(zip(keys, values_for(result, keys, self)))
            outputs.pop("_", None)
            if not all(isinstance(one, Tensor) for one in outputs.values()):
                kept = TensorDict(outputs)  # What is no tensor comes back as a container would hold it.
                outputs = {key: kept[key] for key in outputs}
        except Exception as error:
            again, cause = self._explained(error, TensorDict(given))
            raise again from cause
        values = tuple([value for key, value in outputs.items() if selected is None or key in selected])
        return values[0] if len(values) == 1 else values

    def _called(self, tensordict: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if args:
            raise errors.KindError(
                f"the in_keys are {self.in_keys}; {errors.count(len(args), 'argument')} more than that"
            )
        inputs = self._read(tensordict)
        call = self._callee() if self._method is None else getattr(self.module, self._method)
        if self._method_kwargs:
            kwargs = {**self._method_kwargs, **kwargs}
        if self._names is None:
            return call(*inputs, **kwargs)
        return call(**dict(zip(self._names, inputs)), **kwargs)

    def _target(self, tensordict: Any, out: Any) -> Any:
        if out is not None:
            return out
        return TensorDict() if self._inplace is False else type(tensordict).empty(tensordict)

    def _read(self, tensordict: Any) -> list[Any]:
        keys: list[Key] = self._in_keys  # type: ignore[assignment]  # Set in __init__.
        if self._strict:
            return [tensordict[key] for key in keys]
        get = type(tensordict).get
        return [get(tensordict, key, **self._get_kwargs) for key in keys]

    def _write(self, values: Sequence[Any], keys: list[Key], out: Any) -> None:
        selected = self._selected
        for key, value in zip(keys, values):
            if key != "_" and (selected is None or key in selected):
                out[key] = value
        if selected is not None:
            leave_out(out, [key for key in keys if key not in selected])

    def _explained(self, error: Exception, tensordict: Any) -> tuple[Exception, Exception]:
        """The error, or one that names the inputs that are not there; and the module it comes from, as its cause."""
        cause = RuntimeError(errors.failed_with(name_of(self.module), self.in_keys, self.out_keys_source))
        missing = [] if self._strict else [key for key in dict.fromkeys(self.in_keys) if self._is_none(tensordict, key)]
        if not missing:
            cause.__cause__ = error.__cause__
            return error, cause
        cause.__cause__ = error
        there = [key for key in type(tensordict).keys(tensordict, True) if key not in missing]
        return KeyError(errors.inputs_missing(missing, there)), cause

    def _is_none(self, tensordict: Any, key: Key) -> bool:
        try:
            return type(tensordict).get(tensordict, key) is None
        except LookupError:
            return False


def is_module(value: object) -> bool:
    """Whether something has keys of its own: a module by key, or one that looks like it."""
    return isinstance(value, TensorDictModuleBase) or (
        isinstance(value, nn.Module) and hasattr(value, "in_keys") and hasattr(value, "out_keys")
    )


def check_keyed(owner: str, module: object) -> None:
    """Refuse a module that has no keys."""
    if not is_module(module):
        raise errors.KindError(
            f"{owner}: {kind(module)} has no in_keys and out_keys; TensorDictModule(module, in_keys, out_keys) has"
        )
