"""Unbounded and Bounded: numbers in an interval."""

from __future__ import annotations

import sys
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Size, Tensor

from ..._rules import errors, spec_errors
from .leaf import LeafSpec, checked_shape, drawable

UNORDERED = (torch.uint16, torch.uint32, torch.uint64)  # torch neither compares nor adds them: bounds are int64.


class Box(NamedTuple):
    """The bounds of an interval, both inclusive, with the shape of the spec."""

    low: Tensor
    high: Tensor


class Unbounded(LeafSpec):
    """Any numbers of a dtype.

    >>> Unbounded((3,)).rand().shape
    torch.Size([3])
    >>> Unbounded((3,), dtype=torch.int64)
    Unbounded(shape=(3,), device='cpu', dtype=torch.int64)

    Without a shape it is one number; in an annotation, as in `pos: Annotated[Float[Tensor, "*batch 2"], Unbounded()]`,
    shape and dtype are those that stand beside it. `rand` is normal for floating point numbers, and uniform over the
    whole range for integers.
    """

    _kind: ClassVar[Any]
    _default: ClassVar[torch.dtype] = torch.float32

    def __new__(cls, shape: Any = None, device: Any = None, dtype: torch.dtype | None = None) -> Unbounded:
        """The class of the dtype: UnboundedContinuous or UnboundedDiscrete."""
        kind = _of_dtype(cls._default if dtype is None else dtype, UnboundedContinuous, UnboundedDiscrete)
        made: Unbounded = object.__new__(kind if cls is Unbounded else cls)
        return made

    def __init__(self, shape: Any = None, device: Any = None, dtype: torch.dtype | None = None) -> None:
        left = tuple([name for name, given in (("shape", shape), ("dtype", dtype)) if given is None])
        shape = checked_shape((1,) if shape is None else shape)
        self._set(shape, device, self._default if dtype is None else dtype, _left=left)

    @property
    def domain(self) -> str:
        """Whether there are fractions: "continuous", or "discrete"."""
        return "continuous" if is_continuous(self.dtype) else "discrete"

    @property
    def space(self) -> Box:
        """The range of the dtype."""
        low, high = limits(self.dtype)
        shape = drawable(self.shape)
        return Box(*[torch.full((), end, dtype=self.dtype, device=self.device).expand(shape) for end in (low, high)])


class UnboundedContinuous(Unbounded):
    """Unbounded, of a floating point dtype."""

    _kind = Unbounded


class UnboundedDiscrete(Unbounded):
    """Unbounded, of an integer dtype."""

    _kind = Unbounded
    _default = torch.int64


class Bounded(LeafSpec):
    """Numbers from low to high, both inclusive.

    >>> spec = Bounded(-1.0, 1.0, shape=(2,))
    >>> spec.project(torch.tensor([0.5, 3.0]))
    tensor([0.5000, 1.0000])
    >>> Bounded(low=torch.tensor([0.0, -1.0]), high=2.0).shape
    torch.Size([2])

    The bounds broadcast to the shape. Numbers say no shape, and then it must be given; only in an annotation, as in
    `angle: Annotated[Tensor, Bounded(-3.1, 3.1)]`, they stand for one number a row.
    """

    _kind: ClassVar[Any]
    _default: ClassVar[torch.dtype] = torch.float32
    low: Tensor
    high: Tensor
    _range: tuple[float, float] | None  # The bounds, where they are the same everywhere and _finite.
    _finite: bool  # Whether they are, and their distance is, too.

    def __new__(
        cls, low: Any = None, high: Any = None, shape: Any = None, device: Any = None, dtype: torch.dtype | None = None
    ) -> Bounded:
        """The class of the dtype: BoundedContinuous or BoundedDiscrete."""
        kind = _of_dtype(_dtype_of(low, high, dtype, cls._default), BoundedContinuous, BoundedDiscrete)
        made: Bounded = object.__new__(kind if cls is Bounded else cls)
        return made

    def __init__(
        self, low: Any, high: Any, shape: Any = None, device: Any = None, dtype: torch.dtype | None = None
    ) -> None:
        left = ("dtype",) if dtype is None and not any(hasattr(end, "dtype") for end in (low, high)) else ()
        dtype = _dtype_of(low, high, dtype, self._default)
        given = [end if isinstance(end, (Tensor, int, float)) else torch.as_tensor(end) for end in (low, high)]
        if device is None:
            device = next((end.device for end in given if isinstance(end, Tensor)), None)
        ends = [as_bound(end, dtype, up).to(device=device) for end, up in zip(given, (True, False))]
        low, high = broadcast(ends, bounds_shape(given) if shape is None else checked_shape(shape))
        finite = check_order(*ends)
        alike = finite and ends[0].numel() == ends[1].numel() == 1
        numbers = (ends[0].item(), ends[1].item()) if alike else None
        self._set(low.shape, low.device, dtype, low=low, high=high, _range=numbers, _finite=finite, _left=left)

    def _arguments(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, **super()._arguments()}

    def _tensors(self) -> dict[str, Tensor]:
        return {"low": self.low, "high": self.high}

    @property
    def domain(self) -> str:
        """Whether there are fractions: "continuous", or "discrete"."""
        return "continuous" if is_continuous(self.dtype) else "discrete"

    @property
    def space(self) -> Box:
        """The bounds."""
        return Box(self.low, self.high)


