"""TensorDict: construction, keys, writes that fail whole, other forms."""

from __future__ import annotations

import copy
import io
import pickle
from enum import Enum
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tensorclass import (
    NonTensorData,
    TensorDict,
    assert_close,
    cat,
    errors,
    lazy_stack,
    set_capture_non_tensor_stack,
    set_list_to_stack,
    stack,
)


def make() -> TensorDict:
    return TensorDict({"a": torch.arange(12.0).reshape(4, 3), "n": {"b": torch.ones(4, 2)}, "s": "hi"}, batch_size=[4])


def test_nested_dicts_become_nested_containers() -> None:
    td = TensorDict({"n": {"m": {"x": torch.zeros(3)}}, ("n", "y"): torch.ones(3)}, batch_size=[3])

    assert isinstance(td["n"], TensorDict)
    assert td["n", "m"].batch_size == (3,)
    assert td["n", "m", "x"].shape == (3,)
    assert list(td.keys(True, True)) == [("n", "m", "x"), ("n", "y")]


def test_numbers_arrays_and_lists_of_numbers_become_tensors() -> None:
    td = TensorDict(i=1, b=True, f=2.5, a=np.arange(3), row=[1, 2, 3])

    assert {key: value.dtype for key, value in td.items()} == {
        "i": torch.int64, "b": torch.bool, "f": torch.float32, "a": torch.int64, "row": torch.int64,
    }  # fmt: skip


def test_anything_else_is_plain_data_and_passes_through_every_op() -> None:
    thing = object()
    td = TensorDict({"x": torch.zeros(4), "tag": "blue", "thing": thing, "none": None}, batch_size=[4])

    for out in (td[0], td + 1, td.reshape(2, 2), td.clone(), td.unsqueeze(0), stack([td, td]), td.sum(0)):
        assert out["tag"] == "blue"
        assert out["thing"] is thing
        assert out["none"] is None
    assert td.get("tag") == td.pop("tag") == "blue"


def test_a_list_of_words_is_one_value_a_row() -> None:
    td = TensorDict({"x": torch.zeros(3), "w": ["a", "b", "c"]}, batch_size=[3])

    assert td[1]["w"] == "b"
    assert list(td[1:]["w"]) == ["b", "c"]
    assert cat([td, td])["w"].tolist() == ["a", "b", "c"] * 2
    assert [row["w"] for row in td] == ["a", "b", "c"]
    assert td[torch.tensor([2, 0])]["w"].tolist() == ["c", "a"]
    td["w"][0] = "z"
    assert td.to_dict()["w"] == ["z", "b", "c"]
    with pytest.raises(errors.ShapeError, match=r"list 'w' has shape \[2\]; the batch size is \[3\]"):
        td["w"] = ["a", "b"]
    with set_list_to_stack(False):
        assert TensorDict(w=["a", "b"])["w"] == ["a", "b"]


def test_nontensordata_reads_as_its_value() -> None:
    td = TensorDict(a=NonTensorData(3), batch_size=[2])

    assert td["a"] == 3
    assert td.set_non_tensor("b", [1, 2])["b"] == [1, 2]


@pytest.mark.parametrize(
    "key, build",
    [
        ("'label'", lambda: TensorDict({"image": torch.zeros(3, 2), "label": torch.zeros(2)}, batch_size=[3])),
        ("'label'", lambda: TensorDict(batch_size=[3]).set("label", torch.zeros(2))),
        ("('nest', 'leaf')", lambda: TensorDict({"nest": {"leaf": torch.zeros(2)}}, batch_size=[3])),
        ("('nest', 'leaf')", lambda: TensorDict({("nest", "leaf"): torch.zeros(2)}, batch_size=[3])),
        ("('nest', 'leaf')", lambda: TensorDict({"nest": TensorDict(leaf=torch.zeros(2))}, batch_size=[3])),
    ],
)
def test_a_batch_mismatch_names_the_key_and_both_shapes(key: str, build: Any) -> None:
    with pytest.raises(RuntimeError) as error:
        build()
    assert str(error.value) == (
        f"field {key} has shape [2]; the batch size is [3], and the leading dims of a value must equal it"
    )


def test_a_nested_container_takes_the_batch_size_around_it() -> None:
    td = TensorDict(batch_size=[4])
    inner = TensorDict(x=torch.zeros(4, 2))
    td["n"] = inner

    assert td["n"].batch_size == (4,)
    assert inner.batch_size == ()
    td["m"] = TensorDict(x=torch.zeros(4, 2), batch_size=[4, 2])
    assert td["m"].batch_size == (4, 2)
    with pytest.raises(
        errors.ShapeError, match=r"'k' has batch size \[3\]; inside batch size \[4\] it must start with that"
    ):
        td["k"] = TensorDict(batch_size=[3])


