"""Functions of matrices: patterns of the last dims that they take and of those that they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, Node

from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._dtypes import kind_of, real
from ._evaluate import elements
from ._hints import unlike
from ._operators import broadcast, matmul, mixed, no_ones
from ._values import Named, Tensor, Value, has_star, is_int, is_size, known, show_shape, show_size

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

# "k" is the smaller of m and n. A result has the dtype of the tensor, or one that stands before its dims;
# "real" is that of the parts where the tensor is complex.
_SQUARE = "inverse linalg.inv cholesky linalg.cholesky matrix_exp linalg.matrix_exp"
PATTERNS = {
    **dict.fromkeys(_SQUARE.split(), "n n -> n n"),
    **dict.fromkeys(("matrix_power", "linalg.matrix_power"), "n n -> n n"),
    **dict.fromkeys(("det", "linalg.det", "logdet"), "n n ->"),
    **dict.fromkeys(("pinverse", "linalg.pinv"), "m n -> n m"),
    "linalg.slogdet": "n n -> sign: , logabsdet real:",
    "linalg.eigh": "n n -> eigenvalues real: n, eigenvectors: n n",
    "linalg.eigvalsh": "n n -> real: n",
    "linalg.eig": "n n -> eigenvalues complex: n, eigenvectors complex: n n",
    "linalg.eigvals": "n n -> complex: n",
    "linalg.svdvals": "m n -> real: k",
    "linalg.svd": "m n -> U: m m, S real: k, Vh: n n",
    "linalg.qr": "m n -> Q: m k, R: k n",
    "linalg.matrix_rank": "m n -> int64:",
}
# What another setting makes of it; one that is not here is not known.
SETTINGS: dict[str, tuple[str, Any, dict[Any, str]]] = {
    "linalg.svd": (
        "full_matrices",
        True,
        {True: PATTERNS["linalg.svd"], False: "m n -> U: m k, S real: k, Vh: k n"},
    ),
    "linalg.qr": ("mode", "reduced", {"reduced": PATTERNS["linalg.qr"], "complete": "m n -> Q: m m, R: m n"}),
}


def of_matrix(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """A function of one matrix, or of a stack of them."""
    pattern = PATTERNS[name]
    if name in SETTINGS:
        word, usual, patterns = SETTINGS[name]
        value = args.take(word).get(word, usual)
        if not isinstance(value, (bool, str)) or value not in patterns:
            return UNKNOWN
        pattern = patterns[value]
    taken, _, given = pattern.partition(" ->")
    if kind_of(tensor.dtype) in ("int", "bool") and name not in ("matrix_power", "linalg.matrix_power"):
        from ._tensors import not_floating

        walk.say(expr, _codes.SHAPE, not_floating(name, tensor.dtype))
    sizes = _bound(walk, expr, tensor, name, taken.split())
    results = [_result(tensor, sizes, part) for part in given.split(",")]
    if len(results) == 1:
        return results[0]
    return Named(results, [part.split(":")[0].split()[0] for part in given.split(",")])


def _bound(walk: Walk, expr: Node, tensor: Tensor, name: str, letters: list[str]) -> dict[str, Any] | None:
    """The sizes of the last two dims by their letters; None: not known, or not fitting, which is said."""
    shape = tensor.shape
    if shape is None:
        return None
    if not has_star(shape) and len(shape) < 2:
        text = f"{name}: the tensor has shape {show_shape(shape)}; it takes matrices, of 2 dims at least"
        walk.say(expr, _codes.SHAPE, text)
        return None
    if len(shape) < 2 or has_star(shape[-2:]):
        return None
    if letters[0] == letters[1] and unlike(walk, shape[-1], shape[-2]):
        walk.say(expr, _codes.SHAPE, f"{name}: the matrices are not square: the shape is {show_shape(shape)}")
        return None
    first, second = shape[-2:]
    return {letters[0]: first, letters[1]: second, "k": _smaller(first, second)}


def _smaller(one: Any, other: Any) -> Any:
    if is_int(one) and is_int(other):
        return min(one, other)
    return one if is_size(one) and one == other else UNKNOWN


def _result(tensor: Tensor, sizes: dict[str, Any] | None, text: str) -> Tensor:
    words, colon, letters = text.rpartition(":")
    kinds = {"real": real(tensor.dtype), "complex": "complex", "int64": "int64"}
    dtype = next((kinds[word] for word in words.split() if word in kinds), tensor.dtype)
    if sizes is None or tensor.shape is None:
        return Tensor(None, dtype)
    return Tensor((*tensor.shape[:-2], *(sizes[letter] for letter in letters.split())), dtype)


def solve(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.linalg.solve(A, B), solve_triangular, lstsq: B has the rows of A, the result its columns."""
    given, a = args.take("B"), known(tensor)
    other = walk.here.get(given.get("B", UNKNOWN))
    b, square = known(other) if isinstance(other, Tensor) else None, name != "linalg.lstsq"
    found = None
    if a is not None and (len(a) < 2 or (square and unlike(walk, a[-1], a[-2]))):
        walk.say(expr, _codes.SHAPE, f"{name}: the matrices are not square: the shape is {show_shape(a)}")
    elif a is not None and b and given.get("left", True) is True:
        vector = len(b) == 1 and name == "linalg.solve"
        # A stack of vectors and a matrix look alike where B has one dim less.
        if vector or len(b) == len(a) or (len(b) > 1 and len(a) == 2 and square):
            rows = b[-1 if vector else -2]
            if unlike(walk, a[-2], rows):
                text = f"{name}: the matrix {show_shape(a)} has {show_size(a[-2])} rows, the right side {show_shape(b)}"
                walk.say(expr, _codes.SHAPE, f"{text} has {show_size(rows)}")
            elif vector:
                found = (*a[:-2], a[-1])
            else:
                lead = broadcast(walk, expr, name, a[:-2], b[:-2])
                found = None if lead is None else (*lead, a[-1], b[-1])
    result = Tensor(found, tensor.dtype)
    return result if square else Named((result, UNKNOWN, UNKNOWN, UNKNOWN), ("solution",))


