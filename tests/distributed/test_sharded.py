"""Containers and modules over three ranks: DTensor leaves, checkpoints that others load, averaged gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor

from tensorclass import TensorClass, TensorDict, cat, distributed, lazy_stack, stack
from tensorclass.nn import TensorDictModule, TensorDictSequential
from tests.distributed.ranks import Check, Seen, together

pytestmark = pytest.mark.slow
WORLD = 3


class Inner(TensorClass):
    b: Tensor


class Rows(TensorClass):
    a: Tensor
    inner: Inner
    label: str = "none"


def rows(scale: int = 1) -> Rows:
    """Eight rows: no three ranks have equally many."""
    a, b = scale * torch.arange(24.0).reshape(8, 3), scale * torch.arange(8)
    return Rows(a=a, inner=Inner(b=b, batch_size=[8]), label=f"scale {scale}", batch_size=[8])


def spread(container: Any, ranks: list[int]) -> Any:
    mesh = DeviceMesh("cpu", ranks)
    return container.apply(lambda leaf: distribute_tensor(leaf, mesh, [Shard(0)]))


def whole(leaf: Tensor | None) -> Tensor:
    assert leaf is not None
    return leaf.full_tensor() if isinstance(leaf, DTensor) else leaf


OPS: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: x.reshape(2, 4),
    "view": lambda x: x.view(4, 2),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "permute": lambda x: x.unsqueeze(1).permute(1, 0),
    "flatten": lambda x: x.unsqueeze(1).flatten(),
    "expand": lambda x: x.unsqueeze(0).expand(3, 8),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "slice": lambda x: x[2:5],
    "int": lambda x: x[3],
    "split": lambda x: x.split(4)[1],
    "flip": lambda x: x.flip(0),
    "stack": lambda x: stack([x, x]),
    "cat": lambda x: cat([x, x]),
    "lazy": lambda x: lazy_stack([x, x])[1],
    "add": lambda x: x + 1,
    "sum": lambda x: x.sum(0),
    "clone": lambda x: x.clone(),
    "to": lambda x: x.to(torch.float64),
}


def ops_on_shards(rank: int) -> Any:
    """What differs from the same op on the whole."""
    if rank == 2:
        return []
    # Four rows for each of two: torch splits no dim of shards that differ in size.
    sharded, wrong = spread(rows(), [0, 1]), []
    for name, op in OPS.items():
        got, wanted = op(sharded), op(rows())
        leaves = [leaf for leaf in got.values(True, True) if isinstance(leaf, Tensor)]
        held = got.apply(whole)
        same = torch.equal(held.a, wanted.a) and torch.equal(held.inner.b, wanted.inner.b)
        if not same or got.batch_size != wanted.batch_size or not all(isinstance(leaf, DTensor) for leaf in leaves):
            wrong.append(name)
    return wrong


def saved_by_two(rank: int) -> None:
    pair: Any = dist.new_group([0, 1])
    if rank < 2:
        module = sharded_module([0, 1])
        state = {"rows": spread(rows(3), [0, 1]), "whole": rows(2), "module": module.state_dict()}
        save(state, checkpoint_id="checkpoint", process_group=pair)
    dist.barrier()


def loaded_by_three(rank: int) -> Any:
    target, other, module = spread(rows(0), [0, 1, 2]), rows(0), sharded_module([0, 1, 2], seed=1)
    state: Any = {"rows": target, "whole": other, "module": module.state_dict()}
    load(state, checkpoint_id="checkpoint")
    module.load_state_dict(state["module"])
    return loaded(target, other, module), len(target.a.to_local())


def loaded_by_one(rank: int) -> Any:
    alone: Any = [dist.new_group([one]) for one in range(WORLD)][rank]
    if rank != 1:
        return None
    target, other, module = rows(0), rows(0), sequence(seed=1)
    state: Any = {"rows": target, "whole": other, "module": module.state_dict()}
    load(state, checkpoint_id="checkpoint", process_group=alone)
    module.load_state_dict(state["module"])
    return loaded(target, other, module)


def loaded(target: Rows, other: Rows, module: nn.Module) -> Any:
    weights = [whole(weight).tolist() for weight in module.state_dict().values()]
    return whole(target.a).tolist(), whole(target.inner.b).tolist(), type(target).__name__, other.a.tolist(), weights


def sequence(seed: int = 0) -> TensorDictSequential:
    torch.manual_seed(seed)
    first = TensorDictModule(nn.Linear(3, 4), ["x"], ["h"])
    return TensorDictSequential(first, TensorDictModule(nn.Linear(4, 1), ["h"], ["y"]))


def sharded_module(ranks: list[int], seed: int = 0) -> TensorDictSequential:
    mesh = DeviceMesh("cpu", ranks)
    net = sequence(seed)
    for module in net.module.children():
        distributed.fully_shard(module, mesh=mesh)
    return distributed.fully_shard(net, mesh=mesh)


def gradients(call: Any, net: nn.Module, rank: int) -> Any:
    """Of the mean over ranks, whose inputs differ; and whether the container that went in came out."""
    td = TensorDict(x=torch.full((5, 3), float(rank)), batch_size=[5])
    out = call(td)
    out["y"].sum().backward()
    return [whole(parameter.grad).tolist() for parameter in net.parameters()], out is td


def trained_sharded(rank: int) -> Any:
    each, root = sharded_module([0, 1, 2]), sequence()
    distributed.fully_shard(root, mesh=DeviceMesh("cpu", [0, 1, 2]))
    return [gradients(net, net, rank) for net in (each, root)]


def trained_in_parallel(rank: int) -> Any:
    nets = [sequence() for _ in range(3)]
    nets[2].extra = nn.Linear(2, 2)  # Not used, and has no gradient.
    torch_s = nn.parallel.DistributedDataParallel(nets[0])
    ours = [distributed.data_parallel(net, find_unused_parameters=True) for net in nets[1:]]
    plain = [gradients(call, net, rank) for call, net in zip([torch_s, ours[0]], nets)]
    ours[1](TensorDict(x=torch.ones(1, 3), batch_size=[1]))["y"].sum().backward()
    extra = [parameter.grad is None for parameter in nets[2].extra.parameters()]
    inside = type(nets[1](TensorDict(x=torch.ones(1, 3), batch_size=[1]))).__name__
    return plain, extra, inside


CHECKS: list[Check] = [
    ops_on_shards, saved_by_two, loaded_by_three, loaded_by_one, trained_sharded, trained_in_parallel,
]  # fmt: skip


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each check saw on each rank."""
    return together(CHECKS, WORLD, tmp_path_factory.mktemp("ranks"))