def test_missing_keys_are_named_with_the_nearest_and_those_that_are_there() -> None:
    td = make()

    for read in (lambda: td["aa"], lambda: td.pop("aa"), lambda: td.select("aa"), lambda: td.rename_key_("aa", "z")):
        with pytest.raises(KeyError) as error:
            read()
        assert str(error.value) == "no key 'aa'; did you mean 'a'? The keys here are 'a', 'n', 's'"
    with pytest.raises(KeyError, match=r"no key 'c'.*\(under 'n'\)"):
        td["n", "c"]
    with pytest.raises(KeyError, match="no key 5|5 is no key"):
        td.set(5, torch.zeros(4))  # type: ignore[arg-type]
    assert td.get("zz") is None
    assert td.get(("n", "zz"), 3) == 3
    assert td.pop("zz", 7) == 7
    assert td.select("zz", strict=False).is_empty()


def test_update_checks_everything_before_it_writes_anything() -> None:
    td = make()
    for bad in (
        {"a": torch.zeros(4), "n": {"b": torch.zeros(3)}},
        {"a": torch.zeros(4), "new": torch.zeros(3)},
        {"n": {"b": torch.zeros(4)}, "a": torch.zeros(1)},
        {"a": torch.zeros(4), ("n", "q", "r"): torch.zeros(5)},
    ):
        with pytest.raises(errors.ShapeError):
            td.update(bad)
        assert_close(td, make())
    with pytest.raises(errors.ShapeError):
        td.set(("p", "q"), torch.zeros(3))
    assert "p" not in td


def test_update_merges_what_is_nested_in_both() -> None:
    td = make().update({"n": {"c": torch.zeros(4)}}, a=torch.ones(4))

    assert set(td.keys(True, True)) == {"a", ("n", "b"), ("n", "c")}
    td.update(TensorDict({"n": {"b": torch.zeros(4)}}, [4]), keys_to_update=[("n", "z")])
    assert td["n", "b"].shape == (4, 2)
    with pytest.raises(KeyError, match="zz"):
        td.update_(TensorDict(zz=torch.zeros(4), batch_size=[4]))


def test_in_place_writes_keep_the_tensors() -> None:
    td = make()
    before = td["a"]
    td.set_("a", torch.ones(4, 3))
    td.update_({"n": {"b": torch.zeros(4, 2)}})
    td.set("a", torch.full((4, 3), 2.0), inplace=True)

    assert td["a"] is before
    assert before[0, 0] == 2
    assert td["n", "b"].sum() == 0
    with pytest.raises(errors.ShapeError, match=r"set_: 'a' has shape \[4, 3\]"):
        td.set_("a", torch.ones(4))


def test_keys_can_be_renamed_dropped_flattened_and_put_back() -> None:
    td = make()

    assert list(td.flatten_keys(".").keys()) == ["a", "n.b", "s"]
    assert_close(td.flatten_keys(".").unflatten_keys("."), td)
    assert set(td.clone().rename_key_("a", ("n", "c")).keys(True, True)) == {("n", "b"), ("n", "c")}
    assert set(td.exclude(("n", "b")).keys(True, True)) == {"a"}
    assert set(td.select(("n", "b")).keys(True)) == {"n", ("n", "b")}
    one, two, rest = td.split_keys(["a"], [("n", "b")])
    assert list(one.keys()) == ["a"] and list(two.keys(True, True)) == [("n", "b")] and "s" in rest
    with pytest.raises(KeyError, match="rename_key_: 's' is there already"):
        td.rename_key_("a", "s", safe=True)
    with pytest.raises(KeyError, match="flatten_keys: two entries would be called 'n.b'"):
        make().set("n.b", torch.zeros(4)).flatten_keys(".")
    del td["a"]
    assert "a" not in td
    assert td.popitem() == ("s", "hi")


def test_views_answer_like_those_of_a_dict() -> None:
    td = make()

    assert td.keys() == {"a", "n", "s"}
    assert len(td.keys(True)) == 4
    assert ("n", "b") in td.keys(True) and ("n", "b") not in td.keys()
    assert "s" not in td.keys(leaves_only=True)
    assert td.keys() & {"a", "z"} == {"a"}
    assert [key for key, _ in td.items(sort=True)] == ["a", "n", "s"]
    assert ("n", "b") in td and ("n", "z") not in td and "z" not in td
    with pytest.raises(TypeError, match="'in' asks for keys, strings or tuples of them, not for an int"):
        3 in td  # noqa: B015


