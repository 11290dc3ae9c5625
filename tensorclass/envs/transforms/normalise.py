"""ObservationNorm: observations times a scale plus a location, given or measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..._rules import errors
from ..._rules.keys import Key
from .._entries import read
from .._transform import Keys
from ._leafwise import Leafwise, like, through
from .reward import as_number


class ObservationNorm(Leafwise):
    """Observations times `scale` plus `loc`; with standard_normal=True, minus `loc` divided by `scale`.

    >>> ObservationNorm(loc=1.0, scale=2.0, in_keys=["a"])(a=torch.tensor([3.0]))
    tensor([7.])

    Without loc and scale, `init_stats(1000)` measures them over so many steps. Actions and states, by in_keys_inv, go
    the other way. Scales below eps are eps; a negative one is refused.
    """

    loc: Tensor | None
    scale: Tensor | None

    def __init__(
        self,
        loc: float | Tensor | None = None,
        scale: float | Tensor | None = None,
        in_keys: Keys = None,
        out_keys: Keys = None,
        in_keys_inv: Keys = None,
        out_keys_inv: Keys = None,
        standard_normal: bool = False,
        eps: float | None = None,
    ) -> None:
        if in_keys is None:
            raise errors.StructureError('ObservationNorm: give in_keys, as in ObservationNorm(in_keys=["observation"])')
        super().__init__(in_keys, out_keys, in_keys_inv, out_keys_inv)
        if (loc is None) != (scale is None):
            missing = "loc" if loc is None else "scale"
            raise errors.OptionError(
                f"ObservationNorm: there is no {missing}; give both, or neither and call init_stats"
            )
        self.standard_normal = standard_normal
        self.eps = 1e-6 if eps is None else eps
        self.register_buffer("loc", None if loc is None else as_number(loc))
        self.register_buffer("scale", None if scale is None else self._positive(as_number(scale)))

    def _positive(self, scale: Tensor) -> Tensor:
        if bool((scale < 0).any()):
            raise errors.OptionError(
                f"ObservationNorm: scale is {scale.min().item():g} somewhere; a scale is positive "
                "(to turn signs, transform the values with a function)"
            )
        return scale.clamp_min(self.eps)

    @property
    def initialized(self) -> bool:
        """Whether there are loc and scale."""
        return self.loc is not None

    # ---- the statistics ---------------------------------------------------------------------------------------------

    def init_stats(
        self,
        num_iter: int,
        reduce_dim: int | Sequence[int] | None = None,
        cat_dim: int | None = None,
        key: Key | None = None,
        keep_dims: Sequence[int] | None = None,
    ) -> None:
        """Measure loc and scale over random steps of the environment, so that what comes out has mean 0 and std 1.

        num_iter: how many steps. reduce_dim: the dims to average over, of data [*B, T, *shape] (by default the batch
        and time, so that each slot has its own statistics). keep_dims: those of them to keep with size 1. key: the
        entry to measure, where in_keys are several. cat_dim is taken for compatibility: all steps are in one piece.
        """
        if self.initialized:
            raise errors.StructureError(
                f"ObservationNorm has loc and scale already: ({self.loc}, {self.scale}); "
                "init_stats is for one made without them"
            )
        env = self._env("init_stats")
        key = self._measured(key)
        parent = self.parent
        assert parent is not None  # There is an environment.
        side_by_side = max(1, parent.batch_size.numel())
        with torch.no_grad():
            data = parent.rollout(max(1, -(-num_iter // side_by_side)), break_when_any_done=False)
            self._measure(read(data, key), len(data._batch), reduce_dim, keep_dims)
        if env.device is not None:
            self.to(env.device)
        self._changed()

    def _measured(self, key: Key | None) -> Key:
        if key is None and len(set(self.in_keys)) > 1:
            raise errors.StructureError(
                f"init_stats: in_keys are {errors.some_names(self.in_keys)}; say with key= which one to measure"
            )
        key = self._reads[0] if key is None else key
        if key not in self._reads:
            raise errors.OptionError(f"init_stats: {errors.key_missing(key, self._reads)}")
        return key

    def _measure(
        self, data: Tensor, batch_dims: int, reduce_dim: int | Sequence[int] | None, keep_dims: Sequence[int] | None
    ) -> None:
        if reduce_dim is None:
            dims = list(range(batch_dims))
        else:
            dims = [reduce_dim] if isinstance(reduce_dim, int) else list(reduce_dim)
        dims = [dim % data.ndim for dim in dims]
        kept = [dim % data.ndim for dim in keep_dims or ()]
        if not set(kept) <= set(dims):
            raise errors.OptionError(f"init_stats: keep_dims {list(keep_dims or ())} must be among reduce_dim {dims}")
        data = data if data.is_floating_point() else data.to(torch.get_default_dtype())
        mean, std = data.mean(dims, keepdim=True), data.std(dims, keepdim=True).nan_to_num(0.0)
        for dim in sorted(set(dims) - set(kept), reverse=True):
            mean, std = mean.squeeze(dim), std.squeeze(dim)
        std = std.clamp_min(self.eps)
        if not bool(torch.isfinite(mean).all() and torch.isfinite(std).all()):
            raise errors.StructureError("init_stats: some observations are not finite")
        self.loc, self.scale = (mean, std) if self.standard_normal else (-mean / std, 1 / std)

    # ---- the data -------------------------------------------------------------------------------------------------

    def _numbers(self) -> tuple[Tensor, Tensor]:
        loc, scale = self._buffers["loc"], self._buffers["scale"]
        if loc is None or scale is None:
            raise errors.StructureError(
                "ObservationNorm has no loc and scale yet: give them, or call init_stats(num_iter) "
                "once it is in an environment"
            )
        return loc, scale

    def _apply_transform(self, value: Tensor) -> Tensor:
        loc, scale = self._numbers()
        if self.standard_normal:
            return (value - loc) / scale
        if value.dtype is loc.dtype:
            return torch.addcmul(loc, value, scale)
        return value * scale + loc

    def _inv_apply_transform(self, value: Tensor) -> Tensor:
        loc, scale = self._numbers()
        return value * scale + loc if self.standard_normal else (value - loc) / scale

    def _leaf_spec(self, spec: Any) -> Any:
        if self.initialized:
            return through(spec, self._apply_transform)
        zero = spec.zero()
        return like(spec, zero if zero.is_floating_point() else zero.to(torch.get_default_dtype()))

    # ---- its state --------------------------------------------------------------------------------------------------

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        if not self.initialized:
            raise errors.OptionError(
                "ObservationNorm has no loc and scale to save yet; call init_stats(num_iter) before state_dict()"
            )
        super()._save_to_state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any, **more: Any) -> None:
        for name in ("loc", "scale"):
            given, mine = state_dict.get(prefix + name), self._buffers[name]
            if given is not None and (mine is None or mine.shape != given.shape):
                self._buffers[name] = given.clone()
        super()._load_from_state_dict(state_dict, prefix, *rest, **more)

    def extra_repr(self) -> str:
        """The numbers, where they are few, and the keys."""
        few = self.loc is not None and self.loc.numel() == 1
        numbers = f"loc={self.loc}, scale={self.scale}" if few else "measured" if self.initialized else "not measured"
        return f"{numbers}, {super().extra_repr()}"


__all__ = ["ObservationNorm"]
