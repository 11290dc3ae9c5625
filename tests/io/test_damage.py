"""Files that are truncated, missing, edited or hostile: a clear error, and nothing outside of the folder is touched."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tensorclass import NonTensorStack, TensorClass, TensorDict, errors, lazy_stack
from tensorclass.io import DataDamaged, DataMissing, StorageError

SEED, ROUNDS = 0, 500


class Part(TensorClass):
    x: Tensor
    label: str = "none"


def stored(folder: Path) -> TensorDict:
    td = TensorDict(
        {
            "a": torch.arange(6.0).reshape(3, 2),
            "n": {"b": torch.ones(3, dtype=torch.bool)},
            "words": NonTensorStack("x", "y", "z"),
            "part": Part(x=torch.ones(3), batch_size=[3]),
            "lazy": lazy_stack([TensorDict(q=torch.zeros(n)) for n in range(3)]),
        },
        batch_size=[3],
    )
    td.set_non_tensor("pair", (1, {2}))
    return td.memmap(folder)


def edit(path: Path, change: Any) -> None:
    meta = json.loads(path.read_text())
    change(meta)
    path.write_text(json.dumps(meta))


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="nothing is stored in .*: it has no meta.json"):
        TensorDict.load_memmap(tmp_path)
    with pytest.raises(FileNotFoundError):
        TensorDict.load_memmap(tmp_path / "nowhere")


def test_a_truncated_file_is_named_with_its_size(tmp_path: Path) -> None:
    stored(tmp_path)
    os.truncate(tmp_path / "a.memmap", 20)

    with pytest.raises(DataDamaged) as caught:
        TensorDict.load_memmap(tmp_path)
    assert str(caught.value) == f"{tmp_path}/a.memmap has 20 bytes; shape [3, 2] of torch.float32 takes 24"
    assert os.path.getsize(tmp_path / "a.memmap") == 20


def test_a_file_that_is_too_long_is_refused_too(tmp_path: Path) -> None:
    stored(tmp_path)
    edit(tmp_path / "meta.json", lambda meta: meta["a"].update(dtype="torch.float16"))

    with pytest.raises(DataDamaged, match=r"a.memmap has 24 bytes; shape \[3, 2\] of torch.float16 takes 12"):
        TensorDict.load_memmap(tmp_path)


@pytest.mark.parametrize("name", ["a.memmap", "n", "n/b.memmap", "words", "lazy/1"])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    stored(tmp_path)
    path = tmp_path / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    with pytest.raises(DataMissing, match=f"{name} is missing"):
        TensorDict.load_memmap(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"shape": [4]},
            "field 'a' has shape [3, 2]; the batch size is [4], and the leading dims of a value must equal it",
        ),
        ({"shape": "3"}, "'3' is no list of sizes"),
        ({"shape": [-1]}, "[-1] is no list of sizes"),
        ({"shape": [True]}, "[True] is no list of sizes"),
        ({"a": {"shape": [3, 2], "dtype": "torch.save"}}, "'torch.save' is no dtype"),
        ({"a": {"shape": [3, 2]}}, "'a' has neither a dtype nor a type"),
        (
            {"a": {"shape": [1 << 61, 1 << 61], "dtype": "torch.int8"}},
            "a.memmap has 24 bytes; shape [2305843009213693952, 2305843009213693952]",
        ),
        ({"_names": ["x", "y"]}, "['x', 'y'] are no names for 1 dims"),
        ({"_entries": {"shape": 3}}, "{'shape': 3} are no entries"),
        ({"pair": {"type": "NonTensorData", "exact": {"eval": "1"}}}, "{'eval': '1'} is no plain value"),
        ({"pair": {"type": "NonTensorData", "exact": {"dtype": "save"}}}, "{'dtype': 'save'} is no plain value"),
    ],
    ids=str,
)
def test_metadata_that_cannot_be_true_are_quoted(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    stored(tmp_path)
    edit(tmp_path / "meta.json", lambda meta: meta.update(change))

    with pytest.raises(DataDamaged) as caught:
        TensorDict.load_memmap(tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[1]", "nul", "\x00", "[" * 100_000], ids=lambda text: text[:3])
def test_metadata_that_are_no_object_are_refused(text: str, tmp_path: Path) -> None:
    stored(tmp_path)
    (tmp_path / "meta.json").write_text(text)

    with pytest.raises(DataDamaged, match="meta.json (is no JSON|holds .*, no object)"):
        TensorDict.load_memmap(tmp_path)


def test_no_key_reaches_out_of_the_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.memmap"
    secret.write_bytes(b"\x01\x02\x03")
    stored(tmp_path / "store")
    entry = {"device": "cpu", "shape": [3], "dtype": "torch.uint8", "is_nested": False}
    for key in ("../secret", str(tmp_path / "secret"), "n/../../secret", "..\\secret"):
        edit(tmp_path / "store" / "meta.json", lambda meta, key=key: meta.update({key: entry}))
        with pytest.raises(DataMissing):
            TensorDict.load_memmap(tmp_path / "store")


def test_rows_of_values_may_be_folders(tmp_path: Path) -> None:
    """As older versions of tensordict have written them."""
    stored(tmp_path)
    words = tmp_path / "words"
    (words / "meta.json").write_text(json.dumps({"_type": "NonTensorStack", "stack_dim": 0}))
    for number, word in enumerate("xyz"):
        (words / str(number)).mkdir()
        (words / str(number) / "meta.json").write_text(json.dumps({"data": word, "_is_non_tensor": True}))

    assert TensorDict.load_memmap(tmp_path)["words"].tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("name", ["a.memmap", "n"])
def test_links_are_not_followed(name: str, tmp_path: Path) -> None:
    stored(tmp_path / "store")
    path = tmp_path / "store" / name
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(DataDamaged, match=f"{name} is a link, which is not followed"):
        TensorDict.load_memmap(tmp_path / "store")


def test_a_pipe_in_place_of_a_file_does_not_block(tmp_path: Path) -> None:
    stored(tmp_path)
    (tmp_path / "a.memmap").unlink()
    os.mkfifo(tmp_path / "a.memmap")

    with pytest.raises(DataDamaged, match="a.memmap is no file"):
        TensorDict.load_memmap(tmp_path)


def test_a_class_in_the_metadata_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    stored(tmp_path / "store")
    for name in ("hostile:Part", "os:system", "builtins:eval", "torch:nn.Linear", ":", "", "a.b:c.d.e"):
        edit(tmp_path / "store" / "part" / "meta.json", lambda meta, name=name: meta.update(_typed=name))
        assert type(TensorDict.load_memmap(tmp_path / "store")["part"]) is TensorDict


def test_unpickling_runs_nothing_unless_allowed(tmp_path: Path) -> None:
    stored(tmp_path)
    (tmp_path / "pair" / "other.pickle").write_bytes(b"cos\nsystem\n(S'touch " + os.fsencode(tmp_path) + b"/ran'\ntR.")
    (tmp_path / "pair" / "meta.json").write_text('{"_type": "x", "_is_non_tensor": true}')
    edit(tmp_path / "meta.json", lambda meta: meta["pair"].pop("exact"))

    with pytest.raises(PermissionError, match="allow_pickle=True loads it"):
        TensorDict.load_memmap(tmp_path)
    assert not (tmp_path / "ran").exists()


VALUES: list[Any] = [None, True, -1, 0, 1, 2, 3, 1 << 70, 1.5, "", "x", "torch.int8", "torch.float64", "TensorDict",
                     "NonTensorData", "NonTensorStack", "pickle.pkl", [], [3], [-1], [3, 2], [2, 3], ["a"], {},
                     {"type": "x"}, {"dtype": "torch.int8", "shape": [3]}, {"tuple": 1}, "../..", "\ud800"]  # fmt: skip


def scrambled(value: Any, chance: random.Random) -> Any:
    """The value with something in it changed, dropped or added."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        out = dict(value)
        pick = chance.random()
        if pick < 0.15:
            del out[key]
        elif pick < 0.3:
            out[
                str(
                    chance.choice(
                        ["_items", "_rows", "_entries", "_typed", "exact", "batch", "z", "is_nested", "_names"]
                    )
                )
            ] = chance.choice(VALUES)
        else:
            out[key] = scrambled(value[key], chance)
        return out
    if isinstance(value, list) and value and chance.random() < 0.5:
        at = chance.randrange(len(value))
        return [*value[:at], scrambled(value[at], chance), *value[at + 1 :]]
    return chance.choice(VALUES)


