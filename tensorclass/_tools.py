"""Functions on containers: joins, padding, comparison, and small questions about values and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from . import _functions
from ._container import Container
from ._keys import NestedKey
from ._rules import errors
from ._rules.keys import unravel
from ._tensordict import TensorDict
from ._tree import walk
from ._tree.node import Node, is_tree

C = TypeVar("C", bound=Container)
N = TypeVar("N", bound=Node)
T = TypeVar("T")


def stack(items: Sequence[C], dim: int = 0) -> C:
    """Join containers of one batch size along a new batch dim.

    >>> stack([TensorDict(a=torch.zeros(3), batch_size=[3])] * 2).batch_size
    torch.Size([2, 3])
    """
    return _functions.stack(items, dim)  # type: ignore[no-any-return]  # Of the items' class.


def cat(items: Sequence[C], dim: int = 0) -> C:
    """Join containers along a batch dim that they have.

    >>> cat([TensorDict(a=torch.zeros(3), batch_size=[3])] * 2).batch_size
    torch.Size([6])
    """
    return _functions.cat(items, dim)  # type: ignore[no-any-return]


def where(condition: Tensor, input: C, other: C | float) -> C:
    """Rows of the input where a batch-shaped condition is true, of the other elsewhere."""
    return _functions.where(condition, input, other)  # type: ignore[no-any-return]


def reveal_batch(value: T) -> T:
    """The value itself; mypy, with the plugin, prints the batch size that it knows for it."""
    return value


def is_tensor_collection(value: object) -> bool:
    """Whether a value (or a class) is a container: TensorDict, TensorClass, a lazy stack."""
    return issubclass(value, Node) if isinstance(value, type) else isinstance(value, Node)


def is_tensorclass(value: object) -> bool:
    """Whether a value (or a class) is a TensorClass."""
    from ._tensorclass import TensorClass

    return issubclass(value, TensorClass) if isinstance(value, type) else isinstance(value, TensorClass)


def unravel_key(key: NestedKey) -> NestedKey:
    """A key in its one form: a string, or a flat tuple of strings.

    >>> unravel_key(("a", ("b",)))
    ('a', 'b')
    """
    return unravel(key)


def unravel_key_list(keys: Sequence[NestedKey]) -> list[NestedKey]:
    """Several keys, each in its one form."""
    return [unravel(key) for key in keys]


def from_dict(source: Mapping[Any, Any], **options: Any) -> TensorDict:
    """A TensorDict from a dict of tensors and dicts."""
    return TensorDict.from_dict(source, **options)


def expand_as_right(tensor: Tensor, dest: Tensor) -> Tensor:
    """A tensor expanded to the shape of another, its dims standing for the leading ones.

    >>> expand_as_right(torch.zeros(3), torch.zeros(3, 4)).shape
    torch.Size([3, 4])
    """
    if tensor.shape != dest.shape[: tensor.ndim]:
        raise errors.ShapeError(
            f"expand_as_right: shape {list(tensor.shape)} is not the beginning of {list(dest.shape)}"
        )
    return tensor.reshape(*tensor.shape, *[1] * (dest.ndim - tensor.ndim)).expand(dest.shape)


def pad(container: C, pad_size: Sequence[int], value: float = 0.0) -> C:
    """Rows of a constant before and after each batch dim: pad_size is (before, after) of dim 0, then of dim 1, ...

    >>> pad(TensorDict(a=torch.ones(3), batch_size=[3]), [0, 2])["a"]
    tensor([1., 1., 1., 0., 0.])
    """
    batch = container.batch_size
    if len(pad_size) % 2 or len(pad_size) > 2 * len(batch):
        raise errors.ShapeError(
            f"pad: {list(pad_size)} is not one pair (before, after) for each of {len(batch)} batch dims"
        )
    pairs = [(pad_size[at], pad_size[at + 1]) for at in range(0, len(pad_size), 2)]
    pairs += [(0, 0)] * (len(batch) - len(pairs))
    sizes = tuple([before + size + after for size, (before, after) in zip(batch, pairs)])
    return _padded(container, pairs, sizes, value)


def _padded(node: N, pairs: list[tuple[int, int]], sizes: tuple[int, ...], value: float) -> N:
    rank = len(pairs)

    def fill(leaf: Tensor) -> Tensor:
        flat = [size for pair in reversed(pairs) for size in pair]
        return torch.nn.functional.pad(leaf, [0, 0] * (leaf.ndim - rank) + flat, value=value)

    return node._rebuild(
        {
            key: fill(entry)
            if isinstance(entry, Tensor)
            else _padded(entry, pairs, (*sizes, *entry._batch[rank:]), value)
            if is_tree(entry)
            else entry
            for key, entry in node._fields.items()
        },
        sizes,
        node._names,
    )


def assert_close(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, **options: Any
) -> None:
    """Raise AssertionError, naming the key, unless two containers hold close tensors under the same keys."""
    if not isinstance(actual, Node) or not isinstance(expected, Node):
        torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol)
        return
    mine, theirs = [set(walk.key_paths(node, True, True)) for node in (actual, expected)]
    if mine != theirs:
        raise AssertionError(f"keys differ: {sorted(mine ^ theirs)} are in one alone")
    if actual._batch != expected._batch:
        raise AssertionError(f"batch sizes differ: {list(actual._batch)} and {list(expected._batch)}")
    others = walk.match("assert_close", actual, expected, [])
    for (at, tensor), other in zip(walk.tensors_with_paths(actual, by_item=True), others):
        if not (tensor.is_nested or other.is_nested):  # Maps and parameters are tensors like any other.
            tensor, other = tensor.detach().as_subclass(Tensor), other.detach().as_subclass(Tensor)
        torch.testing.assert_close(tensor, other, rtol=rtol, atol=atol, msg=_with_key(at))


def _with_key(at: tuple[str, ...]) -> Callable[[str], str]:
    return lambda text: f"{errors.name_of(at)}: {text}"


assert_allclose_td = assert_close
