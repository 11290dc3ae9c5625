"""The table: every op is a row, and a row is a function whose parameters carry their roles."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

from . import dims as _dims
from .shapes import Move, Moves, result
from .sizes import UNKNOWN, Batch, NotKnown, Size


class Role(NamedTuple):
    """What an argument means: how it is written in a signature, and how it becomes canonical."""

    name: str
    star: bool  # f(1, 2) and f((1, 2)) are the same call.
    type: str  # As printed in the generated signature.


DIM = Role("dim", False, "int")
NEW_DIM = Role("new_dim", False, "int")
DIMS = Role("dims", False, "int | Sequence[int]")
STAR_DIMS = Role("dims", True, "int | Sequence[int]")
SOME_DIMS = Role("dims", False, "int | Sequence[int] | None")
PERMUTATION = Role("permutation", True, "int | Sequence[int]")
SIZES = Role("sizes", True, "int | Sequence[int]")
SIZE_LIST = Role("sizes", False, "Sequence[int]")
INT = Role("int", False, "int")
FLAG = Role("flag", False, "bool")
INTS = Role("ints", False, "Tensor")
MASK = Role("mask", False, "Tensor")
REPEATS = Role("repeats", False, "int | Tensor")
SHIFTS = Role("shifts", False, "int | Sequence[int]")
PIECES = Role("pieces", False, "int | Sequence[int]")

Dim = Annotated[int, DIM]
NewDim = Annotated[int, NEW_DIM]
Dims = Annotated[tuple[int, ...], DIMS]
StarDims = Annotated[tuple[int, ...], STAR_DIMS]
SomeDims = Annotated[tuple[int, ...], SOME_DIMS]
Permutation = Annotated[tuple[int, ...], PERMUTATION]
Sizes = Annotated[tuple[Size, ...], SIZES]
SizeList = Annotated[tuple[Size, ...], SIZE_LIST]
Int = Annotated[int, INT]
Flag = Annotated[bool, FLAG]
Ints = Annotated[Any, INTS]
Mask = Annotated[Any, MASK]
Repeats = Annotated[Any, REPEATS]
Shifts = Annotated[Any, SHIFTS]
Pieces = Annotated[Any, PIECES]

EMPTY = inspect.Parameter.empty


class Param(NamedTuple):
    """One parameter of an op."""

    name: str
    role: Role
    kind: str  # "plain", "star" or "keyword"
    default: Any


class Op(NamedTuple):
    """One row: the op's name and family, its parameters, and the rule that says where each output dim comes from."""

    name: str
    family: str
    params: tuple[Param, ...]
    rule: Callable[..., Any]
    torch: tuple[str, ...]  # The functions and methods of torch that are this op.
    leaf: str  # The call on one leaf, with canonical arguments; `v` is the leaf, `n` the number of batch dims.
    doc: str


OPS: dict[str, Op] = {}
OPS_BY_TORCH: dict[str, Op] = {}


def row(
    family: str, *, leaf: str = "", torch: Sequence[str] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a rule in the table."""

    def put(rule: Callable[..., Any]) -> Callable[..., Any]:
        name = rule.__name__.rstrip("_")
        hints = inspect.get_annotations(rule, eval_str=True)  # get_type_hints makes `= None` Optional on 3.10
        params = []
        for param in list(inspect.signature(rule).parameters.values())[1:]:
            role: Role = hints[param.name].__metadata__[0]
            kind = "star" if role.star else "keyword" if param.kind is param.KEYWORD_ONLY else "plain"
            params.append(Param(param.name, role, kind, param.default))
        names = tuple(torch) if torch is not None else (name,)
        add(Op(name, family, tuple(params), rule, names, leaf, inspect.getdoc(rule) or ""))
        return rule

    return put


def add(op: Op) -> None:
    """Put a row in the table."""
    OPS[op.name] = op
    for name in op.torch:
        OPS_BY_TORCH[name] = op


def canonical(op: str, role: Role, value: Any, batch: Batch) -> Any:
    """An argument in its one form, or the error."""
    if value is UNKNOWN:
        raise NotKnown
    if role.name == "dim":
        return _dims.dim_in(op, value, len(batch))
    if role.name == "new_dim":
        return _dims.new_dim_in(op, value, len(batch))
    if role.name == "dims":
        return _dims.dims_in(op, value, len(batch))
    if role.name == "permutation":
        return _dims.permutation(op, value, len(batch))
    if role.name == "sizes":
        return _dims.spread(value)
    return value


def has_names(dims: Any) -> bool:
    """Whether dims are given by name."""
    return isinstance(dims, str) or (isinstance(dims, (tuple, list)) and any(isinstance(dim, str) for dim in dims))


def moves_of(op: Op, batch: Batch, arguments: dict[str, Any]) -> Any:
    """What the rule says for these arguments (as the caller wrote them): moves, or one list of moves a result."""
    ready = {}
    for param in op.params:
        if param.name in arguments:
            if op.family == "fold" and has_names(arguments[param.name]):
                raise NotKnown  # Dims by their names, which the batch size alone does not tell; or "feature".
            ready[param.name] = canonical(op.name, param.role, arguments[param.name], batch)
        elif param.default is EMPTY and not param.role.star:
            raise TypeError(f"{op.name}: missing argument {param.name!r}")
        elif param.role.name == "dims" and param.default is None:
            ready[param.name] = canonical(op.name, param.role, None, batch)
        elif param.default is not EMPTY:
            ready[param.name] = canonical(op.name, param.role, param.default, batch)
    return op.rule(batch, **ready)


def after(op: Op, batch: Batch, arguments: dict[str, Any]) -> Any:
    """The batch size after the op, or a list of them for an op with several results.

    Raises the rule's own sentence (errors.RuleError), or NotKnown when it needs a size that is unknown.
    """
    moves = moves_of(op, batch, arguments)
    if moves and isinstance(moves[0], list):
        return [result(batch, one) for one in moves]
    return result(batch, moves)


__all__ = ["OPS", "OPS_BY_TORCH", "Move", "Moves", "Op", "Param", "Role", "after", "canonical", "moves_of", "row"]
