"""What the plugin costs: mypy with it and without, from an empty cache: `python -m benchmarks.plugin_cost`.

CPU seconds and memory of both, in turns, and the ratio of the fastest runs. The package is alone in its folder: mypy
reads no other that it imports. torch itself is read anew each time, as on a new machine; `--torch-read` starts both
from a cache that has torch in it already, as most runs do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from .public_code import PACKAGES, SEED, SETTINGS, install

WITH = SETTINGS + "plugins = tensorclass_mypy\n"


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.plugin_cost", description=__doc__)
    arguments.add_argument("package", nargs="?", default="gpytorch", help="one of the list in public_code (gpytorch)")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--torch-read", action="store_true", help="leave out what reading torch takes")
    arguments.add_argument("--folder", type=Path, default=Path(gettempdir()) / "tensorclass-public-code")
    options = arguments.parse_args()
    name: str = options.package
    code, package = install([name], options.folder), PACKAGES.get(name, name)
    with TemporaryDirectory() as folder:
        alone, rows = Path(folder) / "alone", []
        shutil.copytree(code / package, alone / package)
        for _ in range(options.rounds):
            rows.append(
                [measure(package, alone, Path(folder), settings, options.torch_read) for settings in (SETTINGS, WITH)]
            )
            shown = "   ".join(f"{seconds:6.1f} s {size:6.0f} MB" for seconds, size in rows[-1])
            print(f"without, with: {shown}", flush=True)
    (seconds, size), (more, larger) = (map(min, zip(*column)) for column in zip(*rows))
    print(f"{name}: CPU time x {more / seconds:.3f}, memory x {larger / size:.3f}")


def measure(package: str, code: Path, folder: Path, settings: str, torch_read: bool) -> tuple[float, float]:
    """CPU seconds and megabytes of one run."""
    written, cache, seed = folder / "mypy.ini", folder / "cache", folder / f"seed-{len(settings)}"
    written.write_text(settings)
    shutil.rmtree(cache, ignore_errors=True)
    if torch_read:
        if not seed.exists():
            (folder / "seed.py").write_text(SEED)
            run("seed.py", folder, written, seed)
        shutil.copytree(seed, cache)
    return run(package, code, written, cache)


def run(target: str, where: Path, settings: Path, cache: Path) -> tuple[float, float]:
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(cache), target]
    child = subprocess.Popen(command, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # Popen shall not wait for it again.
    if child.returncode not in (0, 1):
        raise SystemExit(f"mypy failed on {target}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
