"""One buffer: a consolidated container is the same container, in one storage, pickled once."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pytest
import torch
import torch.multiprocessing as mp
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, assert_close, lazy_stack
from tensorclass.io._pack import borrowing


class Sample(TensorClass):
    x: Tensor
    flags: Tensor
    label: str = "none"


def containers() -> dict[str, Any]:
    leaves = {
        "a": torch.rand(3, 2),
        "b": torch.ones(3, dtype=torch.bool),
        "c": torch.rand(3).double(),
        "e": torch.zeros(3, 0),
    }
    nested = TensorDict(
        {**leaves, "n": {"z": torch.rand(3, dtype=torch.complex64)}, "w": NonTensorStack("x", "y", "z")}, [3]
    )
    sample = Sample(x=torch.rand(3), flags=torch.rand(3) > 0.5, label="cat", batch_size=[3])
    return {
        "nested": nested,
        "class": sample,
        "lazy": lazy_stack([TensorDict(q=torch.rand(n), batch_size=[n]) for n in (1, 3)]),
        "views": nested[torch.tensor([0, 2])].select("a"),
        "empty": TensorDict(batch_size=[3]),
    }


each = pytest.mark.parametrize("name", containers())


def leaves(container: Any) -> list[Tensor]:
    return [leaf for item in container._items or [container] for leaf in item.values(True, True)]


@each
def test_it_is_the_same_container_in_one_storage(name: str) -> None:
    container = containers()[name]
    packed = container.consolidate()

    assert type(packed) is type(container) and packed.batch_size == container.batch_size and not packed.is_locked
    assert list(packed.keys(True)) == list(container.keys(True))
    for one, other in zip(leaves(packed), leaves(container)):
        assert torch.equal(one, other) and one.dtype is other.dtype
    assert len({leaf.untyped_storage().data_ptr() for leaf in leaves(packed)}) <= 1


@each
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_it_is_pickled_once(name: str, protocol: int) -> None:
    packed = containers()[name].consolidate()
    before = [leaf.clone() for leaf in leaves(packed)]

    back = pickle.loads(pickle.dumps(packed, protocol))

    assert all(torch.equal(one, other) for one, other in zip(leaves(back), before))
    assert len({leaf.untyped_storage().data_ptr() for leaf in leaves(back)}) <= 1
    for leaf in leaves(back):
        leaf.zero_()
    assert all(torch.equal(one, other) for one, other in zip(leaves(packed), before))


def test_a_pickle_is_as_long_as_the_data() -> None:
    packed = TensorDict({str(n): torch.rand(1000) for n in range(50)}).consolidate()

    assert len(pickle.dumps(packed)) < 1.1 * 50 * 4000


def test_protocol_5_takes_the_bytes_where_they_are() -> None:
    packed = TensorDict({str(n): torch.rand(1000) for n in range(50)}).consolidate()
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(packed, 5, buffer_callback=buffers.append)
    back = pickle.loads(text, buffers=buffers)

    assert len(buffers) == 1 and len(text) < 10_000
    back["7"][3] = -1.0
    assert packed["7"][3] == -1  # The very same memory.


def test_what_is_written_later_is_kept() -> None:
    packed = TensorDict({"a": torch.zeros(2), "n": {"m": torch.ones(2)}}, [2]).consolidate()
    packed["b"] = torch.full((2,), 3.0)
    packed["a"] = torch.full((2,), 4.0)
    packed["n", "m"].fill_(5.0)

    for one in (packed, pickle.loads(pickle.dumps(packed)), packed.to("cpu"), packed.clone(), copy.deepcopy(packed)):
        values = {key: leaf.tolist() for key, leaf in one.items(True, True)}
        assert values == {"a": [4, 4], "b": [3, 3], ("n", "m"): [5, 5]}


def test_rows_of_it_can_be_pickled() -> None:
    packed = TensorDict({"a": torch.arange(6).reshape(3, 2), "b": torch.arange(3.0)}, [3]).consolidate()

    assert_close(pickle.loads(pickle.dumps(packed[1:])), packed[1:])


def test_the_source_is_not_changed_through_it() -> None:
    td = TensorDict(a=torch.zeros(3))
    td.consolidate()["a"].fill_(1)

    assert td["a"].sum() == 0


def test_a_device_is_that_of_the_result() -> None:
    packed = TensorDict({"a": torch.rand(3), "n": {"b": torch.rand(2)}}).consolidate(device="meta")

    assert packed.device == packed["n"].device == packed["n", "b"].device == torch.device("meta")


def test_gradients_do_not_pass() -> None:
    leaf = torch.ones(3, requires_grad=True)

    assert not TensorDict(a=leaf).consolidate()["a"].requires_grad


def test_its_memory_is_freed() -> None:
    packed = TensorDict(a=torch.zeros(1000), b=torch.zeros(3)).consolidate()
    pickle.dumps(packed)
    gone = weakref.ref(packed["a"].untyped_storage())
    del packed
    gc.collect()

    assert gone() is None


def _write(td: Any, done: Any) -> None:
    td["a"].fill_(7)
    done.put(True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", [True, False])
def test_a_process_that_gets_it_sees_the_same_memory(share: bool) -> None:
    packed = TensorDict(a=torch.zeros(4), b=torch.ones(4)).consolidate(share_memory=share)
    context = mp.get_context("spawn")
    done = context.Queue()
    worker = context.Process(target=_write, args=(packed, done))
    worker.start()
    assert done.get(timeout=60)
    worker.join()

    assert packed["a"].tolist() == [7, 7, 7, 7] and packed["b"].tolist() == [1, 1, 1, 1]


def test_what_is_borrowed_lies_where_it_comes_from() -> None:
    buffers: list[Any] = []
    text = pickle.dumps(TensorDict(a=torch.arange(4)).consolidate(), protocol=5, buffer_callback=buffers.append)
    held = [bytes(buffer.raw()) for buffer in buffers]  # Read-only, as in the store of another process.
    with borrowing():
        one, other = (pickle.loads(text, buffers=held)["a"] for _ in range(2))
    own = pickle.loads(text, buffers=held)["a"]
    own.zero_()

    assert one.data_ptr() == other.data_ptr() != own.data_ptr()
    del held, buffers
    assert one.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("share", [False, True])
def test_a_nested_tensor_is_packed_as_a_copy_of_its_own(share: bool) -> None:
    rows = [torch.randn(size, 3) for size in (1, 2, 3)]
    td = TensorDict(n=torch.nested.as_nested_tensor(rows, layout=torch.jagged), x=torch.arange(3), batch_size=[3])
    packed = td.consolidate(share_memory=share)
    td["n"].mul_(0)
    for one in (packed, pickle.loads(pickle.dumps(packed))):
        assert all(torch.equal(row, kept) for row, kept in zip(one["n"].unbind(), rows))
        assert one["x"].tolist() == [0, 1, 2]


def test_the_ragged_dim_of_a_nested_tensor_stays_where_it_is() -> None:
    nested = torch.nested.as_nested_tensor([torch.randn(4, 3, size) for size in (1, 2)], layout=torch.jagged)
    packed = pickle.loads(pickle.dumps(TensorDict(n=nested, batch_size=[2]).consolidate()))
    assert [row.shape for row in packed["n"].unbind()] == [(4, 3, 1), (4, 3, 2)]
