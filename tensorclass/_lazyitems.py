"""What a lazy stack leaves to its items: each does it for itself, and the results stand side by side again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Size

from ._container import Container
from ._lazyrows import joined_rows
from ._rules import errors
from ._tree.contract import as_size
from ._tree.join import rows_of
from ._tree.node import entry


class ItemMethods(Container):
    """Copies, casts, keys and forms of a lazy stack."""

    __slots__ = ()

    def _map(self, call: Callable[[Any], Any]) -> Any:
        return self._restack([call(item) for item in self._items])

    def clone(self, recurse: bool = True, **options: Any) -> Any:
        """A copy with tensors of its own; with recurse=False the tensors are shared."""
        return self._map(lambda item: type(item).clone(item, recurse, **options))

    def copy(self) -> Any:
        """A lazy stack with the same tensors."""
        return self._map(lambda item: type(item).copy(item))

    def __copy__(self) -> Any:
        return type(self).copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        import copy

        return self._map(lambda item: copy.deepcopy(item, memo))

    def to(self, *args: Any, **options: Any) -> Any:
        """Move or cast every item."""
        return self._map(lambda item: type(item).to(item, *args, **options))

    def select(self, *keys: Any, inplace: bool = False, strict: bool = True) -> Any:
        """Only the entries under these keys."""
        return self._in_place_or_not("select", keys, inplace, strict=strict)

    def exclude(self, *keys: Any, inplace: bool = False) -> Any:
        """All entries but those under these keys."""
        return self._in_place_or_not("exclude", keys, inplace)

    def flatten_keys(self, separator: str = ".", *, inplace: bool = False) -> Any:
        """All entries of nested containers at the root of every item."""
        return self._in_place_or_not("flatten_keys", (separator,), inplace)

    def unflatten_keys(self, separator: str = ".", *, inplace: bool = False) -> Any:
        """Nested containers out of keys that hold the separator."""
        return self._in_place_or_not("unflatten_keys", (separator,), inplace)

    def _in_place_or_not(self, op: str, arguments: tuple[Any, ...], inplace: bool, **options: Any) -> Any:
        """Other items, or the same ones changed, once the op has been seen to work on each."""
        changed = self._map(lambda item: getattr(type(item), op)(item, *arguments, **options))
        if not inplace:
            return changed
        self._check_open(f"{op}(inplace=True)")
        for item in self._items:
            getattr(type(item), op)(item, *arguments, inplace=True, **options)
        return self

    def _remove(self, names: tuple[str, ...]) -> None:
        for item in self._items:
            entry(item, names)
        for item in self._items:
            item._remove(names)

    def empty(self, recurse: bool = False, **options: Any) -> Any:
        """A lazy stack of items without entries."""
        return self._map(lambda item: type(item).empty(item, recurse, **options))

    def apply(self, fn: Callable[..., Any], *others: Any, batch_size: Any = None, **options: Any) -> Any:
        """Call a function on every tensor of every item."""
        return self._applied("apply", fn, others, batch_size, options)

    def named_apply(self, fn: Callable[..., Any], *others: Any, batch_size: Any = None, **options: Any) -> Any:
        """Like apply, with the key as first argument."""
        return self._applied("named_apply", fn, others, batch_size, options)

    def _applied(self, op: str, fn: Any, others: tuple[Any, ...], batch_size: Any, options: dict[str, Any]) -> Any:
        at = self._dim
        if batch_size is not None:
            batch = as_size(batch_size)
            if len(batch) <= at or batch[at] != len(self._items):
                raise errors.ShapeError(
                    f"{op}: batch_size {list(batch)} does not keep the stack dim, which is dim {at} of size "
                    f"{len(self._items)}; .densify() makes a container that has none"
                )
            options = {**options, "batch_size": (*batch[:at], *batch[at + 1 :])}
        rows = zip(self._items, *[rows_of(self, other) for other in others])
        return self._restack([getattr(type(item), op)(item, fn, *rest, **options) for item, *rest in rows])

    def _selected(self, names: Any) -> Any:
        return self._map(lambda item: item._selected(names))

    def _excluded(self, names: Any) -> Any:
        return self._map(lambda item: item._excluded(names))

    def clear_device_(self) -> Any:
        """Let every entry keep a device of its own."""
        object.__setattr__(self, "_device", None)
        for item in self._items:
            type(item).clear_device_(item)
        return self

    def _below(self) -> list[Any]:
        return list(self._items)

    def _set_batch(self, batch: Size) -> None:
        if batch != self._batch:
            raise errors.ShapeError(
                "batch_size: that of a lazy stack is its items'; .contiguous() makes a dense container"
            )

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """The entries as a dict; those of different sizes as lists."""
        rows = [type(item).to_dict(item, **options) for item in self._items]
        return joined_rows(rows, self._dim)

    def tolist(self) -> list[Any]:
        """The rows as nested lists of dicts."""
        return [type(item).tolist(item) for item in self._items] if self._dim == 0 else super().tolist()

    def to_tensordict(self, **options: Any) -> Any:
        """A lazy stack of TensorDicts with the same entries."""
        return self._map(lambda item: type(item).to_tensordict(item))
