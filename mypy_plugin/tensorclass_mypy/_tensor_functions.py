"""Functions of torch: factories, joins, and those that are methods as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr

from tensorclass._rules.sizes import UNKNOWN, product

from . import _codes
from ._arrays import as_tensor as as_array_tensor
from ._dtypes import DEFAULT
from ._einsum import einsum
from ._evaluate import elements
from ._hints import unlike
from ._matrices import multi_dot
from ._operators import broadcast, matmul, mixed, of_number, wrong_ranks
from ._reach import RESHAPING
from ._tensors import as_shape
from ._types import known_type
from ._values import (
    Dtype,
    Items,
    Many,
    Sizes,
    Star,
    Tensor,
    Value,
    has_star,
    is_int,
    is_size,
    known,
    show_shape,
    some_run,
)

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

FACTORIES = ("zeros", "ones", "empty", "rand", "randn")


def function(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value:
    """torch.name(...)"""
    from ._joins import torch_function as of_containers

    if "out" in args.named or name.rpartition(".")[2] in RESHAPING:
        walk.here.forget_shapes()
    done = of_containers(walk, expr, name, args)
    if done is not None:
        return done
    if not args.whole and not (name in FACTORIES and args.runs):
        from ._calls import leak

        leak(walk, args.values())
        typ = known_type(walk, expr)
        return walk.from_type(typ) if typ is not None else UNKNOWN
    if name in FACTORIES:
        return factory(walk, args)
    handler = _FUNCTIONS.get(name)
    if handler is not None:
        return handler(walk, expr, args)
    if name.endswith("_like"):
        tensor = walk.here.get(args.positional[0][0]) if args.positional else UNKNOWN
        if isinstance(tensor, Tensor):
            return Tensor(tensor.shape, dtype_of(args, tensor.dtype))
        return UNKNOWN
    if name in ("compile", "jit.script"):
        return args.positional[0][0] if args.positional else UNKNOWN
    if args.positional:
        tensor = walk.here.get(args.positional[0][0])
        if isinstance(tensor, Tensor):
            from ._calls import Args
            from ._tensors import op

            return op(walk, expr, tensor, name, Args(args.positional[1:], args.named, args.whole))
    typ = known_type(walk, expr)
    if name[:1].isupper():
        from ._calls import leak

        leak(walk, args.values())
    return walk.from_type(typ) if typ is not None else UNKNOWN


def dtype_of(args: Args, otherwise: str | None) -> str | None:
    """The kind of dtype that the call asks for."""
    if "dtype" not in args.named:
        return otherwise
    value = args.named["dtype"][0]
    if value is None:
        return otherwise
    return value.kind if isinstance(value, Dtype) else None


def factory(walk: Walk, args: Args) -> Value:
    """torch.zeros(2, 3), torch.zeros([2, 3]), torch.zeros(size=...)"""
    sizes = [value for value, _ in args.positional]
    if not args.whole:
        row = args.sizes()
        return Tensor(None if row is None else as_shape(walk, [Sizes(row)]), dtype_of(args, DEFAULT))
    if "size" in args.named:
        sizes = [args.named["size"][0]]
    dtype = dtype_of(args, DEFAULT)
    return Tensor(as_shape(walk, sizes) if sizes else (), dtype)


def full(walk: Walk, expr: CallExpr, args: Args) -> Value:
    given = args.take("size fill_value")
    value = given.get("fill_value", UNKNOWN)
    kind = of_number(value)
    return Tensor(as_shape(walk, [given.get("size", UNKNOWN)]), dtype_of(args, kind))


def randint(walk: Walk, expr: CallExpr, args: Args) -> Value:
    values = [value for value, _ in args.positional]
    size = args.named["size"][0] if "size" in args.named else values[-1] if len(values) >= 2 else UNKNOWN
    return Tensor(as_shape(walk, [size]), dtype_of(args, "int64"))


def arange(walk: Walk, expr: CallExpr, args: Args) -> Value:
    values = [value for value, _ in args.positional]
    if not values and "end" in args.named:
        values = [args.named[word][0] for word in ("start", "end", "step") if word in args.named]
        values = values if "start" in args.named or len(values) == 1 else []
    count: Any = UNKNOWN
    if len(values) == 1 and is_size(values[0]):
        count = values[0]
    elif 2 <= len(values) <= 3 and all(is_int(value) for value in values):
        count = len(range(*values)) if len(values) < 3 or values[2] else UNKNOWN
    kind = "int64" if values and all(is_size(value) for value in values) else None
    return Tensor((count,), dtype_of(args, kind))


def linspace(walk: Walk, expr: CallExpr, args: Args) -> Value:
    count = args.take("start end steps").get("steps", UNKNOWN)
    return Tensor((count if is_size(count) else UNKNOWN,), dtype_of(args, DEFAULT))


def eye(walk: Walk, expr: CallExpr, args: Args) -> Value:
    values = [value if is_size(value) else UNKNOWN for value, _ in args.positional]
    if not values:
        return Tensor(None, DEFAULT)
    return Tensor((values[0], values[-1] if len(values) > 1 else values[0]), dtype_of(args, DEFAULT))


def tensor(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.tensor([[1, 2], [3, 4]])"""
    if not args.positional:
        return Tensor()
    shape, kind = literal(walk, args.positional[0][0])
    return Tensor(shape, dtype_of(args, kind))


