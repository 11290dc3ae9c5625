"""Device, dtype, memory and autograd: the same call on every tensor of a container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import torch
from torch import Tensor
from typing_extensions import Self

from ._rules import errors
from ._rules.indexing import check_mask, spelled_out
from ._rules.keys import unravel
from ._rules.sizes import Mask
from ._tree import inplace as inplace_
from ._tree import walk
from ._tree.contract import as_size, full_device
from ._tree.explain import uncommon
from ._tree.join import as_mask, beside, equal, rows_of
from ._tree.node import Node, is_tree, kind

# The class below has methods with these names.
N = TypeVar("N", bound=Node)
_bool: TypeAlias = bool
_int: TypeAlias = int
_float: TypeAlias = float


class CastMethods(Node):
    """Move, cast, copy and detach every tensor."""

    __slots__ = ()

    def to(
        self,
        *args: Any,
        device: Any = None,
        dtype: torch.dtype | None = None,
        non_blocking: bool = False,
        copy: bool = False,
        batch_size: Any = None,
        cast_filter: Callable[[Any, Tensor], bool] | None = None,
        **options: Any,
    ) -> Self:
        """Move to a device and cast to a dtype, as torch.Tensor.to does.

        >>> td = TensorDict(p=torch.zeros(2), i=torch.arange(2))
        >>> td.to(torch.float64, cast_filter=lambda key, value: value.is_floating_point())["i"].dtype
        torch.int64

        cast_filter(key, tensor): which tensors the dtype is for. A tensor or container as argument gives both.
        """
        device, dtype = _targets(args, device, dtype)
        target = full_device(device)
        same_place = target is None or target == self._device
        if same_place and dtype is None and not copy and batch_size is None:
            return self
        out = self
        if target is not None or dtype is not None or copy:
            out = _moved(self, target, dtype, non_blocking, copy, cast_filter, ())
        if batch_size is not None:
            out = type(out).copy(out)
            out.batch_size = batch_size  # type: ignore[attr-defined]  # Every container has it.
        return out

    def cpu(self) -> Self:
        """On the CPU."""
        return type(self).to(self, "cpu")

    def cuda(self, device: int | torch.device | None = None, non_blocking: bool = False) -> Self:
        """On a CUDA device."""
        target = torch.device("cuda", device) if isinstance(device, int) else device or "cuda"
        return type(self).to(self, target, non_blocking=non_blocking)

    def float(self) -> Self:
        """Every tensor as float32."""
        return _cast(self, torch.float32)

    def double(self) -> Self:
        """Every tensor as float64."""
        return _cast(self, torch.float64)

    def half(self) -> Self:
        """Every tensor as float16."""
        return _cast(self, torch.float16)

    def bfloat16(self) -> Self:
        """Every tensor as bfloat16."""
        return _cast(self, torch.bfloat16)

    def int(self) -> Self:
        """Every tensor as int32."""
        return _cast(self, torch.int32)

    def long(self) -> Self:
        """Every tensor as int64."""
        return _cast(self, torch.int64)

    def short(self) -> Self:
        """Every tensor as int16."""
        return _cast(self, torch.int16)

    def bool(self) -> Self:
        """Every tensor as bool."""
        return _cast(self, torch.bool)

    def type(self, dtype: torch.dtype) -> Self:
        """Every tensor cast to a dtype."""
        return _cast(self, dtype)

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype that all tensors share, or None."""
        kinds = {leaf.dtype for leaf in walk.gather(self, [])}
        return kinds.pop() if len(kinds) == 1 else None

    # ---- copies -------------------------------------------------------------------------------------------------

    def clone(self, recurse: _bool = True, **options: Any) -> Self:
        """A copy with tensors of its own; with recurse=False the tensors are shared.

        >>> td = TensorDict(a=torch.zeros(3))
        >>> td.clone()["a"] is td["a"]
        False
        """
        return _cloned(self, options) if recurse else copied(self)

    def copy(self) -> Self:
        """A container with the same tensors: new nodes, shared leaves."""
        return copied(self)

    def __copy__(self) -> Self:
        return copied(self)

    def contiguous(self) -> Self:
        """Every tensor contiguous."""
        return walk.each(self, Tensor.contiguous)

    def is_contiguous(self) -> _bool:
        """Whether every tensor is contiguous."""
        return all(leaf.is_contiguous() for leaf in walk.gather(self, []))

    def copy_(self, source: Any, non_blocking: _bool = False) -> Self:
        """Copy the tensors of another container with the same keys into these, in place; plain data is replaced."""
        if not isinstance(source, Node):
            raise errors.KindError("copy_: the source is no container")
        mine, theirs = inplace_.leaves_of("copy_", self), walk.match("copy_", self, source, [])
        for leaf, new in zip(mine, theirs):
            if leaf.shape != new.shape and not inplace_.takes(leaf.shape, new.shape):
                raise errors.ShapeError(f"copy_: shape {list(new.shape)} does not fit in {list(leaf.shape)}")
        inplace_.check("copy_", mine)
        inplace_.write(mine, Tensor.copy_, torch._foreach_copy_, theirs, non_blocking)
        _copy_data(self, source)
        return self

    def pin_memory(self, **options: Any) -> Self:
        """Every tensor in pinned memory, where there is a device to pin for."""
        return walk.each(self, Tensor.pin_memory) if torch.cuda.is_available() else self

    def is_pinned(self) -> _bool:
        """Whether every tensor is in pinned memory."""
        return all(leaf.is_pinned() for leaf in walk.gather(self, []))

    def share_memory_(self) -> Self:
        """Every tensor in shared memory, in place; the container is locked."""
        leaves = walk.gather(self, [])
        for leaf in leaves:
            if leaf.is_meta or leaf.layout not in (torch.strided, torch.jagged):
                raise errors.StructureError(
                    f"share_memory_: a tensor of layout {leaf.layout} on device {leaf.device} has no memory to share"
                )
        for leaf in leaves:
            leaf.share_memory_()
        return type(self).lock_(self)

    def is_shared(self) -> _bool:
        """Whether every tensor is in shared memory."""
        leaves = walk.gather(self, [])
        return len(leaves) > 0 and all(leaf.is_shared() for leaf in leaves)

    # ---- autograd -----------------------------------------------------------------------------------------------

    def detach(self) -> Self:
        """Every tensor detached from the graph; memory is shared."""
        return walk.each(self, Tensor.detach)

    def detach_(self) -> Self:
        """Every tensor detached, in place."""
        leaves = inplace_.leaves_of("detach_", self)
        views = [] if torch.compiler.is_compiling() else [leaf for leaf in leaves if leaf._is_view()]
        if views:
            raise errors.StructureError(
                f"detach_: a tensor of shape {list(views[0].shape)} is a view of another, and cannot be detached in "
                "place; .detach() makes a new container"
            )
        for leaf in leaves:
            leaf.detach_()
        return self

    @property
    def data(self) -> Self:
        """Every tensor's .data."""
        return walk.each(self, lambda leaf: leaf.data)

    @property
    def grad(self) -> Self:
        """The gradients; entries without one are left out."""
        if self._items is not None:
            return self._restack([type(item).grad.fget(item) for item in self._items])
        fields: dict[str, Any] = {}
        for key, value in self._fields.items():
            new = value.grad if isinstance(value, (Tensor, CastMethods)) else value
            if new is not None or not isinstance(value, Tensor):
                fields[key] = new
        return self._bare(fields, self._batch, self._names)  # type: ignore[return-value]  # See Node._bare.

    @property
    def requires_grad(self) -> _bool:
        """Whether any tensor requires a gradient."""
        return any(leaf.requires_grad for leaf in walk.gather(self, []))

    def requires_grad_(self, requires_grad: _bool = True) -> Self:
        """Have every floating tensor require a gradient, in place."""
        leaves = inplace_.leaves_of("requires_grad_", self)
        chosen = [leaf for leaf in leaves if leaf.is_floating_point() or leaf.is_complex()]
        computed = [leaf for leaf in chosen if not leaf.is_leaf]
        if computed and not requires_grad:
            raise errors.StructureError(
                f"requires_grad_: a tensor of shape {list(computed[0].shape)} was computed from others that require a "
                "gradient; .detach() makes a container that does not"
            )
        for leaf in chosen:
            leaf.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: _bool = True) -> Self:
        """Forget the gradients."""
        for leaf in walk.gather(self, []):
            if leaf.grad is not None:
                if set_to_none:
                    leaf.grad = None
                else:
                    leaf.grad.zero_()
        return self

    # ---- apply --------------------------------------------------------------------------------------------------

    def apply(
        self,
        fn: Callable[..., Any],
        *others: Any,
        batch_size: Any = None,
        inplace: _bool = False,
        default: Any = ...,
        filter_empty: _bool | None = None,
        **options: Any,
    ) -> Self:
        """Call a function on every tensor (with those of other containers under the same key) and keep the results.

        >>> TensorDict(a=torch.zeros(3), batch_size=[3]).apply(lambda a: a + 1)["a"]
        tensor([1., 1., 1.])

        batch_size: that of the result, where the function changes it. A None from the function leaves the key out.
        """
        return _in_place_or_not(self, lambda at, *v: fn(*v), others, batch_size, inplace, default)

    def named_apply(
        self,
        fn: Callable[..., Any],
        *others: Any,
        nested_keys: _bool = False,
        batch_size: Any = None,
        inplace: _bool = False,
        default: Any = ...,
        filter_empty: _bool | None = None,
        **options: Any,
    ) -> Self:
        """Like apply, with the key as first argument: its last part, or (nested_keys) the whole of it."""

        def call(at: tuple[str, ...], *values: Any) -> Any:
            return fn(unravel(at) if nested_keys else at[-1], *values)

        return _in_place_or_not(self, call, others, batch_size, inplace, default)

    def apply_(self, fn: Callable[..., Any], *others: Any, **options: Any) -> Self:
        """Like apply, and the results are copied into the tensors."""
        return type(self).apply(self, fn, *others, inplace=True, **options)

    def zero_(self) -> Self:
        """Fill every tensor with 0, in place."""
        leaves = inplace_.leaves_of("zero_", self)
        for leaf in leaves:
            inplace_.refuse_graph("zero_", leaf)
        inplace_.write(leaves, Tensor.zero_, torch._foreach_zero_)
        return self

    def masked_fill(self, mask: Tensor, value: Any) -> Self:
        """A copy with a number in the rows where a batch-shaped mask is true."""
        return _masked_fill(self, mask, value)

    def masked_fill_(self, mask: Tensor, value: Any) -> Self:
        """A number in the rows where a batch-shaped mask is true, in place."""
        self._write_at(as_mask("masked_fill_", mask), value)
        return self

    def numel(self) -> _int:
        """The number of rows: the product of the batch size."""
        return self._batch.numel()

    def bytes(self) -> _int:
        """The memory that the tensors take, in bytes."""
        return sum(leaf.numel() * leaf.element_size() for leaf in walk.gather(self, []))

    def param_count(self) -> _int:
        """The number of elements of all tensors."""
        return sum(leaf.numel() for leaf in walk.gather(self, []))


