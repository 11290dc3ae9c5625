"""CudaGraphModule: what it keeps track of; replays need a GPU."""

from __future__ import annotations

import gc
import warnings
import weakref

import pytest
import torch
from torch import nn

from tensorclass import TensorDict
from tensorclass.nn import CudaGraphModule, TensorDictModule

NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="says what holds without CUDA")


def counting() -> TensorDictModule:
    return TensorDictModule(lambda x, h: (x + h, h + 1), ["x", "h"], ["y", "h"])


def made(warmup: int = 2) -> CudaGraphModule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CudaGraphModule(counting(), warmup)


def inputs(h: float, device: str = "cpu") -> TensorDict:
    return TensorDict({"x": torch.ones(2), "h": torch.full((2,), h)}, batch_size=[2]).to(device)


@NO_CUDA
def test_without_cuda_it_says_so_once_and_calls_the_module() -> None:
    with pytest.warns(UserWarning, match="^CudaGraphModule: there is no CUDA here; the module is called as it is$"):
        module = CudaGraphModule(counting())
    for h in range(4):
        assert module(inputs(h))["y"].tolist() == [1 + h] * 2
    assert module.calls == 4


def test_its_keys_are_those_of_the_module() -> None:
    assert (made().in_keys, made().out_keys) == (["x", "h"], ["y", "h"])


def test_it_has_the_parameters_of_the_module() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = CudaGraphModule(nn.Linear(2, 1))

    assert list(module.state_dict()) == ["module.weight", "module.bias"]


def test_it_is_freed_without_the_cyclic_collector() -> None:
    module = made()
    module(inputs(0.0, "cuda" if torch.cuda.is_available() else "cpu"))
    gc.collect()
    gc.disable()
    try:
        gone = weakref.ref(module)
        del module
        assert gone() is None
    finally:
        gc.enable()


def test_one_call_at_least_comes_before_the_recording() -> None:
    with pytest.raises(ValueError) as error:
        made(warmup=0)

    assert str(error.value) == "warmup: 0 calls before recording; 1 at least is needed"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_replay_reads_fresh_inputs_also_where_the_module_writes_them() -> None:
    module = made(warmup=2)
    for h in range(6):
        out = module(inputs(h, "cuda"))
        assert out["y"].tolist() == [1 + h] * 2 and out["h"].tolist() == [1 + h] * 2


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_outputs_of_a_replay_are_not_overwritten_by_the_next() -> None:
    module = CudaGraphModule(lambda x: x * 2, warmup=1)
    outs = [module(torch.full((2,), float(at), device="cuda")) for at in range(4)]

    assert [out[0].item() for out in outs] == [0, 2, 4, 6]
    with pytest.raises(RuntimeError, match="input 0 is a torch.float32 tensor of shape"):
        module(torch.zeros(3, device="cuda"))
