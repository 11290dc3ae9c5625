"""One mypy run over a folder of programs, and what the programs' own comments say it must tell.

`# E: sentence [code]` and `# N: note` stand at the end of the line that they are about, one after the other.
Write them anew with: python -m tests.typing.checked
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINE = re.compile(r"^(?P<file>[^:\n]+\.py):(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)$")
EXPECTED = re.compile(r"  # ([EN]): ")
# What mypy adds to an error of its own.
ASIDES = (
    "defined in",
    "See https://",
    "Error code",
    "Possible overload",
    "    def ",
    "Superclass:",
    "Subclass:",
    "This violates",
)

Told = dict[tuple[str, int], list[tuple[str, str]]]


def cache() -> Path:
    """mypy's cache, kept between runs: reading torch takes most of the time."""
    return Path(tempfile.gettempdir()) / f"tensorclass-typing-cache-{sys.version_info[1]}"


def small() -> str:
    """Settings under which torch is the small one of stubs/."""
    return f"[mypy]\nplugins = tensorclass_mypy\nmypy_path = {ROOT / 'stubs'}\nfollow_imports = silent\n"


def mypy(*arguments: str, cwd: Path = ROOT, config: str = "", cache_dir: Path | None = None) -> str:
    """What mypy says, with the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "mypy.ini"
        settings.write_text(config or "[mypy]\nplugins = tensorclass_mypy\n")
        command = [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--no-pretty",
            "--hide-error-context",
        ]
        command += ["--config-file", str(settings), "--cache-dir", str(cache_dir or cache()), *arguments]
        run = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.stdout


def told(output: str) -> Told:
    """Errors and notes by file name and line."""
    found: Told = defaultdict(list)
    for row in output.splitlines():
        match = LINE.match(row)
        if match is None or any(aside in match["text"] for aside in ASIDES):
            continue
        found[Path(match["file"]).name, int(match["line"])].append(
            (match["kind"][0].upper(), match["text"].replace("  [", " ["))
        )
    return found


def expected(folder: Path) -> Told:
    """What the comments of the programs in a folder say."""
    found: Told = defaultdict(list)
    for path in sorted(folder.glob("*.py")):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            parts = EXPECTED.split(text)[1:]
            for kind, sentence in zip(parts[::2], parts[1::2]):
                found[path.name, number].append((kind, sentence.strip()))
    return found


def difference(wanted: Told, got: Told) -> list[str]:
    """Where the two differ, a line each."""
    rows = []
    for key in sorted(wanted.keys() | got.keys()):
        missing = [one for one in wanted.get(key, []) if one not in got.get(key, [])]
        extra = [one for one in got.get(key, []) if one not in wanted.get(key, [])]
        rows += [f"{key[0]}:{key[1]}: not told: {kind}: {text}" for kind, text in missing]
        rows += [f"{key[0]}:{key[1]}: told: {kind}: {text}" for kind, text in extra]
    return rows


def update(folder: Path, config: str = "") -> None:
    """Write what mypy says into the programs."""
    got = told(mypy(str(folder), config=config, cache_dir=ROOT / ".mypy_cache" / "small" if config else None))
    for path in sorted(folder.glob("*.py")):
        rows = []
        for number, text in enumerate(path.read_text().splitlines(), 1):
            bare = EXPECTED.split(text)[0]
            rows.append(
                bare + "".join(f"  # {kind}: {sentence}" for kind, sentence in got.get((path.name, number), []))
            )
        path.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    for name in ("refuses", "says", "pairs"):
        update(HERE / name)
    update(HERE / "small", small())
