"""Chain: typed modules one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, overload

from torch import nn

from .._rules import errors
from .._tree.node import kind
from ._typed import TensorClassModuleBase, ends_of

# Neither contravariant nor covariant: a checker that solves `self: Chain[A, C]` for the most general A (ty) would say
# Never for a contravariant one.  The base class keeps its variance, so a Chain still stands in where that is wanted.
Takes = TypeVar("Takes")
Gives = TypeVar("Gives")

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")


class Chain(TensorClassModuleBase[Takes, Gives]):
    """Typed modules in a row: from the input class of the first to the output class of the last.

    >>> class Word(TensorClass):
    ...     letters: torch.Tensor
    >>> class Upper(TensorClassModuleBase[Word, Word]):
    ...     def forward(self, x: Word) -> Word:
    ...         return x.replace(letters=x.letters - 32)
    >>> Chain(Upper(), Upper())(Word(letters=torch.tensor([164]))).letters
    tensor([100])

    What one gives must be what the next one takes; a checker finds out, and so does the constructor.
    """

    @overload
    def __init__(self: Chain[A, B], a: TensorClassModuleBase[A, B], /) -> None: ...
    @overload
    def __init__(self: Chain[A, C], a: TensorClassModuleBase[A, B], b: TensorClassModuleBase[B, C], /) -> None: ...
    @overload
    def __init__(
        self: Chain[A, D],
        a: TensorClassModuleBase[A, B],
        b: TensorClassModuleBase[B, C],
        c: TensorClassModuleBase[C, D],
        /,
    ) -> None: ...
    @overload
    def __init__(
        self: Chain[A, E],
        a: TensorClassModuleBase[A, B],
        b: TensorClassModuleBase[B, C],
        c: TensorClassModuleBase[C, D],
        d: TensorClassModuleBase[D, E],
        /,
    ) -> None: ...
    @overload
    def __init__(
        self: Chain[A, F],
        a: TensorClassModuleBase[A, B],
        b: TensorClassModuleBase[B, C],
        c: TensorClassModuleBase[C, D],
        d: TensorClassModuleBase[D, E],
        e: TensorClassModuleBase[E, F],
        /,
    ) -> None: ...
    @overload
    def __init__(
        self: Chain[A, G],
        a: TensorClassModuleBase[A, B],
        b: TensorClassModuleBase[B, C],
        c: TensorClassModuleBase[C, D],
        d: TensorClassModuleBase[D, E],
        e: TensorClassModuleBase[E, F],
        f: TensorClassModuleBase[F, G],
        /,
    ) -> None: ...
    def __init__(self, *modules: TensorClassModuleBase[Any, Any]) -> None:
        super().__init__()
        if not modules:
            raise errors.OptionError("Chain: there are no modules; one at least is needed")
        for module in modules:
            if not isinstance(module, TensorClassModuleBase):
                raise errors.KindError(f"Chain: {kind(module)} is no TensorClassModuleBase; each module is an argument")
        for before, after in zip(modules, modules[1:]):
            gives, wants = ends_of(before)[1], ends_of(after)[0]
            if isinstance(gives, type) and isinstance(wants, type) and not issubclass(gives, wants):
                raise errors.KindError(
                    errors.joint(type(before).__name__, gives.__name__, type(after).__name__, wants.__name__)
                )
        self.input_type, self.output_type = ends_of(modules[0])[0], ends_of(modules[-1])[1]
        self.keeps_batch = all(module.keeps_batch for module in modules)  # type: ignore[misc]  # Here it is the chain's.
        self.layers = nn.ModuleList(modules)

    def forward(self, x: Takes, /) -> Gives:
        """Call the modules in order."""
        value: Any = x
        for layer in self.layers:
            value = layer(value)
        return value  # type: ignore[no-any-return]  # The constructor saw what the last one gives.

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)

    def __getitem__(self, index: int) -> Any:
        """The module at a place."""
        return self.layers[index]