@functools.cache
def averaged() -> list[Any]:
    """The gradients without any ranks."""
    net = sequence()
    td = TensorDict(x=torch.arange(3.0).repeat_interleave(5)[:, None].expand(15, 3), batch_size=[15])
    (net(td)["y"].sum() / WORLD).backward()
    return [whole(parameter.grad) for parameter in net.parameters()]


def assert_averaged(found: Any) -> None:
    torch.testing.assert_close([torch.tensor(one) for one in found], averaged())


def test_shape_ops_keep_leaves_distributed(seen: Seen) -> None:
    assert [seen[rank, "ops_on_shards"] for rank in range(WORLD)] == [[]] * WORLD


def test_a_checkpoint_of_two_ranks_is_loaded_by_three_and_by_one(seen: Seen) -> None:
    assert [seen[rank, "saved_by_two"] for rank in range(WORLD)] == [None] * WORLD
    weights = [weight.tolist() for weight in sequence().state_dict().values()]
    wanted = (rows(3).a.tolist(), rows(3).inner.b.tolist(), "Rows", rows(2).a.tolist(), weights)

    assert [seen[rank, "loaded_by_three"] for rank in range(WORLD)] == [(wanted, part) for part in (3, 3, 2)]
    assert seen[1, "loaded_by_one"] == wanted


def test_gradients_of_sharded_modules_are_averaged(seen: Seen) -> None:
    for rank in range(WORLD):
        for found, is_same in seen[rank, "trained_sharded"]:
            assert_averaged(found)
            assert is_same


def test_gradients_of_parallel_modules_are_averaged(seen: Seen) -> None:
    for rank in range(WORLD):
        plain, extra, inside = seen[rank, "trained_in_parallel"]
        for found, _ in plain:
            assert_averaged(found)
        assert extra == [True, True] and inside == "TensorDict"
