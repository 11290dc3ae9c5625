"""What importing the package adds to `import torch`."""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import dataclass

PROGRAM = """
import time, torch
start = time.perf_counter()
import tensorclass
imported = time.perf_counter()
tensorclass.TensorClass
print(imported - start, time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Import:
    name: str
    limit: float  # seconds
    seconds: float


def imports(runs: int = 5) -> list[Import]:
    """Fresh interpreters, the median of some runs."""
    times = [_one_run() for _ in range(runs)]
    package, touched = (statistics.median(column) for column in zip(*times, strict=True))
    return [Import("import tensorclass", 0.060, package), Import("touch tensorclass.TensorClass", 0.150, touched)]


def _one_run() -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    package, touched = done.stdout.split()
    return float(package), float(touched)