class BoundedContinuous(Bounded):
    """Bounded, of a floating point dtype."""

    _kind = Bounded


class BoundedDiscrete(Bounded):
    """Bounded, of an integer dtype."""

    _kind = Bounded
    _default = torch.int64


def is_continuous(dtype: torch.dtype) -> bool:
    """Whether a dtype has fractions."""
    return dtype.is_floating_point or dtype.is_complex


def limits(dtype: torch.dtype) -> tuple[float, float]:
    """The least and the greatest number of a dtype."""
    if dtype is torch.bool:
        return 0, 1
    if is_continuous(dtype):
        return -float("inf"), float("inf")
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max


def bounds_shape(ends: list[Any]) -> Size:
    """The shape that bounds say by themselves."""
    if all(isinstance(end, Tensor) for end in ends) or any(getattr(end, "ndim", 0) for end in ends):
        return Size(torch.broadcast_shapes(*[torch.as_tensor(end).shape for end in ends]))
    if _in_annotation():
        return Size(())
    raise errors.ShapeError(spec_errors.shape_missing("Bounded"))


def broadcast(ends: list[Tensor], shape: Size) -> list[Tensor]:
    """The bounds with the shape of the spec."""
    try:
        return [end.expand(shape) for end in ends]
    except RuntimeError:
        low, high = [tuple(end.shape) for end in ends]
        raise spec_errors.SpecShape(spec_errors.bounds_shape(low, high, tuple(shape))) from None


def as_bound(bound: Any, dtype: torch.dtype, up: bool) -> Tensor:
    """A bound of a dtype: of integers the next one inside, and the end of their range for infinity."""
    end: Tensor = torch.as_tensor(bound)
    kept = torch.int64 if dtype in UNORDERED else dtype
    if is_continuous(dtype) or not is_continuous(end.dtype):
        return end.to(dtype=kept, copy=True)
    low, high = limits(dtype)
    lowest, highest = [torch.full_like(end, limit, dtype=torch.int64) for limit in (low, high)]
    inside = (end.ceil() if up else end.floor()).clamp(low, high).to(torch.int64)
    return torch.where(end <= low, lowest, torch.where(end >= high, highest, inside)).to(kept)


def ordered(values: Tensor) -> Tensor:
    """Values in a dtype that torch compares."""
    return values.to(torch.int64) if values.dtype in UNORDERED else values


def check_order(low: Tensor, high: Tensor) -> bool:
    """Refuse a low bound above its high one; whether the bounds are finite, and their distance, too."""
    if low.is_complex():
        raise errors.KindError("Bounded: complex numbers have no order, so they cannot be bounded")
    if low.is_meta or high.is_meta:
        return False
    if bool((low > high).any()):
        raise errors.OptionError("Bounded: low is above high somewhere; every low must be at most its high")
    return not low.is_floating_point() or bool((high - low).isfinite().all())


def _dtype_of(low: Any, high: Any, dtype: torch.dtype | None, default: torch.dtype) -> torch.dtype:
    if dtype is not None:
        return dtype
    ends = [end if isinstance(end, Tensor) else torch.as_tensor(end) for end in (low, high) if hasattr(end, "dtype")]
    return ends[0].dtype if ends else default


def _of_dtype(dtype: torch.dtype, continuous: type, discrete: type) -> Any:
    return continuous if is_continuous(dtype) else discrete


def _in_annotation() -> bool:
    """Whether the spec is made in an annotation: in a class body, or in a string that is evaluated."""
    frame: Any = sys._getframe(1)
    while frame.f_globals is globals():
        frame = frame.f_back
    code = frame.f_code
    if code.co_name == "__annotate__" or "__qualname__" in frame.f_locals:
        return True
    return code.co_filename == "<string>" and frame.f_back is not None
