"""The examples in docstrings run and print what they show."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import tensorclass

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> Iterator[str]:
    for base in (ROOT, ROOT / "mypy_plugin"):
        for path in sorted(base.glob("tensorclass*/**/*.py")):
            if ">>> " in path.read_text():
                yield ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", sorted(modules()))
def test_the_examples_of_a_module_run(name: str) -> None:
    public: dict[str, Any] = {each: getattr(tensorclass, each) for each in tensorclass.__all__}
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    for test in finder.find(module, extraglobs={"torch": torch, "nn": torch.nn} | public | vars(module)):
        torch.manual_seed(0)
        result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test)
        assert result.failed == 0, test.name