def literal(walk: Walk, value: Value) -> tuple[Any, str | None]:
    """The shape and the dtype of nested lists of numbers."""
    if of_number(value) is not None:
        return (), of_number(value)
    thing = as_array_tensor(walk.here.get(value))
    if isinstance(thing, Tensor):
        return thing.shape, thing.dtype
    row = thing.items if isinstance(thing, Items) else thing if isinstance(thing, tuple) else None
    if row is None:
        return None, None
    inner = [literal(walk, item) for item in row]
    if not inner:
        return (0,), DEFAULT
    shapes, kinds = {shape for shape, _ in inner if shape is not None}, {kind for _, kind in inner}
    kind = None if None in kinds else next((one for one in (DEFAULT, "int64", "bool") if one in kinds), None)
    if any(shape is None for shape, _ in inner) or len(shapes) != 1:
        return None, kind
    return (len(inner), *shapes.pop()), kind


def join(walk: Walk, expr: CallExpr, args: Args, stack: bool) -> Value:
    """torch.stack and torch.cat of tensors"""
    given = args.take("tensors dim")
    items = elements(walk, given.get("tensors", UNKNOWN))
    dim = given.get("dim", 0)
    if isinstance(items, Many) and isinstance(items.each, Tensor):
        return Tensor(_many(items.each, dim, stack), items.each.dtype)
    if not isinstance(items, tuple) or not items:
        return Tensor()
    tensors = [walk.here.get(item) for item in items]
    if not all(isinstance(one, Tensor) for one in tensors):
        return Tensor()
    kinds = {one.dtype for one in tensors}
    kind = kinds.pop() if len(kinds) == 1 else None
    return Tensor(joined(walk, expr, "stack" if stack else "cat", [one.shape for one in tensors], dim), kind)


def joined(walk: Walk, expr: CallExpr, word: str, given: list[Any], dim: Value) -> Any:
    """The shape of tensors of these shapes put together; None: not known."""
    stack = word == "stack"
    if any(shape is None for shape in given) or not is_int(dim):
        return None
    if any(has_star(shape) for shape in given):
        return _star_join(walk, expr, word, given, dim)
    first: Any = given[0]
    rank = len(first) + stack
    if not -rank <= dim < rank:
        walk.say(
            expr, _codes.SHAPE, f"{word}: dim {dim} is out of range for {rank} dims; {-rank} to {rank - 1} would do"
        )
        return None
    place = dim % rank
    total: Any = 0
    for number, shape in enumerate(given):
        if not stack and len(shape) == 1 and is_int(shape[0]) and shape[0] == 0:
            return None
        wrong = len(shape) != len(first) or any(
            unlike(walk, a, b) for at, (a, b) in enumerate(zip(shape, first)) if stack or at != place
        )
        if wrong:
            _unequal(walk, expr, word, first, number, shape, place)
            return None
        if not stack:
            total = total + shape[place]
    return (*first[:place], len(given) if stack else total, *first[place if stack else place + 1 :])