def _masked_fill(node: N, mask: Tensor, value: Any) -> N:
    mask = as_mask("masked_fill", mask)
    spelled_out((Mask(tuple(mask.shape)),), tuple(node._batch))
    check_mask(tuple(mask.shape), tuple(node._batch), 0)
    masks = beside(node, mask, [])
    return walk.refill(node, iter([leaf.masked_fill(one, value) for leaf, one in zip(walk.gather(node, []), masks)]))


def _targets(args: tuple[Any, ...], device: Any, dtype: Any) -> tuple[Any, Any]:
    for arg in args:
        if isinstance(arg, torch.dtype):
            dtype = arg
        elif isinstance(arg, Tensor):
            device, dtype = arg.device, arg.dtype
        elif isinstance(arg, Node):
            device = arg._device
        elif isinstance(arg, bool):
            continue  # non_blocking or copy, given by place as for a tensor.
        elif arg is not None:
            device = arg
    return device, dtype


def _moved(
    node: Any,
    device: torch.device | None,
    dtype: torch.dtype | None,
    non_blocking: bool,
    copy: bool,
    cast_filter: Callable[[Any, Tensor], bool] | None,
    at: tuple[str, ...],
) -> Any:
    if node._items is not None:
        return node._restack([_moved(item, device, dtype, non_blocking, copy, cast_filter, at) for item in node._items])
    fields: dict[str, Any] = {}
    for key, value in node._fields.items():
        here = (*at, key)
        if isinstance(value, Tensor):
            cast = dtype if cast_filter is None or cast_filter(unravel(here), value) else None
            fields[key] = value.to(device=device, dtype=cast, non_blocking=non_blocking, copy=copy)
        elif is_tree(value):
            fields[key] = _moved(value, device, dtype, non_blocking, copy, cast_filter, here)
        else:
            fields[key] = value
    out = node._like(fields)
    if device is not None:
        object.__setattr__(out, "_device", device)
    return out


