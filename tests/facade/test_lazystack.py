"""Lazy stacks: nothing is copied together until an op needs it; ragged sizes read -1."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor

from tensorclass import LazyStackedTensorDict, TensorClass, TensorDict, assert_close, cat, errors, lazy_stack, stack


class Inner(TensorClass):
    x: Tensor
    y: Tensor


class Outer(TensorClass):
    inner: Inner
    note: str = "none"


def outer(n: int) -> Outer:
    return Outer(inner=Inner(x=torch.zeros(n), y=torch.zeros(())))


def episodes() -> Any:
    return lazy_stack([TensorDict(obs=torch.full((n, 4), float(n)), batch_size=[n]) for n in (3, 5, 2)])


def test_a_size_that_differs_reads_minus_one() -> None:
    batch = episodes()

    assert isinstance(batch, LazyStackedTensorDict)
    assert batch.batch_size == torch.Size([3, -1])
    assert batch[1]["obs"].shape == (5, 4)
    assert batch[:, :2]["obs"].shape == (3, 2, 4)
    assert batch[:, 0].batch_size == (3,)
    assert batch[-1].batch_size == (2,)
    assert batch[1:].batch_size == (2, -1)
    assert batch[torch.tensor([True, False, True])][1].batch_size == (2,)
    assert batch[torch.tensor([2, 2])].batch_size == (2, 2)
    assert [row.batch_size[0] for row in batch] == [3, 5, 2]


def test_rows_are_the_items_themselves() -> None:
    items = [TensorDict(a=torch.zeros(3), batch_size=[3]) for _ in range(2)]
    batch = lazy_stack(items)

    assert batch[0] is items[0]
    batch[0]["a"] += 1
    assert batch["a"].sum() == 3
    assert lazy_stack(items, 1).batch_size == (3, 2)


def test_a_ragged_entry_is_read_as_list_padded_or_nested() -> None:
    batch = lazy_stack([TensorDict(a=torch.ones(3), b=torch.zeros(())), TensorDict(a=torch.ones(4), b=torch.ones(()))])

    assert batch["b"].tolist() == [0, 1]
    assert [value.shape for value in batch.get("a", as_list=True)] == [(3,), (4,)]
    assert batch.get("a", as_padded_tensor=True, padding_value=0)[0].tolist() == [1, 1, 1, 0]
    assert batch.get("a", as_nested_tensor=True).is_nested
    with pytest.raises(errors.RaggedError, match=r"'a' has shapes that differ from item to item \(\[3\], \[4\]\)"):
        batch["a"]
    assert batch.get("c") is None
    assert {key: type(value) for key, value in batch.to_dict().items()} == {"a": list, "b": Tensor}


def test_a_ragged_dim_may_be_moved_but_not_merged() -> None:
    batch = episodes()

    assert batch.unsqueeze(0).batch_size == (1, 3, -1)
    assert batch.permute(1, 0).batch_size == (-1, 3)
    assert batch.permute(1, 0)[:, 1]["obs"].shape == (5, 4)
    calls: list[Callable[[], object]] = [lambda: batch.reshape(-1), lambda: batch.flatten(), lambda: batch.unbind(1)]
    for call in calls:
        with pytest.raises(errors.RaggedError, match=r"batch dim 1 is ragged; densify first with .densify\(pad=0\)"):
            call()
    dense = batch.densify(pad=-1, mask="there")
    assert dense.batch_size == (3, 5)
    assert dense["there"].sum(1).tolist() == [3, 5, 2]
    assert dense["obs"][2, 2:].unique().tolist() == [-1]


def test_a_row_may_be_replaced_by_one_of_another_shape() -> None:
    batch = lazy_stack([TensorDict(a=torch.ones(3)), TensorDict(a=torch.ones(4))])
    batch[1] = TensorDict(a=torch.zeros(7))

    assert batch[1]["a"].shape == (7,)
    assert batch[0]["a"].shape == (3,)


def test_writes_go_to_the_items_whole_or_not_at_all() -> None:
    batch = episodes()
    batch["reward"] = [torch.zeros(3), torch.zeros(5), torch.zeros(2)]
    assert batch[1]["reward"].shape == (5,)
    with pytest.raises(RuntimeError):
        batch["bad"] = [torch.zeros(3), torch.zeros(4), torch.zeros(2)]
    assert all("bad" not in item for item in batch)
    with pytest.raises(errors.Locked):
        batch.lock_().set("z", torch.zeros(3))


def test_ops_on_items_stay_lazy() -> None:
    batch = episodes()

    for out in (batch + 1, batch.clone(), batch.to(torch.float64), batch.exp(), -batch, batch == batch, batch.flip(0)):
        assert isinstance(out, LazyStackedTensorDict)
        assert out.batch_size == (3, -1)
    assert (batch + 1)[1]["obs"].unique().tolist() == [6]
    assert (batch == batch).all()
    assert stack([batch, batch]).batch_size == (2, 3, -1)
    assert cat([batch, batch]).batch_size == (6, -1)
    assert cat([batch, batch], 1)[0].batch_size == (6,)


def test_a_lazy_stack_of_a_class_is_an_instance_of_it() -> None:
    batch = lazy_stack([outer(2), outer(3)])

    assert isinstance(batch, Outer)
    assert isinstance(batch.inner, Inner)
    assert type(batch[0]) is Outer
    assert set(batch.keys(True, True)) == {("inner", "x"), ("inner", "y")}
    assert batch.inner.y.shape == (2,)
    assert batch[1].inner.x.shape == (3,)
    assert batch.note == "none"
    for other in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch), batch.clone()):
        assert isinstance(other, Outer) and other[1].inner.x.shape == (3,)
    with pytest.raises(AttributeError):
        _ = batch.nothing  # type: ignore[attr-defined]
    with pytest.raises(errors.StructureError, match="stack: in 'inner': 'x' is a tensor of shape \\[2\\] in item 0"):
        stack([outer(2), outer(3)])


def test_items_must_be_alike() -> None:
    with pytest.raises(
        TypeError, match="lazy_stack: item 0 is a TensorDict, item 1 a Inner; items must have one class"
    ):
        lazy_stack([TensorDict(), Inner(x=torch.zeros(2), y=torch.zeros(2))])
    with pytest.raises(errors.ShapeError, match="they must have the same number of batch dims"):
        lazy_stack([TensorDict(batch_size=[2]), TensorDict()])
    with pytest.raises(errors.ShapeError, match="lazy_stack: no containers were given"):
        lazy_stack([])


def test_a_lazy_stack_goes_through_pytree_and_vmap() -> None:
    batch = lazy_stack([TensorDict(a=torch.ones(3), batch_size=[3])] * 2)

    for dim in (0, 1):
        assert_close(torch.vmap(lambda x: x * 2, in_dims=dim, out_dims=dim)(batch), batch.contiguous() * 2)
    leaves, spec = pytree.tree_flatten(batch)
    assert [leaf.shape for leaf in leaves] == [(2, 3)]
    assert pytree.tree_unflatten(leaves, spec).batch_size == (2, 3)
    assert torch.func.grad(lambda x: x["a"].square().sum())(batch)["a"].tolist() == [[2, 2, 2], [2, 2, 2]]


def test_pytree_sees_the_items_of_a_ragged_stack() -> None:
    batch = lazy_stack([TensorDict(a=torch.ones(n), batch_size=n) for n in (1, 2)])

    assert pytree.tree_map(lambda leaf: leaf + 1, batch)[1]["a"].tolist() == [2, 2]


def test_maybe_dense_stack_is_dense_where_it_can_be() -> None:
    alike = TensorDict.maybe_dense_stack([TensorDict(a=torch.ones(2)), TensorDict(a=torch.ones(2))])
    ragged = TensorDict.maybe_dense_stack([TensorDict(a=torch.ones(2)), TensorDict(a=torch.ones(3))])

    assert type(alike) is TensorDict
    assert type(ragged) is LazyStackedTensorDict


def test_a_lazy_stack_has_the_dim_names_of_its_items() -> None:
    item = TensorDict(a=torch.zeros(2, 3), batch_size=[2, 3], names=["time", "agent"])

    assert lazy_stack([item, item], 1).names == ["time", None, "agent"]
    assert lazy_stack([item, item], 1).permute(2, 0, 1).names == ["agent", "time", None]


def test_a_locked_lazy_stack_keeps_its_items_locked() -> None:
    stack = lazy_stack([TensorDict(a=torch.zeros(3))] * 2).lock_()
    with pytest.raises(errors.Locked, match="cannot unlock a part"):
        stack[0].unlock_()

    stack.unlock_()

    assert not stack[0].is_locked


@pytest.mark.parametrize("dim", [0, 1])
def test_what_is_done_to_a_lazy_stack_is_what_is_done_to_the_dense_container(dim: int) -> None:
    dense = Inner(x=torch.arange(24.0).reshape(2, 3, 4), y=torch.arange(6.0).reshape(2, 3), batch_size=[2, 3])
    row, mask = torch.arange(3.0), torch.tensor([True, False])
    for op in (
        lambda td: td.max(0).values,
        lambda td: td.min(1).indices,
        lambda td: td.clamp(row),
        lambda td: td.where(torch.eye(2, 3, dtype=torch.bool), row),
        lambda td: torch.stack([td, td], 1),
        lambda td: td.set_at_("y", 5.0, 0),
        lambda td: td.load_state_dict((dense * 2).state_dict()),
    ):
        assert_close(op(lazy_stack(list(dense.clone().unbind(dim)), dim)).contiguous(), op(dense.clone()))
    for op in (  # And where the stack is an entry of a dense one.
        lambda td: td.where(mask, 0.0),
        lambda td: td.masked_fill(mask, 9.0),
        lambda td: td + torch.arange(2.0),
        lambda td: td.clone().add_(torch.arange(2.0)),
        lambda td: td == TensorDict({"inner": dense}, 2),
        lambda td: td.apply_(lambda leaf: leaf + 1),
        lambda td: td.max(0).values,
    ):
        held = TensorDict({"inner": lazy_stack(list(dense.clone().unbind(dim)), dim)}, 2)
        found, wanted = op(held), op(TensorDict({"inner": dense.clone()}, 2))
        assert torch.equal(found["inner", "x"], wanted["inner", "x"])
        assert torch.equal(found["inner", "y"], wanted["inner", "y"])


def test_apply_with_a_batch_size_gives_each_item_its_part_of_it() -> None:
    stack = lazy_stack([TensorDict(a=torch.ones(3, 2), batch_size=3)] * 2)

    assert stack.apply(lambda leaf: leaf.sum(0), batch_size=[2]).batch_size == (2,)
    with pytest.raises(errors.ShapeError, match=r"apply: batch_size \[3\] does not keep the stack dim"):
        stack.apply(lambda leaf: leaf, batch_size=[3])


def test_dataclasses_replace_gives_a_lazy_stack() -> None:
    stack = lazy_stack([Inner(x=torch.zeros(3), y=torch.zeros(3), batch_size=3)] * 2)

    changed = dataclasses.replace(stack, x=torch.ones(2, 3))

    assert changed.batch_size == (2, 3)
    assert changed[1].x.tolist() == [1, 1, 1]


def test_shapes_that_differ_are_not_all_listed() -> None:
    stack = lazy_stack([TensorDict(a=torch.zeros(size)) for size in range(80)])
    with pytest.raises(errors.RaggedError, match=r"\(\[0\], \[1\], \[2\] and 77 more\)"):
        stack["a"]


def test_an_error_in_a_nested_lazy_stack_names_the_entry_that_does_not_fit() -> None:
    inner = lazy_stack([TensorDict(x=torch.zeros(2), y=torch.zeros(3))] * 2)
    td = TensorDict({"n": inner, "z": torch.zeros(2)}, 2)
    other = TensorDict({"n": {"x": torch.zeros(2, 2), "y": torch.zeros(2, 5)}, "z": torch.zeros(2)}, 2)
    with pytest.raises(errors.ShapeError, match=r"add: \('n', 'y'\) has shape \[3\], the other side has \[5\] there"):
        td + other


@pytest.mark.parametrize("dim", [0, 1])
def test_the_other_side_of_a_lazy_stack_is_broadcast(dim: int) -> None:
    td = TensorDict(a=torch.arange(12.0).reshape(4, 3), b=torch.ones(4, 3, 2), batch_size=[4, 3])
    stack = lazy_stack(list(td.unbind(dim)), dim)
    sides: list[Any] = [td[0], td[:, :1], td[:1], td[0, 0], td.expand(2, 4, 3)]
    sides += [torch.ones(3), torch.ones(4, 1), torch.ones(2, 4, 3), torch.ones(2, 1, 1), torch.tensor(2.0)]
    for other in sides:
        assert (stack * other).batch_size == (td * other).batch_size
        assert ((stack * other).contiguous() == td * other).all()
        assert ((stack < other).contiguous() == (td < other)).all()
    for other in sides[:4]:
        assert (stack.clone().mul_(other).contiguous() == td.clone().mul_(other)).all()


def test_a_side_with_too_few_rows_is_refused_whole() -> None:
    td = TensorDict(a=torch.arange(12.0).reshape(4, 3), batch_size=[4, 3])
    stack = lazy_stack(list(td.clone().unbind(1)), 1)
    with pytest.raises(errors.ShapeError, match="1 row for a lazy stack of 3 items"):
        stack.copy_(td[:, :1])
    with pytest.raises(errors.ShapeError, match="1 row for a lazy stack of 3 items"):
        stack.apply_(torch.add, td[:, :1])

    assert (stack.contiguous() == td).all()


class Rows(TensorDict):
    """A TensorDict with a name of its own."""

    __slots__ = ()


def test_a_lazy_stack_of_a_subclass_of_tensordict_is_one() -> None:
    rows: Any = lazy_stack([Rows(a=torch.zeros(2)), Rows(a=torch.zeros(3))])

    assert isinstance(rows, Rows) and isinstance(rows.unsqueeze(0), Rows)
    assert rows.batch_size == (2,) and type(rows[1]) is Rows


@pytest.mark.slow
def test_the_first_lazy_stack_of_a_class_may_be_made_in_a_graph() -> None:
    class Fresh(TensorClass):
        x: Tensor

    def call(one: Fresh) -> Any:
        return lazy_stack([one[0], one[1]]) + 1

    out = torch.compile(call, backend="eager", fullgraph=True)(Fresh(x=torch.zeros(2, 3), batch_size=[2]))

    assert isinstance(out, Fresh)
    assert out[1].x.tolist() == [1, 1, 1]
