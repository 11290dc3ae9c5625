"""torch.fft: transforms keep sizes, but of the last dim where half of a spectrum says all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import Node

from tensorclass._rules.sizes import UNKNOWN

from . import _codes
from ._dtypes import kind_of, shown
from ._values import Tensor, Value, has_star, is_int, is_size

if TYPE_CHECKING:
    from ._calls import Args
    from ._walk import Walk

WHOLE = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn")
HALF = ("rfft", "rfft2", "rfftn", "ihfft")  # Real values to half a spectrum.
BACK = ("irfft", "irfft2", "irfftn", "hfft")  # Half a spectrum to real values.


def transform(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.fft.rfft(x, n, dim)"""
    word = name.rpartition(".")[2]
    kind = "float" if word in BACK else "complex"
    if word in HALF and kind_of(tensor.dtype) == "complex":
        text = f"{word}: the tensor has dtype {shown(tensor.dtype)}, and {word} takes real values; fft takes any"
        walk.say(expr, _codes.SHAPE, text)
    given = args.take("n dim")
    one = not word.endswith(("2", "n"))
    sizes, dim, shape = given.get("n", given.get("s")), given.get("dim", -1 if one else None), tensor.shape
    if word in WHOLE and sizes is None and dim is None:
        return Tensor(shape, kind)
    dim = -1 if dim is None else dim
    if shape is not None and not has_star(shape) and is_int(dim) and not -len(shape) <= dim < len(shape):
        from ._tensors import out_of_range

        out_of_range(walk, expr, word, dim, shape)
    if shape is None or not is_int(dim) or not -len(shape) <= dim < len(shape) or (not one and sizes is not None):
        return Tensor(None, kind)
    if has_star(shape[dim:] if dim < 0 else shape[: dim + 1]):
        return Tensor(None, kind)
    place = dim % len(shape)
    return Tensor((*shape[:place], _size(word, shape[place], sizes), *shape[place + 1 :]), kind)


def _size(word: str, size: Any, asked: Value) -> Any:
    if asked is not None and not is_size(asked):
        return UNKNOWN
    if word in BACK:
        return asked if asked is not None else 2 * (size - 1) if is_size(size) else UNKNOWN
    size = size if asked is None else asked
    if word in WHOLE:
        return size
    return size // 2 + 1 if is_size(size) else UNKNOWN


def shifted(walk: Walk, expr: Node, tensor: Tensor, name: str, args: Args) -> Value:
    """torch.fft.fftshift(x): the shape stays."""
    return Tensor(tensor.shape, tensor.dtype)


RULES = {
    **{f"fft.{word}": transform for word in (*WHOLE, *HALF, *BACK)},
    **dict.fromkeys(("fft.fftshift", "fft.ifftshift"), shifted),
}