def vecdot(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.linalg.vecdot(x, y, dim=-1): they broadcast, and the dim goes."""
    from ._tensors import folded

    given = args.take("y dim")
    other = walk.here.get(given.get("y", UNKNOWN))
    if not isinstance(other, Tensor):
        return Tensor()
    if all(shape is not None and len(shape) == 1 for shape in (known(tensor), known(other))):
        given["dim"] = -1  # torch does not look at it.
    both = Tensor(broadcast(walk, expr, name, tensor.shape, other.shape), mixed(tensor, other))
    return Tensor(folded(walk, expr, both, name, given.get("dim", -1), False), both.dtype)


def tensordot(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.tensordot(x, y, dims): so many dims meet, or those that two lists name."""
    given, a = args.take("other dims"), known(tensor)
    other = walk.here.get(given.get("other", given.get("b", UNKNOWN)))
    b = known(other) if isinstance(other, Tensor) else None
    if a is None or b is None:
        return Tensor()
    places = _met(walk, given.get("dims", 2), len(a), len(b))
    if places is None:
        return Tensor()
    for one, two in zip(*places):
        x, y = a[one], b[two]
        single = any(is_int(size) and size == 1 for size in (x, y))  # torch sums the other over.
        if not single and unlike(walk, x, y) and no_ones(x, y):
            text = f"tensordot: dim {one} of {show_shape(a)} meets dim {two} of {show_shape(b)}; "
            walk.say(expr, _codes.SHAPE, f"{text}they are {show_size(x)} and {show_size(y)}")
            return Tensor()
    rest = [size for shape, gone in zip((a, b), places) for place, size in enumerate(shape) if place not in gone]
    return Tensor(tuple(rest), kind_of(mixed(tensor, other)))


def _met(walk: Walk, dims: Value, left: int, right: int) -> tuple[list[int], list[int]] | None:
    """The dims of two tensors that meet, counted from the front."""
    if is_int(dims):
        return (list(range(left - dims, left)), list(range(dims))) if 0 <= dims <= min(left, right) else None
    pair = elements(walk, dims)
    rows = [elements(walk, one) for one in pair] if isinstance(pair, tuple) and len(pair) == 2 else []
    if not rows or not all(isinstance(row, tuple) for row in rows) or len(rows[0]) != len(rows[1]):
        return None
    if not all(is_int(one) and -rank <= one < rank for row, rank in zip(rows, (left, right)) for one in row):
        return None
    return [one % left for one in rows[0]], [one % right for one in rows[1]]


def multi_dot(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.linalg.multi_dot([x, y, z]): one product after the other."""
    items = elements(walk, args.take("tensors").get("tensors", UNKNOWN))
    tensors = [walk.here.get(item) for item in items] if isinstance(items, tuple) else []
    if len(tensors) < 2 or not all(isinstance(one, Tensor) for one in tensors):
        return Tensor()
    found = tensors[0]
    for one in tensors[1:]:
        found = matmul(walk, expr, found, one)
    return found


def covariance(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.cov(), x.corrcoef(): of rows; of one row a number."""
    shape = known(tensor)
    kind = tensor.dtype if kind_of(tensor.dtype) in ("float", "complex") else None
    if shape is None or len(shape) > 2:
        if shape is not None:
            walk.say(
                expr, _codes.SHAPE, f"{name}: the tensor has shape {show_shape(shape)}; {name} takes 2 dims at most"
            )
        return Tensor(None, kind)
    if len(shape) < 2 or (is_int(shape[0]) and shape[0] == 1):
        return Tensor((), kind)
    return Tensor(shape[:1] * 2 if is_size(shape[0]) and no_ones(shape[0], shape[0]) else None, kind)


RULES = {
    **dict.fromkeys(PATTERNS, of_matrix),
    **dict.fromkeys(("linalg.solve", "linalg.solve_triangular", "linalg.lstsq"), solve),
    **dict.fromkeys(("linalg.vecdot", "vecdot"), vecdot),
    "tensordot": tensordot,
    **dict.fromkeys(("cov", "corrcoef"), covariance),
}