def damage(folder: Path, chance: random.Random) -> None:
    metas = sorted(folder.rglob("meta.json"))
    for _ in range(chance.randint(1, 3)):
        path = chance.choice(metas)
        if chance.random() < 0.1:
            raw = bytearray(path.read_bytes())
            raw[chance.randrange(len(raw))] = chance.randrange(256)
            path.write_bytes(bytes(raw))
            return
        path.write_text(json.dumps(scrambled(json.loads(path.read_text()), chance)))


@pytest.mark.slow
def test_any_metadata_load_or_are_refused_in_words(tmp_path: Path) -> None:
    """Scrambled folders; what loads has the batch contract, and the files are as long as before."""
    stored(tmp_path / "store")
    texts = {path: path.read_text() for path in (tmp_path / "store").rglob("meta.json")}
    lengths = {path: path.stat().st_size for path in (tmp_path / "store").rglob("*.memmap")}
    chance = random.Random(SEED)
    refused = 0
    for round in range(ROUNDS):
        damage(tmp_path / "store", chance)
        now = {path: path.read_bytes() for path in texts}
        try:
            back = TensorDict.load_memmap(tmp_path / "store")
            assert all(leaf.shape[: len(back.batch_size)] == back.batch_size for leaf in back.values(True, True)), round
        except (StorageError, errors.RuleError) as error:
            refused += 1
            assert str(error), (round, now)
        except Exception as error:
            raise AssertionError(f"round {round}: {now}") from error
        for path, text in texts.items():
            path.write_text(text)
    assert refused > ROUNDS / 5
    assert lengths == {path: path.stat().st_size for path in (tmp_path / "store").rglob("*.memmap")}
    assert os.listdir(tmp_path) == ["store"]
