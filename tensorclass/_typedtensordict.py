"""TypedTensorDict: a TensorDict whose keys are declared."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from . import _construct
from ._declared import BatchSize, Declared, Device, DimNames
from ._meta import TensorClassMeta
from ._tensordict import TensorDict


class TypedTensorDict(Declared, TensorDict, metaclass=TensorClassMeta):
    """A TensorDict whose keys are declared, and can be read as attributes.

    >>> class Obs(TypedTensorDict):
    ...     pixels: torch.Tensor
    >>> obs = Obs(pixels=torch.zeros(4, 8), batch_size=[4])
    >>> isinstance(obs, TensorDict), obs["pixels"] is obs.pixels
    (True, True)

    Where a TensorDict is asked for, one of these will do; where it is not, TensorClass is faster to read.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        # mypy takes what a descriptor gives for what it takes, and so finds these setters too narrow.
        batch_size: BatchSize = field(default=BatchSize(), kw_only=True)  # type: ignore[override]
        device: Device = field(default=Device(), kw_only=True)  # pyright: ignore
        names: DimNames = field(default=DimNames(), kw_only=True)  # type: ignore[override]

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    else:
        batch_size = BatchSize()

    if not TYPE_CHECKING:  # With these in sight, a checker would let any name pass.

        def __setattr__(self, name: str, value: Any) -> None:
            if name in _SLOTS:
                object.__setattr__(self, name, value)
            else:
                _construct.write(self, name, value)

        def __getattr__(self, name: str) -> Any:
            if name in type(self)._declared and name in self._fields:
                return self._fields[name]
            raise _construct.no_attribute(self, name)


_SLOTS = frozenset(TensorDict.__slots__)