def test_a_lock_holds_for_the_whole_tree() -> None:
    td = make().lock_()
    inner = td["n"]
    for write in (
        lambda: td.set("z", torch.zeros(4)),
        lambda: td.__setitem__("a", torch.zeros(4)),
        lambda: inner.set("c", torch.zeros(4)),
        lambda: td.pop("a"),
        lambda: td.update(a=torch.zeros(4)),
        lambda: td.rename_key_("a", "z"),
        lambda: td.clear(),
        lambda: inner.unlock_(),
    ):
        with pytest.raises(RuntimeError, match="lock"):
            write()
    td["a"].add_(1)
    td.zero_()
    assert td.clone().is_locked is False
    assert inner.is_locked
    td.unlock_().set("z", torch.zeros(4))
    assert not inner.is_locked
    with td.lock_().unlocked() as open_:
        open_["y"] = torch.zeros(4)
    assert td.is_locked


def test_the_batch_size_can_change_as_far_as_the_entries_allow() -> None:
    td = TensorDict(a=torch.zeros(4, 3), n={"b": torch.zeros(4, 3)})
    td.batch_size = [4]
    assert td.batch_size == td["n"].batch_size == (4,)
    td.batch_size = [4, 3]
    with pytest.raises(errors.ShapeError, match=r"field 'a' has shape \[4, 3\]; the batch size is \[3\]"):
        td.batch_size = [3]
    assert td.batch_size == (4, 3)
    td.batch_size = []
    assert td.auto_batch_size_(1).batch_size == (4,)
    with pytest.raises(errors.ShapeError, match="share 2 leading dims"):
        td.auto_batch_size_(3)
    assert td.numel() == 4 or td.numel() == 1


@pytest.mark.parametrize(
    "batch, words",
    [
        ([-1], r"batch_size: \[-1\] has a negative size"),
        ([1.5], r"batch_size: \[1.5\] has 1.5, a float; sizes are ints"),
        ("ab", "batch_size: 'ab' is no batch size; a sequence of ints, an int or None would do"),
    ],
)
def test_a_bad_batch_size_is_refused(batch: Any, words: str) -> None:
    with pytest.raises((RuntimeError, TypeError), match=f"^{words}$"):
        TensorDict(batch_size=batch)


def test_pickle_copy_and_deepcopy_give_the_same_container() -> None:
    td = make()
    td.names = ["time"]
    td.lock_()

    for other in (pickle.loads(pickle.dumps(td)), copy.deepcopy(td), copy.copy(td)):
        assert_close(other, td)
        assert other.names == ["time"]
        assert other["s"] == "hi"
        assert type(other) is TensorDict
    assert pickle.loads(pickle.dumps(td)).is_locked
    assert copy.copy(td)["a"] is td["a"]
    assert copy.deepcopy(td)["a"] is not td["a"]


def test_state_dicts_round_trip_and_a_bad_one_changes_nothing() -> None:
    td = make()
    state = td.state_dict()
    other = td.clone().zero_()
    other.load_state_dict(state)
    assert_close(other, td)

    bad = {key: value for key, value in state.items() if key != "a"}
    with pytest.raises(
        KeyError, match="load_state_dict: the state does not fit: it has no 'a'; strict=False loads the rest"
    ):
        other.zero_().load_state_dict(bad)
    assert other["n", "b"].sum() == 0


def test_a_device_holds_for_every_entry() -> None:
    td = TensorDict(a=torch.zeros(3), device="meta", batch_size=[3])

    assert td["a"].device.type == "meta"
    td["b"] = {"c": torch.zeros(3)}
    assert td["b", "c"].device.type == "meta"
    assert td["b"].device == torch.device("meta")
    assert td.clone().clear_device_().device is None
    assert td[0].device == torch.device("meta")


def test_casts_can_be_limited() -> None:
    td = TensorDict(x=torch.zeros(2), i=torch.arange(2), batch_size=[2])

    assert td.to(torch.float64).dtype is torch.float64
    half = td.to(torch.float16, cast_filter=lambda key, value: value.is_floating_point())
    assert (half["x"].dtype, half["i"].dtype) == (torch.float16, torch.int64)
    assert td.to("cpu") is not None and td.bool()["i"].tolist() == [False, True]


def test_functions_are_applied_leaf_by_leaf() -> None:
    td = make()

    assert td.apply(lambda x: x + 1)["n", "b"].sum() == 16
    assert td.apply(lambda x, y: x - y, td)["a"].sum() == 0
    assert td.apply(lambda x: x[0], batch_size=[]).batch_size == ()
    seen: list[Any] = []
    td.named_apply(lambda key, x: seen.append(key), nested_keys=True)
    assert seen == ["a", ("n", "b")]
    with pytest.raises(errors.ShapeError, match=r"apply: the new \('n', 'b'\) has shape \[2\]"):
        td.select("n").apply(lambda x: x.sum(0))


