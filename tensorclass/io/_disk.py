"""What has reached the disk, and would be there after a power failure."""

from __future__ import annotations

import os


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
