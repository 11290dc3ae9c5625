"""Signatures that one module declares and another needs, kept in the module's symbol table and so in mypy's cache.

mypy frees the bodies of a module that it is done with, and reads none from its cache: what is not kept is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.errorcodes import TYPE_ARG, VALID_TYPE
from mypy.nodes import ClassDef, Decorator, FuncDef, MypyFile
from mypy.plugin import AnalyzeTypeContext
from mypy.types import AnyType, Instance, Type, TypeOfAny

from . import _aliases, _kept, _marks, _report

if TYPE_CHECKING:
    from ._hints import Signature
    from ._walk import Walk

_done: dict[int, MypyFile] = {}


def on_annotated(ctx: AnalyzeTypeContext) -> Type:
    """jaxtyping's names are typing.Annotated: mypy's own answer, and what the file declares is kept."""
    typ = ctx.type
    api: Any = ctx.api
    _keep_all(api.api)
    if len(typ.args) < 2:
        api.fail("Annotated[...] must have exactly one type argument and at least one annotation", typ, code=VALID_TYPE)
        return AnyType(TypeOfAny.from_error)
    found: Type = api.anal_type(typ.args[0], allow_typed_dict_special_forms=api.allow_typed_dict_special_forms)
    return found


def on_tensor(ctx: AnalyzeTypeContext) -> Type:
    """The class inside the brackets is all that mypy asks about in `Vec = Float[Tensor, "3"]`: its own answer again."""
    typ = ctx.type
    api: Any = ctx.api
    _keep_all(api.api)
    if typ.args:
        api.fail('"Tensor" expects no type arguments', typ, code=TYPE_ARG)
    found = Instance(api.api.modules["torch._tensor"].names["Tensor"].node, [], typ.line, typ.column)
    found.end_line, found.end_column = typ.end_line, typ.end_column
    return found


def _keep_all(api: Any) -> None:
    """Keep what a file declares, once, while mypy analyses it: before the module's interface goes to the cache."""
    tree = api.cur_mod_node
    if _done.get(id(tree)) is tree:
        return
    if len(_done) > 50:
        _done.clear()
    _done[id(tree)] = tree
    if tree.is_stub or tree.fullname.startswith("torch."):
        return
    try:
        store(api, tree)
        _kept.keep(api, tree)
    except Exception as problem:
        _report.defect(api, problem)


def store(api: Any, tree: MypyFile) -> None:
    """Keep what the aliases and the functions of a file declare."""
    from ._hints import signature

    aliases = _aliases.defined(api, tree)
    functions: dict[str, Any] = {}
    for name, node in _functions(tree.defs, ""):
        hints = signature(tree, api, node, aliases)
        if hints is not None:
            _marks.mark(node)
            functions[name] = _written(hints)
    if functions or aliases:
        rows = {name: _aliases.row(hint) for name, hint in aliases.items()}
        _aliases.keep(api, tree, {"functions": functions, "aliases": rows})


def _functions(defs: Any, prefix: str) -> Any:
    for node in defs:
        if isinstance(node, Decorator):
            node = node.func
        if isinstance(node, FuncDef):
            yield prefix + node.name, node
        elif isinstance(node, ClassDef):
            yield from _functions(node.defs.body, f"{prefix}{node.name}.")


def _written(hints: Signature) -> dict[str, Any]:
    result = hints.result
    return {
        "parameters": {name: _aliases.row(hint) for name, hint in hints.parameters.items()},
        "result": [None if hint is None else _aliases.row(hint) for hint in result]
        if isinstance(result, tuple)
        else None,
        "one": None if result is None or isinstance(result, tuple) else _aliases.row(result),
    }


def signature_of(walk: Walk, node: FuncDef) -> Signature | None:
    """What a function of another module declares."""
    from ._hints import Signature

    parts = node.fullname.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module = walk.api.modules.get(".".join(parts[:count]))
        if module is None:
            continue
        row = _aliases.kept(module).get("functions", {}).get(".".join(parts[count:]))
        if row is None:
            return None
        parameters = {name: _aliases.hint(one) for name, one in row["parameters"].items()}
        result: Any = (
            _aliases.hint(row["one"]) if row["result"] is None else tuple(_aliases.hint(one) for one in row["result"])
        )
        return Signature({name: hint for name, hint in parameters.items() if hint is not None}, result)
    return None
