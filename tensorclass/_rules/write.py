"""Write what the table says: python -m tensorclass._rules.write (with --check: only say whether it is fresh)."""

from __future__ import annotations

import sys
from pathlib import Path

from . import along, folds, joins, moves, pointwise, table  # The modules that fill the table.
from .table import EMPTY, Op, Param

HERE = Path(__file__).resolve().parent.parent
NOTE = '"""{what}\n\nWritten by python -m tensorclass._rules.write; do not edit.\n"""\n\n'
MODULE = {"move": "_moves", "along": "_along", "split": "_along"}


def signature(op: Op) -> str:
    """The parameters as the method spells them."""
    shown = ["self"]
    for param in op.params:
        text = f"{'*' if param.role.star else ''}{param.name}: {param.role.type}"
        if param.default is not EMPTY:
            text += f" = {param.default!r}"
        shown.append(text)
    return ", ".join(shown)


def canonical_lines(op: Op, param: Param) -> list[str]:
    """The code that turns an argument into its one form."""
    name, role = param.name, param.role.name
    call = {
        "dim": f'_dims.dim_in("{op.name}", {name}, n)',
        "new_dim": f'_dims.new_dim_in("{op.name}", {name}, n)',
        "dims": f'_dims.dims_in("{op.name}", {name}, n)',
        "permutation": f'_dims.permutation("{op.name}", {name}, n)',
        "sizes": f"_dims.spread({name})",
    }.get(role)
    return [f"{'shape' if name == 'shape' else name}{'_' if retyped(param) else ''} = {call}"] if call else []


def retyped(param: Param) -> bool:
    """Whether the canonical form has another type than the argument, and so another name."""
    return param.role.name in ("dims", "permutation", "sizes")


def arguments(op: Op) -> str:
    """The canonical arguments, as the rule takes them."""
    return ", ".join(f"{param.name}_" if retyped(param) else param.name for param in op.params)


def leaf_call(op: Op) -> str:
    """The call on one tensor, with canonical arguments."""
    text = op.leaf
    for param in op.params:
        if retyped(param):
            text = text.replace(f"*{param.name},", f"*{param.name}_,").replace(f"({param.name})", f"({param.name}_)")
            text = text.replace(f"({param.name}, ", f"({param.name}_, ").replace(
                f", {param.name})", f", {param.name}_)"
            )
    return text.replace("pieces", "split_size")


def node_call(op: Op, leaf: str) -> str:
    """The same call on a nested container: its batch size is its shape."""
    method, rest = leaf[2:].split("(", 1)
    rest = rest.replace("v.shape", "v._batch").replace("v.ndim", "len(v._batch)")
    return f"type(v).{method}(v, {rest}" if rest != ")" else f"type(v).{method}(v)"


def doc(op: Op, indent: str = "        ") -> str:
    """The docstring, indented."""
    lines = op.doc.splitlines()
    body = "\n".join(f"{indent}{line}" if line else "" for line in lines)
    return f'{indent}"""{body.strip()}' + ('"""' if len(lines) == 1 else f'\n{indent}"""')