def _cast(node: N, dtype: torch.dtype) -> N:
    return walk.each(node, lambda leaf: leaf.to(dtype))


def _cloned(node: N, options: dict[str, Any]) -> N:
    return node._like(
        {
            key: value.clone(**options)
            if isinstance(value, Tensor)
            else type(value).clone(value, **options)
            if isinstance(value, Node)
            else value
            for key, value in node._fields.items()
        }
    )


def _copy_data(mine: Any, theirs: Any) -> None:
    """Put the plain data of another tree in place of that here."""
    if mine._items is not None:
        for item, row in zip(mine._items, type(theirs).unbind(theirs, mine._dim)):
            _copy_data(item, row)
        return
    for key, value in mine._fields.items():
        new = theirs._fields.get(key, value)
        if is_tree(value):
            _copy_data(value, new)
        elif not isinstance(value, Tensor) and not equal(value, new):
            mine._check_open(f"set {key!r}")
            mine._fields[key] = type(new).clone(new) if isinstance(new, Node) else new


def copied(node: N) -> N:
    """New nodes, shared leaves."""
    if node._items is not None:
        return node._restack([copied(item) for item in node._items])
    return node._like({key: copied(value) if is_tree(value) else value for key, value in node._fields.items()})


def _in_place_or_not(
    node: N, call: Callable[..., Any], others: tuple[Any, ...], batch_size: Any, inplace: bool, default: Any
) -> N:
    if inplace:
        inplace_.leaves_of("apply_", node)  # An instance of a frozen class refuses.
    writes: list[tuple[Tensor, Tensor]] | None = [] if inplace else None
    out = _applied(node, call, others, batch_size, writes, default, ())
    for leaf, new in writes or ():  # Once the function has been called for all of them.
        leaf.copy_(new)
    return out


