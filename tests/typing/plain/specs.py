"""What every checker knows of specs, without the plugin."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from typing_extensions import assert_type

from tensorclass import TensorDict
from tensorclass.envs import Bounded, Categorical, Composite, OneHot, TensorSpec, Unbounded

spec = Bounded(-1.0, 1.0, (3,))
assert_type(spec.rand(), Tensor)
assert_type(spec.project(torch.zeros(3)), Tensor)
assert_type(spec.low, Tensor)
assert_type(spec.dtype, torch.dtype)
assert_type(spec.device, torch.device)
assert_type(spec.is_in("no"), bool)
assert_type(spec.expand(4, 3), Bounded)
assert_type(spec[0], Bounded)
assert_type(spec.unsqueeze(0).unbind(0), tuple[Bounded, ...])
assert_type(spec.to(torch.float64), Bounded)

choice = OneHot(4).to_categorical_spec()
assert_type(choice, Categorical)
assert_type(choice.n, int)
assert_type(choice.mask, Tensor | None)
assert_type(choice.encode(2), Tensor)

both = Composite(pos=spec, arm=Composite(grip=OneHot(2)))
assert_type(both.rand((5,)), TensorDict)
assert_type(both["pos"], Any)
assert_type(both["arm", "grip"], Any)
assert_type(both.expand(2)[0], Composite)
assert_type(both.keys(), list[str])
assert_type(both.keys(True), list[str | tuple[str, ...]])
assert_type(both.lock_(), Composite)
assert_type(both.unsqueeze(0).unbind(0), tuple[Composite, ...])


def first(specs: list[TensorSpec]) -> Any:
    return specs[0].rand()


first([spec, both, Unbounded()])
