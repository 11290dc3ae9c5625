"""TypedTensorDict: a TensorDict in every respect, but for its keys, which are declared."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict, TypedTensorDict


class Obs(TypedTensorDict):
    pixels: Float[Tensor, "*batch 8"]
    note: str = "none"
    state: Tensor | None = None


class Frozen(TypedTensorDict, frozen=True):
    pixels: Tensor
    note: str = "none"


class Step(TensorClass):
    obs: TensorDict


# Any: most of these programs are wrong on purpose.
def obs() -> Any:
    return Obs(pixels=torch.zeros(4, 8))


def test_it_is_a_tensordict_whose_fields_read_as_attributes() -> None:
    one = obs()

    assert issubclass(Obs, TensorDict)
    assert one.batch_size == (4,)
    assert one["pixels"] is one.pixels
    assert (one.note, one.state, list(one.keys())) == ("none", None, ["pixels", "note"])
    assert type(Step(obs=one, batch_size=4)[0].obs) is Obs


def test_ops_and_copies_keep_the_class() -> None:
    one = obs()

    for other in (one[0], one.clone(), one + 1, torch.stack([one, one]), one.reshape(2, 2), copy.deepcopy(one)):
        assert type(other) is Obs
        assert other["pixels"].shape[-1] == 8
    assert type(pickle.loads(pickle.dumps(one))) is Obs
    assert type(one.to_tensordict()) is TensorDict


@pytest.mark.parametrize("write", ["attribute", "item", "set", "update"])
def test_an_undeclared_key_is_refused(write: str) -> None:
    one = obs()
    writes: dict[str, Callable[[], Any]] = {
        "attribute": lambda: setattr(one, "pixel", 1),
        "item": lambda: one.__setitem__("pixel", 1),
        "set": lambda: one.set("pixel", 1),
        "update": lambda: one.update({"pixel": 1}),
    }
    with pytest.raises(KeyError) as error:
        writes[write]()
    assert str(error.value) == (
        "Cannot set the attribute 'pixel': Obs has no such field; did you mean 'pixels'? "
        "Its fields are 'pixels', 'note', 'state'."
    )
    assert list(one.keys()) == ["pixels", "note"]


def test_writes_are_checked_and_land_in_the_one_store() -> None:
    one = obs()

    one.pixels = torch.ones(4, 8)
    assert one["pixels"].sum() == 32
    one["state"] = torch.zeros(4)
    assert one.state is one["state"]
    with pytest.raises(RuntimeError) as error:
        one["pixels"] = torch.zeros(4, 7)
    assert str(error.value) == "field 'pixels' has shape [4, 7], which does not fit \"*batch 8\": dim 1 is 7, not 8"


def test_unknown_attributes_and_keys_name_the_nearest_field() -> None:
    reads: list[Callable[[], Any]] = [lambda: obs().pixel, lambda: obs()["pixel"], lambda: obs().get("pixel")]
    for read in reads:
        with pytest.raises(AttributeError) as error:
            read()
        assert str(error.value) == (
            "Obs has no field 'pixel'; did you mean 'pixels'? Its fields are 'pixels', 'note', 'state'"
        )


def test_it_comes_from_dicts_and_tensordicts() -> None:
    td = TensorDict({"pixels": torch.zeros(4, 8)}, batch_size=[4])

    assert Obs.from_tensordict(td).pixels is td["pixels"]
    assert type(Obs.from_dict({"pixels": torch.zeros(8)})) is Obs


def test_frozen_refuses_writes() -> None:
    one: Any = Frozen(pixels=torch.zeros(4, 8))
    with pytest.raises(RuntimeError) as error:
        one["note"] = "x"
    assert str(error.value) == "cannot set 'note': Frozen is frozen; .replace(...) makes a changed copy"
    assert one.replace(note="x").note == "x"