def _applied(
    node: N,
    call: Callable[..., Any],
    others: tuple[Any, ...],
    batch_size: Any,
    writes: list[tuple[Tensor, Tensor]] | None,
    default: Any,
    at: tuple[str, ...],
) -> N:
    """The tree with the results; or, where there is a list for writes, the tree itself and what to copy into it."""
    if node._items is not None and batch_size is None:
        rows = zip(node._items, *[rows_of(node, other) for other in others])
        items = [_applied(item, call, tuple(row), None, writes, default, at) for item, *row in rows]
        return node if writes is not None else node._restack(items)
    fields: dict[str, Any] = {}
    for key, value in node._fields.items():
        here = (*at, key)
        if not isinstance(value, Tensor) and not is_tree(value):
            fields[key] = value
            continue
        against = [_other(other, key, here, default) for other in others]
        if is_tree(value):
            inner = None if batch_size is None else batch_size
            new = _applied(value, call, tuple(against), inner, writes, default, here)
            if new._fields or not value._fields:
                fields[key] = new
            continue
        new = call(here, value, *against)
        if new is not None and writes is not None:
            _check_copy(here, value, new)
            writes.append((value, new))  # type: ignore[arg-type]  # A tensor here.
        elif new is not None:
            fields[key] = new
    if writes is not None:
        return node
    if batch_size is None:
        out: N = node._bare(fields, node._batch, node._names)  # type: ignore[assignment]  # See Node._bare.
        _check_applied(out, node._batch, at)
        return out
    return node._bare(fields, as_size(batch_size))  # type: ignore[return-value]  # See Node._bare.


def _check_copy(at: tuple[str, ...], leaf: Any, new: Any) -> None:
    if new is leaf:
        return
    if not isinstance(new, Tensor):
        raise errors.KindError(f"apply: {errors.name_of(at)} is a tensor; the function gave {kind(new)}")
    if not uncommon(leaf) and not inplace_.takes(leaf.shape, new.shape):
        raise errors.ShapeError(
            f"apply: {errors.name_of(at)} has shape {list(leaf.shape)}; a value of shape {list(new.shape)} cannot be "
            "copied into it"
        )
    inplace_.check_leaf("apply", leaf)


def _check_applied(node: Any, batch: Any, at: tuple[str, ...]) -> None:
    n = len(batch)
    for key, value in node._fields.items():
        if isinstance(value, Tensor) and not value.is_nested and value.shape[:n] != batch:
            raise errors.ShapeError(
                errors.batch_mismatch((*at, key), tuple(value.shape), tuple(batch), "apply: the new")
                + "; batch_size= says another one"
            )


def _other(other: Any, key: str, here: tuple[str, ...], default: Any) -> Any:
    if other is default or not isinstance(other, Node):
        return other
    if key not in other._fields:
        if default is not ...:
            return default
        raise other._missing(unravel(here))
    return other._fields[key]