def _unequal(walk: Walk, expr: CallExpr, word: str, first: Any, number: int, shape: Any, place: int) -> None:
    rule = "they must be equal" if word == "stack" else f"they may differ in dim {place} alone"
    text = f"{word}: tensor 0 has shape {show_shape(first)}, tensor {number} has {show_shape(shape)}; {rule}"
    walk.say(expr, _codes.SHAPE, text)


def rows(name: str) -> Any:
    """torch.vstack, hstack, column_stack: cat, after vectors have become matrices."""

    def of(walk: Walk, expr: CallExpr, args: Args) -> Value:
        items = elements(walk, args.take("tensors").get("tensors", UNKNOWN))
        tensors = [walk.here.get(item) for item in items] if isinstance(items, tuple) else []
        shapes = [known(one) if isinstance(one, Tensor) else None for one in tensors]
        if not shapes or any(not shape for shape in shapes):
            return Tensor()
        flat = all(len(shape or ()) == 1 for shape in shapes)
        dim = 0 if name == "vstack" or (name == "hstack" and flat) else 1
        given: list[Any] = []
        for shape in shapes:
            vector = shape is not None and len(shape) == 1 and name != "hstack"
            given.append(shape if not vector else (1, *shape) if name == "vstack" else (*shape, 1))  # type: ignore[misc]  # not None
        return Tensor(joined(walk, expr, "cat", given, dim), tensors[0].dtype if len(tensors) == 1 else None)

    return of


def _many(each: Tensor, dim: Value, stack: bool) -> Any:
    shape = known(each)
    if shape is None or not is_int(dim):
        return None
    rank = len(shape) + stack
    if not -rank <= dim < rank:
        return None
    place = dim % rank
    return (*shape[:place], UNKNOWN, *shape[place if stack else place + 1 :])


def _star_join(walk: Walk, expr: CallExpr, word: str, given: list[Any], dim: int) -> Any:
    """Shapes with one run of dims, put together behind it."""
    stack, first = word == "stack", given[0]
    if not isinstance(first[0], Star) or any(len(one) != len(first) or one[0] != first[0] for one in given):
        return None
    at = len(first) + dim + stack
    if dim == 0 and not stack and not any(unlike(walk, a, b) for one in given for a, b in zip(one[1:], first[1:])):
        return (some_run(), *first[1:])  # It is the run that has grown.
    if dim >= 0 or at <= 0:
        return None
    total: Any = 0
    for number, shape in enumerate(given):
        if any(unlike(walk, a, b) for place, (a, b) in enumerate(zip(shape, first)) if stack or place != at):
            _unequal(walk, expr, word, first, number, shape, dim)
            return None
        total = total if stack else total + shape[at]
    return (*first[:at], len(given) if stack else total, *first[at if stack else at + 1 :])


