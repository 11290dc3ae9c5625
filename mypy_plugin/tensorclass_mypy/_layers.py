"""Layers of torch.nn: what each does to a shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, Decorator, FuncDef, OverloadedFuncDef

from tensorclass._rules import algebra
from tensorclass._rules.sizes import UNKNOWN

from . import _codes, _resized
from ._dtypes import kind_of, shown
from ._hints import unlike
from ._resized import each, window
from ._values import Items, Net, Shape, Star, Tensor, Value, has_star, is_int, is_size, known, show_shape, show_size

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

_CONV = "in_channels out_channels kernel_size stride padding dilation groups bias padding_mode"
_POOL = "kernel_size stride padding"
_RNN = "input_size hidden_size num_layers bias batch_first dropout bidirectional"
_INSTANCE = ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d")
PARAMETERS = {
    "Linear": "in_features out_features bias",
    "Conv1d": _CONV,
    "Conv2d": _CONV,
    "Conv3d": _CONV,
    "Embedding": "num_embeddings embedding_dim",
    "LayerNorm": "normalized_shape eps elementwise_affine bias",
    "RMSNorm": "normalized_shape",
    "BatchNorm1d": "num_features",
    "BatchNorm2d": "num_features",
    "BatchNorm3d": "num_features",
    "GroupNorm": "num_groups num_channels",
    "MultiheadAttention": "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first",
    "Flatten": "start_dim end_dim",
    "Unflatten": "dim unflattened_size",
    **dict.fromkeys(("MaxPool1d", "MaxPool2d", "MaxPool3d"), _POOL + " dilation return_indices ceil_mode"),
    **dict.fromkeys(("AvgPool1d", "AvgPool2d", "AvgPool3d"), _POOL + " ceil_mode"),
    **_resized.PARAMETERS,
    **dict.fromkeys(("Softmax", "LogSoftmax"), "dim"),
    "TransformerEncoder": "encoder_layer num_layers norm",
    **dict.fromkeys(_INSTANCE, "num_features eps momentum affine"),
    "GRU": _RNN,
    "LSTM": _RNN + " proj_size",
    "RNN": "input_size hidden_size num_layers nonlinearity bias batch_first dropout bidirectional",
    "Bilinear": "in1_features in2_features out_features",
    **dict.fromkeys(("GRUCell", "LSTMCell", "RNNCell"), "input_size hidden_size"),
    **dict.fromkeys(
        ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
        "in_channels out_channels kernel_size stride padding output_padding groups bias dilation padding_mode",
    ),
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer"), "d_model nhead dim_feedforward dropout"),
    "Transformer": "d_model nhead",
}
POINTWISE = {
    "ReLU", "Tanh", "Sigmoid", "GELU", "SiLU", "ELU", "LeakyReLU", "Identity", "Dropout", "Softplus",
    "Mish", "Hardtanh", "ReLU6", "SELU", "Dropout1d", "Dropout2d", "AlphaDropout", "LogSigmoid",
    "Softsign", "Hardswish", "CELU", "PReLU", "Hardsigmoid", "Tanhshrink",
}  # fmt: skip
LOSSES = {
    "MSELoss": "mse_loss", "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "huber_loss",
    "BCELoss": "binary_cross_entropy", "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
}  # fmt: skip
RESULTS = {"GRU": 2, "LSTM": 2, "RNN": 2, "MultiheadAttention": 2}  # Layers that return a tuple.


def forward(walk: Walk, expr: CallExpr, net: Net, args: Args) -> Value:
    """layer(x)"""
    values = [walk.here.get(value) for value in (in_order(net, args) if args.named else args.values())]
    if not values or not isinstance(values[0], Tensor) or not args.whole:
        return UNKNOWN
    tensor: Tensor = values[0]
    kind, settings = net.kind, net.settings
    if kind in POINTWISE:
        return Tensor(tensor.shape, tensor.dtype)
    if kind in LOSSES:
        from ._functionals import loss

        given = {"reduction": settings.get("reduction", "mean")}
        return loss(walk, expr, LOSSES[kind], tensor, values[1] if len(values) > 1 else UNKNOWN, given)
    if kind in ("CrossEntropyLoss", "NLLLoss"):
        from ._functionals import cross_entropy

        given = {"reduction": settings.get("reduction", "mean")}
        target = values[1] if len(values) > 1 else UNKNOWN
        return cross_entropy(walk, expr, "cross_entropy" if kind[0] == "C" else "nll_loss", tensor, target, given)
    handler = _LAYERS.get(kind)
    return handler(walk, expr, net, tensor, values) if handler is not None else UNKNOWN


def in_order(net: Net, args: Args) -> list[Value]:
    """The arguments of layer(key=k, query=q) as forward has them; none where one is not among its parameters."""
    method: Any = net.info.get_method("forward") if net.info is not None else None
    node = method.items[0] if isinstance(method, OverloadedFuncDef) else method
    node = node.func if isinstance(node, Decorator) else node
    names = [name or "" for name in node.arg_names[1:]] if isinstance(node, FuncDef) else []
    given = args.take(" ".join(names))
    if not given.keys() <= set(names):
        return []
    count = max((names.index(name) + 1 for name in given), default=0)
    return [given.get(name, UNKNOWN) for name in names[:count]]


def check_made(walk: Walk, expr: Any, net: Net) -> None:
    """Arguments that no layer can be made with."""
    rules = {
        "MultiheadAttention": ("embed_dim", "num_heads"),
        "TransformerEncoderLayer": ("d_model", "nhead"),
        "TransformerDecoderLayer": ("d_model", "nhead"),
        "GroupNorm": ("num_channels", "num_groups"),
    }
    names = [rules[net.kind]] if net.kind in rules else []
    if net.kind.startswith("Conv"):
        names = [("in_channels", "groups"), ("out_channels", "groups")]
    for whole, part in names:
        size, parts = net.settings.get(whole), net.settings.get(part)
        if is_int(size) and is_int(parts) and parts > 0 and size % parts:
            walk.say(expr, _codes.SHAPE, f"{net.kind}: {whole} {size} is no multiple of {part} {parts}")
            return


def mismatch(walk: Walk, expr: Any, kind: str, tensor: Tensor, size: Any, wanted: Any, where: str) -> None:
    shape = show_shape(tensor.shape)
    walk.say(
        expr,
        _codes.SHAPE,
        f"{kind}: {where} of the input {shape} is {show_size(size)}, the layer takes {show_size(wanted)}",
    )


def linear(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    wanted, out = net.settings.get("in_features", UNKNOWN), net.settings.get("out_features", UNKNOWN)
    shape = tensor.shape
    if shape is None:
        return Tensor((Star("?"), out) if is_size(out) else None, kind_of(tensor.dtype))
    if not shape or isinstance(shape[-1], Star):
        return Tensor(None, "float")
    if unlike(walk, shape[-1], wanted):
        mismatch(walk, expr, "Linear", tensor, shape[-1], wanted, "the last dim")
        return Tensor(None, "float")
    return Tensor((*shape[:-1], out if is_size(out) else UNKNOWN), kind_of(tensor.dtype))


def conv(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """A convolution over the last dims."""
    dims = int(net.kind[4])
    settings = net.settings
    shape = known(tensor)
    if shape is None:
        return Tensor(None, "float")
    if len(shape) not in (dims + 1, dims + 2):
        text = f"{net.kind}: the input {show_shape(shape)} has {len(shape)} dims; {dims + 1} or {dims + 2} would do"
        walk.say(expr, _codes.SHAPE, text)
        return Tensor(None, "float")
    wanted = settings.get("in_channels", UNKNOWN)
    if unlike(walk, shape[-dims - 1], wanted):
        mismatch(walk, expr, net.kind, tensor, shape[-dims - 1], wanted, "the channels")
        return Tensor(None, "float")
    out = settings.get("out_channels", UNKNOWN)
    sizes = window(walk, shape[-dims:], dims, settings, 1)
    return Tensor((*shape[: -dims - 1], out if is_size(out) else UNKNOWN, *sizes), kind_of(tensor.dtype))


def layer_norm(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    value = net.settings.get("normalized_shape", UNKNOWN)
    thing = walk.here.get(value)
    wanted = (value,) if is_size(value) else thing.items if isinstance(thing, Items) else thing
    shape = tensor.shape
    if isinstance(wanted, tuple) and shape is not None and len(shape) >= len(wanted):
        tail = shape[len(shape) - len(wanted) :]
        if not has_star(tail) and any(unlike(walk, a, b) for a, b in zip(tail, wanted)):
            text = f"{net.kind}: the last dims of the input {show_shape(shape)} are {show_shape(tail)}, "
            walk.say(expr, _codes.SHAPE, text + f"the layer takes {show_shape(wanted)}")
    return Tensor(shape, kind_of(tensor.dtype))


_NORM_RANKS = {
    "BatchNorm1d": (2, 3), "BatchNorm2d": (4,), "BatchNorm3d": (5,),
    "InstanceNorm1d": (2, 3), "InstanceNorm2d": (3, 4), "InstanceNorm3d": (4, 5),
}  # fmt: skip


def batch_norm(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    shape = known(tensor)
    wanted = net.settings.get("num_features", net.settings.get("num_channels", UNKNOWN))
    ranks = _NORM_RANKS.get(net.kind)
    if shape is not None and ranks is not None and len(shape) not in ranks:
        would = " or ".join(str(rank) for rank in ranks)
        walk.say(
            expr, _codes.SHAPE, f"{net.kind}: the input {show_shape(shape)} has {len(shape)} dims; {would} would do"
        )
    elif net.kind in _INSTANCE:
        pass  # Without parameters of its own it takes any number of channels.
    elif shape is not None and len(shape) > 1 and unlike(walk, shape[1], wanted):
        mismatch(walk, expr, net.kind, tensor, shape[1], wanted, "dim 1")
    return Tensor(tensor.shape, kind_of(tensor.dtype))


def embedding(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    if kind_of(tensor.dtype) in ("float", "bool", "complex"):
        walk.say(expr, _codes.SHAPE, f"Embedding: the input has dtype {shown(tensor.dtype)}; it takes ints")
    out = net.settings.get("embedding_dim", UNKNOWN)
    return Tensor(None if tensor.shape is None else (*tensor.shape, out if is_size(out) else UNKNOWN), "float")


def attention(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    wanted = net.settings.get("embed_dim", UNKNOWN)
    own = {"kdim", "vdim"} & net.settings.keys()
    for place, value in enumerate(values[:3]):
        if isinstance(value, Tensor) and value.shape and not (place and own) and unlike(walk, value.shape[-1], wanted):
            word = ("query", "key", "value")[place]
            mismatch(walk, expr, "MultiheadAttention", value, value.shape[-1], wanted, f"the last dim of the {word}")
            return (Tensor(None, "float"), Tensor(None, "float"))
    return (Tensor(tensor.shape, kind_of(tensor.dtype)), Tensor(weighed(net, values), "float"))


def weighed(net: Net, values: list[Any]) -> Shape:
    """The shape of the weights that attention gives with a query, a key and a value alone: the mean of the heads."""
    first, rows = net.settings.get("batch_first", False), values[:2]
    shapes = [known(value) if isinstance(value, Tensor) else None for value in rows]
    if len(values) != 3 or not isinstance(first, bool) or len(shapes) < 2:
        return None
    query, key = shapes
    if query is None or key is None or len(query) != len(key) or len(query) not in (2, 3):
        return None
    if len(query) == 2:
        return (query[0], key[0])
    return (query[0], query[1], key[1]) if first else (query[1], query[0], key[0])


def softmax(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    from ._tensors import out_of_range

    shape, dim = known(tensor), net.settings.get("dim")
    if shape and is_int(dim) and not -len(shape) <= dim < len(shape):
        out_of_range(walk, expr, net.kind, dim, shape)
    return Tensor(tensor.shape, tensor.dtype)


def encoder(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """A stack of one layer: what that takes and gives."""
    layer = walk.here.get(net.settings.get("encoder_layer", UNKNOWN))
    if not isinstance(layer, Net) or layer.kind != "TransformerEncoderLayer":
        return Tensor(None, "float")
    return transformer(walk, expr, layer, tensor, values)


def flatten(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    from ._calls import Args
    from ._table_ops import by_table

    start, end = net.settings.get("start_dim", 1), net.settings.get("end_dim", -1)
    shape = known(tensor)
    if shape is not None and len(shape) == 1 and start == 1:
        return Tensor(None, kind_of(tensor.dtype))
    found = by_table(walk, expr, tensor, "flatten", Args([(start, expr), (end, expr)]))
    return Tensor() if found is None else found


def unflatten(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    from ._calls import Args
    from ._table_ops import by_table

    row = [(net.settings.get(name, UNKNOWN), expr) for name in ("dim", "unflattened_size")]
    found = by_table(walk, expr, tensor, "unflatten", Args(row))
    return Tensor() if found is None else found


def recurrent(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """A recurrent layer: its outputs, and its last state."""
    shape = known(tensor)
    wanted, hidden = net.settings.get("input_size", UNKNOWN), net.settings.get("hidden_size", UNKNOWN)
    lost = (Tensor(), Tensor() if net.kind != "LSTM" else (Tensor(), Tensor()))
    if shape is None or not shape:
        return lost
    if unlike(walk, shape[-1], wanted):
        mismatch(walk, expr, net.kind, tensor, shape[-1], wanted, "the last dim")
        return lost
    both, first = net.settings.get("bidirectional", False), net.settings.get("batch_first", False)
    given = net.settings.get("proj_size", 0)  # What a step gives may be smaller than what it keeps.
    each = hidden if given == 0 else given
    size = each * (1 + both) if isinstance(both, bool) and is_size(each) else UNKNOWN
    layers = net.settings.get("num_layers", 1)
    count = layers * (1 + both) if is_int(layers) and isinstance(both, bool) else UNKNOWN
    lead = () if len(shape) == 2 else (shape[0 if first else 1],) if isinstance(first, bool) else (UNKNOWN,)
    states = [(count, *lead, one if is_size(one) else UNKNOWN) for one in (each, hidden)]
    states = states if net.kind == "LSTM" else states[:1]
    if len(values) > 1 and not fitting_states(walk, expr, net, values[1], states):
        return lost
    last = tuple(Tensor(state, kind_of(tensor.dtype)) for state in states)
    return (Tensor((*shape[:-1], size), kind_of(tensor.dtype)), last if net.kind == "LSTM" else last[0])


def fitting_states(walk: Walk, expr: Any, net: Net, given: Any, states: list[tuple[Any, ...]]) -> bool:
    """Whether states may have the shapes that the layer's own states have; else that is said."""
    for value, state in zip(given if isinstance(given, tuple) else (given,), states):
        one = walk.here.get(value)
        shape = known(one) if isinstance(one, Tensor) else None
        if shape is None:
            continue
        if len(shape) != len(state) or any(unlike(walk, a, b) for a, b in zip(shape, state)):
            text = f"{net.kind}: the state has shape {show_shape(shape)}; the layer and this input take "
            walk.say(expr, _codes.SHAPE, text + show_shape(state))
            return False
    return True


