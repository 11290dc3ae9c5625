"""TensorClass: a dataclass of tensors that share their leading dims."""

from __future__ import annotations

from dataclasses import field as field
from typing import TYPE_CHECKING, Any

import torch
from torch import Size, Tensor, nn
from typing_extensions import Self

from . import _construct
from ._declared import BatchSize, Declared, Device, DimNames
from ._meta import TensorClassMeta
from ._tensordict import TensorDict, as_dict, untyped
from ._tree.index import read
from ._tree.node import Names


class TensorClass(Declared, metaclass=TensorClassMeta):
    """A dataclass of tensors that share their leading dims: the batch size.

    >>> from jaxtyping import Float
    >>> class Particles(TensorClass):
    ...     pos: Float[Tensor, "*batch 3"]
    ...     mass: Float[Tensor, "*batch"]
    >>> particles = Particles(pos=torch.zeros(64, 3), mass=torch.ones(64))
    >>> particles.batch_size, particles[0].mass
    (torch.Size([64]), tensor(1.))

    Options, as keywords of the class or in brackets (`TensorClass["nocast"]`): `frozen`, `autocast`, `nocast`,
    `tensor_only`, `shadow`; and `kw_only` as on a dataclass.
    """

    __slots__ = ("__dict__", "__weakref__", "_batch", "_cache", "_device", "_leaves", "_locked", "_names", "_undo")
    _in_dict = True

    if TYPE_CHECKING:
        # mypy takes what a descriptor gives for what it takes, and so finds these setters too narrow.
        batch_size: BatchSize = field(default=BatchSize(), kw_only=True)  # type: ignore[override]
        device: Device = field(default=Device(), kw_only=True)  # pyright: ignore
        names: DimNames = field(default=DimNames(), kw_only=True)  # type: ignore[override]

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

        def __init_subclass__(
            cls,
            *,
            frozen: bool = False,
            autocast: bool = False,
            nocast: bool = False,
            tensor_only: bool = False,
            shadow: bool = False,
            kw_only: bool = False,
        ) -> None: ...

    else:
        batch_size = BatchSize()

    @property
    def _fields(self) -> dict[str, Any]:  # type: ignore[override]  # Read only here: the store is the instance itself.
        return self.__dict__  # pyright: ignore  # It takes the __dict__ of a class for that of an instance.

    # ---- read and write -----------------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # With these in sight, a checker would let any name pass.

        def __setattr__(self, name: str, value: Any) -> None:
            cls = type(self)
            simple = cls._simple.get(name)
            if simple is not None and isinstance(value, Tensor) and self._device is None and not self._locked:
                tail, dtypes = simple
                batch = self._batch
                try:
                    shape = value.shape
                    fits = shape[: len(batch)] == batch if tail is None else shape == (*batch, *tail)
                except RuntimeError:  # A nested tensor of the strided layout has no shape.
                    fits = False
                if fits and (dtypes is None or value.dtype in dtypes):
                    self.__dict__[name] = value
                    return
            _construct.write(self, name, value)

        def __delattr__(self, name: str) -> None:
            if name in type(self)._declared and name in self.__dict__:
                self._check_open(f"delete {name!r}")
                self._drop(name)
                return
            raise _construct.no_attribute(self, name)

        def __getattr__(self, name: str) -> Any:
            raise _construct.no_attribute(self, name)

        def __getitem__(self, index: Any) -> Any:
            """A field by name, what is inside a nested one by a tuple of names, or rows by index."""
            if index.__class__ is str:
                try:
                    return self.__dict__[index]
                except KeyError:
                    raise self._missing(index) from None
            if index.__class__ is tuple and index and isinstance(index[0], (str, tuple)):
                return self._read(index)
            return read(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write a field by name, what is inside a nested one by a tuple of names, or rows by index."""
        if index.__class__ is str and index in type(self)._declared:
            TensorClass.__setattr__(self, index, value)
        else:
            super().__setitem__(index, value)

    # ---- how an instance keeps its fields -----------------------------------------------------------------------

    def _fill(self, fields: dict[str, Any]) -> None:
        self._fields.update(fields)
        object.__setattr__(self, "_cache", None)

    def _rebuild(self, fields: dict[str, Any], batch: tuple[int, ...], names: Names | None = None) -> Self:
        new = object.__new__(type(self))
        size = batch if batch.__class__ is Size else Size(batch)
        if not torch.compiler.is_compiling():  # The slots' own setters take half the time; a trace cannot follow them.
            put_fields(new, fields)
            put_batch(new, size)
            put_device(new, self._device)
            put_names(new, names)
            put_locked(new, False)
            put_leaves(new, None)
            put_cache(new, None)
            return new
        new.__dict__.update(fields)  # pyright: ignore  # The same.
        object.__setattr__(new, "_batch", size)
        object.__setattr__(new, "_device", self._device)
        object.__setattr__(new, "_names", names)
        object.__setattr__(new, "_locked", False)
        object.__setattr__(new, "_leaves", None)
        object.__setattr__(new, "_cache", None)
        return new

    __replace__ = Declared.replace

    def to_dict(self, *, retain_none: bool = True, convert_tensors: bool = False) -> dict[str, Any]:
        """The fields as a dict, nested containers as dicts."""
        return as_dict(self, retain_none)

    def to_tensordict(self, *, retain_none: bool | None = None) -> TensorDict:
        """A TensorDict with the same entries, all nested containers as TensorDicts; the tensors are shared."""
        return untyped(self)

    # ---- the parameters of a module ---------------------------------------------------------------------------------

    @classmethod
    def from_module(cls, module: nn.Module) -> Self:
        """The parameters and buffers of a module, the objects themselves; a nested class for each submodule.

        >>> class Layer(TensorClass):
        ...     weight: torch.Tensor
        ...     bias: torch.Tensor
        >>> Layer.from_module(torch.nn.Linear(3, 4)).bias.shape
        torch.Size([4])

        A parameter that is no field is an error, and so is a field that the module does not have.
        """
        from ._functional import from_module

        return cls.from_tensordict(from_module(module))

    def to_module(self, module: nn.Module, **options: Any) -> Any:
        """Put the fields into a module; what was there is returned, and put back at the end of a `with` block."""
        from ._functional import to_module

        return to_module(self, module, **options)


put_fields, put_batch, put_device, put_names, put_locked, put_leaves, put_cache = (
    TensorClass.__dict__[slot].__set__
    for slot in ("__dict__", "_batch", "_device", "_names", "_locked", "_leaves", "_cache")
)
