"""DataLoader: batches are containers of the class of the rows, made once, in workers in shared memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, DistributedSampler, get_worker_info

from tensorclass import NonTensorStack, TensorClass, TensorDict, assert_close, errors, lazy_stack, stack
from tensorclass.io import MemoryMappedTensor, RowDataset, RowLoader


class Inner(TensorClass):
    y: Tensor


class Sample(TensorClass):
    x: Tensor
    inner: Inner
    label: str = "none"


def samples(n: int = 10) -> Sample:
    return Sample(
        x=torch.arange(n * 2).reshape(n, 2), inner=Inner(y=torch.rand(n), batch_size=[n]), label="cat", batch_size=[n]
    )


class Rows(Dataset[Sample]):
    """A data set as users write them: a row at a time."""

    def __init__(self) -> None:
        self.rows = samples()

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Sample:
        return self.rows[index]


def numbered(batches: list[Any]) -> list[list[int]]:
    return [(batch.x[:, 0] // 2).tolist() for batch in batches]


def test_rows_are_collated_to_a_batch_of_their_class() -> None:
    rows = Rows()
    batches = list(DataLoader(rows, batch_size=4))

    assert [type(batch) for batch in batches] == [Sample] * 3 and type(batches[0].inner) is Inner
    assert_close(batches[1], rows.rows[4:8])
    assert batches[0].label == "cat"


def test_containers_inside_of_tuples_are_collated() -> None:
    pairs: Any = [(samples()[n], n) for n in range(4)]
    first, second = next(iter(DataLoader(pairs, batch_size=4)))

    assert type(first) is Sample and first.batch_size == (4,) and second.tolist() == [0, 1, 2, 3]


def test_a_batch_is_fetched_in_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = samples()
    data = RowDataset(rows)
    monkeypatch.setattr(RowDataset, "__getitem__", None)

    batches = list(DataLoader(data, batch_size=4))

    assert numbered(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert_close(stack(list(batches[0])), rows[:4])


@pytest.mark.parametrize("collated", [None, lambda batch: batch], ids=["collated", "as fetched"])
def test_a_container_is_a_data_set_itself(collated: Any) -> None:
    batches = list(DataLoader(samples(), batch_size=4, collate_fn=collated))  # pyright: ignore[reportArgumentType]  # By what it has.

    assert [type(batch) for batch in batches] == [Sample] * 3
    assert numbered(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_ragged_rows_are_fetched_as_a_lazy_stack() -> None:
    rows: Any = lazy_stack([TensorDict(x=torch.ones(n)) for n in (1, 2, 3)])
    batch = next(iter(DataLoader(rows, batch_size=2)))

    assert [row["x"].shape for row in batch] == [(1,), (2,)]


def test_rows_of_a_map_are_maps_and_batches_are_not(tmp_path: Path) -> None:
    data = RowDataset(samples().memmap(tmp_path))

    assert type(data[3].x) is MemoryMappedTensor
    assert type(data.__getitems__([3, 1]).x) is Tensor


@pytest.mark.parametrize("rows", [TensorDict(a=torch.ones(3)), torch.ones(3)], ids=["no batch", "tensor"])
def test_what_has_no_rows_is_no_data_set(rows: Any) -> None:
    with pytest.raises(errors.KindError, match="has no rows; a container with a batch dim would do"):
        RowDataset(rows)


class Watch(RowDataset[Sample]):
    """Adds to each batch whether its tensors lie in shared memory, and in one storage, when they leave the worker."""

    def __getitems__(self, indices: Any) -> Any:
        return watched(super().__getitems__(indices))


def watched(batch: Sample) -> Any:
    assert get_worker_info() is not None
    leaves = [batch.x, batch.inner.y]
    shared = all(leaf.is_shared() for leaf in leaves)
    return batch.replace(label=f"{shared} {len({leaf.untyped_storage().data_ptr() for leaf in leaves})}")


def collated(rows: list[Sample]) -> Any:
    from torch.utils.data import default_collate

    return watched(default_collate(rows))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", ["rows", "batches", "maps"])
def test_workers_make_a_batch_where_the_main_process_sees_it(how: str, tmp_path: Path) -> None:
    rows = samples()
    source = rows.memmap(tmp_path) if how == "maps" else rows
    data: Any = Rows() if how == "rows" else Watch(source)
    loader = DataLoader(
        data, batch_size=4, num_workers=2, persistent_workers=True, collate_fn=collated if how == "rows" else None
    )
    for _ in range(2):
        batches: list[Any] = list(loader)
        assert numbered(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
        for batch in batches:
            assert type(batch) is Sample and type(batch.x) is Tensor and batch.label == "True 1"
        assert how == "rows" or torch.equal(batches[1].inner.y, rows.inner.y[4:8])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_lazy_stacks_and_plain_rows_come_through_workers() -> None:
    plain = TensorDict({"w": NonTensorStack(*"abcd"), "a": torch.arange(4)}, [4])
    ragged = lazy_stack([TensorDict(q=torch.arange(n)) for n in range(4)])
    words = [batch["w"].tolist() for batch in RowLoader(plain, batch_size=3, num_workers=1)]
    sizes = [[len(row["q"]) for row in batch] for batch in RowLoader(ragged, batch_size=3, num_workers=1)]

    assert words == [["a", "b", "c"], ["d"]] and sizes == [[0, 1, 2], [3]]


def test_rows_that_do_not_stack_are_named() -> None:
    rows: Any = [TensorDict(a=torch.zeros(n)) for n in (2, 3)]
    with pytest.raises(errors.StructureError, match="'a' is a tensor of shape"):
        next(iter(DataLoader(rows, batch_size=2)))


def test_samplers_of_torch_share_the_rows_out() -> None:
    data = RowDataset(samples())
    parts = [RowLoader(data, batch_size=8, sampler=DistributedSampler(data, 2, rank, shuffle=False)) for rank in (0, 1)]

    assert [numbered(list(part)) for part in parts] == [[[0, 2, 4, 6, 8]], [[1, 3, 5, 7, 9]]]


class Weighed(RowDataset[TensorDict]):
    """Adds to each batch which process read it and how much memory of its own that has."""

    def __getitems__(self, indices: Any) -> Any:
        status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
        batch = super().__getitems__(indices)
        own = int(status["RssAnon"].split()[0]) << 10
        return batch.replace(weight=torch.full((len(batch),), own), process=torch.full((len(batch),), os.getpid()))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_memory_of_workers_stays_flat_and_they_stay(tmp_path: Path) -> None:
    zeros = torch.zeros(())
    rows = TensorDict({"a": torch.ones(256, 1 << 16), "weight": zeros.expand(256), "process": zeros.expand(256)}, [256])
    loader = RowLoader(
        Weighed(rows.memmap(tmp_path)), 16, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=1
    )
    epochs = [[(int(batch["process"][0]), int(batch["weight"][0])) for batch in loader] for _ in range(4)]

    workers = [{process for process, _ in epoch} for epoch in epochs]
    heaviest = [max(weight for _, weight in epoch) for epoch in epochs]
    assert len(workers[0]) == 2 and all(each == workers[0] for each in workers)
    assert heaviest[3] - heaviest[0] < 8 << 20, heaviest  # Of 64 MB that each epoch reads.


STREAM = """
import resource, torch
from tensorclass import TensorDict
from tensorclass.io import RowLoader, RowWriter

def used():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) << 10

list(RowLoader(TensorDict(a=torch.ones(8), batch_size=[8]), batch_size=4))  # What is loaded once is loaded now.
room = 48 << 20
resource.setrlimit(resource.RLIMIT_DATA, (used() + room, -1))
part = TensorDict(a=torch.ones(1024, 1024), batch_size=[1024])  # 4 MiB
with RowWriter("store") as rows:
    for _ in range(48):
        rows.append(part)
stored = TensorDict.load_memmap("store")
total = sum(float(batch["a"].sum()) for batch in RowLoader(stored, batch_size=512, shuffle=True))
assert total == 48 << 20, total
try:
    stored.clone()
except RuntimeError:
    print("too large for memory")
"""


@pytest.mark.slow
def test_more_data_than_memory_can_be_written_and_read(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", STREAM], cwd=tmp_path, capture_output=True, text=True)

    assert done.stdout.strip() == "too large for memory", done.stderr