def meshgrid(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.meshgrid(x, y, indexing="ij")"""
    values = [value for value, _ in args.positional]
    row = elements(walk, values[0]) if len(values) == 1 and not isinstance(walk.here.get(values[0]), Tensor) else None
    tensors = [walk.here.get(value) for value in (row if isinstance(row, tuple) else values)]
    shapes = [known(one) if isinstance(one, Tensor) else None for one in tensors]
    if any(shape is None or len(shape) != 1 for shape in shapes):
        return UNKNOWN
    sizes = [shape[0] for shape in shapes if shape]
    indexing = args.named["indexing"][0] if "indexing" in args.named else "ij"
    if indexing == "xy" and len(sizes) > 1:
        sizes[:2] = sizes[1::-1]
    if indexing not in ("ij", "xy"):
        return UNKNOWN
    return tuple(Tensor(tuple(sizes), one.dtype) for one in tensors)


def normal(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.normal(0.0, 1.0, size=(2, 3))"""
    if "size" in args.named:
        return Tensor(as_shape(walk, [args.named["size"][0]]), dtype_of(args, DEFAULT))
    tensor = walk.here.get(args.positional[0][0]) if args.positional else UNKNOWN
    if not isinstance(tensor, Tensor):
        return Tensor()
    from ._calls import Args
    from ._tensors import op

    return op(walk, expr, tensor, "normal", Args(args.positional[1:], args.named, args.whole))


def where(walk: Walk, expr: CallExpr, args: Args) -> Value:
    values = [walk.here.get(value) for value, _ in args.positional]
    if len(values) != 3:
        return UNKNOWN
    shape: Any = ()
    for value in values:
        if isinstance(value, Tensor):
            shape = broadcast(walk, expr, "where", shape, value.shape)
        elif not isinstance(value, (int, float)):
            return Tensor()
    return Tensor(shape, mixed(values[1], values[2]))


def outer(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.outer(x, y)"""
    values = [walk.here.get(value) for value, _ in args.positional]
    shapes = [known(value) if isinstance(value, Tensor) else None for value in values]
    wrong = wrong_ranks("outer", *values) if len(values) == 2 else None
    if wrong is not None:
        walk.say(expr, _codes.SHAPE, wrong)
    elif len(shapes) == 2 and shapes[0] and shapes[1]:
        return Tensor((shapes[0][0], shapes[1][0]), mixed(*values))
    return Tensor()


def cartesian_prod(walk: Walk, expr: CallExpr, args: Args) -> Value:
    """torch.cartesian_prod(x, y): a row for each pair."""
    tensors = [walk.here.get(value) for value, _ in args.positional]
    shapes = [known(one) if isinstance(one, Tensor) else None for one in tensors]
    if len(shapes) < 2 or any(shape is None or len(shape) != 1 for shape in shapes):
        return Tensor()
    sizes = [shape[0] for shape in shapes if shape]
    count = product(sizes) if all(is_size(size) for size in sizes) else UNKNOWN
    return Tensor((count, len(sizes)), tensors[0].dtype if len({one.dtype for one in tensors}) == 1 else None)


def binary_matmul(walk: Walk, expr: CallExpr, args: Args) -> Value:
    values = [walk.here.get(value) for value, _ in args.positional]
    return matmul(walk, expr, values[0], values[1]) if len(values) == 2 else Tensor()


_FUNCTIONS: dict[str, Any] = {
    "full": full,
    "randint": randint,
    "randperm": lambda walk, expr, args: arange(walk, expr, args),
    "arange": arange,
    "linspace": linspace,
    "logspace": linspace,
    "eye": eye,
    "tensor": tensor,
    "as_tensor": tensor,
    "asarray": tensor,
    "from_numpy": tensor,
    "stack": lambda walk, expr, args: join(walk, expr, args, True),
    "cat": lambda walk, expr, args: join(walk, expr, args, False),
    "concat": lambda walk, expr, args: join(walk, expr, args, False),
    "concatenate": lambda walk, expr, args: join(walk, expr, args, False),
    "where": where,
    "einsum": einsum,
    **{name: rows(name) for name in ("vstack", "hstack", "column_stack", "row_stack")},
    "meshgrid": meshgrid,
    "normal": normal,
    "matmul": binary_matmul,
    "outer": outer,
    "linalg.multi_dot": multi_dot,
    "cartesian_prod": cartesian_prod,
}

__all__ = ["has_star"]
