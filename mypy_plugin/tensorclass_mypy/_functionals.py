"""torch.nn.functional: losses and layers as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr

from tensorclass._rules.sizes import UNKNOWN

from . import _codes, _resized
from ._dtypes import kind_of, real, shown
from ._evaluate import elements
from ._hints import unlike
from ._operators import broadcast, mixed
from ._tensor_rules import RULES
from ._types import known_type
from ._values import Net, Tensor, Value, has_star, is_int, is_size, known, show_shape

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

POINTWISE = {
    "relu", "gelu", "silu", "elu", "leaky_relu", "sigmoid", "tanh", "softplus", "mish", "hardtanh", "dropout",
    "logsigmoid", "relu6", "selu", "hardswish", "hardsigmoid", "alpha_dropout", "celu", "tanhshrink", "softsign",
    "relu_", "softmin",
}  # fmt: skip
LOSSES = {
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "kl_div",
}


def functional(walk: Walk, expr: CallExpr, name: str, args: Args) -> Value:
    """F.name(...)"""
    if not args.whole:
        return UNKNOWN
    values = [walk.here.get(value) for value, _ in args.positional]
    given = {key: value for key, (value, _) in args.named.items()}
    first = values[0] if values else walk.here.get(given.get("input", UNKNOWN))
    if not isinstance(first, Tensor):
        return UNKNOWN
    from ._calls import Args

    if name in POINTWISE:
        return Tensor(first.shape, first.dtype)
    if name in ("softmax", "log_softmax", "normalize", "gumbel_softmax"):
        from ._tensors import checked_dim, out_of_range

        dim = given.get("dim", args.positional[2][0] if len(values) > 2 else 1)
        shape = known(first)
        if name == "normalize" and shape and is_int(dim) and not -len(shape) <= dim < len(shape):
            out_of_range(walk, expr, name, dim, shape)
        if name in ("softmax", "log_softmax"):
            checked_dim(walk, expr, first, name, [value for value, _ in args.positional[1:]], given)
        return Tensor(first.shape, first.dtype)
    if name in LOSSES:
        return loss(
            walk,
            expr,
            name,
            first,
            values[1] if len(values) > 1 else walk.here.get(given.get("target", UNKNOWN)),
            given,
        )
    if name in ("cross_entropy", "nll_loss"):
        target = values[1] if len(values) > 1 else walk.here.get(given.get("target", UNKNOWN))
        return cross_entropy(walk, expr, name, first, target, given)
    if name == "linear":
        weight = values[1] if len(values) > 1 else walk.here.get(given.get("weight", UNKNOWN))
        return linear(walk, expr, first, weight, values[2] if len(values) > 2 else walk.here.get(given.get("bias")))
    if name == "one_hot":
        if kind_of(first.dtype) in ("float", "complex"):
            walk.say(expr, _codes.SHAPE, f"one_hot: the input has dtype {shown(first.dtype)}; it takes ints")
        count = given.get("num_classes", values[1] if len(values) > 1 else UNKNOWN)
        shape = known(first)
        return Tensor(
            None if shape is None else (*shape, count if is_size(count) and count != -1 else UNKNOWN), "int64"
        )
    if name == "embedding":
        weight = values[1] if len(values) > 1 else UNKNOWN
        shape, table = known(first), known(weight) if isinstance(weight, Tensor) else None
        return Tensor(None if shape is None or not table else (*shape, table[-1]), "float")
    if name in ("conv1d", "conv2d", "conv3d"):
        return conv(walk, expr, name, first, values[1] if len(values) > 1 else UNKNOWN, args)
    if name == "layer_norm":
        wanted = elements(walk, given.get("normalized_shape", args.positional[1][0] if len(values) > 1 else UNKNOWN))
        return layer_norm(walk, expr, first, wanted)
    if name == "scaled_dot_product_attention":
        return attention(walk, expr, values, given)
    if name in _resized.FUNCTIONS:
        from ._layers import PARAMETERS

        kind = _resized.FUNCTIONS[name]
        names = PARAMETERS.get(kind, "output_size" if kind.startswith("Adaptive") else "")
        settings = Args(args.positional[1:], args.named).take(names)
        few = len(args.positional) <= 5 and "return_indices" not in given
        net = Net(kind, settings=settings)
        return _resized.LAYERS[kind](walk, expr, net, first, []) if few else UNKNOWN
    if name == "pad":
        row = elements(walk, given.get("pad", args.positional[1][0] if len(values) > 1 else UNKNOWN))
        return _resized.pad(walk, first, row)
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](walk, expr, name, first, Args(args.positional[1:], args.named))
    if name in RULES:
        return RULES[name](walk, expr, first, name, Args(args.positional[1:], args.named))
    typ = known_type(walk, expr)
    return walk.from_type(typ) if typ is not None else Tensor()


def normed(walk: Walk, expr: Any, name: str, first: Tensor, args: Args) -> Value:
    """F.batch_norm(x, mean, var), F.instance_norm(x), F.group_norm(x, groups): the channels are in dim 1."""
    shape = known(first)
    if shape is None or len(shape) < 2:
        return Tensor(first.shape, kind_of(first.dtype))
    if name == "group_norm":
        groups = args.take("num_groups").get("num_groups")
        if is_int(groups) and is_int(shape[1]) and groups > 0 and shape[1] % groups:
            text = f"{name}: dim 1 of the input {show_shape(shape)} is {shape[1]}, no multiple of num_groups {groups}"
            walk.say(expr, _codes.SHAPE, text)
    else:
        for word, value in args.take("running_mean running_var weight bias").items():
            other = walk.here.get(value)
            row = known(other) if isinstance(other, Tensor) else None
            if row is not None and len(row) == 1 and unlike(walk, row[0], shape[1]):
                text = f"{name}: dim 1 of the input {show_shape(shape)} is {show_shape(shape[1:2])[1:-1]}, "
                walk.say(expr, _codes.SHAPE, f"{text}{word} has shape {show_shape(row)}")
                break
    return Tensor(first.shape, kind_of(first.dtype))


def grid_sample(walk: Walk, expr: Any, name: str, first: Tensor, args: Args) -> Value:
    """F.grid_sample(x, grid): a place for each element of the result, as many numbers as x has dims behind two."""
    shape, other = known(first), walk.here.get(args.take("grid").get("grid", UNKNOWN))
    grid = known(other) if isinstance(other, Tensor) else None
    if shape is None or grid is None:
        return Tensor(None, kind_of(first.dtype))
    wrong = ""
    if len(shape) not in (4, 5) or len(grid) != len(shape):
        wrong = "they have 4 dims both, or 5"
    elif unlike(walk, shape[0], grid[0]):
        wrong = "their first dims must be equal"
    elif is_int(grid[-1]) and grid[-1] != len(shape) - 2:
        wrong = f"the last dim of the grid must be {len(shape) - 2}"
    if wrong:
        text = f"{name}: the input has shape {show_shape(shape)}, the grid {show_shape(grid)}; {wrong}"
        walk.say(expr, _codes.SHAPE, text)
        return Tensor(None, kind_of(first.dtype))
    return Tensor((*shape[:2], *grid[1:-1]), kind_of(first.dtype))


def pairwise_distance(walk: Walk, expr: Any, name: str, first: Tensor, args: Args) -> Value:
    """F.pairwise_distance(x, y): they broadcast, and the last dim goes."""
    given = args.take("x2 p eps keepdim")
    other, keep = walk.here.get(given.get("x2", UNKNOWN)), given.get("keepdim", False)
    if not isinstance(other, Tensor):
        return Tensor()
    shape, kind = broadcast(walk, expr, name, first.shape, other.shape), real(kind_of(mixed(first, other)))
    if not shape or not isinstance(keep, bool) or has_star(shape[-1:]):
        return Tensor(None, kind)
    return Tensor((*shape[:-1], 1) if keep else shape[:-1], kind)


def other_loss(walk: Walk, expr: Any, name: str, first: Tensor, args: Args) -> Value:
    """A loss whose arguments are not held against each other."""
    return _reduced(args.take(""), None, kind_of(first.dtype))


_FUNCTIONS: dict[str, Any] = {
    **dict.fromkeys(("batch_norm", "instance_norm", "group_norm"), normed),
    "grid_sample": grid_sample,
    "pairwise_distance": pairwise_distance,
    **dict.fromkeys((
        "triplet_margin_loss", "margin_ranking_loss", "cosine_embedding_loss", "hinge_embedding_loss", "ctc_loss",
        "poisson_nll_loss", "gaussian_nll_loss", "soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss",
        "multilabel_soft_margin_loss",
    ), other_loss),
}  # fmt: skip


def conv(walk: Walk, expr: Any, name: str, first: Tensor, weight: Any, args: Args) -> Value:
    """F.conv2d(x, weight): the channels of the input are those of the weight."""
    dims = int(name[4])
    given = args.take("input weight bias stride padding dilation groups")
    shape, table = known(first), known(weight) if isinstance(weight, Tensor) else None
    if shape is None or not table or len(shape) not in (dims + 1, dims + 2) or len(table) != dims + 2:
        return Tensor()
    if given.get("groups", 1) == 1 and unlike(walk, shape[-dims - 1], table[1]):
        text = f"{name}: the input {show_shape(shape)} has {show_shape(shape[-dims - 1 : -dims])[1:-1]} channels, "
        walk.say(expr, _codes.SHAPE, text + f"the weight {show_shape(table)} takes {show_shape(table[1:2])[1:-1]}")
        return Tensor()
    sizes = _resized.window(walk, shape[-dims:], dims, {**given, "kernel_size": table[2:]}, 1)
    return Tensor((*shape[: -dims - 1], table[0], *sizes), kind_of(first.dtype))


def layer_norm(walk: Walk, expr: Any, first: Tensor, wanted: Any) -> Value:
    shape = known(first)
    if shape is not None and isinstance(wanted, tuple) and 0 < len(wanted) <= len(shape):
        tail = shape[len(shape) - len(wanted) :]
        if all(is_size(size) for size in wanted) and any(unlike(walk, a, b) for a, b in zip(tail, wanted)):
            text = f"layer_norm: the last dims of the input {show_shape(shape)} are {show_shape(tail)}, "
            walk.say(expr, _codes.SHAPE, text + f"normalized_shape is {show_shape(wanted)}")
    return Tensor(first.shape, first.dtype)


def attention(walk: Walk, expr: Any, values: list[Any], given: dict[str, Value]) -> Value:
    """F.scaled_dot_product_attention(query, key, value)"""
    shapes = [known(value) if isinstance(value, Tensor) else None for value in values[:3]]
    if len(shapes) < 3 or any(shape is None or len(shape) < 2 for shape in shapes):
        return Tensor()
    query, key, value = (shape for shape in shapes if shape is not None)
    name = "scaled_dot_product_attention"
    for word, place, one, other in (("key", -1, query, key), ("value", -2, key, value)):
        if unlike(walk, one[place], other[place]):
            against = "query" if word == "key" else "key"
            text = f"{name}: dim {place} of the {word} {show_shape(other)} is "
            text += f"{show_shape((other[place],))[1:-1]}, that of the {against} {show_shape(one)} is "
            walk.say(expr, _codes.SHAPE, text + show_shape((one[place],))[1:-1])
            return Tensor()
    lead: Any = query[:-2]
    for other in () if "enable_gqa" in given else (key, value):
        lead = broadcast(walk, expr, name, lead, other[:-2])
        if lead is None:
            return Tensor()
    mask = walk.here.get(given.get("attn_mask", values[3] if len(values) > 3 else UNKNOWN))
    if isinstance(mask, Tensor) and broadcast(walk, expr, name, (*lead, query[-2], key[-2]), mask.shape) is None:
        return Tensor()
    return Tensor((*lead, query[-2], value[-1]), kind_of(values[0].dtype))


def _reduced(given: dict[str, Value], shape: Any, kind: str | None) -> Value:
    reduction = given.get("reduction", "mean")
    if reduction in ("mean", "sum"):
        return Tensor((), kind)
    return Tensor(shape if reduction == "none" else None, kind)


def loss(walk: Walk, expr: Any, name: str, first: Tensor, target: Any, given: dict[str, Value]) -> Value:
    """A loss of two tensors of one shape: torch only warns when they broadcast, and the value is wrong."""
    a = known(first)
    b = known(target) if isinstance(target, Tensor) else None
    if a is not None and b is not None:
        if len(a) != len(b) or any(unlike(walk, x, y) for x, y in zip(a, b)):
            walk.say(
                expr,
                _codes.SHAPE,
                f"{name}: the input has shape {show_shape(a)}, the target {show_shape(b)}; they must be equal",
            )
            return Tensor(None, "float")
    return _reduced(given, a, "float")


def cross_entropy(walk: Walk, expr: Any, name: str, first: Tensor, target: Any, given: dict[str, Value]) -> Value:
    """Classes are in dim 1 of the input; the target lacks that dim (class numbers) or has the same shape."""
    a = known(first)
    b = known(target) if isinstance(target, Tensor) else None
    if a is None or b is None or not a:
        return _reduced(given, None, "float")
    indices = (a[0], *a[2:]) if len(a) > 1 else ()
    if len(a) == 1 and len(b) == 1 and is_int(b[0]) and b[0] == 1:
        indices = b  # One class number for one row may stand in a dim of its own.
    as_indices = len(b) == len(indices) and not any(unlike(walk, x, y) for x, y in zip(indices, b))
    as_classes = len(b) == len(a) and not any(unlike(walk, x, y) for x, y in zip(a, b))
    kind = kind_of(target.dtype)
    if kind == "int":
        as_classes = False
    elif kind == "float":
        as_indices = False
    if not as_indices and not as_classes:
        would = show_shape(indices) + (f" (class numbers) or {show_shape(a)} (probabilities)" if kind != "int" else "")
        text = f"{name}: the input has shape {show_shape(a)}, so the target has {would}; it has {show_shape(b)}"
        walk.say(expr, _codes.SHAPE, text)
        return Tensor(None, "float")
    return _reduced(given, indices, "float")


def linear(walk: Walk, expr: Any, first: Tensor, weight: Any, bias: Any) -> Value:
    table = known(weight) if isinstance(weight, Tensor) else None
    if table is None or len(table) != 2 or first.shape is None or not first.shape:
        return Tensor(None, kind_of(first.dtype))
    if is_size(first.shape[-1]) and unlike(walk, first.shape[-1], table[1]):
        walk.say(
            expr, _codes.SHAPE,
            f"linear: the last dim of {show_shape(first.shape)} is {show_shape(first.shape[-1:])[1:-1]}, "
            f"the weight takes {show_shape((table[1],))[1:-1]}",
        )  # fmt: skip
        return Tensor(None, kind_of(first.dtype))
    added = known(bias) if isinstance(bias, Tensor) else None
    if added is not None and len(added) == 1 and unlike(walk, added[0], table[0]):
        text = f"linear: the bias has shape {show_shape(added)}, the weight {show_shape(table)} gives "
        walk.say(expr, _codes.SHAPE, text + show_shape((table[0],)))
    return Tensor((*first.shape[:-1], table[0]), kind_of(first.dtype))


__all__ = ["functional", "is_int"]
