"""MemoryMappedTensor: views are maps, results are not, files and processes share one memory."""

from __future__ import annotations

import copy
import errno
import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing as mp
from torch import Tensor

from tensorclass import TensorDict
from tensorclass.io import DataDamaged, DataExists, DataMissing, MemoryMappedTensor

VIEWS: dict[str, Callable[[Any], Any]] = {
    "int": lambda t: t[1],
    "slice": lambda t: t[1:3],
    "tuple": lambda t: t[1, :, None],
    "ellipsis": lambda t: t[..., 0],
    "reshape": lambda t: t.reshape(2, 2, 3),
    "view": lambda t: t.view(-1),
    "transpose": lambda t: t.transpose(0, 1),
    "permute": lambda t: t.permute(1, 0),
    "unbind": lambda t: t.unbind(0)[1],
    "split": lambda t: t.split(2)[1],
    "chunk": lambda t: t.chunk(2)[1],
    "narrow": lambda t: t.narrow(0, 1, 2),
    "select": lambda t: t.select(0, 1),
    "unsqueeze": lambda t: t.unsqueeze(0),
    "squeeze": lambda t: t[:1].squeeze(0),
    "expand": lambda t: t[0].expand(4, 3),
    "flatten": lambda t: t.flatten(),
    "row": lambda t: next(iter(t)),
    "scalar tensor": lambda t: t[torch.tensor(1)],
    "detach": lambda t: t.detach(),
    "view twice": lambda t: t[1:].transpose(0, 1)[0],
}
RESULTS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda t: t + 1,
    "rows": lambda t: t[torch.tensor([0, 2])],
    "list": lambda t: t[[0, 2]],
    "mask": lambda t: t[t[:, 0] > 2],
    "pairs": lambda t: t[torch.tensor([0, 2]), 1:],
    "clone": lambda t: t.clone(),
    "copy": lambda t: copy.deepcopy(t),
    "reshape": lambda t: t.transpose(0, 1).reshape(-1),
    "stack": lambda t: torch.stack([t, t]),
    "to": lambda t: t.to(torch.float64),
}


@pytest.fixture
def numbers(tmp_path: Path) -> MemoryMappedTensor:
    return MemoryMappedTensor.from_tensor(torch.arange(12).reshape(4, 3), filename=tmp_path / "numbers")


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_a_map_is_a_map(name: str, numbers: MemoryMappedTensor) -> None:
    view, plain = VIEWS[name](numbers), VIEWS[name](torch.arange(12).reshape(4, 3))

    assert type(view) is MemoryMappedTensor and view.filename == numbers.filename
    assert torch.equal(view, plain)
    view.fill_(-1)
    assert int((numbers == -1).sum()) == len({*range(view.storage_offset(), 12)} & places(view))


def places(view: Tensor) -> set[int]:
    """Where the elements of a view lie in the storage."""
    return set(torch.arange(12).as_strided(view.shape, view.stride(), view.storage_offset()).flatten().tolist())


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_computed_from_a_map_is_none(name: str, numbers: MemoryMappedTensor) -> None:
    result = RESULTS[name](numbers)

    assert type(result) is Tensor and torch.equal(result, RESULTS[name](torch.arange(12).reshape(4, 3)))
    result.fill_(0)
    assert numbers.sum() == 66


@pytest.mark.parametrize("name", VIEWS)
def test_a_pickled_view_is_the_same_memory(name: str, numbers: MemoryMappedTensor) -> None:
    view = VIEWS[name](numbers)
    back = pickle.loads(pickle.dumps(view))

    assert type(back) is MemoryMappedTensor and torch.equal(back, view) and back.stride() == view.stride()
    back.fill_(-1)
    assert (view == -1).all()


def test_an_empty_map_can_be_pickled() -> None:
    back = pickle.loads(pickle.dumps(MemoryMappedTensor.zeros(0, 3, dtype=torch.int8)))

    assert back.shape == (0, 3) and back.dtype is torch.int8


def test_a_copy_on_write_map_stays_one_in_a_pickle(numbers: MemoryMappedTensor) -> None:
    assert numbers.filename is not None
    apart = MemoryMappedTensor.from_filename(numbers.filename, torch.int64, [4, 3], mode="c")

    pickle.loads(pickle.dumps(apart)).zero_()

    assert numbers.sum() == 66


