"""pytree registration: vmap, func transforms, export and DataLoader collation see the leaves of a container.

The flatten context keeps each leaf's number of feature dims, not the batch size: a transform that hides or adds a dim
(vmap) gets the right batch size back.
"""

from __future__ import annotations

from typing import Any

import torch.utils._pytree as pytree
from torch import Size, Tensor
from torch._C._functorch import is_functorch_wrapped_tensor

from .node import Node
from .walk import gather

Context = tuple[Any, ...]


def register(cls: type[Any]) -> None:
    """Make a class of containers known to torch.utils._pytree."""
    pytree.register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
        flatten_with_keys_fn=with_keys,
    )


def leaf_keys(node: Any) -> list[str]:
    """The keys whose entries are leaves (or nested containers) to pytree."""
    if node._leaves is not None:  # Made by unflatten from things that are no tensors: they are leaves all the same.
        return list(node._leaves)
    return [key for key, value in node._fields.items() if isinstance(value, (Tensor, Node))]


def flatten(node: Any) -> tuple[list[Any], Context]:
    """The entries, and what it takes to build the container again."""
    keys = leaf_keys(node)
    fields = node._fields
    rank = len(node._batch)
    features = tuple([_rank(fields[key]) - rank for key in keys])
    data = tuple([(key, value) for key, value in fields.items() if key not in keys])
    order = tuple(fields)
    values = getattr(node, "_values", None)
    context = (type(node), tuple(keys), features, data, order, rank, node._device, node._names, values)
    return [fields[key] for key in keys], context


def _rank(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.ndim
    return len(value._batch) if isinstance(value, Node) else 0


def unflatten(leaves: Any, context: Context) -> Any:
    """The container again, its batch size read off the leaves."""
    cls, keys, features, data, order, rank, device, names, values = context
    new = object.__new__(cls)
    leaves = list(leaves)
    batch: Any = None
    plain = False
    for leaf, extra in zip(leaves, features):
        if isinstance(leaf, Tensor):
            if batch is None:
                batch = leaf.shape[: leaf.ndim - extra]
        elif isinstance(leaf, Node):
            if batch is None:
                batch = leaf._batch[: max(len(leaf._batch) - extra, 0)]
        else:
            plain = True
    if batch is None:
        batch = Size(())
    by_key = dict(zip(keys, leaves))
    by_key.update(data)
    if len(batch) != rank:
        names = None
    object.__setattr__(new, "_batch", Size(batch))
    object.__setattr__(new, "_device", device)
    object.__setattr__(new, "_names", names)
    object.__setattr__(new, "_locked", False)
    object.__setattr__(new, "_leaves", keys if plain else None)
    if values is not None:
        object.__setattr__(new, "_values", values)
    new._fill({key: by_key[key] for key in order})
    return new


def is_wrapped(node: Node) -> bool:
    """Whether a transform of torch.func is at work on some tensor of a tree."""
    return any(is_functorch_wrapped_tensor(leaf) for leaf in gather(node, []))


def register_items(cls: type[Any], split: Any, build: Any) -> None:
    """Make a class of lazy stacks known: its children are its items."""
    pytree.register_pytree_node(
        cls,
        split,
        lambda items, dim: build(list(items), dim),
        serialized_type_name=f"lazy:{cls.__module__}.{cls.__qualname__}",
    )


def with_keys(node: Any) -> tuple[list[tuple[Any, Any]], Context]:
    """Like flatten, each entry with its key."""
    leaves, context = flatten(node)
    return [(pytree.MappingKey(key), leaf) for key, leaf in zip(context[1], leaves)], context
