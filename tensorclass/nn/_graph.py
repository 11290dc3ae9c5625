"""What reads and writes what, as text and as a picture."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import nn

from .._rules.flow import written
from .._rules.keys import Key


class Step(NamedTuple):
    """A module on the way of the data."""

    name: str
    reads: tuple[Key, ...]
    writes: tuple[Key, ...]


class Graph:
    """The steps of a module, and which keys run between them."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps

    def __repr__(self) -> str:
        return "\n".join(
            [f"{shown_keys(step.reads)} -> {step.name} -> {shown_keys(step.writes)}" for step in self.steps]
        )

    def edges(self) -> Iterator[tuple[str, str]]:
        """Pairs of what gives and what takes, keys and steps by their names."""
        for place, step in enumerate(self.steps):
            for key in step.reads:
                yield f"key:{_word(key)}", f"step:{place}"
            for key in written(step.writes):
                yield f"step:{place}", f"key:{_word(key)}"

    def _nodes(self) -> dict[str, str]:
        keys = {f"key:{_word(key)}": _word(key) for step in self.steps for key in (*step.reads, *written(step.writes))}
        return {**keys, **{f"step:{place}": step.name.splitlines()[0] for place, step in enumerate(self.steps)}}

    def mermaid(self) -> str:
        """The source of a Mermaid flow chart."""
        ids = {node: f"n{place}" for place, node in enumerate(self._nodes())}
        lines = ["flowchart LR"]
        for node, text in self._nodes().items():
            quoted = text.replace('"', "#quot;")
            lines.append(
                f'    {ids[node]}(["{quoted}"])' if node.startswith("key:") else f'    {ids[node]}["{quoted}"]'
            )
        lines += [f"    {ids[one]} --> {ids[other]}" for one, other in self.edges()]
        return "\n".join(lines)

    def dot(self) -> str:
        """The source of a Graphviz graph."""
        lines = ["digraph {", "    rankdir=LR"]
        for node, text in self._nodes().items():
            shape = "ellipse" if node.startswith("key:") else "box"
            lines.append(f"    {_quoted(node)} [label={_quoted(text)}, shape={shape}]")
        lines += [f"    {_quoted(one)} -> {_quoted(other)}" for one, other in self.edges()]
        return "\n".join([*lines, "}"])


def graph_of(module: Any) -> Graph:
    """The graph of a module: of the steps of a sequence, nested ones laid flat."""
    return Graph(list(_steps(module)))


def _steps(module: Any) -> Iterator[Step]:
    inner = getattr(module, "_steps", None)
    if inner is None:
        yield Step(name_of(_called(module)), tuple(module.in_keys), tuple(module.out_keys_source))
    else:
        for one in inner():
            yield from _steps(one)


def flow_line(module: Any) -> str:
    """A module on a line: what it reads, what it calls, what it writes."""
    return f"{shown_keys(module.in_keys)} -> {name_of(_called(module))} -> {shown_keys(module.out_keys)}"


def _called(module: Any) -> object:
    """What a module by key wraps; of one that wraps nothing, the name of its class."""
    inner = [getattr(module, name, None) for name in ("module", "func", "tc_module")]
    return next((one for one in inner if one is not None), type(module).__name__)


def name_of(module: object) -> str:
    """A module, or a function with the place where it is written."""
    if isinstance(module, str):
        return module
    if isinstance(module, types.FunctionType):
        code = module.__code__
        return f"{module.__name__} ({code.co_filename.rpartition('/')[2]}:{code.co_firstlineno})"
    return repr(module) if isinstance(module, nn.Module) else getattr(module, "__name__", repr(module))


def short_name(module: object) -> str:
    """A module on one line."""
    return type(module).__name__ if isinstance(module, nn.Module) else name_of(module)


def shown_keys(keys: Any) -> str:
    """Keys as they are printed: [x, robot.joints]."""
    return f"[{', '.join(_word(key) for key in keys)}]"


def _word(key: Key) -> str:
    return key if isinstance(key, str) else ".".join(key)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
