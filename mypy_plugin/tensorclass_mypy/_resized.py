"""Layers that change the sizes of images and sequences: windows, pads, scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorclass._rules.sizes import UNKNOWN, same

from . import _codes
from ._dtypes import kind_of
from ._values import Items, Net, Tensor, Value, is_int, is_size, known, show_shape

if TYPE_CHECKING:
    from ._walk import Walk

_PAD = "padding"
PARAMETERS = {
    "Upsample": "size scale_factor mode align_corners recompute_scale_factor",
    "PixelShuffle": "upscale_factor",
    "PixelUnshuffle": "downscale_factor",
    "GLU": "dim",
    "Unfold": "kernel_size dilation padding stride",
    "Fold": "output_size kernel_size dilation padding stride",
    **{
        f"{kind}Pad{dims}d": _PAD
        for kind in ("Zero", "Reflection", "Replication", "Constant", "Circular")
        for dims in (1, 2, 3)
    },
}
# Functions that do what a layer does, with the same parameters behind the input.
_POOLS = [(word.lower(), f"{word}Pool", dims) for word in ("Max", "Avg") for dims in (1, 2, 3)]
FUNCTIONS = {
    **{f"{word}_pool{dims}d": f"{layer}{dims}d" for word, layer, dims in _POOLS},
    **{f"adaptive_{word}_pool{dims}d": f"Adaptive{layer}{dims}d" for word, layer, dims in _POOLS},
    "interpolate": "Upsample",
    "pixel_shuffle": "PixelShuffle",
    "pixel_unshuffle": "PixelUnshuffle",
    "glu": "GLU",
    "unfold": "Unfold",
    "fold": "Fold",
}


def window(walk: Walk, sizes: Any, dims: int, settings: Any, stride: Any) -> tuple[Any, ...]:
    """Sizes after a window has moved over them."""
    parts = {
        "kernel_size": each(walk, settings.get("kernel_size", UNKNOWN), dims),
        "stride": each(walk, settings.get("stride", stride), dims),
        "padding": each(walk, settings.get("padding", 0), dims),
        "dilation": each(walk, settings.get("dilation", 1), dims),
    }
    if settings.get("padding") == "same":
        return tuple(sizes)
    if settings.get("padding") == "valid":
        parts["padding"] = [0] * dims
    if settings.get("ceil_mode", False) is not False:
        return tuple([UNKNOWN] * dims)
    found = []
    for place, size in enumerate(sizes):
        kernel, step, pad, gap = (parts[name][place] for name in ("kernel_size", "stride", "padding", "dilation"))
        if not all(is_int(part) for part in (size, kernel, step, pad, gap)) or step < 1:
            same = is_int(kernel) and is_int(pad) and is_int(gap) and step == 1 and 2 * pad == gap * (kernel - 1)
            found.append(size if same else UNKNOWN)
        else:
            found.append((size + 2 * pad - gap * (kernel - 1) - 1) // step + 1)
    return tuple(found)


def each(walk: Walk, value: Value, dims: int) -> list[Any]:
    """A number for every dim."""
    if is_int(value):
        return [value] * dims
    thing = walk.here.get(value)
    row = thing.items if isinstance(thing, Items) else thing
    if isinstance(row, tuple) and len(row) == dims:
        return list(row)
    return [UNKNOWN] * dims


def pool(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    dims = int(net.kind[-2])
    shape = known(tensor)
    if (
        shape is None
        or len(shape) not in (dims + 1, dims + 2)
        or net.settings.get("return_indices", False) is not False
    ):
        return Tensor(None, kind_of(tensor.dtype))
    stride = net.settings.get("kernel_size", UNKNOWN)
    settings = {**net.settings, "stride": net.settings.get("stride") or stride}
    return Tensor((*shape[:-dims], *window(walk, shape[-dims:], dims, settings, stride)), kind_of(tensor.dtype))


def adaptive(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    dims = int(net.kind[-2])
    shape = known(tensor)
    if shape is None or len(shape) < dims or net.settings.get("return_indices", False) is not False:
        return Tensor(None, kind_of(tensor.dtype))
    wanted = each(walk, net.settings.get("output_size", UNKNOWN), dims)
    sizes = [size if new is None else new for size, new in zip(shape[-dims:], wanted)]
    return Tensor((*shape[:-dims], *sizes), kind_of(tensor.dtype))


def scaled(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """Upsample(size) or Upsample(scale_factor=2), F.interpolate."""
    shape, size, factor = known(tensor), net.settings.get("size"), net.settings.get("scale_factor")
    if shape is None or len(shape) < 3:
        return Tensor(None, kind_of(tensor.dtype))
    dims = len(shape) - 2
    if size is not None:
        sizes = each(walk, size, dims)
    else:
        times = each(walk, factor, dims)
        sizes = [a * b if is_size(a) and is_int(b) else UNKNOWN for a, b in zip(shape[2:], times)]
    sizes = [one if is_size(one) else UNKNOWN for one in sizes]
    return Tensor((*shape[:2], *sizes), kind_of(tensor.dtype))


def shuffled(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """PixelShuffle(r): channels become rows and columns; PixelUnshuffle: the other way."""
    shape = known(tensor)
    factor = net.settings.get("upscale_factor", net.settings.get("downscale_factor", UNKNOWN))
    if shape is None or len(shape) < 3 or not is_int(factor) or factor < 1:
        return Tensor(None, kind_of(tensor.dtype))
    channels, high, wide = shape[-3:]
    if net.kind == "PixelUnshuffle":
        sizes = [one // factor if is_int(one) and one % factor == 0 else UNKNOWN for one in (high, wide)]
        row = (channels * factor**2 if is_size(channels) else UNKNOWN, *sizes)
    elif is_int(channels) and channels % factor**2:
        text = f"{net.kind}: the input {show_shape(shape)} has {channels} channels, no multiple of {factor} * {factor}"
        walk.say(expr, _codes.SHAPE, text)
        return Tensor(None, kind_of(tensor.dtype))
    else:
        sizes = [one * factor if is_size(one) else UNKNOWN for one in (high, wide)]
        row = (channels // factor**2 if is_int(channels) else UNKNOWN, *sizes)
    return Tensor((*shape[:-3], *row), kind_of(tensor.dtype))


def padded(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """ZeroPad2d(1), ReflectionPad2d((left, right, top, bottom)), ..."""
    dims = int(net.kind[-2])
    return pad(walk, tensor, each(walk, net.settings.get("padding", UNKNOWN), 2 * dims))


def pad(walk: Walk, tensor: Tensor, row: Any) -> Tensor:
    """A tensor with something before and after in its last dims, the last dim first."""
    shape = known(tensor)
    if shape is None or not isinstance(row, (tuple, list)) or len(row) % 2 or len(row) > 2 * len(shape):
        return Tensor(None, tensor.dtype)
    sizes = list(shape)
    for place in range(len(row) // 2):
        size, extra = sizes[-1 - place], row[2 * place : 2 * place + 2]
        fine = is_size(size) and all(is_size(one) for one in extra)
        sizes[-1 - place] = size + extra[0] + extra[1] if fine else UNKNOWN
    return Tensor(tuple(sizes), tensor.dtype)


def gated(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """GLU: half of a dim."""
    shape, dim = known(tensor), net.settings.get("dim", -1)
    if shape is None or not is_int(dim) or not -len(shape) <= dim < len(shape):
        return Tensor(None, tensor.dtype)
    place = dim % len(shape)
    size = shape[place]
    if is_int(size) and size % 2:
        text = f"glu: dim {place} of {show_shape(shape)} is {size}, which has no halves"
        walk.say(expr, _codes.SHAPE, text)
        return Tensor(None, tensor.dtype)
    half = size // 2 if is_size(size) else UNKNOWN
    whole = is_int(half) or (is_size(half) and half * 2 == size)
    return Tensor((*shape[:place], half if whole else UNKNOWN, *shape[place + 1 :]), tensor.dtype)


def unfolded(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """Unfold, F.unfold: windows of an image as columns."""
    shape = known(tensor)
    if shape is None or len(shape) != 4:
        return Tensor(None, kind_of(tensor.dtype))
    sizes = window(walk, shape[2:], 2, net.settings, 1)
    kernel = each(walk, net.settings.get("kernel_size", UNKNOWN), 2)
    channels = [shape[1], *kernel]
    total: Any = 1
    for one in channels:
        total = total * one if is_size(total) and is_size(one) else UNKNOWN
    count = sizes[0] * sizes[1] if all(is_size(one) for one in sizes) else UNKNOWN
    return Tensor((shape[0], total, count), kind_of(tensor.dtype))


def folded(walk: Walk, expr: Any, net: Net, tensor: Tensor, values: list[Any]) -> Value:
    """Fold, F.fold: columns put back as windows of an image."""
    shape = known(tensor)
    if shape is None or len(shape) not in (2, 3):
        return Tensor(None, kind_of(tensor.dtype))
    image = each(walk, net.settings.get("output_size", UNKNOWN), 2)
    kernel = each(walk, net.settings.get("kernel_size", UNKNOWN), 2)
    windows = window(walk, image, 2, net.settings, 1)
    channels, area = shape[-2], kernel[0] * kernel[1] if all(map(is_int, kernel)) else UNKNOWN
    if is_int(channels) and is_int(area) and area > 0 and channels % area:
        text = f"fold: dim -2 of the input {show_shape(shape)} is {channels}, no multiple of a window's {area}"
        walk.say(expr, _codes.SHAPE, text)
        return Tensor(None, kind_of(tensor.dtype))
    if all(map(is_int, (*windows, shape[-1]))) and windows[0] * windows[1] != shape[-1]:
        text = f"fold: dim -1 of the input {show_shape(shape)} is {shape[-1]}, "
        walk.say(expr, _codes.SHAPE, text + f"the image has {windows[0] * windows[1]} windows")
        return Tensor(None, kind_of(tensor.dtype))
    plane = channels // area if is_size(channels) and is_int(area) and area > 0 else UNKNOWN
    whole = is_size(plane) and same(plane * area, channels) is True
    sizes = [one if is_size(one) else UNKNOWN for one in image]
    return Tensor((*shape[:-2], plane if whole else UNKNOWN, *sizes), kind_of(tensor.dtype))


LAYERS: dict[str, Any] = {
    **dict.fromkeys((f"{kind}Pool{dims}d" for kind in ("Max", "Avg") for dims in (1, 2, 3)), pool),
    **dict.fromkeys((f"Adaptive{kind}Pool{dims}d" for kind in ("Max", "Avg") for dims in (1, 2, 3)), adaptive),
    "Upsample": scaled,
    **dict.fromkeys(("PixelShuffle", "PixelUnshuffle"), shuffled),
    **dict.fromkeys((name for name in PARAMETERS if "Pad" in name), padded),
    "GLU": gated,
    "Unfold": unfolded,
    "Fold": folded,
}
