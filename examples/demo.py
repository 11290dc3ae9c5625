"""Run the digits, let mypy pass them, then plant mistakes and let mypy find every one of them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROGRAM = HERE / "digits.py"


class Mistake(NamedTuple):
    """A place in the program, what somebody writes there by mistake, and what the error must name."""

    right: str
    wrong: str
    names: tuple[str, ...]


MISTAKES = [
    Mistake(".loss(batch.label)", ".loss(batch.lable)", ("lable", "label")),
    Mistake("Digits(image=", "Digits(images=", ("images", "image")),
    Mistake(
        "tally.right = torch.bincount(label[guess == label], minlength=10).float()",
        "tally.right = torch.zeros(9)",
        ("'right'", "[9]", "[10]"),
    ),
    Mistake("count(unseen.label, guess)", "count(unseen.label, unseen.image)", ("'guess'", "[*batch, 8, 8]", '"n"')),
    Mistake("int(one.right)", "int(one['rihgt'])", ("'rihgt'", "'right'")),
    Mistake("tally.sum(0)", "tally.sum(1)", ("sum", "dim 1", "1 batch dim")),
    Mistake("reader.eval()(unseen)", "reader.eval()(unseen.image)", ("Tensor", "Digits")),
]


def plant(program: str) -> tuple[str, list[int]]:
    """The program with every mistake in it, and their lines."""
    lines = []
    for mistake in MISTAKES:
        if program.count(mistake.right) != 1:
            raise SystemExit(f"{PROGRAM.name} should hold {mistake.right!r} once")
        lines.append(program[: program.index(mistake.right)].count("\n") + 1)
        program = program.replace(mistake.right, mistake.wrong)
    return program, lines


def mypy(path: Path, cache: Path) -> list[str]:
    """The errors in a file, one a line."""
    options = [
        "--config-file",
        str(HERE / "mypy.ini"),
        "--cache-dir",
        str(cache),
        "--no-error-summary",
        "--hide-error-context",
    ]
    command = [sys.executable, "-m", "mypy", *options, path.name]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True)
    if done.returncode > 1 or done.stderr:
        raise SystemExit(f"mypy failed\n{done.stdout}{done.stderr}")
    return [line for line in done.stdout.splitlines() if ": error: " in line]


def heading(text: str) -> None:
    print(f"\n=== {text}", flush=True)


def main() -> int:
    heading(f"python {PROGRAM.name}")
    if subprocess.run([sys.executable, str(PROGRAM)]).returncode:
        return fail("the program did not reach its accuracy")

    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "cache")
        heading(f"mypy {PROGRAM.name}   (the first run reads torch and takes some seconds)")
        errors = mypy(PROGRAM, cache)
        print("\n".join(errors) or "no mistakes found")
        if errors:
            return fail("the program is right, but mypy refused it")

        twin = Path(folder, "digits_broken.py")
        text, lines = plant(PROGRAM.read_text())
        twin.write_text(text)
        heading(f"mypy {twin.name}   (the same program with {len(MISTAKES)} mistakes)")
        return show(text.splitlines(), lines, mypy(twin, cache))


def show(text: list[str], lines: list[int], errors: list[str]) -> int:
    """Print each mistake with its error; fail when an error is missing, or there is one more."""
    missed = []
    for line, mistake in sorted(zip(lines, MISTAKES, strict=True)):
        here = [error.split(": error: ")[1] for error in errors if error.split(":")[1] == str(line)]
        print(f"\n{line:4}: {text[line - 1].strip()}")
        print("\n".join(f"      mypy: {error}" for error in here) or "      mypy: nothing")
        if not any(all(name in error for name in mistake.names) for error in here):
            missed.append(f"line {line}: no error names {', '.join(mistake.names)}")
    extra = [error for error in errors if error.split(":")[1] not in map(str, lines)]
    if missed or extra:
        return fail("\n".join([*missed, *(f"not planted: {error}" for error in extra)]))
    print(f"\nall {len(MISTAKES)} mistakes were found, each by name")
    return 0


def fail(reason: str) -> int:
    print(f"\nFAILED: {reason}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
