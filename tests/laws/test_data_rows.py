"""Plain values follow their rows: whatever moves, picks, joins or overwrites rows does it to both."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tensorclass import NonTensorStack, TensorDict, lazy_stack

MASK = torch.eye(3, 4, dtype=torch.bool)


def row(of: torch.Tensor) -> TensorDict:
    words = [str(int(value)) for value in of]
    inner = TensorDict(y=of.clone(), r=NonTensorStack(*words), batch_size=[len(of)])
    return TensorDict(x=of, s=NonTensorStack(*words), n=inner, batch_size=[len(of)])


def written(td: Any, index: Any, value: Any) -> Any:
    out = td.clone()
    out[index] = value
    return out


OPS: dict[str, Callable[[Any], Any]] = {
    "permute": lambda td: td.permute(1, 0),
    "reshape": lambda td: td.reshape(2, 6),
    "view": lambda td: td.view(2, 6),
    "unflatten": lambda td: td.unflatten(1, (2, 2)),
    "expand": lambda td: td.expand(2, 3, 4),
    "repeat": lambda td: td.repeat(2, 1),
    "repeat_interleave": lambda td: td.repeat_interleave(2, dim=1),
    "roll": lambda td: td.roll(1, 0),
    "flip": lambda td: torch.flip(td, (1,)),
    "gather": lambda td: td.gather(1, torch.tensor([[0, 3], [2, 1], [1, 1]])),
    "index_select": lambda td: torch.index_select(td, 1, torch.tensor([3, 0])),
    "mask": lambda td: td[MASK],
    "ints": lambda td: td[:, torch.tensor([2, 0])],
    "pairs": lambda td: td[torch.tensor([0, 1]), torch.tensor([3, 2])],
    "cat": lambda td: torch.cat([td, td[:1]], 0),
    "stack": lambda td: torch.stack([td, td], 1),
    "lazy_stack": lambda td: lazy_stack(list(td.unbind(1)), 1),
    "split": lambda td: torch.stack(list(td.split(2, 1))),
    "where": lambda td: td.where(MASK, td.roll(1, 0)),
    "write a row": lambda td: written(td, 0, td[1]),
    "write a column": lambda td: written(td, (slice(None), 1), td[:, 2]),
    "write a mask": lambda td: written(td, MASK, td[1, :3]),
    "update": lambda td: td.clone().update(td.roll(1, 0)),
    "update_": lambda td: td.clone().update_(td.roll(1, 0)),
    "copy_": lambda td: td.roll(1, 0).clone().copy_(td),
    "load_state_dict": lambda td: td.roll(1, 0).clone().load_state_dict(td.state_dict()),
    "deepcopy": copy.deepcopy,
    "pickle": lambda td: pickle.loads(pickle.dumps(td)),
    "consolidate": lambda td: pickle.loads(pickle.dumps(td.consolidate())),
    "memmap": lambda td: td.memmap(),
    "flatten_keys": lambda td: td.flatten_keys(".").unflatten_keys("."),
}


@pytest.mark.parametrize("stacked", [torch.stack, lazy_stack], ids=["dense", "lazy"])
@pytest.mark.parametrize("name", OPS)
def test_plain_values_follow_their_rows(name: str, stacked: Callable[[Any], Any]) -> None:
    td = stacked([row(part) for part in torch.arange(12).reshape(3, 4)])
    out = OPS[name](td).reshape(-1)
    assert len(out) > 0
    for one in out:
        assert one["s"] == str(int(one["x"])) == one["n", "r"] and one["x"] == one["n", "y"]
