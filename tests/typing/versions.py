"""The small programs under other versions of mypy and for other versions of Python: `python -m tests.typing.versions`.

Each mypy goes into a folder of its own, in front of the environment's. What differs is printed; the exit status is
then 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import gettempdir

from tests.typing.checked import HERE, difference, expected, mypy, small, told

VERSIONS = ("2.1", "2.2", "2.3", "2.4")
TARGETS = ("3.10", "3.11", "3.12", "3.13")


def main(versions: tuple[str, ...]) -> int:
    wrong = 0
    for version in versions or VERSIONS:
        folder = install(version)
        os.environ["PYTHONPATH"] = str(folder)
        for target in TARGETS:
            cache = folder / f"cache-{target}"
            got = told(mypy(str(HERE / "small"), f"--python-version={target}", config=small(), cache_dir=cache))
            rows = difference(expected(HERE / "small"), got)
            print(f"mypy {version}, Python {target}: {len(rows)} differences", *rows, sep="\n    ", flush=True)
            wrong += len(rows)
    return 1 if wrong else 0


def install(version: str) -> Path:
    folder = Path(gettempdir()) / f"tensorclass-mypy-{version}"
    if not folder.is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), f"mypy~={version}.0"]
        subprocess.run(command, check=True)
    return folder


if __name__ == "__main__":
    raise SystemExit(main(tuple(sys.argv[1:])))
