"""Composite: the dict, the shape, the lock, and values entry by entry."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict, lazy_stack
from tensorclass.envs import Bounded, Categorical, Composite, NonTensor, OneHot, StackedComposite, Unbounded


class Arm(TensorClass):
    """Values of a Composite with data_cls."""

    pos: Tensor
    grip: Tensor


def arm(*batch: int) -> Composite:
    return Composite(
        pos=Bounded(-1.0, 1.0, (*batch, 3)), nested=Composite(grip=OneHot(2, (*batch, 2)), shape=batch), shape=batch
    )


def stack(*specs: Any) -> Any:
    return torch.stack(specs)


# ---- the dict -----------------------------------------------------------------------------------------------------


def test_entries_are_reached_by_key_and_by_path() -> None:
    spec = arm()
    assert spec["pos"].shape == (3,) and spec["nested", "grip"].n == 2 and spec["nested"]["grip"].n == 2
    assert spec.get("pos") is spec["pos"] and spec.get("none") is None and spec.get(("nested", "none"), 1) == 1
    assert "pos" in spec and ("nested", "grip") in spec and "none" not in spec and ("pos", "x") not in spec
    assert list(spec) == ["pos", "nested"] and len(spec) == 2 and not spec.is_empty()


def test_keys_items_values_of_levels() -> None:
    spec = arm()
    assert spec.keys() == ["pos", "nested"]
    assert spec.keys(True) == ["pos", "nested", ("nested", "grip")]
    assert spec.keys(True, True) == ["pos", ("nested", "grip")] and spec.keys(leaves_only=True) == ["pos"]
    assert [key for key, _ in spec.items(True, True)] == spec.keys(True, True)
    assert spec.values(True, True) == [spec["pos"], spec["nested", "grip"]]


def test_a_missing_key_is_named_with_the_nearest_one() -> None:
    with pytest.raises(KeyError) as caught:
        arm()["poss"]
    assert str(caught.value) == "no key 'poss'; did you mean 'pos'? The keys here are 'pos', 'nested'"
    with pytest.raises(KeyError) as caught:
        arm()["nested", "gripp"]
    assert str(caught.value) == "no key 'gripp'; did you mean 'grip'? The keys here are 'grip' (under 'nested')"
    with pytest.raises(KeyError, match=r"^no key \('pos', 'x'\): 'pos' is no Composite but Bounded$"):
        arm()["pos", "x"]


def test_a_path_makes_the_levels_that_are_missing() -> None:
    spec = Composite(shape=(2,))
    spec["a", "b", "c"] = Unbounded((2, 1))
    assert spec.keys(True, True) == [("a", "b", "c")] and spec["a", "b"].shape == (2,)
    assert Composite({("a", "b"): Unbounded((1,))}).keys(True, True) == [("a", "b")]
    assert Composite({"a": {"b": Unbounded((1,))}})["a", "b"].shape == (1,)


def test_entries_are_deleted_popped_and_updated() -> None:
    spec = arm()
    del spec["nested", "grip"]
    assert spec["nested"].is_empty() and isinstance(spec.pop("nested"), Composite) and spec.keys() == ["pos"]
    assert spec.pop("none", 7) == 7
    with pytest.raises(KeyError, match="no key 'none'"):
        spec.pop("none")
    assert spec.update({"pos": Unbounded((9,)), "new": Unbounded((1,))}) is spec
    assert spec["pos"].shape == (9,) and "new" in spec
    spec.update({"deep": {"x": Unbounded((1,))}}).update(Composite(deep=Composite(y=Unbounded((1,)))))
    assert spec.keys(True, True) == ["pos", "new", ("deep", "x"), ("deep", "y")]
    assert spec.setdefault("new", Unbounded((5,))).shape == (1,) and spec.setdefault("more", Unbounded((5,))).shape == (
        5,
    )
    assert spec.select("pos", ("deep", "y")).keys(True, True) == ["pos", ("deep", "y")]
    assert spec.exclude("pos", ("deep", "y")).keys(True, True) == ["new", ("deep", "x"), "more"]


def test_an_entry_is_a_spec_a_dict_or_none() -> None:
    spec = Composite(a=None, b=Unbounded((1,)))
    assert spec["a"] is None and spec.rand().keys() == {"b"} and spec.is_in(TensorDict(b=torch.zeros(1)))
    assert spec.expand(3)["a"] is None and spec.clone() == spec
    with pytest.raises(TypeError, match="^Composite: 'a' is an int; a spec, a dict of them or None would do$"):
        Composite(a=3)


# ---- the shape ----------------------------------------------------------------------------------------------------


def test_every_entry_starts_with_the_shape() -> None:
    with pytest.raises(ValueError) as caught:
        Composite(pos=Unbounded((2, 3)), shape=(3,))
    assert str(caught.value) == (
        "Composite: 'pos' has shape [2, 3]; the Composite has shape [3], and every entry starts with it"
    )
    with pytest.raises(ValueError, match=r"'pos' has shape \[1\]"):
        Composite(shape=(3,)).set("pos", Unbounded())


def test_a_nested_composite_takes_the_shape_around_it() -> None:
    inner = Composite(x=Unbounded((4, 2)))
    spec = Composite(inner=inner, shape=(4,))
    assert spec["inner"].shape == (4,) and inner.shape == ()
    with pytest.raises(ValueError, match=r"'x' has shape \[4, 2\]"):
        Composite(inner=inner, shape=(3,))


def test_the_shape_can_be_set_and_is_checked() -> None:
    spec = Composite(x=Unbounded((4, 2)), inner=Composite(y=Unbounded((4, 2, 1))))
    spec.shape = (4, 2)
    assert spec["inner"].shape == (4, 2) and spec.batch_size == (4, 2) and spec.ndim == 2 and spec.numel() == 8
    with pytest.raises(ValueError, match=r"'x' has shape \[4, 2\]; the Composite has shape \[5\]"):
        spec.shape = (5,)


def test_shape_ops_move_the_leading_dims() -> None:
    spec = arm(4)
    assert spec.expand(2, 4)["nested", "grip"].shape == (2, 4, 2) and spec[0] == arm() and spec[1:3] == arm(2)
    assert spec.unsqueeze(0).squeeze(0) == spec and spec.reshape(2, 2)["pos"].shape == (2, 2, 3)
    assert spec.unbind() == (arm(),) * 4 and stack(*[arm()] * 4) == spec and spec.split([1, 3])[1] == arm(3)
    with pytest.raises(IndexError, match="^unbind: dim 1 is out of range for 1 batch dim; -1 to 0 would do$"):
        spec.unbind(1)


# ---- the lock -----------------------------------------------------------------------------------------------------


def test_a_locked_composite_refuses_writes_here_and_below() -> None:
    spec = arm().lock_()
    assert spec.is_locked and spec["nested"].is_locked
    writes: list[Any] = [
        lambda: spec.set("k", Unbounded()),
        lambda: spec["nested"].set("k", Unbounded()),
        lambda: spec.__setitem__(("nested", "k"), Unbounded()),
        lambda: spec.__delitem__("pos"),
        lambda: spec.pop("pos"),
        lambda: spec.update({"pos": Unbounded()}),
        lambda: setattr(spec, "shape", ()),
    ]
    for write in writes:
        with pytest.raises(RuntimeError, match=r"the Composite is locked; call \.unlock_\(\) on it first"):
            write()
    assert spec == arm()


def test_a_part_of_a_locked_composite_cannot_be_unlocked() -> None:
    spec = arm().lock_()
    with pytest.raises(RuntimeError, match="^cannot unlock a part of a locked Composite"):
        spec["nested"].unlock_()
    assert not spec.unlock_()["nested"].is_locked
    spec.set("k", Unbounded())


def test_a_clone_of_a_locked_composite_is_open_and_its_own() -> None:
    spec = arm().lock_()
    other = spec.clone()
    other["nested", "new"] = Unbounded()
    assert ("nested", "new") not in spec


def test_a_copy_of_a_locked_composite_is_locked_and_one_of_a_part_is_not() -> None:
    spec = arm().lock_()
    for copied in (copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert copied == spec and copied.is_locked and copied["nested"].is_locked
        assert not copied.unlock_()["nested"].is_locked
    assert not copy.deepcopy(spec["nested"]).is_locked


def test_a_part_is_open_once_what_locked_it_is_gone() -> None:
    part = Composite(x=Unbounded((1,)))
    spec = Composite(part=part).lock_()
    assert part.is_locked
    del spec
    gc.collect()
    assert not part.is_locked


def test_a_composite_made_of_another_has_parts_of_its_own() -> None:
    spec = arm()
    other = Composite(spec).update({"nested": {"more": Unbounded((1,))}})
    assert ("nested", "more") in other and ("nested", "more") not in spec


def test_a_shape_that_does_not_fit_changes_nothing() -> None:
    spec = Composite(inner=Composite(x=Unbounded((4, 2))), y=Unbounded((3,)))
    with pytest.raises(ValueError, match="'y'"):
        spec.shape = (4,)
    assert spec.shape == spec["inner"].shape == ()


def test_a_composite_hashes_while_it_is_locked() -> None:
    assert hash(arm().lock_()) == hash(arm().lock_())
    with pytest.raises(TypeError, match="^a Composite can be hashed only while it is locked"):
        hash(arm())


# ---- values -------------------------------------------------------------------------------------------------------


def test_values_are_containers_with_the_keys_and_sizes() -> None:
    spec = arm(4)
    for value in (spec.rand((2,)), spec.zero((2,)), spec.ones((2,))):
        assert isinstance(value, TensorDict) and value.batch_size == (2, 4)
        assert value["pos"].shape == (2, 4, 3) and value["nested"].batch_size == (2, 4)
    assert (spec.zero()["pos"] == 0).all()


def test_membership_asks_every_entry() -> None:
    spec = arm()
    value = spec.rand()
    assert spec.is_in(value) and spec.is_in(value.to_dict()) and spec.is_in(lazy_stack([value, value]))
    value["pos"] = torch.full((3,), 2.0)
    assert spec.is_in(value) is False
    with pytest.raises(AssertionError) as caught:
        spec.assert_is_in(value)
    assert str(caught.value) == "not in Composite: 'pos': the value has 2.0, 2.0, 2.0; -1.0 to 1.0 would do"


def test_a_missing_key_is_not_in_the_domain_and_an_extra_one_is_nobodys_business() -> None:
    spec = arm()
    assert spec.is_in(spec.rand().set("more", torch.zeros(1)))
    assert spec.is_in(spec.rand().exclude("pos")) is False
    ragged: Any = lazy_stack([TensorDict(pos=torch.zeros(n)) for n in (2, 3)])
    assert Composite(pos=Unbounded((2, 3)), shape=(2,)).is_in(ragged) is False
    assert spec.is_in(TensorDict()) is False and spec.is_in(torch.zeros(3)) is False and spec.is_in(None) is False
    with pytest.raises(AssertionError, match="^not in Composite: no key 'pos'; the keys here are 'nested'$"):
        spec.assert_is_in(spec.rand().exclude("pos"))


def test_projection_and_type_check_go_into_entries() -> None:
    spec = arm()
    value = spec.rand().set("pos", torch.full((3,), 9.0)).set("more", torch.ones(1))
    done = spec.project(value)
    assert done["pos"].tolist() == [1, 1, 1] and done["more"].tolist() == [1] and value["pos"][0] == 9
    spec.type_check(value)
    with pytest.raises(TypeError, match="^'pos': the value is torch.float64; the spec has torch.float32$"):
        spec.type_check(value.set("pos", torch.zeros(3).double()))


def test_encode_and_to_numpy_go_into_entries() -> None:
    spec = arm()
    value = spec.encode({"pos": np.zeros(3), "nested": {"grip": 1}})
    assert isinstance(value, TensorDict) and value["pos"].dtype is torch.float32
    assert value["nested", "grip"].tolist() == [False, True]
    back = spec.to_numpy(value)
    assert back["nested"]["grip"] == 1 and back["pos"].tolist() == [0, 0, 0]
    with pytest.raises(KeyError, match="^encode: no key 'poss'; did you mean 'pos'"):
        spec.encode({"poss": 0})


def test_data_cls_makes_instances_of_a_class() -> None:
    spec = Composite(pos=Unbounded((4, 3)), grip=Categorical(2, (4,)), shape=(4,), data_cls=Arm)
    value: Any = spec.rand((2,))
    assert isinstance(value, Arm) and value.batch_size == (2, 4) and value.pos.shape == (2, 4, 3)
    assert isinstance(spec.zero(), Arm) and spec.is_in(value) and isinstance(spec[0].rand(), Arm)
    assert isinstance(spec.project(value.replace(grip=torch.full((2, 4), 7))), Arm)
    assert spec.is_in(Arm(pos=torch.zeros(4, 3), grip=torch.zeros(4).long(), batch_size=[4]))
    assert spec != Composite(pos=Unbounded((4, 3)), grip=Categorical(2, (4,)), shape=(4,))


def test_a_device_is_that_of_every_entry() -> None:
    spec = Composite(x=Bounded(0.0, 1.0, (1,)), y=Composite(z=Unbounded((1,))), device="meta")
    assert spec["x"].device.type == spec["y", "z"].device.type == "meta" and spec.device == torch.device("meta")
    assert Composite(x=Unbounded((1,))).device is None
    assert Composite(x=Unbounded((1,))).to("meta")["x"].device.type == "meta"
    assert spec.select("y").to("cpu").zero().device == torch.device("cpu")


def test_a_dtype_is_for_floating_point_entries() -> None:
    spec = Composite(x=Unbounded((1,)), n=Categorical(3), text=NonTensor(example_data="a")).to(torch.float64)
    assert spec["x"].dtype is torch.float64 and spec["n"].dtype is torch.int64 and spec["text"].rand() == "a"


def test_equality_asks_shape_device_and_entries() -> None:
    assert arm(2) == arm(2) and arm(2) != arm(3) and arm() != Composite()
    assert Composite(x=Unbounded((1,))) != Composite(x=Unbounded((2,)))
    assert Composite(x=Unbounded((1,))) != Composite(x=Unbounded((1,)), device="cpu")
    assert repr(arm()) == (
        "Composite(\n"
        "    pos: Bounded(low=-1.0, high=1.0, shape=(3,), device='cpu', dtype=torch.float32),\n"
        "    nested: Composite(\n"
        "        grip: OneHot(n=2, shape=(2,), device='cpu', dtype=torch.bool),\n"
        "        shape=(), device=None),\n"
        "    shape=(), device=None)"
    )


def test_how_many_values_a_composite_has() -> None:
    spec = Composite(a=Categorical(3), b=Composite(c=OneHot(4)))
    assert spec.cardinality() == 12
    every = spec.enumerate()
    assert every.batch_size == (12,) and every["b"].batch_size == (12,) and spec.is_in(every)
    assert [int(row) for row in every["a"]] == [0] * 4 + [1] * 4 + [2] * 4


def test_nothing_is_set_inside_of_a_leaf() -> None:
    spec = Composite(pos=Unbounded((3,)))
    with pytest.raises(RuntimeError, match=r"^'pos' is Unbounded\(shape=\(3,\).*\): nothing can be set inside it$"):
        spec["pos", "x"] = Unbounded((1,))

    assert spec["pos"] == Unbounded((3,))


def test_a_key_inside_of_a_stack_of_composites_is_set_in_each() -> None:
    agents = StackedComposite(Composite(seen=Unbounded((3,))), Composite(seen=Unbounded((5,))))
    spec = Composite(agents=agents)
    spec["agents", "count"] = Unbounded((2, 1))

    assert spec["agents", "count"].shape == (2, 1)
    assert spec["agents", "seen"].shape == (2, -1)
