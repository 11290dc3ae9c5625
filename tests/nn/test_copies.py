"""Modules copied, pickled and used from threads are the same modules."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import (
    Chain,
    EnsembleModule,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorClassModuleBase,
    TensorDictModule,
    TensorDictModuleWrapper,
    TensorDictSequential,
)


class Point(TensorClass):
    x: Tensor


class Scale(TensorClassModuleBase[Point, Point]):
    def __init__(self) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.full((), 2.0))

    def forward(self, x: Point) -> Point:
        return Point(x=self.by * x.x, batch_size=x.batch_size)


def layer() -> TensorDictModule:
    return TensorDictModule(nn.Linear(3, 4), ["x"], ["h"])


MODULES = {
    "module": layer,
    "selected": lambda: TensorDictModule(nn.LSTM(3, 4), ["x"], ["h", "c"]).select_out_keys("h"),
    "sequence": lambda: TensorDictSequential({"one": layer()}, inplace="empty"),
    "wrapper": lambda: TensorDictModuleWrapper(layer()),
    "typed": lambda: Chain(Scale(), Scale()).as_td_module(),
    "ensemble": lambda: EnsembleModule(layer(), num_copies=2),
    "probabilistic": lambda: ProbabilisticTensorDictSequential(
        layer(),
        TensorDictModule(NormalParamExtractor(), ["h"], ["loc", "scale"]),
        ProbabilisticTensorDictModule(["loc", "scale"], ["a"], distribution_class=Normal, return_log_prob=True),
    ),
}


def given() -> TensorDict:
    return TensorDict({"x": torch.linspace(0, 1, 15).reshape(5, 3)}, batch_size=[5])


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))], ids=["copy", "pickle"]
)
@pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)
def test_a_copy_does_the_same_and_shares_nothing(make: Any, again: Any) -> None:
    module = make()
    other = again(module)
    one, two = module(given()), other(given())

    assert (other.in_keys, other.out_keys) == (module.in_keys, module.out_keys)
    assert list(other.state_dict()) == list(module.state_dict())
    assert all(torch.equal(one[key], two[key]) for key in module.out_keys)
    assert not {id(p) for p in module.parameters()} & {id(p) for p in other.parameters()}


@pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)
def test_threads_get_what_one_thread_gets(make: Any) -> None:
    module = make()
    expected = module(given())
    with ThreadPoolExecutor(4) as pool:
        for out in pool.map(lambda _: module(given()), range(40)):
            assert all(torch.equal(out[key], expected[key]) for key in module.out_keys)