def move_method(op: Op) -> str:
    """One shape op: the rule, then the leaf call in a loop of its own."""
    leaf = leaf_call(op)
    node = node_call(op, leaf)
    lines = [
        f"    def {op.name}({signature(op)}) -> {'tuple[Self, ...]' if op.family == 'split' else 'Self'}:",
        doc(op),
    ]
    lines += ["        batch = self._batch", "        n = len(batch)"]
    for param in op.params:
        lines += [f"        {line}" for line in canonical_lines(op, param)]
    rule = f"{MODULE[op.family]}.{op.rule.__name__}(batch, {arguments(op)})"
    if op.family == "split":
        return "\n".join([*lines, *split_body(op, leaf, node, rule)])
    if op.name == "repeat_interleave":
        lines += [f"        moves = {rule}", "        new = rows_after(batch, dim, repeats)"]
        names = "None if self._names is None else names_after(self._names, moves)"
    elif op.name in ("reshape", "view"):
        lines += [f'        new = _dims.filled("{op.name}", shape_, batch)']
        names = f"None if self._names is None else names_after(self._names, {rule})"
    else:
        lines += [f"        moves = {rule}", "        new = result(batch, moves)"]
        names = "None if self._names is None else names_after(self._names, moves)"
    if op.name in ("reshape", "view", "expand"):
        lines += [
            "        if not new:  # To torch, v.reshape() without sizes is no call.",
            "            return type(self).squeeze(self)",
        ]
    lines += [
        "        try:",
        "            fields = {",
        f"                k: {leaf}",
        "                if isinstance(v, Tensor)",
        f"                else {node}",
        "                if isinstance(v, MoveMethods)",
        "                else v",
        "                for k, v in self._fields.items()",
        "            }",
        "        except RuntimeError as error:",
        f'            explain("{op.name}", self, error)',
        "            raise",
        f"        return viewed(self, self._rebuild(fields, new, {names}))"
        if op.name == "view"
        else f"        return self._rebuild(fields, new, {names})",
    ]
    return "\n".join(lines)


def aliases(op: Op) -> str:
    """The other names of torch for the same method."""
    others = [name for name in op.torch if name != op.name and name != "split_with_sizes"]
    return "\n\n    " + " = ".join([*others, op.name]) if others else ""


def split_body(op: Op, leaf: str, node: str, rule: str) -> list[str]:
    """One container in, several out."""
    names = (
        "self._names" if op.name != "unbind" else "None if self._names is None else names_after(self._names, parts[0])"
    )
    return [
        f"        parts = {rule}",
        "        cut = {",
        f"            k: {leaf} if isinstance(v, Tensor) else {node}",
        "            for k, v in self._fields.items()",
        "            if isinstance(v, (Tensor, MoveMethods))",
        "        }",
        f"        names = {names} if parts else None",
        "        fields = self._fields",
        "        return tuple([",
        "            self._rebuild({k: cut[k][i] if k in cut else v for k, v in fields.items()}, result(batch, part), names)",
        "            for i, part in enumerate(parts)",
        "        ])",
    ]


def planned_method(op: Op) -> str:
    """The same op of a thing that carries out moves by itself: a lazy stack, a spec."""
    many = op.family == "split"
    lines = [f"    def {op.name}({signature(op)}) -> {'tuple[Self, ...]' if many else 'Self'}:"]
    lines += [f'        """{op.doc.splitlines()[0]}"""', "        batch = self._batch"]
    if any(param.role.name in ("dim", "new_dim", "dims", "permutation") for param in op.params):
        lines.append("        n = len(batch)")
    for param in op.params:
        lines += [f"        {line}" for line in canonical_lines(op, param)]
    rule = f"{MODULE[op.family]}.{op.rule.__name__}(batch, {arguments(op)})"
    given = ", ".join(f'"{p.name}": {p.name}{"_" if retyped(p) else ""}' for p in op.params)
    do = {"move": "_move", "along": "_along", "split": "_split"}[op.family]
    rules = f"lambda: {rule}" if op.family != "move" else rule
    lines += [f'        return self.{do}("{op.name}", {rules}, {{{given}}})']
    return "\n".join(lines)


def moves_file() -> str:
    """_methods/moves.py."""
    rows = [op for op in table.OPS.values() if op.family in MODULE]
    head = NOTE.format(what="Shape ops of dense containers.")
    head += (
        "from __future__ import annotations\n\nfrom collections.abc import Sequence\n\nfrom torch import Tensor\n"
        "from typing_extensions import Self\n\nfrom .._rules import along as _along\nfrom .._rules import dims as _dims\n"
        "from .._rules import moves as _moves\nfrom .._rules.shapes import names_after, result\n"
        "from .._tree.along import rows_after, wide\nfrom .._tree.blocks import viewed\nfrom .._tree.explain import explain\nfrom .._tree.node import Node\n\n\n"
        'class MoveMethods(Node):\n    """Shape ops, each a loop over the entries."""\n\n    __slots__ = ()\n\n'
    )
    return head + "\n\n".join(move_method(op) + aliases(op) for op in rows) + "\n"


