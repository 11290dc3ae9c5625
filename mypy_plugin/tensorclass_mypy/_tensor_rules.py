"""Functions of tensors that each have a shape rule of their own: cdist, diff, masked_fill, var_mean, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from mypy.nodes import Node

from tensorclass._rules.sizes import UNKNOWN, same

from . import _codes, _matrices, _spectra
from ._dtypes import kind_of, real
from ._hints import unlike
from ._operators import broadcast, matmul, mixed
from ._values import Number, Pieces, Tensor, Value, has_star, is_int, is_size, known, show_shape

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

Rule: TypeAlias = "Callable[[Walk, Node, Tensor, str, Args], Value]"


def place_of(walk: Walk, expr: Node, name: str, shape: tuple[Any, ...], dim: Value) -> int | None:
    """A dim counted from the front; None: not known, or out of range, which is said."""
    from ._tensors import out_of_range

    if not is_int(dim) or not shape:
        return None
    if not -len(shape) <= dim < len(shape):
        out_of_range(walk, expr, name, dim, shape)
        return None
    return dim % len(shape)


def _tensor(walk: Walk, value: Value) -> Tensor | None:
    thing = walk.here.get(value)
    return thing if isinstance(thing, Tensor) else None


def _shape(walk: Walk, value: Value) -> tuple[Any, ...] | None:
    thing = _tensor(walk, value)
    return None if thing is None else known(thing)


# -- Along a dim ----------------------------------------------------------------------------------------------------


def sorted_(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.sort(dim), x.argsort(dim), x.cummax(dim): the shape stays."""
    shape = known(tensor)
    if shape is not None:
        place_of(walk, expr, name, shape, args.take("dim").get("dim", -1))
    kept = Tensor(tensor.shape, tensor.dtype)
    return Tensor(tensor.shape, "int64") if name == "argsort" else (kept, Tensor(tensor.shape, "int64"))