def test_gradients_are_read_as_a_container() -> None:
    td = TensorDict(w=nn.Parameter(torch.ones(3)), n={"v": torch.ones(3, requires_grad=True)}, c=torch.ones(3))
    (td["w"] * 2 + td["n", "v"]).sum().backward()

    assert td.grad["w"].tolist() == [2, 2, 2]
    assert set(td.grad.keys(True, True)) == {"w", ("n", "v")}
    assert td.requires_grad
    assert not td.detach().requires_grad
    assert isinstance(td["w"], nn.Parameter)
    td.zero_grad()
    assert td.grad.is_empty()


def test_printing_shows_batch_dtype_and_feature_dims() -> None:
    assert repr(TensorDict(pos=torch.randn(5, 3), hidden=torch.randn(5, 4), batch_size=[5])) == (
        "TensorDict(batch_size=[5], fields={hidden: f32[4], pos: f32[3]})"
    )
    assert repr(make()) == "TensorDict(batch_size=[4], fields={a: f32[3], n: {b: f32[2]}, s: str})"


def test_a_container_has_no_truth_value_and_no_hash() -> None:
    with pytest.raises(RuntimeError, match="a container has no truth value"):
        bool(make())
    with pytest.raises(TypeError):
        {make()}
    with pytest.raises(TypeError, match="a container with batch size \\[\\] has no rows to iterate over"):
        iter(TensorDict())


def test_functions_of_torch_that_know_no_containers_say_so() -> None:
    with pytest.raises(TypeError, match="must be Tensor, not TensorDict"):
        torch.linalg.inv(make())


def test_a_batch_of_one_row_can_lose_its_dims() -> None:
    td = TensorDict(a=torch.ones(1, 1), b=torch.ones(1, 1, 3), batch_size=[1, 1])

    assert td.reshape(()).batch_size == td.reshape([]).batch_size == td.view(()).batch_size == ()
    assert td.reshape(())["b"].shape == (3,)
    assert TensorDict(a=torch.ones(3)).expand([]).batch_size == ()


def test_a_part_of_two_locked_containers_is_locked_as_long_as_one_of_them_is() -> None:
    part = TensorDict(a=torch.zeros(3))
    one, two = TensorDict({"part": part}).lock_(), TensorDict({"part": part}).lock_()

    two.unlock_()
    with pytest.raises(errors.Locked):
        one["part"]["b"] = torch.zeros(3)
    with pytest.raises(errors.Locked):
        part.unlock_()
    one.unlock_()

    assert not part.is_locked


def test_torch_load_reads_containers_without_unpickling_anything_else() -> None:
    td = TensorDict({"a": torch.arange(3), "n": {"b": torch.zeros(3)}, "word": "x"}, 3, names=["rows"])
    file = io.BytesIO()
    torch.save({"dense": td, "lazy": lazy_stack([td, td]), "rows": stack([td, td.replace(word="y")])}, file)
    file.seek(0)

    found = torch.load(file, weights_only=True)

    assert found["dense"].names == ["rows"]
    assert found["lazy"][1]["n", "b"].shape == (3,)
    assert found["rows"][1]["word"].tolist() == ["y", "y", "y"]


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (-3, "has a negative size"),
        ([None], "has None, None; sizes are ints"),
        ([[3]], r"has \[3\], a list; sizes are ints"),
        ([3.0], "has 3.0, a float; sizes are ints"),
        ("3", "is no batch size"),
    ],
)
def test_what_is_no_batch_size_is_refused_as_one(batch: Any, said: str) -> None:
    with pytest.raises(errors.RuleError, match=f"batch_size: .*{said}"):
        TensorDict(batch_size=batch)


def test_equal_values_stay_one_a_row_where_that_is_asked_for() -> None:
    rows = [TensorDict(tag="x"), TensorDict(tag="x")]
    assert stack(rows)["tag"] == "x"
    with set_capture_non_tensor_stack(False):
        assert stack(rows)["tag"].tolist() == ["x", "x"]
        assert lazy_stack(rows).densify()["tag"].tolist() == ["x", "x"]
    assert stack(rows)["tag"] == "x"


class Name(str, Enum):
    A = "a"
    B = "b"


def test_a_member_of_an_enum_of_strings_is_the_key_that_it_holds() -> None:
    td = TensorDict({Name.A: torch.zeros(2), "n": {Name.B: torch.ones(2)}}, batch_size=[2])
    td[Name.B] = torch.ones(2)

    assert [type(key) for key in td.keys()] == [str] * 3
    assert td[Name.A] is td["a"] and td[Name.B] is td["b"] and td["n", Name.B] is td["n", "b"]
    assert Name.A in td.keys() and td.pop(Name.B).tolist() == [1, 1] and list(td.keys()) == ["a", "n"]
