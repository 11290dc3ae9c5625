"""Shape moves, ops along a dim and splits: on a container they are what they are on every feature slice."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import TensorDict, stack
from tensorclass._rules import errors, table

from .arguments import called, every
from .containers import KINDS, base, by_feature, leaves

OPS = [op for op in table.OPS.values() if op.family in ("move", "along")]
SPLITS = [op for op in table.OPS.values() if op.family == "split"]


def on_tensor(op: table.Op, arguments: dict[str, Any], tensor: Tensor) -> Any:
    args, kwargs = called(op, arguments)
    if op.name == "squeeze" and kwargs.get("dim", 0) is None:
        kwargs = {}
    return getattr(tensor, op.name)(*args, **kwargs)


def piece(op: table.Op, arguments: dict[str, Any], place: int, tensor: Tensor) -> Any:
    return on_tensor(op, arguments, tensor)[place]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_an_op_is_the_same_op_on_every_feature_slice(op: table.Op, kind: str) -> None:
    tried = 0
    for batch in ((4, 3), (4,), (4, 1)):
        container = KINDS[kind](*batch)
        for arguments in every(op, batch):
            args, kwargs = called(op, arguments)
            try:
                want = on_tensor(op, arguments, torch.zeros(batch)).shape
            except (RuntimeError, IndexError, TypeError):
                with pytest.raises((RuntimeError, IndexError, ValueError, TypeError)):
                    getattr(container, op.name)(*args, **kwargs)
                continue
            got = getattr(container, op.name)(*args, **kwargs)
            tried += 1
            assert got.batch_size == want, arguments
            assert isinstance(got, base(container))
            assert leaves(got).keys() == leaves(container).keys()
            for key, leaf in leaves(container).items():
                one = by_feature(partial(on_tensor, op, arguments), leaf, len(batch))
                torch.testing.assert_close(leaves(got)[key], one, msg=str((arguments, key)))
    assert tried


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", SPLITS, ids=lambda op: op.name)
def test_a_split_is_the_same_split_on_every_feature_slice(op: table.Op, kind: str) -> None:
    for batch in ((4, 3), (4,)):
        container = KINDS[kind](*batch)
        for arguments in every(op, batch):
            args, kwargs = called(op, arguments)
            try:
                wants = on_tensor(op, arguments, torch.zeros(batch))
            except RuntimeError:
                with pytest.raises(errors.ShapeError):
                    getattr(container, op.name)(*args, **kwargs)
                continue
            got = getattr(container, op.name)(*args, **kwargs)
            assert [part.batch_size for part in got] == [want.shape for want in wants], arguments
            for key, leaf in leaves(container).items():
                for place, part in enumerate(got):
                    one = by_feature(partial(piece, op, arguments, place), leaf, len(batch))
                    assert torch.equal(leaves(part)[key], one), (arguments, key)


@pytest.mark.parametrize("op", [*OPS, *SPLITS], ids=lambda op: op.name)
def test_the_rule_alone_knows_the_batch_size(op: table.Op) -> None:
    for arguments in every(op):
        if isinstance(arguments.get("repeats"), Tensor):
            continue  # How many rows it makes is data.
        try:
            want = on_tensor(op, arguments, torch.zeros(4, 3))
        except (RuntimeError, IndexError, TypeError):
            with pytest.raises((errors.RuleError, TypeError)):
                table.after(op, (4, 3), arguments)
            continue
        said = table.after(op, (4, 3), arguments)
        assert said == ([tuple(x.shape) for x in want] if op.family == "split" else tuple(want.shape)), arguments


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_the_function_of_torch_is_the_method(op: table.Op, kind: str) -> None:
    container = KINDS[kind](4, 3)
    arguments = every(op)[0]
    args, kwargs = called(op, arguments)
    try:
        want = getattr(container, op.name)(*args, **kwargs)
    except errors.RuleError:
        arguments = every(op)[1]
        args, kwargs = called(op, arguments)
        want = getattr(container, op.name)(*args, **kwargs)
    for name in op.torch:
        call = getattr(torch, name, None)
        if call is None:
            continue
        try:
            got = call(container, tuple(args), **kwargs) if args else call(container, **kwargs)
        except TypeError:
            continue  # torch spells the arguments of this alias otherwise.
        assert got.batch_size == want.batch_size
        assert (got == want).all()


def test_a_name_follows_its_dim() -> None:
    container = KINDS["named"](4, 3)

    assert container.permute(1, 0).names == ["d1", "d0"]
    assert container.unsqueeze(1).names == ["d0", None, "d1"]
    assert container.flatten().names == [None]
    assert container[0].names == ["d1"]
    assert container[:, None, 1].names == ["d0", None]
    assert container.expand(2, 4, 3).names == [None, "d0", "d1"]
    assert container.reshape(4, 3, 1).names == ["d0", "d1", None]
    assert stack([container, container]).names == [None, "d0", "d1"]
    assert container.sum(0).names == ["d1"]
    assert container.unbind(0)[0].names == ["d1"]
    assert container.split(2)[0].names == ["d0", "d1"]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("cuts", [1, 3, 9, [2], [-1], [2, 1], [0, 0], [9], [], torch.tensor(2), torch.tensor([1, 5])])
def test_tensor_split_cuts_where_torch_cuts(cuts: Any, lazy: bool) -> None:
    row = torch.arange(7)
    dense = TensorDict(row=row, pair=torch.zeros(7, 2), batch_size=[7])

    parts = (dense.to_lazystack() if lazy else dense).tensor_split(cuts)

    assert [part["row"].tolist() for part in parts] == [part.tolist() for part in row.tensor_split(cuts)]


def test_a_container_of_no_batch_dims_has_one_permutation() -> None:
    assert TensorDict(a=torch.tensor(3.0), b=torch.ones(2, 3)).permute()["b"].shape == (2, 3)
