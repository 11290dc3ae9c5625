"""Random programs: each statement is run with torch, and mypy's word on its line is held against what came.

`python -m tests.typing.fuzz 200 --seed 1` prints false alarms, wrong shapes and, by family, the mistakes left untold.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tests.typing.checked import mypy, told
from tests.typing.fuzz_statements import STATEMENTS, fill

HEAD = """\
from __future__ import annotations

from typing import Generic, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from typing_extensions import Self

from tensorclass import TensorClass, TensorDict, cat, lazy_stack, reveal_batch, stack

T = TypeVar("T")


class Point(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]

    def moved(self, by: float) -> Self:
        return self.replace(pos=self.pos + by)

    def heavy(self) -> Float[Tensor, "*batch 3"]:
        return self.pos * self.mass[..., None]


class Body(Point):
    spin: Int[Tensor, "*batch 2 2"]


class Link(TensorClass):
    left: Point
    right: Point | None
    label: Int[Tensor, "*batch"]


class Bag(TensorClass, Generic[T]):
    item: T
    weight: Float[Tensor, "*batch k"]


def dot(x: Float[Tensor, "n d"], y: Float[Tensor, "n d"]) -> Float[Tensor, "n"]:
    assert x.shape == y.shape and x.ndim == 2 and x.is_floating_point() and y.is_floating_point()
    return (x * y).sum(1)


