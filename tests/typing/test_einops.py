"""einops: what the patterns of rearrange, reduce and repeat make of a shape."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.typing.checked import mypy, told

STUB = """
from typing import Any
from torch import Tensor
def rearrange(tensor: Tensor, pattern: str, **axes_lengths: int) -> Tensor: ...
def reduce(tensor: Tensor, pattern: str, reduction: str, **axes_lengths: int) -> Tensor: ...
def repeat(tensor: Tensor, pattern: str, **axes_lengths: int) -> Tensor: ...
"""

# A call of a tensor of 2, 3, 4 and 12 elements a dim, and the shape that comes of it, or what is wrong.
CALLS: dict[str, str] = {
    'rearrange(x, "a b c d -> d (a c) b")': "[12, 8, 3]",
    'rearrange(x, "a b c (h d) -> a h (b c) d", h=3)': "[2, 3, 12, 4]",
    'rearrange(x, "a b c (h w p) -> a b c w h p", h=2, p=3)': "[2, 3, 4, 2, 2, 3]",
    'rearrange(x, "... (h d) -> ... h d", d=6)': "[2, 3, 4, 2, 6]",
    'rearrange(x, "a ... d -> d ... a")': "[12, 3, 4, 2]",
    'rearrange(x, "a b c d -> a b 1 (c d) ()")': "[2, 3, 1, 48, 1]",
    'reduce(x, "a b c d -> b d", "mean")': "[3, 12]",
    'reduce(x, "a b (c two) d -> a c", "max", two=2)': "[2, 2]",
    'reduce(x, "... d -> d", "sum")': "[12]",
    'repeat(x, "a b c d -> a n b c d", n=5)': "[2, 5, 3, 4, 12]",
    'repeat(x, "a b c d -> a (b two) c (d three)", two=2, three=3)': "[2, 6, 4, 36]",
    'repeat(x[0, 0], "c d -> 7 c d")': "[7, 4, 12]",
    'rearrange(x, "a b c -> a c b")': 'rearrange: the tensor has shape [2, 3, 4, 12], and "a b c" has 3 dims',
    'rearrange(x, "a b c (h d) -> a b c h d", h=5)': "rearrange: (h d) is 12, no multiple of 5",
    'rearrange(x, "a b c (h d) -> a b c h d", h=3, d=3)': "rearrange: (h d) is 9, and the dim is 12",
    'rearrange(x, "a b c d -> a b c")': 'rearrange: d stands on one side of "a b c d -> a b c" alone',
    'reduce(x[0], "a b c d -> a", "sum")': 'reduce: the tensor has shape [3, 4, 12], and "a b c d" has 4 dims',
}


@pytest.mark.slow
def test_a_pattern_says_the_shape(tmp_path: Path) -> None:
    (tmp_path / "einops").mkdir()
    (tmp_path / "einops" / "__init__.pyi").write_text(STUB)
    head = ["import torch", "from einops import rearrange, reduce, repeat", "x = torch.zeros(2, 3, 4, 12)"]
    head += ["def calls(n: int, pattern: str) -> None:", "    x = torch.zeros(2, 3, 4, 12)"]
    # An index with too many dims tells the shape.
    rows = [
        f"    {call}{'' if wanted[0] != '[' else '[' + ', '.join('0' * 12) + ']'}" for call, wanted in CALLS.items()
    ]
    silent = [
        "    rearrange(x, pattern).view(7)",
        '    rearrange(x, "a b c (h d) -> a b c h d", h=n).view(2, 3, 4, 7, 7)[0, 0, 0, 0, 0]',
        '    rearrange(x, "a b c (h d) -> (a b c h d)")',
        '    repeat(x, "a b c d -> a b c d n", n=n)[0, 0, 0, 0, 0]',
    ]
    (tmp_path / "calls.py").write_text("\n".join([*head, *rows, *silent]) + "\n")

    said = told(mypy("calls.py", cwd=tmp_path, config=f"[mypy]\nplugins = tensorclass_mypy\nmypy_path = {tmp_path}\n"))

    assert not [place for place in said if place[1] > len(head) + len(rows)]
    for number, wanted in enumerate(CALLS.values(), len(head) + 1):
        words = " ".join(word for (_, line), row in said.items() if line == number for _, word in row)
        shape = re.search(r"\(shape (\[.*?\])\)", words)
        assert wanted == (shape[1] if shape is not None else words.rpartition(" [")[0])


def test_einops_gives_these_shapes() -> None:
    einops = pytest.importorskip("einops")
    torch = pytest.importorskip("torch")
    for call, wanted in CALLS.items():
        names = {
            "x": torch.zeros(2, 3, 4, 12),
            **{name: getattr(einops, name) for name in ("rearrange", "reduce", "repeat")},
        }
        if wanted[0] == "[":
            assert str(list(eval(call, names).shape)) == wanted
        else:
            with pytest.raises(einops.EinopsError):
                eval(call, names)
