"""What every spec is: a shape, a dtype, a device, and a domain of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Size
from typing_extensions import Self

from ..._methods.functions import METHODS
from ..._methods.planned import PlannedMoves
from ..._rules import errors, spec_errors
from ..._rules.shapes import Moves
from ..._tree.contract import as_size, full_device
from ..._tree.node import kind
from ..._tree.planned import spelled
from . import asked
from .node import spec_of

NO_DIMS = Size(())
PICKS = ("flip", "roll", "narrow", "repeat", "repeat_interleave", "index_select", "gather")


class TensorSpec(PlannedMoves):
    """A domain of values: their shape, dtype and device, and which of them are allowed.

    >>> from tensorclass.envs import Bounded
    >>> spec = Bounded(-1.0, 1.0, shape=(3,))
    >>> spec.is_in(spec.rand()), spec.is_in(torch.full((3,), 2.0))
    (True, False)
    >>> spec.expand(4, 3).rand().shape
    torch.Size([4, 3])

    A value may have more dims in front than the spec. Every shape op of a container works on a spec, and on
    torch.stack(specs).
    """

    _batch: Size
    _memory: dict[Any, Any] | None = None  # What encode has given, if that is kept.
    _dtype: Any  # A torch.dtype or None, and a torch.device or None: the properties say which for each kind.
    _device: Any

    # ---- what it is ---------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The shape of one value."""
        return self._batch

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype of a value; None where it is not one tensor."""
        return self._dtype  # type: ignore[no-any-return]

    @property
    def device(self) -> torch.device | None:
        """The device of a value; None where its parts may have several."""
        return self._device  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dims of one value."""
        return len(self._batch)

    def ndimension(self) -> int:
        """The number of dims of one value."""
        return len(self._batch)

    def numel(self) -> int:
        """The number of elements of one value."""
        return self._batch.numel()

    def __len__(self) -> int:
        return self._batch[0] if self._batch else 0

    def __bool__(self) -> bool:
        return True

    def cardinality(self) -> float:
        """How many values the domain has; inf where it is continuous."""
        return asked.cardinality(self)

    def enumerate(self, use_mask: bool = False) -> Any:
        """Every value of a finite domain, along a new first dim."""
        return asked.enumerate_all(self, use_mask)

    # ---- values -------------------------------------------------------------------------------------------------

    def rand(self, shape: Sequence[int] | int = NO_DIMS) -> Any:
        """A random value of the domain, with `shape` in front."""
        return asked.rand(self, as_size(shape))

    sample = rand

    def zero(self, shape: Sequence[int] | int = NO_DIMS) -> Any:
        """A value of zeros, be they in the domain or not."""
        return asked.full(self, as_size(shape), 0)

    zeros = zero

    def one(self, shape: Sequence[int] | int = NO_DIMS) -> Any:
        """A value of ones, be they in the domain or not."""
        return asked.full(self, as_size(shape), 1)

    ones = one

    def is_in(self, value: Any) -> bool:
        """Whether a value is in the domain: shape, dtype and numbers."""
        return asked.fault(self, value) is None

    contains = is_in

    def __contains__(self, value: Any) -> bool:
        return self.is_in(value)

    def assert_is_in(self, value: Any) -> None:
        """Raise an AssertionError that says why a value is not in the domain."""
        why = asked.fault(self, value)
        if why is not None:
            raise spec_errors.NotInSpec(f"not in {asked.word(self)}: {why}")

    def type_check(self, value: Any, key: errors.Key | None = None) -> None:
        """Raise a TypeError if a value has not the shape and dtype of the spec."""
        why = asked.misfit(self, value)
        if why is not None:
            raise errors.KindError(f"{'' if key is None else f'{errors.name_of(key)}: '}{why}")

    def project(self, value: Any) -> Any:
        """The value of the domain that is nearest."""
        if not torch.compiler.is_compiling() and asked.fault(self, value) is None:  # A graph cannot ask that.
            return value
        return asked.project(self, value)

    def encode(self, value: Any, *, ignore_device: bool = False) -> Any:
        """A number, list or numpy array, as the tensor that stands for it.

        Of numbers out of range, only those that have no mark in a one-hot value are refused.
        """
        memory = self._memory
        return asked.encode(self, value) if memory is None else recalled(memory, self, value)

    def memoize_encode(self, mode: bool = True) -> None:
        """Keep what encode gives for each hashable value, and give copies of it from then on; False: no longer.

        >>> from tensorclass.envs import OneHot
        >>> spec = OneHot(3)
        >>> spec.memoize_encode()
        >>> spec.encode(1), spec.encode(1)
        (tensor([False,  True, False]), tensor([False,  True, False]))
        """
        vars(self)["_memory"] = {} if mode else None

    def erase_memoize_cache(self) -> None:
        """Forget what encode has given so far."""
        if self._memory is not None:
            self._memory.clear()

    def to_numpy(self, value: Any, safe: bool = False) -> Any:
        """The value of numpy that a tensor stands for; with `safe` it must be in the domain."""
        if safe:
            self.assert_is_in(value)
        return asked.to_numpy(self, value)

    # ---- shape --------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        """The spec of the rows that an index picks."""
        if isinstance(index, str) or (isinstance(index, tuple) and index and isinstance(index[0], (str, tuple))):
            raise errors.KeyMissing(f"no key {errors.name_of(index)}: {asked.word(self)} is a spec without keys")
        node = self._node()
        return self._of(type(node).__getitem__(node, index), "index")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.unbind(0))

    def _node(self) -> Any:
        """The tensors of the spec, as a container whose batch size is the shape."""
        raise NotImplementedError

    @classmethod
    def _of(cls, node: Any, op: str) -> Any:
        """The spec that such a container stands for, after an op."""
        if node._items is not None:
            items = [cls._of(item, op) for item in node._items]
            return asked.beside(items[0], items, node._dim)
        return spec_of(node, op)._moved(node, op)

    def _alike(self, other: TensorSpec) -> bool:
        """Whether another spec differs in bounds and masks at most, so that one spec can stand for both."""
        return False

    def _moved(self, node: Any, op: str) -> Any:
        """This spec with the shape and tensors of a container."""
        raise NotImplementedError

    def _through(self, op: str, arguments: dict[str, Any]) -> Any:
        node = self._node()
        return getattr(type(node), op)(node, *spelled(op, arguments))

    def _move(self, op: str, moves: Moves, arguments: dict[str, Any]) -> Any:
        # Bounds are expanded numbers more often than not: there is no view of them, and none is missed.
        return self._of(self._through("reshape" if op == "view" else op, arguments), op)

    def _along(self, op: str, rule: Callable[[], Moves], arguments: dict[str, Any]) -> Any:
        rule()
        if op not in PICKS:
            raise errors.KindError(f"{op}: a spec is a domain, not numbers; only ops that move or pick rows work on it")
        return self._of(self._through(op, arguments), op)

    def _split(self, op: str, rule: Callable[[], list[Moves]], arguments: dict[str, Any]) -> tuple[Any, ...]:
        rule()
        return tuple([self._of(part, op) for part in self._through(op, arguments)])

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.stack:
            return joined(*args, **(kwargs or {}))
        name = METHODS.get(getattr(func, "__name__", ""))
        if name is None or not hasattr(PlannedMoves, name):
            return NotImplemented
        return getattr(args[0], name)(*args[1:], **(kwargs or {}))

    # ---- device and dtype ---------------------------------------------------------------------------------------

    def to(self, *to: torch.device | torch.dtype | str | int, device: Any = None, dtype: Any = None) -> Self:
        """The same spec on another device, or with another dtype."""
        for one in to:
            if isinstance(one, torch.dtype):
                dtype = one
            else:
                device = one
        return self._cast(full_device(device), dtype)

    def _cast(self, device: torch.device | None, dtype: torch.dtype | None) -> Self:
        raise NotImplementedError

    def cpu(self) -> Self:
        """The same spec on the CPU."""
        return self.to("cpu")

    def cuda(self, device: int | None = None) -> Self:
        """The same spec on a CUDA device."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def clone(self) -> Self:
        """A spec of its own that is equal to this one."""
        raise NotImplementedError

    def _composites(self) -> list[Any]:
        """The Composites that are locked with the one around this spec."""
        return []


def recalled(memory: dict[Any, Any], spec: TensorSpec, value: Any) -> Any:
    """A copy of what encode gave for a value before."""
    at = type(value), value  # 1, 1.0 and True are equal, and not encoded alike.
    try:
        known = memory.get(at)
    except TypeError:  # A list or an array has no hash.
        return asked.encode(spec, value)
    if isinstance(value, torch.Tensor):  # Its hash is that of the object, which may be written to.
        return asked.encode(spec, value)
    if known is None:
        known = memory[at] = asked.encode(spec, value)
    return known.clone() if isinstance(known, torch.Tensor) else known


def joined(tensors: Sequence[Any], dim: int = 0) -> Any:
    """torch.stack of specs."""
    specs = list(tensors)
    for number, spec in enumerate(specs):
        if not isinstance(spec, TensorSpec):
            raise errors.KindError(f"stack: item {number} is {kind(spec)}, no spec")
    return asked.stack(specs[0], specs, dim)