def cell(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """A recurrent cell: one step."""
    shape = known(tensor)
    wanted, hidden = net.settings.get("input_size", UNKNOWN), net.settings.get("hidden_size", UNKNOWN)
    found = Tensor(None, "float")
    if shape:
        if unlike(walk, shape[-1], wanted):
            mismatch(walk, expr, net.kind, tensor, shape[-1], wanted, "the last dim")
        else:
            row = (*shape[:-1], hidden if is_size(hidden) else UNKNOWN)
            if len(values) < 2 or fitting_states(walk, expr, net, values[1], [row, row]):
                found = Tensor(row, kind_of(tensor.dtype))
    return (found, found) if net.kind == "LSTMCell" else found


def transposed(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """A transposed convolution."""
    dims = int(net.kind[-2])
    shape = known(tensor)
    settings = net.settings
    if shape is None or len(shape) not in (dims + 1, dims + 2):
        return Tensor(None, "float")
    wanted = settings.get("in_channels", UNKNOWN)
    if unlike(walk, shape[-dims - 1], wanted):
        mismatch(walk, expr, net.kind, tensor, shape[-dims - 1], wanted, "the channels")
        return Tensor(None, "float")
    names = {"kernel_size": UNKNOWN, "stride": 1, "padding": 0, "output_padding": 0, "dilation": 1}
    parts = {name: each(walk, settings.get(name, usual), dims) for name, usual in names.items()}
    sizes: list[Any] = []
    for place, size in enumerate(shape[-dims:]):
        kernel, stride, pad, extra, gap = (parts[name][place] for name in names)
        if all(is_int(one) for one in (size, kernel, stride, pad, extra, gap)):
            sizes.append((size - 1) * stride - 2 * pad + gap * (kernel - 1) + extra + 1)
        else:
            sizes.append(UNKNOWN)
    out = settings.get("out_channels", UNKNOWN)
    row = (*shape[: -dims - 1], out if is_size(out) else UNKNOWN, *sizes)
    return Tensor(row, kind_of(tensor.dtype))


def bilinear(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    for place, value in enumerate(values[:2]):
        wanted = net.settings.get(f"in{place + 1}_features", UNKNOWN)
        shape = known(value) if isinstance(value, Tensor) else None
        if shape and unlike(walk, shape[-1], wanted):
            mismatch(walk, expr, "Bilinear", value, shape[-1], wanted, f"the last dim (of input {place})")
            return Tensor(None, "float")
    shape, out = known(tensor), net.settings.get("out_features", UNKNOWN)
    return Tensor((*shape[:-1], out if is_size(out) else UNKNOWN) if shape else None, "float")


def both_stacks(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """Transformer(d_model)(source, target): what comes has the shape of the target."""
    target = values[1] if len(values) > 1 else UNKNOWN
    for word, one in (("source", tensor), ("target", target)):
        wanted, shape = net.settings.get("d_model", 512), known(one) if isinstance(one, Tensor) else None
        if isinstance(one, Tensor) and shape and unlike(walk, shape[-1], wanted):
            mismatch(walk, expr, net.kind, one, shape[-1], wanted, f"the last dim of the {word}")
            return Tensor(None, "float")
    return Tensor(target.shape if isinstance(target, Tensor) else None, kind_of(tensor.dtype))


def transformer(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    wanted = net.settings.get("d_model", UNKNOWN)
    memory = values[1] if len(values) > 1 and net.kind == "TransformerDecoderLayer" else None
    if isinstance(memory, Tensor) and memory.shape and not isinstance(memory.shape[-1], Star):
        if unlike(walk, memory.shape[-1], wanted):
            mismatch(walk, expr, net.kind, memory, memory.shape[-1], wanted, "the last dim of the memory")
            return Tensor(None, "float")
    if tensor.shape and not isinstance(tensor.shape[-1], Star) and unlike(walk, tensor.shape[-1], wanted):
        mismatch(walk, expr, net.kind, tensor, tensor.shape[-1], wanted, "the last dim")
        return Tensor(None, "float")
    return Tensor(tensor.shape, kind_of(tensor.dtype))


_LAYERS: dict[str, Any] = {
    "Linear": linear,
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d"), conv),
    **_resized.LAYERS,
    **dict.fromkeys(("Softmax", "LogSoftmax"), softmax),
    "TransformerEncoder": encoder,
    **dict.fromkeys(("LayerNorm", "RMSNorm"), layer_norm),
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", *_INSTANCE), batch_norm),
    "Embedding": embedding,
    "MultiheadAttention": attention,
    "Flatten": flatten,
    "Unflatten": unflatten,
    **dict.fromkeys(("GRU", "LSTM", "RNN"), recurrent),
    **dict.fromkeys(("GRUCell", "LSTMCell", "RNNCell"), cell),
    **dict.fromkeys(("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"), transposed),
    "Bilinear": bilinear,
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer"), transformer),
    "Transformer": both_stacks,
}


def parameter_shapes(net: Net) -> dict[str, Any] | None:
    """The parameters of a layer by name, and their shapes; None: not known."""
    settings = net.settings
    bias = settings.get("bias", True)
    if net.kind in POINTWISE or net.kind in ("Flatten", "Unflatten") or net.kind in LOSSES or "Pool" in net.kind:
        return None if net.kind == "PReLU" else {}
    if net.kind == "Linear":
        out, into = settings.get("out_features", UNKNOWN), settings.get("in_features", UNKNOWN)
        found: dict[str, Any] = {"weight": (out, into)}
        if bias is True:
            found["bias"] = (out,)
        return found if isinstance(bias, bool) else None
    if net.kind in ("Conv1d", "Conv2d", "Conv3d"):
        found = {"weight": None}
        if bias is True:
            found["bias"] = (settings.get("out_channels", UNKNOWN),)
        return found if isinstance(bias, bool) else None
    if net.kind == "Embedding":
        return {"weight": (settings.get("num_embeddings", UNKNOWN), settings.get("embedding_dim", UNKNOWN))}
    if net.kind == "LayerNorm" and "elementwise_affine" not in settings and bias is True:
        return {"weight": None, "bias": None}
    return None


__all__ = ["algebra"]
