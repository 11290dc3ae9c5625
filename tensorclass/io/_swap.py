"""A folder put in place whole: whoever looks finds the old data or the new, never half."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import socket
from collections.abc import Callable, Iterable
from typing import Any

from ._disk import sync, sync_one
from ._errors import DataExists
from ._names import META

_ASIDE = ".saving"


def save_in(
    path: str, write: Callable[[str], Iterable[str]], owned: Callable[[str], Iterable[str]], fsync: bool = False
) -> None:
    """Have `write(folder)` fill a folder beside `path`, then put it there.

    write gives the names that it made. owned(path): those in the folder that an earlier save made; what else is in the
    folder stays. fsync: all is on the disk before it is put there, and after that the move is.
    """
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isdir(path):
        raise DataExists(f"{path} is a file; a folder to save into would do")
    parent, name = os.path.split(path)
    os.makedirs(parent, exist_ok=True)
    _sweep(parent, name)
    fresh = not os.path.exists(os.path.join(path, META))
    # Data that is there is replaced in one move; else metadata comes last, and without it there is no data.
    inside = fresh and os.path.isdir(path)
    aside = os.path.join(path if inside else parent, f"{_prefix(name)}{secrets.token_hex(6)}{_ASIDE}")
    os.mkdir(aside)
    try:
        names = list(write(aside))
        if fsync:
            sync(aside)
        if inside:
            _move_in(aside, path, names)
        elif fresh:
            os.rename(aside, path)
        else:
            _keep_others(aside, path, {*names, *owned(path)})
            here = os.path.exists(path) and os.path.samefile(path, os.curdir)
            exchange(aside, path)
            if here:
                os.chdir(path)
        if fsync:
            sync_one(path)
            sync_one(parent)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _prefix(name: str) -> str:
    return f".{name}.{socket.gethostname()}.{os.getpid()}."


def _sweep(parent: str, name: str) -> None:
    """Remove what saves that were killed on this machine left behind."""
    start = f".{name}.{socket.gethostname()}."
    for folder in (parent, os.path.join(parent, name)):
        for each in os.listdir(folder) if os.path.isdir(folder) else []:
            owner = each[len(start) :].split(".")[0]
            if each.startswith(start) and each.endswith(_ASIDE) and owner.isdigit() and not _runs(int(owner)):
                shutil.rmtree(os.path.join(folder, each), ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _move_in(aside: str, path: str, names: list[str]) -> None:
    for name in sorted(names, key=lambda name: name == META):
        target = os.path.join(path, name)
        if os.path.isdir(target) and not os.path.islink(target):
            if os.listdir(target) and not os.path.exists(os.path.join(target, META)):
                raise DataExists(f"{target} is in the way: a folder with other files")
            shutil.rmtree(target)
        os.replace(os.path.join(aside, name), target)


def _keep_others(aside: str, path: str, ours: set[str]) -> None:
    for each in os.listdir(path):
        if each in ours or each.endswith(_ASIDE):
            continue
        source, target = os.path.join(path, each), os.path.join(aside, each)
        if os.path.isdir(source) and not os.path.islink(source):
            shutil.copytree(source, target, symlinks=True, copy_function=_link)
        else:
            _link(source, target)


def _link(source: str, target: str, **_: Any) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def exchange(one: str, other: str) -> None:
    """Let two folders change places: in one step on Linux, else in the two that are possible."""
    if not _exchanged(one, other):
        os.rename(other, one + ".old")
        os.rename(one, other)
        os.rename(one + ".old", one)


def _exchanged(one: str, other: str) -> bool:
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(call(here, os.fsencode(one), here, os.fsencode(other), ctypes.c_uint(swap)) == 0)