def moments(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.var_mean(x, dim): two results."""
    from ._tensors import folded

    given = args.take("dim")
    dim, keep = given.get("dim"), given.get("keepdim", False)
    if dim is None or isinstance(dim, bool) or len(args.positional) > 1:
        return UNKNOWN
    result = Tensor(folded(walk, expr, tensor, name, dim, keep), tensor.dtype)
    return (result, result)


def quantile(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.quantile(q, dim): a reduction; several numbers for q are a dim of their own, the first."""
    from ._tensors import folded

    given = args.take("q dim keepdim")
    several = _shape(walk, given.get("q", UNKNOWN))
    if not isinstance(given.get("q"), (int, float, Number)) and (several is None or len(several) > 1):
        return Tensor(None, tensor.dtype)
    if given.get("dim") is None:
        return Tensor(None, tensor.dtype)
    rest = folded(walk, expr, tensor, name, given["dim"], given.get("keepdim", False))
    return Tensor(None if rest is None else (*(several or ()), *rest), tensor.dtype)


def count_nonzero(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    from ._tensors import folded

    dim = args.take("dim").get("dim")
    return Tensor((), "int64") if dim is None else Tensor(folded(walk, expr, tensor, name, dim, False), "int64")


def norm(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.linalg.norm(x, ord, dim, keepdim)"""
    from ._tensors import folded

    given = args.take("ord dim keepdim")
    dim = given.get("dim")
    if dim is None:
        return Tensor(() if given.get("keepdim", False) is False else None, real(tensor.dtype))
    return Tensor(folded(walk, expr, tensor, name, dim, given.get("keepdim", False)), real(tensor.dtype))


def diff(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    given, shape = args.take("n dim"), known(tensor)
    count = given.get("n", 1)
    place = None if shape is None else place_of(walk, expr, name, shape, given.get("dim", -1))
    if shape is None or place is None or not is_int(count) or given.keys() & {"prepend", "append"}:
        return Tensor(None, tensor.dtype)
    size = shape[place] - count if is_size(shape[place]) else UNKNOWN
    if is_int(size) and size < 0:
        size = 0
    return Tensor((*shape[:place], size, *shape[place + 1 :]), tensor.dtype)


def unfold(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.unfold(dim, size, step): windows, whose elements become the last dim."""
    given, shape = args.take("dimension size step"), known(tensor)
    size, step = given.get("size"), given.get("step")
    place = None if shape is None else place_of(walk, expr, name, shape, given.get("dimension"))
    if shape is None or place is None or not is_int(size) or not is_int(step) or step < 1:
        return Tensor(None, tensor.dtype)
    whole = shape[place]
    if is_int(whole) and size > whole:
        text = f"unfold: windows of {size} in dim {place} of {show_shape(shape)}, which has {whole}"
        walk.say(expr, _codes.SHAPE, text)
        return Tensor(None, tensor.dtype)
    count = (whole - size) // step + 1 if is_int(whole) else UNKNOWN
    return Tensor((*shape[:place], count, *shape[place + 1 :], size), tensor.dtype)


def gather(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.gather(dim, index), x.scatter(dim, index, src): the index has as many dims, and is no larger elsewhere."""
    given = args.take("dim index")
    shape, index = known(tensor), _tensor(walk, given.get("index", UNKNOWN))
    result = tensor if name.startswith("scatter") else Tensor(index.shape if index is not None else None, tensor.dtype)
    other = None if index is None else known(index)
    place = None if shape is None else place_of(walk, expr, name, shape, given.get("dim", UNKNOWN))
    if shape is None or place is None or not other:
        return result
    if len(shape) != len(other):
        text = f"{name}: the index has shape {show_shape(other)}, the tensor {show_shape(shape)}; "
        walk.say(expr, _codes.SHAPE, text + "they have as many dims")
        return Tensor(None, tensor.dtype)
    for at, (size, taken) in enumerate(zip(shape, other)):
        if at != place and is_int(size) and is_int(taken) and taken > size:
            text = f"{name}: dim {at} of the index {show_shape(other)} is {taken}, "
            walk.say(expr, _codes.SHAPE, text + f"that of the tensor {show_shape(shape)} is {size}")
            return Tensor(None, tensor.dtype)
    return result


def take_along_dim(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    given = args.take("indices dim")
    shape, index = known(tensor), _shape(walk, given.get("indices", UNKNOWN))
    place = None if shape is None else place_of(walk, expr, name, shape, given.get("dim"))
    if shape is None or index is None or place is None or len(shape) != len(index):
        return Tensor(None, tensor.dtype)
    row = [size if at == place else _larger(mine, size) for at, (mine, size) in enumerate(zip(shape, index))]
    return Tensor(tuple(row), tensor.dtype)


def _larger(one: Any, other: Any) -> Any:
    if is_int(other) and other == 1:
        return one
    return other if is_int(one) and one == 1 else one if is_size(one) and one == other else UNKNOWN


# -- Parts and diagonals --------------------------------------------------------------------------------------------


def diag(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    shape, offset = known(tensor), args.take("diagonal").get("diagonal", 0)
    if shape is None or len(shape) not in (1, 2) or offset != 0:
        return Tensor(None, tensor.dtype)
    if len(shape) == 1:
        return Tensor((shape[0], shape[0]), tensor.dtype)
    return Tensor((_smaller(*shape),), tensor.dtype)


def diagonal(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    given, shape = args.take("offset dim1 dim2"), known(tensor)
    if shape is None or given.get("offset", 0) != 0 or len(shape) < 2:
        return Tensor(None, tensor.dtype)
    places = [place_of(walk, expr, name, shape, given.get(word, at)) for at, word in enumerate(("dim1", "dim2"))]
    if None in places or places[0] == places[1]:
        return Tensor(None, tensor.dtype)
    rest = [size for at, size in enumerate(shape) if at not in places]
    return Tensor((*rest, _smaller(*(shape[at] for at in places if at is not None))), tensor.dtype)


def _smaller(one: Any, other: Any) -> Any:
    if is_int(one) and is_int(other):
        return min(one, other)
    return one if is_size(one) and one == other else UNKNOWN


def trace(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    shape = known(tensor)
    if shape is not None and len(shape) != 2:
        walk.say(expr, _codes.SHAPE, f"trace: the tensor has shape {show_shape(shape)}; trace takes 2 dims")
    return Tensor((), tensor.dtype)


def masked_fill(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.masked_fill(mask, value): the mask broadcasts to x."""
    mask = _tensor(walk, args.take("mask value").get("mask", UNKNOWN))
    if mask is None or tensor.shape is None or mask.shape is None:
        return Tensor(tensor.shape, tensor.dtype)
    if name == "masked_fill_":
        from ._tensors import into

        if not has_star(tensor.shape) and not has_star(mask.shape):
            into(walk, expr, name, tensor.shape, mask.shape)
        return tensor
    shape = broadcast(walk, expr, name, tensor.shape, mask.shape)
    return Tensor(shape, tensor.dtype)


def repeat_interleave(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    given, shape = args.take("repeats dim"), known(tensor)
    times, dim = given.get("repeats"), given.get("dim")
    if shape is None or not is_size(times):
        return Tensor(None, tensor.dtype)
    if dim is None:
        total: Any = times
        for size in shape:
            total = total * size if is_size(size) else UNKNOWN
        return Tensor((total if is_size(total) else UNKNOWN,), tensor.dtype)
    place = place_of(walk, expr, name, shape, dim)
    if place is None:
        return Tensor(None, tensor.dtype)
    size = shape[place] * times if is_size(shape[place]) else UNKNOWN
    return Tensor((*shape[:place], size, *shape[place + 1 :]), tensor.dtype)


# -- Several tensors ------------------------------------------------------------------------------------------------


def together(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.lerp(x, y, w), torch.addcmul(x, y, z): all broadcast."""
    shape = tensor.shape
    for value in args.values():
        other = walk.here.get(value)
        if isinstance(other, Tensor):
            shape = broadcast(walk, expr, name, shape, other.shape)
        elif other is UNKNOWN:
            return Tensor(None, tensor.dtype)
    return Tensor(shape, tensor.dtype)


def added_product(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.addmm(x, a, b), torch.baddbmm(x, a, b): x is added to a product."""
    given = args.take("one other")
    found = matmul(walk, expr, walk.here.get(given.get("one")), walk.here.get(given.get("other")))
    if not isinstance(found, Tensor):
        return Tensor()
    return Tensor(broadcast(walk, expr, name, tensor.shape, found.shape), found.dtype)


def cdist(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.cdist(x, y): the distances of rows of one length."""
    a, b = known(tensor), _shape(walk, args.take("x2").get("x2"))
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return Tensor(None, "float")
    if unlike(walk, a[-1], b[-1]):
        text = f"cdist: the last dims of {show_shape(a)} and {show_shape(b)} are "
        walk.say(
            expr, _codes.SHAPE, f"{text}{show_shape(a[-1:])[1:-1]} and {show_shape(b[-1:])[1:-1]}; they must be equal"
        )
        return Tensor(None, "float")
    lead = broadcast(walk, expr, name, a[:-2], b[:-2])
    return Tensor(None if lead is None else (*lead, a[-2], b[-2]), kind_of(tensor.dtype))


def cross(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.cross(x, y, dim), torch.linalg.cross(x, y): vectors of three."""
    given = args.take("other dim")
    other = _tensor(walk, given.get("other"))
    shape = broadcast(walk, expr, name, tensor.shape, None if other is None else other.shape)
    dim = given.get("dim", -1 if name.startswith("linalg") else None)
    if shape is not None and not has_star(shape) and shape:
        place = place_of(walk, expr, name, shape, dim)
        if place is not None and is_int(shape[place]) and shape[place] != 3:
            walk.say(expr, _codes.SHAPE, f"{name}: dim {place} of {show_shape(shape)} is {shape[place]}; it takes 3")
            return Tensor(None, tensor.dtype)
    return Tensor(shape, tensor.dtype)


def cosine_similarity(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """F.cosine_similarity(x, y, dim=1): they broadcast, and the dim goes."""
    given = args.take("x2 dim")
    other = _tensor(walk, given.get("x2"))
    shape = broadcast(walk, expr, name, tensor.shape, None if other is None else other.shape)
    if shape is None or has_star(shape):
        return Tensor(None, tensor.dtype)
    place = place_of(walk, expr, name, shape, given.get("dim", 1))
    return Tensor(None if place is None else (*shape[:place], *shape[place + 1 :]), tensor.dtype)


def kron(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    a, b = known(tensor), _shape(walk, args.take("other").get("other"))
    if a is None or b is None or len(a) != len(b):
        return Tensor(None, tensor.dtype)
    return Tensor(tuple(x * y if is_size(x) and is_size(y) else UNKNOWN for x, y in zip(a, b)), tensor.dtype)


def complex_(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    other = _tensor(walk, args.take("imag").get("imag", args.take("angle").get("angle")))
    return Tensor(broadcast(walk, expr, name, tensor.shape, None if other is None else other.shape), "complex")


def multinomial(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    shape, count = known(tensor), args.take("num_samples").get("num_samples")
    if shape is None or len(shape) not in (1, 2):
        return Tensor(None, "int64")
    return Tensor((*shape[:-1], count if is_size(count) else UNKNOWN), "int64")


def random_like(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.bernoulli(p), torch.normal(mean, std): the shape of what is given."""
    if name == "normal":
        other = walk.here.get(args.take("std").get("std"))
        if isinstance(other, Tensor):
            return Tensor(broadcast(walk, expr, name, tensor.shape, other.shape), mixed(tensor, other))
    return Tensor(tensor.shape, tensor.dtype)


def searched(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.bucketize(x, edges), torch.searchsorted(edges, x): a place for each element."""
    kind = "int" if args.named.get("out_int32", (False, None))[0] is not False else "int64"
    if name == "bucketize":
        return Tensor(tensor.shape, kind)
    value = walk.here.get(args.take("input").get("input", UNKNOWN))
    shape, edges = value.shape if isinstance(value, Tensor) else None, known(tensor)
    if edges is not None and len(edges) > 1 and shape is not None and not has_star(shape):
        lead = (edges[:-1], shape[:-1])
        if len(lead[0]) != len(lead[1]) or any(unlike(walk, a, b) for a, b in zip(*lead)):
            text = f"searchsorted: the edges have shape {show_shape(edges)}, the values {show_shape(shape)}; "
            walk.say(expr, _codes.SHAPE, text + "they may differ in the last dim alone")
            return Tensor(None, kind)
    return Tensor(shape, kind)


def counted(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.histc(x, bins)"""
    bins = args.take("bins").get("bins", 100)
    return Tensor((bins if is_size(bins) else UNKNOWN,), tensor.dtype)


def is_in(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.isin(x, among): an answer for each element."""
    return Tensor(tensor.shape, "bool")


def index_add(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.index_add(dim, index, source), index_copy: the source has a row for each index, and the other dims of x."""
    given, shape = args.take("dim index source"), known(tensor)
    index, source = _shape(walk, given.get("index", UNKNOWN)), _shape(walk, given.get("source", UNKNOWN))
    place = None if shape is None else place_of(walk, expr, name, shape, given.get("dim", UNKNOWN))
    if shape is not None and place is not None and index is not None and len(index) == 1 and source:
        wanted = (*shape[:place], *index, *shape[place + 1 :])
        if len(source) != len(wanted) or any(unlike(walk, a, b) for a, b in zip(source, wanted)):
            text = f"{name}: the source has shape {show_shape(source)}; the tensor {show_shape(shape)} and the index "
            walk.say(expr, _codes.SHAPE, f"{text}{show_shape(index)} take {show_shape(wanted)}")
    return Tensor(tensor.shape, tensor.dtype)


def tensor_split(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """x.tensor_split(3, dim): so many pieces, the first of which are larger by 1 where it does not come out even."""
    given, shape = args.take("sections dim"), known(tensor)
    count = given.get("sections", given.get("indices_or_sections"))
    place = None if shape is None else place_of(walk, expr, name, shape, given.get("dim", 0))
    if shape is None or place is None or not is_int(count) or not 0 < count <= 64:
        return UNKNOWN
    size = shape[place]
    each = size // count if is_size(size) else UNKNOWN
    sizes = [each if is_size(each) and same(each * count, size) is True else UNKNOWN] * count
    if is_int(size):
        sizes = [size // count + (number < size % count) for number in range(count)]
    return Pieces(Tensor((*shape[:place], one, *shape[place + 1 :]), tensor.dtype) for one in sizes)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("sort", "argsort", "cummax", "cummin"), sorted_),
    **dict.fromkeys(("var_mean", "std_mean"), moments),
    **dict.fromkeys(("quantile", "nanquantile"), quantile),
    "count_nonzero": count_nonzero,
    **dict.fromkeys(("linalg.norm", "linalg.vector_norm"), norm),
    "diff": diff,
    "unfold": unfold,
    **dict.fromkeys(("gather", "scatter", "scatter_", "scatter_add", "scatter_add_"), gather),
    "take_along_dim": take_along_dim,
    "diag": diag,
    "diagonal": diagonal,
    "trace": trace,
    **dict.fromkeys(("masked_fill", "masked_fill_"), masked_fill),
    "repeat_interleave": repeat_interleave,
    **dict.fromkeys(("lerp", "addcmul", "addcdiv"), together),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), added_product),
    "cdist": cdist,
    **dict.fromkeys(("cross", "linalg.cross"), cross),
    "cosine_similarity": cosine_similarity,
    "kron": kron,
    **dict.fromkeys(("complex", "polar"), complex_),
    "multinomial": multinomial,
    **dict.fromkeys(("bernoulli", "poisson", "normal"), random_like),
    **dict.fromkeys(("bucketize", "searchsorted"), searched),
    "histc": counted,
    "isin": is_in,
    **dict.fromkeys(("index_add", "index_add_", "index_copy", "index_copy_"), index_add),
    "tensor_split": tensor_split,
    **_matrices.RULES,
    **_spectra.RULES,
}
