"""What the checkers that have no plugin (pyright, ty, pyrefly) say about the programs in a folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

OTHERS = ("pyright", "ty", "pyrefly")
BIN = Path(sys.executable).parent
ERROR = re.compile(r"^(?:ERROR )?(?P<path>[^:\n]+\.py):(?P<line>\d+):[\d-]+:? (?:error)?(?P<text>.*)$", re.MULTILINE)

Said = dict[str, dict[int, list[str]]]  # by module, by line


def errors(checker: str, folder: Path) -> Said:
    said: Said = defaultdict(lambda: defaultdict(list))
    for path, line, text in _pyright(folder) if checker == "pyright" else _with_lines(checker, folder):
        said[Path(path).stem][int(line)].append(text)
    return said


def _pyright(folder: Path) -> list[tuple[str, int, str]]:
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    return [
        (each["file"], each["range"]["start"]["line"] + 1, each["message"])
        for each in json.loads(done.stdout)["generalDiagnostics"]
        if each["severity"] == "error"
    ]


def _with_lines(checker: str, folder: Path) -> list[tuple[str, str, str]]:
    if checker == "ty":
        options = ["--python", str(BIN.parent), "--output-format", "concise"]
    else:
        config = folder / "pyrefly.toml"
        config.write_text('preset = "default"\n')  # Without a configuration, pyrefly checks little.
        options = ["--config", str(config), "--python-interpreter-path", sys.executable, "--output-format", "min-text"]
    command = [str(BIN / checker), "check", "--color", "never", *options, *sorted(map(str, folder.glob("*.py")))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return ERROR.findall(done.stdout)
