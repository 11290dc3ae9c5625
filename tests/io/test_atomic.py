"""A save is whole or not there: the old data or the new can be read at any moment, whatever happens to who saves."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from tensorclass import TensorDict
from tensorclass.io import DataExists, DataMissing, NotStorable, RowWriter, _bytes, _swap

# It has loaded torch once, and makes a saver for each line that it reads, to be killed by who reads the number.
NURSERY = """
import itertools, os, sys, torch
from tensorclass import TensorDict
TensorDict(a=torch.zeros(1)).memmap()  # What is loaded when it is first needed is loaded now.
for line in sys.stdin:
    saver = os.fork()
    if saver == 0:
        for n in itertools.count(1000 * int(line)):
            leaves = {str(k): {"v": torch.full((20_000,), n)} for k in range(4)}
            TensorDict(leaves | {"n": torch.tensor(n)}).memmap(sys.argv[1])
    print(saver, flush=True)
    os.waitpid(saver, 0)
    print("dead", flush=True)
"""
KILLS, SECONDS = 200, 10  # Fewer where the machine is too busy for as many in that time.


def content(folder: Path) -> list[int]:
    """The distinct numbers in what can be loaded."""
    td = TensorDict.load_memmap(folder)
    assert len(list(td.keys(True, True))) == 5
    return sorted({int(one) for leaf in td.values(True, True) for one in (leaf.min(), leaf.max())})


def test_a_save_replaces_what_an_earlier_one_put_there(tmp_path: Path) -> None:
    TensorDict({"a": torch.zeros(3), "n": {"b": torch.zeros(3)}}).memmap(tmp_path / "store")
    TensorDict({"c": torch.ones(3)}).memmap(tmp_path / "store")

    assert sorted(os.listdir(tmp_path / "store")) == ["c.memmap", "meta.json"]
    assert os.listdir(tmp_path) == ["store"]


@pytest.mark.parametrize("saves", [1, 2])
def test_files_of_others_stay(saves: int, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    (tmp_path / "link").symlink_to("notes")
    for _ in range(saves):
        TensorDict(a=torch.zeros(3)).memmap(tmp_path)

    assert sorted(os.listdir(tmp_path)) == ["a.memmap", "link", "meta.json", "notes"]
    assert (tmp_path / "link" / "a.txt").read_text() == "mine"


def test_a_folder_of_others_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "mine.txt").write_text("mine")

    with pytest.raises(DataExists, match="n is in the way: a folder with other files"):
        TensorDict({"n": {"a": torch.zeros(3)}}).memmap(tmp_path)
    with pytest.raises(DataExists, match="mine.txt is a file; a folder to save into would do"):
        TensorDict(a=torch.zeros(3)).memmap(tmp_path / "n" / "mine.txt")
    assert (tmp_path / "n" / "mine.txt").read_text() == "mine"


def test_maps_of_replaced_data_keep_them(tmp_path: Path) -> None:
    old = TensorDict(a=torch.zeros(3)).memmap(tmp_path)
    old.replace(a=torch.ones(3)).memmap(tmp_path)

    assert old["a"].tolist() == [0, 0, 0]
    assert TensorDict.load_memmap(tmp_path)["a"].tolist() == [1, 1, 1]


def test_maps_can_be_saved_over_themselves(tmp_path: Path) -> None:
    saved = TensorDict(a=torch.arange(3)).memmap(tmp_path)
    again = saved.memmap(tmp_path)

    assert again["a"].tolist() == TensorDict.load_memmap(tmp_path)["a"].tolist() == [0, 1, 2]


def test_the_current_folder_can_be_saved_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for n in range(3):
        TensorDict(a=torch.full((3,), n)).memmap(".")
        assert TensorDict.load_memmap(".")["a"].tolist() == [n] * 3


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for n in range(2):
        TensorDict(a=torch.full((3,), n)).memmap(tmp_path / "link")

    assert (tmp_path / "link").is_symlink() and TensorDict.load_memmap(tmp_path / "real")["a"].tolist() == [1] * 3


@pytest.mark.parametrize("there", [False, True])
def test_a_save_that_fails_changes_nothing(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if there:
        TensorDict(a=torch.zeros(3)).memmap(tmp_path)
    before = sorted(os.listdir(tmp_path))
    calls = iter([None])

    def full(path: str, *args: object) -> None:
        if next(calls, 1):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(_bytes, "write", full)
    with pytest.raises(NotStorable, match="cannot be saved: .*No space left on device"):
        TensorDict(a=torch.ones(3), b=torch.ones(3)).memmap(tmp_path)

    assert sorted(os.listdir(tmp_path)) == before


def test_without_an_exchange_by_the_system_two_renames_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_swap, "_exchanged", lambda one, other: False)
    for n in range(2):
        TensorDict(a=torch.full((3,), n)).memmap(tmp_path / "store")

    assert TensorDict.load_memmap(tmp_path / "store")["a"].tolist() == [1] * 3 and os.listdir(tmp_path) == ["store"]


@pytest.mark.slow
def test_killing_who_saves_leaves_the_old_or_the_new_data(tmp_path: Path) -> None:
    store = tmp_path / "store"
    chance = random.Random(0)
    seen: set[int] = set()
    start = time.monotonic()
    for n in range(3):
        TensorDict({str(k): {"v": torch.full((20_000,), n)} for k in range(4)}).memmap(tmp_path / "other")
    span = time.monotonic() - start  # Of three saves, on a machine that may be busy.
    shutil.rmtree(tmp_path / "other")
    command = [sys.executable, "-c", NURSERY, str(store)]
    nursery = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert nursery.stdin is not None and nursery.stdout is not None
    for number_of_saver in range(KILLS):
        nursery.stdin.write(f"{number_of_saver}\n")
        saver = int(nursery.stdout.readline())
        time.sleep(chance.uniform(0, span))
        os.kill(saver, signal.SIGKILL)
        assert nursery.stdout.readline() == "dead\n"
        try:
            (number,) = content(store)
            assert number >= max(seen, default=0)
            seen.add(number)
        except DataMissing:
            assert not seen
        if time.monotonic() > start + SECONDS:
            break
    nursery.communicate()
    assert len(seen) > 1
    TensorDict(a=torch.zeros(3)).memmap(store)
    assert os.listdir(tmp_path) == ["store"]  # What the killed ones left is gone.


def test_a_reader_sees_one_save_never_two_mixed(tmp_path: Path) -> None:
    stop = threading.Event()

    def save(n: int) -> None:
        TensorDict({str(k): torch.full((n % 3 + 1,), n) for k in range(4)} | {"n": torch.tensor(n)}).memmap(
            tmp_path / "s"
        )

    def saves() -> None:
        n = 1
        while not stop.is_set():
            save(n)
            n += 1

    save(0)
    saver = threading.Thread(target=saves)
    saver.start()
    try:
        for _ in range(100):
            assert len(content(tmp_path / "s")) == 1
    finally:
        stop.set()
        saver.join()


class Disk:
    """What is asked to reach the disk, and what is moved, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, str]] = []
        fsync, exchange, rename = os.fsync, _swap.exchange, os.rename

        def note(what: str, path: str) -> None:
            self.calls.append((what, os.path.basename(path)))

        def synced(file: int) -> None:
            note("sync", os.readlink(f"/proc/self/fd/{file}"))
            fsync(file)

        def renamed(source: str, target: str) -> None:
            note("move", target)
            rename(source, target)

        def exchanged(one: str, other: str) -> None:
            note("move", other)
            exchange(one, other)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(os, "rename", renamed)
        monkeypatch.setattr(_swap, "exchange", exchanged)


