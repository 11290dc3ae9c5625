"""CatFrames and TimeMaxPool: the last few observations of an episode, side by side or as their maximum."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from ..._rules.keys import Key, path
from .._entries import read, write
from .._numbers import at_least
from .._specs.box import Bounded
from .._transform import Keys
from ._carried import over, reset_mask
from ._episodes import ages, starts
from ._leafwise import Leafwise, like


class LastFrames(Leafwise):
    """A transform of the last N observations of an episode, which it keeps itself: [*B, N, *shape] for each key."""

    N: int
    _frames: dict[Key, Tensor]

    def __init__(self, in_keys: Keys, out_keys: Keys) -> None:
        super().__init__(in_keys, out_keys)
        self._frames = {}

    def _first(self, value: Tensor) -> Tensor:
        """The frames at the begin of an episode, for its first observation."""
        raise NotImplementedError

    def _of_frames(self, frames: Tensor, at: int) -> Tensor:
        """What comes out for the last N frames, which are along a dim."""
        raise NotImplementedError

    def _step(self, tensordict: Any, next_tensordict: Any) -> Any:
        rows = len(next_tensordict._batch)
        for in_key, out_key in self._pairs:
            value = read(next_tensordict, in_key)
            if value is None:
                if self.missing_tolerance:
                    continue
                self._refuse_missing(in_key, next_tensordict)
            frames = self._frames.get(in_key)
            if frames is None or frames.shape[:rows] != value.shape[:rows]:
                frames = self._begun(value, rows)
            else:
                frames = torch.cat([frames.narrow(rows, 1, self.N - 1), value.unsqueeze(rows)], rows)
            self._frames[in_key] = frames
            write(next_tensordict, out_key, self._of_frames(frames, rows))
        return next_tensordict

    def _call(self, next_tensordict: Any) -> Any:
        return self._step(None, next_tensordict)

    def _begun(self, value: Tensor, rows: int) -> Tensor:
        first = self._first(value).unsqueeze(rows)
        return torch.cat([first] * (self.N - 1) + [value.unsqueeze(rows)], rows)

    def _reset(self, tensordict: Any, tensordict_reset: Any) -> Any:
        rows = len(tensordict_reset._batch)
        for in_key, out_key in self._pairs:
            value = read(tensordict_reset, in_key)
            if value is None:
                continue
            frames, before = self._begun(value, rows), self._frames.get(in_key)
            mask = reset_mask(tensordict, in_key, tensordict_reset)
            if mask is not None and before is not None and before.shape == frames.shape:
                frames = torch.where(over(mask, frames), frames, before)
            self._frames[in_key] = frames
            write(tensordict_reset, out_key, self._of_frames(frames, rows))
        return tensordict_reset

    def forward(self, tensordict: Any) -> Any:
        """Transform data with time as its last batch dim, at the root and under "next"."""
        for in_key, out_key in self._pairs:
            value = read(tensordict, in_key)
            if value is None:
                self._refuse_missing(in_key, tensordict)
            if not tensordict._batch:
                write(tensordict, out_key, self._of_frames(self._begun(value, 0), 0))
                continue
            frames = self._windows(value, starts(tensordict))
            self._write_after(tensordict, in_key, out_key, frames)
            write(tensordict, out_key, self._of_frames(frames, len(tensordict._batch)))
        return tensordict

    def _write_after(self, tensordict: Any, in_key: Key, out_key: Key, frames: Tensor) -> None:
        """The frames under "next": those of the root, and one more."""
        value = read(tensordict, ("next", *path(in_key)))
        if value is not None:
            rows = len(tensordict._batch)
            after = torch.cat([frames.narrow(rows, 1, self.N - 1), value.unsqueeze(rows)], rows)
            write(tensordict, ("next", *path(out_key)), self._of_frames(after, rows))

    def _windows(self, value: Tensor, first: Tensor) -> Tensor:
        """The last N frames at each step: [*B, T, N, *shape]."""
        time, more = first.ndim - 1, value.ndim - first.ndim
        age = ages(first)
        place = torch.arange(first.shape[-1], device=value.device).expand(first.shape)
        frames = []
        for back in range(self.N - 1, -1, -1):
            here = (place - torch.minimum(age, torch.full_like(age, back))).reshape(*first.shape, *[1] * more)
            frame = value.gather(time, here.expand(value.shape))
            inside = (age >= back).reshape(*first.shape, *[1] * more)
            frames.append(torch.where(inside, frame, self._first(frame)))
        return torch.stack(frames, time + 1)


class CatFrames(LastFrames):
    """The last N observations concatenated along a dim.

    >>> from tensorclass.envs import GymEnv, TransformedEnv
    >>> env = TransformedEnv(GymEnv("CartPole-v1"), CatFrames(N=4, dim=-1, in_keys=["observation"]))
    >>> env.reset()["observation"].shape
    torch.Size([16])

    At the begin of an episode its first observation fills the frames that are not there ("same"), or padding_value
    does ("constant"). Data that is at hand has time as its last batch dim; ("next", "done") says where episodes end.
    """

    _usual = ("pixels",)

    def __init__(
        self,
        N: int,
        dim: int,
        in_keys: Keys = None,
        out_keys: Keys = None,
        padding: str = "same",
        padding_value: float = 0,
        *,
        reset_key: Key | None = None,
        done_key: Key | None = None,
    ) -> None:
        super().__init__("pixels" if in_keys is None else in_keys, out_keys)
        if dim >= 0:
            raise errors.OptionError(
                f"CatFrames: dim is {dim}; count it from the end (-1 is the last), since the batch dims stand in front"
            )
        if padding not in ("same", "constant"):
            raise errors.OptionError(f"CatFrames: padding is {padding!r}; 'same' or 'constant' would do")
        self.N = at_least(1, "CatFrames", "N", N)
        self.dim, self.padding, self.padding_value = dim, padding, padding_value
        self.reset_key, self.done_key = reset_key, done_key

    @property
    def _asks(self) -> tuple[int, str]:
        return -self.dim, ""

    def _first(self, value: Tensor) -> Tensor:
        return value if self.padding == "same" else torch.full_like(value, self.padding_value)

    def _of_frames(self, frames: Tensor, at: int) -> Tensor:
        return torch.cat(frames.unbind(at), self.dim)

    def _leaf_spec(self, spec: Any) -> Any:
        joined = like(spec, self._repeated(spec.zero(), spec.zero()))
        if not isinstance(spec, Bounded):
            return joined
        pads = [self._first(end) for end in (spec.low, spec.high)]
        low = self._repeated(torch.minimum(spec.low, pads[0]), spec.low)
        high = self._repeated(torch.maximum(spec.high, pads[1]), spec.high)
        return Bounded(low, high, joined.shape, device=spec.device, dtype=spec.dtype)

    def _repeated(self, early: Tensor, last: Tensor) -> Tensor:
        return torch.cat([early] * (self.N - 1) + [last], self.dim)


class TimeMaxPool(LastFrames):
    """The maximum over the last T observations of an episode, slot by slot.

    >>> data = TensorDict(a=torch.tensor([[1.0], [-1.0], [-2.0]]), batch_size=3)
    >>> TimeMaxPool(in_keys=["a"], T=2)(data)["a"].flatten()
    tensor([ 1.,  1., -1.])
    """

    def __init__(
        self, in_keys: Keys = None, out_keys: Keys = None, T: int = 1, *, reset_key: Key | None = None
    ) -> None:
        super().__init__(in_keys, out_keys)
        self.N = self.T = at_least(1, "TimeMaxPool", "T", T)
        self.reset_key = reset_key

    def _first(self, value: Tensor) -> Tensor:
        return value

    def _of_frames(self, frames: Tensor, at: int) -> Tensor:
        return frames.amax(at)
