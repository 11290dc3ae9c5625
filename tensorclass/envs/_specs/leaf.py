"""A spec of one value: it cannot be changed, and it is what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Size, Tensor
from typing_extensions import Self

from ..._rules import errors, spec_errors
from ..._tensordict import TensorDict
from ..._tree.contract import full_device
from ..._tree.node import Node
from .asked import word
from .base import TensorSpec
from .node import node_of, tensors_of


class FixedSpec(TensorSpec):
    """A spec that is equal to another if it is made of the same arguments."""

    _kind: ClassVar[Any]  # The class that makes others of its kind: Unbounded for UnboundedDiscrete.

    @property
    def device(self) -> torch.device:
        """The device of a value."""
        return self._device  # type: ignore[no-any-return]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._kind = vars(cls).get("_kind", cls)

    def _set(self, shape: Any, device: Any, dtype: torch.dtype | None, **more: Any) -> None:
        device = torch.get_default_device() if device is None else full_device(device)
        vars(self).update(_batch=Size(shape), _device=device, _dtype=dtype, **more)

    def __setattr__(self, name: str, value: Any) -> None:
        raise spec_errors.SpecFixed(spec_errors.immutable(word(self), name))

    def __delattr__(self, name: str) -> None:
        raise spec_errors.SpecFixed(spec_errors.immutable(word(self), name))

    def _arguments(self) -> dict[str, Any]:
        """What the spec is made of: it makes another, decides on equality, and is printed."""
        return {"shape": self.shape, "device": self.device, "dtype": self.dtype}

    def _tensors(self) -> dict[str, Tensor]:
        """The tensors among it, each with the shape of the spec as leading dims."""
        return {}

    def replace(self, **changes: Any) -> Self:
        """The same spec with some arguments replaced.

        >>> from tensorclass.envs import Bounded
        >>> Bounded(-1.0, 1.0, (2,)).replace(high=3.0).high
        tensor([3., 3.])
        """
        made: Self = self._kind(**{**self._arguments(), **changes})
        return made

    def clone(self) -> Self:
        """A spec of its own that is equal to this one."""
        return self.replace()

    def _cast(self, device: torch.device | None, dtype: torch.dtype | None) -> Self:
        changes = {"device": device, "dtype": dtype}
        return self.replace(**{name: value for name, value in changes.items() if value is not None})

    def _node(self) -> TensorDict:
        return node_of(self, self._tensors(), self.shape)

    def _moved(self, node: Any, op: str) -> Any:
        return self.replace(shape=node._batch, **tensors_of(node))

    def _alike(self, other: TensorSpec) -> bool:
        return isinstance(other, FixedSpec) and type(self) is type(other) and same(self._form(), other._form())

    def _form(self) -> dict[str, Any]:
        """What the spec is made of, with the shapes of the tensors in place of the tensors."""
        return {**self._arguments(), **{name: tensor.shape for name, tensor in self._tensors().items()}}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FixedSpec) and type(self) is type(other) and same(self._arguments(), other._arguments())
        )

    def __hash__(self) -> int:
        return hash((type(self), self.shape, self.dtype, self.device))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={show(value)}" for name, value in self._arguments().items() if value is not None)
        return f"{word(self)}({shown})"

    if TYPE_CHECKING:

        def __getitem__(self, index: Any) -> Self: ...


class LeafSpec(FixedSpec):
    """A spec of tensors of one shape and dtype."""

    _left: tuple[str, ...] = ()  # Which of the two were left to the annotation that the spec may stand in.

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of a value."""
        return self._dtype  # type: ignore[no-any-return]

    if TYPE_CHECKING:

        def rand(self, shape: Sequence[int] | int = ()) -> Tensor: ...
        def sample(self, shape: Sequence[int] | int = ()) -> Tensor: ...
        def zero(self, shape: Sequence[int] | int = ()) -> Tensor: ...
        def zeros(self, shape: Sequence[int] | int = ()) -> Tensor: ...
        def one(self, shape: Sequence[int] | int = ()) -> Tensor: ...
        def ones(self, shape: Sequence[int] | int = ()) -> Tensor: ...
        def project(self, value: Tensor) -> Tensor: ...
        def encode(self, value: Any, *, ignore_device: bool = False) -> Tensor: ...
        def enumerate(self, use_mask: bool = False) -> Tensor: ...


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two specs of a kind are made of the same."""
    return one.keys() == other.keys() and all(equal(value, other[name]) for name, value in one.items())


def equal(one: Any, other: Any) -> bool:
    """Whether two arguments are the same, as one bool."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        alike = one.shape == other.shape and one.device == other.device
        return alike and (one.is_meta or bool(torch.equal(one, other)))  # There are no numbers on the meta device.
    if isinstance(one, (Tensor, Node)) or isinstance(other, (Tensor, Node)):
        return one is other
    return type(one) is type(other) and bool(one == other)


def show(value: Any) -> str:
    """An argument as it is printed: a tensor of one number as that number."""
    if isinstance(value, Size):
        return repr(tuple(value))
    if isinstance(value, torch.device):
        return repr(str(value))
    if isinstance(value, Tensor):
        if value.numel() and bool((value == value.reshape(-1)[0]).all()):
            return number(value.reshape(-1)[0])
        return repr(value.tolist()) if value.numel() <= 8 else f"<{list(value.shape)}>"
    return repr(value)


def number(value: Tensor) -> str:
    """A number as somebody would write it: 0.1, and not what float32 makes of it."""
    exact = value.item()
    short = (float(f"{exact:.{digits}g}") for digits in range(1, 17)) if isinstance(exact, float) else ()
    return repr(next((one for one in short if torch.tensor(one, dtype=value.dtype) == value.cpu()), exact))


def ends_in(kind: str, shape: Size, size: int, what: str) -> None:
    """Refuse a shape whose last dim is not as long as it must be."""
    if not shape or shape[-1] != size:
        raise spec_errors.SpecShape(spec_errors.last_dim(kind, tuple(shape), size, what))


def drawable(shape: Size) -> Size:
    """A shape to make a value of: a size that may vary (-1) is 1."""
    return Size([1 if size < 0 else size for size in shape]) if -1 in shape else shape


def shape_fits(shape: Sequence[int], wanted: Size) -> bool:
    """Whether a shape ends in that of a spec, where -1 stands for any size."""
    tail = shape[len(shape) - len(wanted) :]
    if len(tail) != len(wanted):
        return False
    return tuple(tail) == wanted or all(want in (-1, size) for size, want in zip(tail, wanted))


def checked_shape(shape: Any) -> Size:
    """A shape as the user gives it; -1 stands for a size that varies."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(isinstance(size, int) and size < -1 for size in sizes):
        raise errors.ShapeError(f"shape {list(sizes)} has a negative size; -1 stands for one that varies")
    return Size(sizes)
