"""The examples in docstrings run and print what they show."""

from __future__ import annotations

import doctest
import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> Iterator[str]:
    for base in (ROOT, ROOT / "mypy_plugin"):
        for path in sorted(base.glob("tensorclass*/**/*.py")):
            if ">>> " in path.read_text():
                yield ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", sorted(modules()))
def test_the_examples_of_a_module_run(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    source = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(source):
        if test.lineno is None:
            continue  # torch's own docstring, handed on
        test.globs = namespace(source, monkeypatch)
        torch.manual_seed(0)
        result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, clear_globs=False)
        assert result.failed == 0, test.name


def namespace(source: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a reader has at hand: torch, the public names, and those of the documented module."""
    module = types.ModuleType("docstring")
    # `annotations` would tell doctest to keep annotations as strings, which no reader's prompt does.
    own = {key: value for key, value in vars(source).items() if not key.startswith("__") and key != "annotations"}
    package = importlib.import_module("tensorclass")
    public = {each: getattr(package, each) for each in package.__all__}
    vars(module).update(public | {"torch": torch, "Tensor": torch.Tensor, "nn": torch.nn} | own)
    monkeypatch.setitem(sys.modules, module.__name__, module)  # annotations are looked up there
    return vars(module)
