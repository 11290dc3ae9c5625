"""Settings: [tool.tensorclass-mypy] in pyproject.toml, or [tensorclass-mypy] in mypy.ini."""

from __future__ import annotations

import configparser
import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mypy.options import Options

from tensorclass._rules import table

# What `module(x)` is for any nn.Module: Any (off); Any, with the number and names of its arguments checked (arguments);
# what forward gives (result); its whole signature (full).
LEVELS = ("off", "arguments", "result", "full")


@dataclass
class Config:
    """The settings, each with what holds when it is not given."""

    calls: str = "arguments"
    disable: set[str] = field(default_factory=set)  # Error codes that are not told.
    facts: bool = True  # Follow values through the program.


def read(options: Options) -> Config:
    """The settings from the file that mypy's own come from."""
    config = Config()
    path = options.config_file
    if not path:
        return config
    file = Path(path)
    try:
        found = _toml(file) if file.suffix == ".toml" else _ini(file)
    except Exception:  # mypy has said what is wrong with the file.
        return config
    level = found.get("calls", config.calls)
    if level in LEVELS:
        config.calls = str(level)
    codes = found.get("disable", ())
    if isinstance(codes, str):
        codes = codes.replace(",", " ").split()
    config.disable = {str(code) for code in codes}
    config.facts = str(found.get("facts", "true")).lower() not in ("false", "no", "0")
    return config


def _toml(file: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib  # type: ignore[import-not-found, no-redef, unused-ignore]  # Before 3.11.
    data = tomllib.loads(file.read_text())
    found: dict[str, Any] = data.get("tool", {}).get("tensorclass-mypy", {})
    return found


def _ini(file: Path) -> dict[str, Any]:
    parser = configparser.RawConfigParser()
    parser.read(file)
    for section in ("tensorclass-mypy", "tool:tensorclass-mypy"):
        if parser.has_section(section):
            return dict(parser.items(section))
    return {}


@cache
def table_hash() -> str:
    """Changes with the op table and with the plugin, so that no answer of an older one is taken from mypy's cache."""
    text = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    rows = sorted((op.name, op.family, [param.name for param in op.params]) for op in table.OPS.values())
    return hashlib.sha256(repr(rows).encode() + text).hexdigest()[:16]
