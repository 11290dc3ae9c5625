"""False alarms: mypy over public packages, with the plugin and without: `python -m benchmarks.public_code`.

Every error that only the run with the plugin has is printed; the exit status is 1 if there is one. The packages go
into a folder of their own (`--folder`, kept between runs), without what they depend on: torch is the one of this
environment.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from tensorclass_mypy._config import LEVELS, table_hash

# What to install, and the package that it brings: about 960 000 lines.
PACKAGES = {
    "alphafold3-pytorch": "alphafold3_pytorch",
    "captum": "captum",
    "denoising-diffusion-pytorch": "denoising_diffusion_pytorch",
    "e3nn": "e3nn",
    "einops": "einops",
    "ema-pytorch": "ema_pytorch",
    "gpytorch": "gpytorch",
    "gsplat": "gsplat",
    "kornia": "kornia",
    "lightning": "lightning",
    "linear_operator": "linear_operator",
    "peft": "peft",
    "pyro-ppl": "pyro",
    "sae-lens": "sae_lens",
    "skorch": "skorch",
    "timm": "timm",
    "torch_geometric": "torch_geometric",
    "torchdiffeq": "torchdiffeq",
    "torchmetrics": "torchmetrics",
    "torchsde": "torchsde",
    "torchvision": "torchvision",
    "transfusion-pytorch": "transfusion_pytorch",
    "vector-quantize-pytorch": "vector_quantize_pytorch",
    "x-transformers": "x_transformers",
}
SETTINGS = "[mypy]\ncheck_untyped_defs = True\nignore_missing_imports = True\nshow_error_context = False\n"
SEED = "import numpy, torch, torch.distributions, torch.nn.functional, torch.optim, torch.utils.data\n"


@dataclass(frozen=True)
class Run:
    """One run of mypy: its lines, and the user seconds that it took."""

    told: Counter[str]
    seconds: float


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.public_code", description=__doc__)
    arguments.add_argument("--only", nargs="*", default=list(PACKAGES), help="names to install (all of the list)")
    arguments.add_argument("--calls", default="arguments", choices=LEVELS, help="the plugin's level (arguments)")
    arguments.add_argument("--folder", type=Path, default=Path(gettempdir()) / "tensorclass-public-code")
    options = arguments.parse_args()
    code = install(options.only, options.folder)

    # With the plugin's own hash: what an older one has left in the cache would be read all over again.
    with_plugin = f"plugins = tensorclass_mypy\n[tensorclass-mypy]\ncalls = {options.calls}\n# {table_hash()}\n"
    lines = new = 0
    print("package".ljust(18), "   lines  without (s)  with (s)  new errors  gone")
    asked: list[str] = options.only
    for package in [PACKAGES.get(name, name) for name in asked]:
        count = sum(len(path.read_bytes().splitlines()) for path in (code / package).rglob("*.py"))
        plain = check(package, SETTINGS, options.folder, "without")
        ours = check(package, SETTINGS + with_plugin, options.folder, f"with-{options.calls}")
        more, gone = ours.told - plain.told, plain.told - ours.told
        row = (
            f"{package:<18} {count:>8} {plain.seconds:>12.1f} {ours.seconds:>9.1f} {more.total():>11} {gone.total():>5}"
        )
        print(row, *sorted(more), sep="\n    ", flush=True)
        lines, new = lines + count, new + more.total()
    print(f"{new} new errors in {lines} lines")
    return 1 if new else 0


def install(names: list[str], folder: Path) -> Path:
    """The packages alone, in a folder that mypy takes for the program's own."""
    code = folder / "code"
    missing = [name for name in names if not (code / PACKAGES.get(name, name)).is_dir()]
    if missing:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(code), *missing]
        subprocess.run(command, check=True)
    return code


def check(package: str, settings: str, folder: Path, name: str) -> Run:
    """mypy over one package; what it knows of torch is read once and copied."""
    written = folder / f"{name}.ini"
    seed, cache = folder / f"seed-{name}", folder / f"cache-{name}"
    if not (written.exists() and seed.exists() and written.read_text() == settings):
        written.write_text(settings)
        (folder / "seed.py").write_text(SEED)
        shutil.rmtree(seed, ignore_errors=True)
        mypy("seed.py", cwd=folder, settings=written, cache=seed)
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(seed, cache)
    return mypy(package, cwd=folder / "code", settings=written, cache=cache)


def mypy(target: str, *, cwd: Path, settings: Path, cache: Path) -> Run:
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(cache)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([*command, "--no-error-summary", target], capture_output=True, text=True, cwd=cwd)
    if done.returncode not in (0, 1):
        raise SystemExit(f"mypy failed on {target}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return Run(Counter(row for row in done.stdout.splitlines() if ": note: " not in row), seconds)


if __name__ == "__main__":
    raise SystemExit(main())