@pytest.mark.parametrize("is_there", [False, True])
def test_data_reach_the_disk_before_they_are_put_in_place(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    td = TensorDict({"a": torch.zeros(3), "n": {"b": torch.zeros(3)}})
    if is_there:
        td.memmap(tmp_path / "store")
    disk = Disk(monkeypatch)
    td.memmap(tmp_path / "store", fsync=True)
    monkeypatch.undo()

    at = disk.calls.index(("move", "store"))
    before = sorted(name for what, name in disk.calls[:at])
    assert [name for name in before if not name.endswith(".saving")] == [
        "a.memmap", "b.memmap", "meta.json", "meta.json", "n"
    ]  # fmt: skip
    assert disk.calls[at + 1 :] == [("sync", "store"), ("sync", tmp_path.name)]


def test_rows_reach_the_disk_before_they_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RowWriter(tmp_path / "store", fsync=True)
    rows.append(TensorDict(a=torch.zeros(3), batch_size=[3]))
    disk = Disk(monkeypatch)
    rows.flush()
    monkeypatch.undo()
    rows.close()

    assert disk.calls == [("sync", "a.memmap"), ("sync", "meta.json.new"), ("sync", "store")]


def test_nothing_is_waited_for_unless_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    TensorDict(a=torch.zeros(3)).memmap(tmp_path / "store")

    assert [what for what, _ in disk.calls] == ["move"]
