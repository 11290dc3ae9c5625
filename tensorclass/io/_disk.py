"""Folders and the disk below them: what would be there after a power failure, and who may write."""

from __future__ import annotations

import os

from ._errors import DataExists

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def sync(folder: str) -> None:
    """Have all files below a folder, and the names in it, reach the disk."""
    for place, _, files in os.walk(folder):
        for each in files:
            sync_one(os.path.join(place, each))
        sync_one(place)


def sync_one(path: str) -> None:
    """Have a file, or the names in a folder, reach the disk."""
    if os.name == "nt" and os.path.isdir(path):
        return  # Windows opens no folders.
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def only_writer(folder: str) -> int | None:
    """A descriptor that keeps other writers of a folder out until it is closed, or the process ends."""
    if fcntl is None:
        return None
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise DataExists(f"{folder}: somebody else adds rows to it; one writer at a time would do") from None
    except OSError:  # A file system without locks.
        pass
    return file