def rows(x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
    assert x.is_floating_point() and x.ndim
    return x.sum(-1)


def point(*batch: int) -> Point:
    return Point(pos=torch.zeros(*batch, 3), mass=torch.ones(batch), batch_size=batch)


def untyped(x):  # type: ignore[no-untyped-def]
    return x
"""
LARGEST, DEEPEST = 4096, 6
PROBE = "[" + ", ".join("0" * 12) + "]"
CODE = re.compile(r"\[tensorclass-[\w-]+\]$")


@dataclass
class Line:
    """One statement of a program."""

    text: str
    family: str
    template: str
    raised: str = ""
    shape: tuple[int, ...] | None = None  # Of the value that a line of a probe is about.


@dataclass
class Program:
    """Statements that run one after the other; those that raise leave nothing behind."""

    lines: list[Line] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def add(self, line: Line, names: dict[str, Any]) -> None:
        self.lines.append(line)
        for name, value in names.items():
            self.values[name] = value
            self.probe(name)

    def probe(self, name: str) -> None:
        value = self.values[name]
        is_tensor = isinstance(value, torch.Tensor)
        text = f"{name}{PROBE}" if is_tensor else f"reveal_batch({name})"
        shape = tuple(value.shape if is_tensor else value.batch_size)
        self.lines.append(Line(text, self.lines[-1].family, self.lines[-1].template, shape=shape))


def is_kept(value: Any) -> bool:
    shape = getattr(value, "shape", None) if isinstance(value, torch.Tensor) else getattr(value, "batch_size", None)
    return shape is not None and len(shape) <= DEEPEST and torch.Size(shape).numel() <= LARGEST


def program(chance: random.Random, head: dict[str, Any], length: int) -> Program:
    """A program of so many statements, about a third of them mistakes."""
    made, number = Program(), 0
    wrong: Counter[str] = Counter()
    while number < length:
        family = chance.choice(list(STATEMENTS)) if number > 5 else chance.choice(["tensors", "containers"])
        template = chance.choice(STATEMENTS[family])
        text = fill(template, chance, made.values)
        if text is None:
            continue
        name = f"v{number}"
        given = {**head, **made.values}
        statement = text.replace("{v}", name) if "{v}" in text else f"{name} = {text}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.filterwarnings("error", "Using a target size")  # torch says it is likely a mistake.
                torch.manual_seed(0)
                exec(statement, given)
        except SyntaxError:
            continue  # A batch without dims left a hole.
        except Exception as error:
            if wrong[family] < 3:
                wrong[family] += 1
                bare = text.replace("{v}", "wrong") if "{v}" in text else text
                made.lines.append(Line(bare, family, template, raised=f"{type(error).__name__}: {error}"[:150]))
            continue
        number += 1
        value = given.get(name)
        made.add(Line(statement, family, template), {name: value} if is_kept(value) else {})
    for name in made.values:  # Once more: what came later may have changed them.
        made.probe(name)
    return made


def source(programs: list[Program]) -> tuple[str, dict[int, Line]]:
    """One file with a function for each program, and which statement stands on which lines."""
    rows, places = HEAD.splitlines(), {}
    for number, made in enumerate(programs):
        rows += ["", "", f"def program_{number}() -> None:"]
        for line in made.lines:
            for row in line.text.splitlines():
                rows.append(f"    {row}")
                places[len(rows)] = line
    return "\n".join(rows) + "\n", places


@dataclass
class Found:
    """What came of a comparison."""

    alarms: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    missed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    caught: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def compare(programs: list[Program], cache_dir: Path | None = None, keep: Path | None = None) -> Found:
    """Run mypy over the programs and hold its words against what happened."""
    text, places = source(programs)
    with tempfile.TemporaryDirectory() as folder:
        path = keep or Path(folder) / "programs.py"
        path.write_text(text)
        said: dict[int, list[str]] = defaultdict(list)
        for (_, number), rows in told(mypy(str(path), cache_dir=cache_dir)).items():
            said[number] += [word for _, word in rows]
    found = Found()
    by_line: dict[int, tuple[Line, int, list[str]]] = {}
    for number, line in places.items():
        by_line.setdefault(id(line), (line, number, []))[2].extend(said[number])
    for line, number, words in by_line.values():
        judge(found, line, f"{number}: {line.text}", words)
    return found


def judge(found: Found, line: Line, where: str, words: list[str]) -> None:
    ours = [word for word in words if CODE.search(word)]
    if line.shape is not None:
        shape = shape_told(words)
        fits = shape is None or (
            len(shape) == len(line.shape) and all(a == str(b) or not a.isdigit() for a, b in zip(shape, line.shape))
        )
        if shape is None:
            found.unknown[line.family].append(f"{where}  ({line.template})")
        elif not fits:
            found.wrong.append(f"{where}: {shape} is said, {line.shape} came  ({line.template})")
        else:
            found.known[line.family] += 1
    elif line.raised:
        if words:
            found.caught[line.family] += 1
        else:
            found.missed[line.family].append(f"{where}  ({line.template})  {line.raised}")
    elif ours:
        found.alarms.append(f"{where}: {ours}")


def shape_told(words: list[str]) -> list[str] | None:
    """The sizes that a probe's line was told; None: nothing is known, or not how many dims there are."""
    for word in words:
        match = re.search(r"\(shape \[(.*?)\]\)|^batch \((.*?),?\)", word)
        if match is not None:
            text = match[1] if match[1] is not None else match[2]
            row = [one.strip() for one in text.split(",") if one.strip()]
            return None if any(one.startswith(("*", "...")) for one in row) else row
    return None


def fuzz(count: int, seed: int, length: int = 25, cache_dir: Path | None = None, keep: Path | None = None) -> Found:
    head = ModuleType("fuzz_head")
    sys.modules[head.__name__] = head  # Where a dataclass looks its names up.
    exec(compile(HEAD, "<head>", "exec"), head.__dict__)
    chance = random.Random(seed)
    return compare([program(chance, head.__dict__, length) for _ in range(count)], cache_dir, keep)


def report(found: Found, show: Callable[[str], None] = print, each: int = 8) -> None:
    for name, rows in (("false alarm", found.alarms), ("wrong shape", found.wrong)):
        for row in rows:
            show(f"{name}: {row}")
    for family in STATEMENTS:
        missed, caught, unknown = found.missed[family], found.caught[family], found.unknown[family]
        show(
            f"{family}: {caught} of {caught + len(missed)} mistakes told, "
            f"{found.known[family]} of {found.known[family] + len(unknown)} shapes known"
        )
        for row in random.Random(0).sample(missed, min(each, len(missed))):
            show(f"    missed: {row}")
        for row in random.Random(0).sample(unknown, min(each, len(unknown))):
            show(f"    unknown: {row}")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("count", type=int)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--each", type=int, default=8)
    options.add_argument("--cache-dir", type=Path)
    options.add_argument("--keep", type=Path, help="where to write the programs")
    chosen = options.parse_args()
    report(fuzz(chosen.count, chosen.seed, cache_dir=chosen.cache_dir, keep=chosen.keep), each=chosen.each)
