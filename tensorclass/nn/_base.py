"""What every module by key is: it reads in_keys of a container and writes out_keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from torch import nn
from typing_extensions import Self

from .._container import Container
from .._rules import errors
from .._rules.flow import Flow, written
from .._rules.keys import Key, unravel
from .._tree.node import Node
from ._graph import Graph, flow_line, graph_of
from ._hooks import is_hooked
from ._keys import keys_of

if TYPE_CHECKING:
    from .._tensordict import TensorDict
    from ._typed_by_key import TypedByKey

CHANGES = [0]  # How often the keys of any module have changed: what is derived from keys is made anew then.
C = TypeVar("C", bound=Container)
D = TypeVar("D", bound=Container)
I_contra = TypeVar("I_contra", bound=Container, contravariant=True)
O_co = TypeVar("O_co", bound=Container, covariant=True)


class TensorDictModuleBase(nn.Module):
    """A module whose forward takes a container, writes into it and returns it.

    >>> class Normalize(TensorDictModuleBase):
    ...     in_keys, out_keys = ["signal"], ["normal"]
    ...     def forward(self, tensordict):
    ...         signal = tensordict["signal"]
    ...         return tensordict.set("normal", signal / signal.sum())
    >>> Normalize()(TensorDict(signal=torch.ones(2)))["normal"]
    tensor([0.5000, 0.5000])

    in_keys and out_keys stand in the class, or are set in its __init__.
    """

    _in_keys: list[Key] | None = None
    _out_keys: list[Key] | None = None
    _selected: list[Key] | None = None
    _selects_itself = False  # Whether forward leaves out what is not selected; a hook does it otherwise.

    if TYPE_CHECKING:
        # Any: a list of str is no list of keys, and would be refused.
        in_keys: list[Any]
        out_keys: list[Any]

        @overload
        def __call__(self, tensordict: C, /, *, tensordict_out: None = None) -> C: ...
        @overload
        def __call__(self, tensordict: Container, /, *, tensordict_out: D) -> D: ...
        @overload
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Run on a container, which is returned; or on tensors, for one tensor or a tuple of them."""

    else:

        def __call__(self, *args, **kwargs):
            # nn.Module.__call__ takes two calls for this.
            return super().__call__(*args, **kwargs) if is_hooked(self) else self.forward(*args, **kwargs)

        @property
        def in_keys(self) -> list[Key]:
            """The keys that the module reads."""
            return self._flow_keys()[0]

        @in_keys.setter
        def in_keys(self, keys: Any) -> None:
            self._check_keys_are_own("in_keys")
            self._in_keys = keys_of("in_keys", keys)
            self._keys_changed()
            CHANGES[0] += 1

        @property
        def out_keys(self) -> list[Key]:
            """The keys that the module writes: all of them, or those selected."""
            return self.out_keys_source if self._selected is None else list(self._selected)

        @out_keys.setter
        def out_keys(self, keys: Any) -> None:
            self._check_keys_are_own("out_keys")
            self._out_keys = keys_of("out_keys", keys)
            self._selected = None
            self._keys_changed()
            CHANGES[0] += 1

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            for name in ("in_keys", "out_keys"):
                own = cls.__dict__.get(name)
                if isinstance(own, (str, tuple, list)):
                    setattr(cls, f"_{name}", keys_of(name, own))
                    delattr(cls, name)  # The property of the base class answers, and selections work.

    @property
    def out_keys_source(self) -> list[Key]:
        """All keys that the module writes, selected or not."""
        return self._flow_keys()[1]

    def _check_keys_are_own(self, name: str) -> None:
        """Refuse to assign keys that come from the modules inside."""
        if type(self)._flow_keys is not TensorDictModuleBase._flow_keys:
            raise errors.StructureError(
                f"{name} of a {type(self).__name__} are those of what is in it, and cannot be assigned; "
                "select_out_keys keeps some of the outputs"
            )

    def _keys_changed(self) -> None:
        """The keys were assigned anew, or other ones selected."""

    def _flow_keys(self) -> tuple[list[Key], list[Key]]:
        """All keys read and all keys written."""
        if self._in_keys is None or self._out_keys is None:
            missing = "in_keys" if self._in_keys is None else "out_keys"
            raise errors.StructureError(
                f"{type(self).__name__} has no {missing}; write them in the class, or set them in its __init__"
            )
        return list(self._in_keys), list(self._out_keys)

    def _flow(self) -> Flow:
        return Flow(tuple(self.in_keys), tuple(self.out_keys))

    def select_out_keys(self, *keys: Key) -> Self:
        """Keep only some of the outputs, from now on; returns the module itself."""
        chosen = [unravel(key) for key in keys]
        known = self.out_keys_source
        for key in chosen:
            if key not in known:
                raise errors.OptionError(errors.not_an_out_key(key, known))
        if not self._selects_itself and self._selected is None:
            self.register_forward_hook(_leave_out)
        self._selected = chosen
        self._keys_changed()
        CHANGES[0] += 1
        return self

    def reset_out_keys(self) -> Self:
        """Keep all outputs again; returns the module itself."""
        self._selected = None
        self._keys_changed()
        CHANGES[0] += 1
        return self

    def reset_parameters_recursive(self, parameters: TensorDict | None = None) -> Any:
        """Give every layer that has reset_parameters new parameters; or (given some) those, reset, in a container."""
        from ._reset import reset_in, reset_layers

        return reset_layers(self) if parameters is None else reset_in(self, parameters)

    def typed(self, input_type: type[I_contra], output_type: type[O_co]) -> TypedByKey[I_contra, O_co]:
        """This module as a typed one, from one class to another.

        >>> from tensorclass.nn import TensorDictModule
        >>> class Position(TensorClass):
        ...     pos: torch.Tensor
        >>> class Speed(TensorClass):
        ...     speed: torch.Tensor
        >>> measure = TensorDictModule(torch.norm, in_keys=["pos"], out_keys=["speed"]).typed(Position, Speed)
        >>> measure(Position(pos=torch.tensor([3.0, 4.0]))).speed
        tensor(5.)

        The in_keys must be fields of the one class, the fields of the other must be out_keys (or fields of both).
        """
        from ._typed_by_key import TypedByKey

        return TypedByKey(self, input_type, output_type)

    def graph(self) -> Graph:
        """Which module reads and writes which key: print it, or .mermaid() and .dot() for a picture."""
        return graph_of(self)

    def __prepare_scriptable__(self) -> Any:
        refuse_script(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({flow_line(self)})"


def refuse_script(module: nn.Module) -> NoReturn:
    """What torch.jit.script of any module here comes to."""
    raise errors.KindError(
        f"{type(module).__name__} cannot be scripted: TorchScript has no containers; torch.compile would do"
    )


def _leave_out(module: Any, args: Any, out: Any) -> None:
    if isinstance(out, Node) and module._selected is not None:
        leave_out(out, [key for key in module.out_keys_source if key not in module._selected])


def leave_out(tensordict: Any, keys: list[Key]) -> None:
    """Forget some outputs."""
    for key in written(keys):
        type(tensordict).pop(tensordict, key, None)