def planned_file() -> str:
    """_methods/planned.py."""
    rows = [op for op in table.OPS.values() if op.family in MODULE]
    head = NOTE.format(what="Shape ops of lazy stacks and specs.")
    head += (
        "from __future__ import annotations\n\nfrom collections.abc import Sequence\n\nfrom torch import Tensor\n"
        "from typing_extensions import Self\n\nfrom .._rules import along as _along\nfrom .._rules import dims as _dims\n"
        "from .._rules import moves as _moves\nfrom .._tree.planned import Planned\n\n\n"
        'class PlannedMoves(Planned):\n    """Shape ops, each handed on with its moves."""\n\n    __slots__ = ()\n\n'
    )
    return head + "\n\n".join(planned_method(op) + aliases(op) for op in rows) + "\n"


def fold_method(op: Op) -> str:
    """One reduction."""
    many = op.leaf == "many"
    extra = {"sum": "dtype", "mean": "dtype", "prod": "dtype", "nansum": "dtype", "nanmean": "dtype"}.get(op.name)
    extra = "correction" if op.name in ("std", "var") else extra
    keyword = {"dtype": ", dtype: torch.dtype | None = None", "correction": ", correction: int = 1"}.get(
        extra or "", ""
    )
    options = {"dtype": "{} if dtype is None else {'dtype': dtype}", "correction": "{'correction': correction}"}
    given = options.get(extra or "", "{}")
    name = op.name
    first = f'        """{op.doc}\n\n        reduce=True folds everything to one tensor; dim="feature" folds the feature dims.\n        """'
    kinds = "int | str | Sequence[int | str] | None"
    if name in ("any", "all"):
        return "\n".join([
            "    @overload",
            f"    def {name}(self, dim: None = None) -> bool: ...",
            "    @overload",
            f"    def {name}(self, dim: int | str | Sequence[int | str], keepdim: bool = False) -> Self: ...",
            f"    def {name}(self, dim: {kinds} = None, keepdim: bool = False) -> Self | bool:",
            f'        """{op.doc.replace("every leaf is folded whole", "the answer is one bool")}"""',
            "        if dim is None and not keepdim:",
            f'            return truth("{name}", self)',
            f'        return reduce("{name}", self, dim, keepdim, True, {{}})',
        ])  # fmt: skip
    return "\n".join([
        "    @overload",
        f"    def {name}(self, dim: {kinds} = None, keepdim: bool = False, *, reduce: Literal[False] = False{keyword}) -> Self: ...",
        "    @overload",
        f"    def {name}(self, dim: {kinds} = None, keepdim: bool = False, *, reduce: Literal[True]{keyword}) -> Tensor: ...",
        f"    def {name}(",
        f"        self, dim: {kinds} = None, keepdim: bool = False, *, reduce: bool = False{keyword}",
        "    ) -> Self | Tensor:",
        first,
        "        if reduce:",
        f'            return whole("{name}", self, {given})',
        f'        return _reduce("{name}", self, dim, keepdim, {many}, {given})',
    ])  # fmt: skip


def folds_file() -> str:
    """_methods/folds.py."""
    head = NOTE.format(what="Reductions.")
    head += (
        "from __future__ import annotations\n\nfrom collections.abc import Sequence\nfrom typing import Literal, overload\n\n"
        "import torch\nfrom torch import Tensor\nfrom typing_extensions import Self\n\n"
        "from .._tree.fold import reduce as _reduce\nfrom .._tree.fold import truth, whole\nfrom .._tree.node import Node\n\n\n"
        'class FoldMethods(Node):\n    """Reductions over batch dims, feature dims or everything."""\n\n    __slots__ = ()\n\n'
    )
    rows = [op for op in table.OPS.values() if op.family == "fold"]
    body = "\n\n".join(fold_method(op) for op in rows).replace("return reduce(", "return _reduce(")
    return head + body + "\n"


