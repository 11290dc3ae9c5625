"""Pictures: to floating point and channels first, resized, cropped, grey."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from ..._rules import errors
from ..._rules.nearest import suggest_and
from .._specs.box import Bounded
from .._transform import Keys
from ._leafwise import Leafwise, like, moved, through
from .shapes import permuted

GREY = (0.2989, 0.587, 0.114)  # How bright red, green and blue are.
MODES = ("bilinear", "bicubic", "nearest", "nearest-exact", "area")
SMOOTH = ("bilinear", "bicubic")  # Those that average over what they leave out.


class OfPictures(Leafwise):
    """A transform that reads "pixels" where no in_keys are given: pictures [*, channels, height, width]."""

    _usual = ("pixels",)
    _dims: ClassVar[tuple[str, ...]] = ("height", "width")

    def __init__(self, in_keys: Keys = None, out_keys: Keys = None) -> None:
        super().__init__("pixels" if in_keys is None else in_keys, out_keys)

    @property
    def _asks(self) -> tuple[int, str]:
        return len(self._dims), ", ".join(self._dims)

    def _leaf_spec(self, spec: Any) -> Any:
        if isinstance(spec, Bounded):  # Means of pixels are between the bounds that all pixels share.
            shape = self._apply_transform(spec.zero()).shape
            return Bounded(spec.low.min(), spec.high.max(), shape, device=spec.device, dtype=spec.dtype)
        return like(spec, self._apply_transform(spec.zero()))


class ToTensorImage(OfPictures):
    """Pictures as networks take them: channels first, and numbers from 0 to 255 as floating point from 0 to 1.

    >>> ToTensorImage()(pixels=torch.full((6, 8, 3), 255, dtype=torch.uint8)).shape
    torch.Size([3, 6, 8])

    from_int: whether to divide by 255; by default, if the numbers are integers. unsqueeze: a dim of size 1 in front of
    the channels. shape_tolerant: a picture that has its channels first already is left as it is.
    """

    _dims = ("height", "width", "channels")

    def __init__(
        self,
        from_int: bool | None = None,
        unsqueeze: bool = False,
        dtype: torch.dtype | None = None,
        *,
        in_keys: Keys = None,
        out_keys: Keys = None,
        shape_tolerant: bool = False,
    ) -> None:
        super().__init__(in_keys, out_keys)
        self.from_int, self.unsqueeze, self.shape_tolerant = from_int, unsqueeze, shape_tolerant
        self.dtype = torch.get_default_dtype() if dtype is None else dtype

    def _placed(self, value: Any) -> Any:
        if value.ndim < 3:
            raise errors.ShapeError(
                f"ToTensorImage: a picture has shape [height, width, channels], not {list(value.shape)}"
            )
        there = self.shape_tolerant and value.shape[-3] in (1, 3, 4) and value.shape[-1] not in (1, 3, 4)
        value = value if there else permuted(value, (-1, -3, -2))
        return value.unsqueeze(-4) if self.unsqueeze else value

    def _scaled(self, value: Tensor) -> Tensor:
        from_int = not value.is_floating_point() if self.from_int is None else self.from_int
        value = value.to(self.dtype)
        return value / 255 if from_int else value

    def _apply_transform(self, value: Tensor) -> Tensor:
        return self._scaled(self._placed(value))

    def _leaf_spec(self, spec: Any) -> Any:
        return through(moved(spec, self._placed), self._scaled)


class Resize(OfPictures):
    """Pictures [*, w, h], by interpolation that averages over what it leaves out.

    >>> Resize(4, 5)(pixels=torch.rand(2, 3, 6, 8)).shape
    torch.Size([2, 3, 4, 5])

    interpolation: "bilinear", "bicubic", "nearest", "nearest-exact" or "area". Without h the picture is square.
    """

    def __init__(
        self,
        w: int,
        h: int | None = None,
        interpolation: str = "bilinear",
        in_keys: Keys = None,
        out_keys: Keys = None,
    ) -> None:
        super().__init__(in_keys, out_keys)
        self.w, self.h = w, w if h is None else h
        self.interpolation = str(getattr(interpolation, "value", interpolation))
        if self.interpolation not in MODES:
            raise errors.OptionError(
                f"Resize: interpolation is {self.interpolation!r}"
                + suggest_and(self.interpolation, MODES, f"one of {errors.some_names(MODES)} would do")
            )

    def _apply_transform(self, value: Tensor) -> Tensor:
        if value.shape[-2:] == (self.w, self.h):
            return value
        whole = not value.is_floating_point()
        flat = value.reshape(-1, *value.shape[-3:]) if value.ndim > 2 else value.reshape(1, 1, *value.shape)
        smooth = {"antialias": True, "align_corners": False} if self.interpolation in SMOOTH else {}
        out = F.interpolate(flat.float() if whole else flat, (self.w, self.h), mode=self.interpolation, **smooth)
        if whole:
            limits = torch.iinfo(value.dtype)
            out = out.round().clamp(limits.min, limits.max).to(value.dtype)
        return out.reshape(*value.shape[:-2], self.w, self.h)


class GrayScale(OfPictures):
    """Pictures with one channel, as bright as the three.

    >>> GrayScale()(pixels=torch.ones(3, 6, 8)).shape
    torch.Size([1, 6, 8])
    """

    _dims = ("channels", "height", "width")

    def _apply_transform(self, value: Tensor) -> Tensor:
        if value.ndim < 3 or value.shape[-3] not in (1, 3):
            raise errors.ShapeError(
                f"GrayScale: a picture has shape [3, height, width], not {list(value.shape)}; "
                "ToTensorImage() puts the channels first"
            )
        if value.shape[-3] == 1:
            return value
        red, green, blue = value.unbind(-3)
        return (GREY[0] * red + GREY[1] * green + GREY[2] * blue).to(value.dtype).unsqueeze(-3)


class Crop(OfPictures):
    """A part of each picture, of size [w, h], from row `top` and column `left` on.

    >>> Crop(4, 2)(pixels=torch.rand(3, 6, 8)).shape
    torch.Size([3, 4, 2])
    """

    def __init__(
        self, w: int, h: int | None = None, top: int = 0, left: int = 0, in_keys: Keys = None, out_keys: Keys = None
    ) -> None:
        super().__init__(in_keys, out_keys)
        self.w, self.h, self.top, self.left = w, w if h is None else h, top, left

    def _corner(self, value: Tensor) -> tuple[int, int]:
        return self.top, self.left

    def _apply_transform(self, value: Tensor) -> Tensor:
        top, left = self._corner(value)
        height, width = value.shape[-2:]
        if top < 0 or left < 0 or top + self.w > height or left + self.h > width:
            raise errors.ShapeError(
                f"{type(self).__name__}: {[self.w, self.h]} from {[top, left]} is not inside a picture of "
                f"{[height, width]}"
            )
        return value[..., top : top + self.w, left : left + self.h]


class CenterCrop(Crop):
    """The middle of each picture, of size [w, h].

    >>> CenterCrop(4, 2)(pixels=torch.rand(3, 6, 8)).shape
    torch.Size([3, 4, 2])
    """

    def __init__(self, w: int, h: int | None = None, in_keys: Keys = None, out_keys: Keys = None) -> None:
        super().__init__(w, h, in_keys=in_keys, out_keys=out_keys)

    def _corner(self, value: Tensor) -> tuple[int, int]:
        height, width = value.shape[-2:]
        return round((height - self.w) / 2), round((width - self.h) / 2)