@pytest.mark.parametrize("mode", [None, "r+"])
def test_a_file_that_can_only_be_read_is_mapped_and_left_alone(
    mode: Any, numbers: MemoryMappedTensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, name = os.open, numbers.filename
    assert name is not None

    def read_only(path: Any, flags: int, *more: Any) -> int:
        if path == name and flags & (os.O_RDWR | os.O_WRONLY):
            raise PermissionError(errno.EACCES, "Permission denied")
        return call(path, flags, *more)

    monkeypatch.setattr(os, "open", read_only)
    if mode == "r+":
        with pytest.raises(DataDamaged, match="Permission denied"):
            MemoryMappedTensor.from_filename(name, torch.int64, [4, 3], mode=mode)
        return
    apart = MemoryMappedTensor.from_filename(name, torch.int64, [4, 3])
    apart.zero_()

    assert numbers.sum() == 66 and apart.sum() == 0


def test_maps_go_where_tensors_go(numbers: MemoryMappedTensor) -> None:
    weight = torch.ones(3, requires_grad=True)
    (numbers.float() @ weight).sum().backward()

    assert weight.grad is not None and weight.grad.tolist() == [18, 22, 26]
    assert torch.vmap(lambda row: row.sum())(numbers).tolist() == [3, 12, 21, 30]


def test_a_map_prints_as_a_tensor_does(numbers: MemoryMappedTensor) -> None:
    assert repr(numbers[2]) == "MemoryMappedTensor([6, 7, 8])" and f"{numbers[2, 1]}" == "7"
    assert repr(numbers[2, 1]) == "MemoryMappedTensor(7)"


def test_zeros_take_no_room_before_they_are_written(tmp_path: Path) -> None:
    zeros = MemoryMappedTensor.zeros(1 << 20, 1 << 8, filename=tmp_path / "z")

    assert zeros[5].sum() == 0 and (tmp_path / "z").stat().st_size == 1 << 30
    assert (tmp_path / "z").stat().st_blocks * 512 < 1 << 20


def test_a_file_is_not_overwritten_unless_asked(numbers: MemoryMappedTensor) -> None:
    assert numbers.filename is not None
    with pytest.raises(DataExists, match="is there already; existsok=True overwrites it"):
        MemoryMappedTensor.from_tensor(torch.zeros(3), filename=numbers.filename)
    other = MemoryMappedTensor.from_tensor(torch.zeros(3), filename=numbers.filename, existsok=True)

    assert other.sum() == 0 and numbers.sum() == 66


def test_a_file_that_is_too_short_is_refused_and_not_extended(numbers: MemoryMappedTensor) -> None:
    assert numbers.filename is not None
    with pytest.raises(DataDamaged, match=r"has 96 bytes; shape \[13\] of torch.int64 takes 104"):
        MemoryMappedTensor.from_filename(numbers.filename, torch.int64, [13])
    assert Path(numbers.filename).stat().st_size == 96
    with pytest.raises(DataMissing, match="nowhere is missing"):
        MemoryMappedTensor.from_filename("nowhere", torch.int64, [13])


def _fill(td: TensorDict, done: Any) -> None:
    td["a"].fill_(7)
    done.put(type(td["a"]).__name__)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore")
def test_processes_share_a_map(method: str, tmp_path: Path) -> None:
    saved = TensorDict(a=torch.zeros(4, 2), batch_size=[4]).memmap(tmp_path)
    context: Any = mp.get_context(method)
    done = context.Queue()
    worker = context.Process(target=_fill, args=(saved[1:3], done))
    worker.start()
    assert done.get(timeout=60) == "MemoryMappedTensor"
    worker.join()

    assert saved["a"].sum(-1).tolist() == [0, 14, 14, 0]


def test_a_saved_map_is_a_reference_and_its_clone_is_not(tmp_path: Path) -> None:
    saved = TensorDict(a=torch.zeros(10_000)).memmap(tmp_path)
    file = io.BytesIO()
    torch.save(saved.clone(), file)

    assert file.tell() > 40_000 and len(pickle.dumps(saved)) < 2000


@pytest.mark.slow
def test_maps_go_through_a_compiled_graph(numbers: MemoryMappedTensor) -> None:
    torch.compiler.reset()
    double = torch.compile(lambda t: t[1:3] * 2, fullgraph=True, backend="eager")

    assert double(numbers).tolist() == [[6, 8, 10], [12, 14, 16]]


@pytest.mark.parametrize(
    "index",
    [
        torch.tensor([3, 0, 3]),
        torch.tensor([-1, 2]),
        torch.tensor([], dtype=torch.int64),
        torch.tensor([[1, 2]]),
        torch.tensor([1, 2], dtype=torch.int32),
        torch.tensor([True, False, True, False]),
        torch.tensor(2),
    ],
    ids=str,
)
def test_rows_picked_out_of_a_map_are_those_of_the_tensor(index: Tensor) -> None:
    plain = torch.arange(8.0).reshape(4, 2)
    mapped = MemoryMappedTensor.from_tensor(plain)

    assert torch.equal(mapped[index], plain[index])
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        mapped[torch.tensor([4])]


def test_picked_rows_pass_gradients() -> None:
    mapped = MemoryMappedTensor.from_tensor(torch.arange(4.0)).requires_grad_()
    mapped[torch.tensor([1, 1])].sum().backward()

    assert mapped.grad is not None and mapped.grad.tolist() == [0, 2, 0, 0]