def pointwise_file() -> str:
    """_methods/pointwise.py."""
    head = NOTE.format(what="Pointwise ops, comparisons and operators.")
    head += (
        "from __future__ import annotations\n\nfrom typing import Any\n\nimport torch\nfrom torch import Tensor\n"
        "from typing_extensions import Self\n\nfrom .._tree import grouped as _grouped\nfrom .._tree import inplace as _inplace\n"
        "from .._tree import pair as _pair\nfrom .._tree.node import Node\n\n"
        "Other = Any  # A container with the same keys, a batch-shaped tensor or array, or a number.\n\n\n"
        'class PointwiseMethods(Node):\n    """Ops that leave the batch as it is, or broadcast it."""\n\n    __slots__ = ()\n\n'
    )
    out = []
    for name in [*pointwise.UNARY, *pointwise.UNARY_BOOL]:
        out.append(unary_method(name))
    for name in pointwise.INPLACE_UNARY:
        out.append(
            f'    def {name}_(self) -> Self:\n        """Apply torch.{name} to every leaf, in place."""\n'
            f'        return _inplace.each("{name}_", self, Tensor.{name}_{in_place_group(name)})'
        )
    for name in pointwise.BINARY:
        out.append(binary_method(name))
    for name in pointwise.COMPARE:
        out.append(
            f'    def {name}(self, other: Other) -> Self:\n        """Apply torch.{name} to every pair of leaves: bool leaves."""\n'
            f'        return _pair.compare("{name}", self, other, torch.{name})  # type: ignore[no-any-return]'
        )
    for name in pointwise.INPLACE_BINARY:
        out.append(
            f'    def {name}_(self, other: Other) -> Self:\n        """Apply torch.{name} to every pair of leaves, in place."""\n'
            f'        return _pair.in_place("{name}_", self, other, Tensor.{name}_{in_place_group(name)})'
        )
    out += operators()
    return head + "\n\n".join(out) + "\n"


def in_place_group(name: str) -> str:
    """The grouped kernel that writes, as a last argument, where there is one."""
    return f", torch._foreach_{name}_" if name in pointwise.FOREACH else ""


def unary_method(name: str) -> str:
    """One pointwise op of one container."""
    group = f"torch._foreach_{name}" if name in pointwise.FOREACH else "None"
    return (
        f'    def {name}(self) -> Self:\n        """Apply torch.{name} to every leaf."""\n'
        f"        return _grouped.unary(self, torch.{name}, {group})"
    )


def binary_method(name: str) -> str:
    """One pointwise op of two."""
    group = f"torch._foreach_{name}" if name in pointwise.FOREACH else "None"
    head = f'        """Apply torch.{name} to every pair of leaves."""\n'
    if name in ("add", "sub"):
        return (
            f"    def {name}(self, other: Other, *, alpha: float = 1) -> Self:\n{head}"
            "        if alpha != 1:\n"
            f'            return _pair.binary("{name}", self, other, lambda a, b: torch.{name}(a, b, alpha=alpha), None)\n'
            f'        return _pair.binary("{name}", self, other, torch.{name}, {group})'
        )
    if name == "div":
        return (
            f"    def div(self, other: Other, *, rounding_mode: str | None = None) -> Self:\n{head}"
            "        if rounding_mode is not None:\n"
            '            return _pair.binary("div", self, other, lambda a, b: torch.div(a, b, rounding_mode=rounding_mode), None)\n'
            f'        return _pair.binary("div", self, other, torch.div, {group})'
        )
    call = f"torch.{name}"
    if name in NO_NUMBERS:
        call, group = f"_pair.with_tensor(torch.{name})", "None" if name not in pointwise.FOREACH else group
    return f'    def {name}(self, other: Other) -> Self:\n{head}        return _pair.binary("{name}", self, other, {call}, {group})'


NO_NUMBERS = ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp")


def operators() -> list[str]:
    """The methods behind + - * / and the comparisons."""
    out = []
    for dunder, name in pointwise.DUNDERS.items():
        group = f"torch._foreach_{name}" if name in pointwise.FOREACH else "None"
        out.append(
            f"    def __{dunder}__(self, other: Other) -> Self:\n"
            f'        return _pair.binary("{name}", self, other, torch.{name}, {group})'
        )
        out.append(
            f"    def __r{dunder}__(self, other: Other) -> Self:\n"
            f'        return _pair.reflected("{name}", self, other, torch.{name})'
        )
        if name in pointwise.INPLACE_BINARY:
            out.append(
                f"    def __i{dunder}__(self, other: Other) -> Self:\n"
                f'        return _pair.in_place("{name}_", self, other, Tensor.{name}_{in_place_group(name)})'
            )
    for name in pointwise.DUNDER_COMPARE:
        ignore = "  # type: ignore[override]" if name in ("eq", "ne") else ""
        out.append(
            f"    def __{name}__(self, other: Other) -> Self:{ignore}\n"
            f'        return _pair.compare("{name}", self, other, torch.{name})  # type: ignore[no-any-return]'
        )
    out.append("    __hash__ = None  # type: ignore[assignment]  # == is elementwise, so there is nothing to hash by.")
    for dunder, name in pointwise.DUNDER_UNARY.items():
        out.append(
            f"    def __{dunder}__(self) -> Self:\n        return _grouped.unary(self, torch.{name}, "
            + (f"torch._foreach_{name})" if name in pointwise.FOREACH else "None)")
        )
    out.append("    def __invert__(self) -> Self:\n        return _grouped.unary(self, torch.bitwise_not, None)")
    return out


def functions_file() -> str:
    """_methods/functions.py."""
    names = {torch: op.name for op in table.OPS.values() for torch in op.torch if op.family != "join"}
    head = NOTE.format(what="Which method carries out which function of torch.")
    rows = "".join(f'    "{torch}": "{name}",\n' for torch, name in sorted(names.items()))
    return f"{head}METHODS = {{\n{rows}}}\n"


def docs_file() -> str:
    """docs/ops.md."""
    lines = [
        "# Operations",
        "",
        "Every op below is one row of one table. It works on `TensorDict`, `TensorClass` and lazy stacks alike, as a method",
        "and as the function of `torch` with its name, and the mypy plugin knows what it does to the batch size.",
        "This page is written from the table by `python -m tensorclass._rules.write`.",
        "",
    ]
    titles = {
        "move": "Shape moves",
        "along": "Along a batch dim",
        "split": "One in, several out",
        "fold": "Reductions",
        "pointwise": "Pointwise",
        "pair": "Two operands",
        "join": "Joins",
    }
    for family, title in titles.items():
        rows = [op for op in table.OPS.values() if op.family == family]
        lines += [f"## {title}", "", "| op | also | what it does |", "|---|---|---|"]
        for op in rows:
            shown = signature(op).removeprefix("self").removeprefix(", ").replace("|", "\\|")
            also = ", ".join(f"`torch.{name}`" for name in op.torch if name != op.name)
            lines.append(f"| `{op.name}({shown})` | {also} | {op.doc.splitlines()[0]} |")
        lines.append("")
    return "\n".join(lines)


def files() -> dict[Path, str]:
    """Every generated file and what it should hold."""
    return {
        HERE / "_methods" / "moves.py": moves_file(),
        HERE / "_methods" / "planned.py": planned_file(),
        HERE / "_methods" / "folds.py": folds_file(),
        HERE / "_methods" / "pointwise.py": pointwise_file(),
        HERE / "_methods" / "functions.py": functions_file(),
        HERE.parent / "docs" / "ops.md": docs_file(),
    }


def main() -> int:
    """Write the files, or say which are stale."""
    stale = [path for path, text in files().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"stale: {path}" if "--check" in sys.argv else f"wrote {path}")
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files()[path])
    return 1 if stale and "--check" in sys.argv else 0


_ = (along, folds, joins, moves)

if __name__ == "__main__":
    sys.exit(main())
