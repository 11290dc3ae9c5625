"""The walks of a file: each function once, in mypy's own turn, so that its errors are its own for the daemon too."""

from __future__ import annotations

from typing import Any

from mypy.nodes import (
    ARG_STAR,
    ARG_STAR2,
    ClassDef,
    FuncDef,
    MemberExpr,
    MypyFile,
    NameExpr,
    TypeInfo,
    Var,
)
from mypy.types import TypeVarType, get_proper_type
from mypy.typevars import fill_typevars

from tensorclass._rules import algebra
from tensorclass._rules.sizes import UNKNOWN

from . import _constants, _hints, _kept, _parsed, _report, _scan, _worth
from ._fields import fields_of
from ._state import State
from ._tree import below
from ._types import is_library, is_module, is_tensorclass
from ._values import INT_PARAMETER, Box, Class, Function, Net, Star, Value
from ._walk import Frame, Spent, Walk

KEPT = 6
ELSEWHERE = 500  # Expressions looked at for a value of another module.


class Program:
    """What is known of the files that mypy checks."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.default: bool | None = None  # Whether torch's default dtype is changed, once somebody has asked.
        self._here: tuple[Any, ...] | None = None  # The function of the last hook, and what mypy had said by then.

    def visit(self, api: Any) -> None:
        """A hook has fired: the function that mypy is in is walked, if it was not yet."""
        if "site-packages" in api.path:
            self._stay(api, None)
            return
        tree = api.tree
        file = self.files.get(tree.path)
        if file is None or file.tree is not tree or file.shown is not api.errors.error_info_map:
            file = File(self, tree, api)
            self._keep(file)
        if file.interesting:
            file.visit(api)
            self._stay(api, api.scope.stack[-1])
        else:
            self._stay(api, None)

    def _stay(self, api: Any, node: Any) -> None:
        """Until mypy leaves a function (None: a file), another hook would find nothing to do."""
        if node is None or isinstance(node, FuncDef):
            shown = api.errors.error_info_map
            said, typ = shown.get(api.path), node.type if node is not None else None
            self._here = api.scope.stack, node, typ, api.errors, shown, api.path, said

    def is_here(self) -> bool:
        """Whether mypy is there still, and has dropped nothing of what was said."""
        if self._here is None:
            return False
        stack, node, typ, errors, shown, path, said = self._here
        if errors.error_info_map is not shown:
            return False
        if node is None:  # The stack of a file that mypy has left holds the module alone.
            return len(stack) > 1
        return stack[-1] is node and node.type is typ and (said is None or shown.get(path) is said)

    def _keep(self, file: File) -> None:
        """A file's walks hold on to its syntax tree, which mypy would free: only the latest files are kept."""
        while len(self.files) >= KEPT:
            del self.files[next(iter(self.files))]
        self.files[file.tree.path] = file


class File:
    """One file: its walks."""

    def __init__(self, program: Program, tree: MypyFile, api: Any) -> None:
        self.program = program
        self.tree = tree
        self.shown = api.errors.error_info_map  # Another after an edit, when the daemon still has the same tree.
        self.worth = _worth.of(api, tree)
        self.interesting = not tree.is_stub and not _report.ignored(api, tree) and bool(self.worth.packages)
        self.done: dict[Any, tuple[Any, ...]] = {}
        self.walks: dict[Any, list[_report.Report]] = {}
        self.top: State | None = None
        self.bindings: dict[str, int] | None = None
        self.attributes: dict[str, dict[str, tuple[State, Value]]] = {}
        self.busy: set[Any] = set()
        self.deep = 0  # Values of other modules that hang on one another.

    def visit(self, api: Any) -> None:
        node = _current(api)
        token = _report.token(api, self.tree, node)
        if node is not None and not self.worth.walk(node):
            return
        before = self.done.get(node)
        if before is not None and _report.same_token(before, token):
            return
        again = before is not None
        self.done[node] = token
        if again:
            self.walks.pop(node, None)
            if node is None:
                self.top = None
        reports = self.reports(api, node)
        if reports:
            _report.emit(api, reports)
        self.done[node] = _report.token(api, self.tree, node)

    def reports(self, api: Any, node: FuncDef | None) -> list[_report.Report]:
        """What the walk of a function (None: of the top level) has to say."""
        if node not in self.walks:
            if node in self.busy:
                return []
            self.busy.add(node)
            try:
                self.walks[node] = self.walk(api, node)
            finally:
                self.busy.discard(node)
        return self.walks[node]

    def walk(self, api: Any, node: FuncDef | None) -> list[_report.Report]:
        reports = _report.Reports()
        walk = Walker(self, api, reports)
        try:
            if node is None:
                walk.top_level()
                self.top = walk.state or State()
            else:
                walk.function_body(node)
        except (Spent, RecursionError):
            pass
        except Exception as problem:
            _report.defect(api, problem)
        return reports.found


class Walker(Walk):
    """A walk with what it needs to know of the rest of the file."""

    def __init__(self, file: File, api: Any, reports: _report.Reports) -> None:
        super().__init__(api, file.tree, reports.say, self._global)
        self.file = file

    # -- Where walks start --------------------------------------------------------------------------------------

    def top_level(self) -> None:
        self.volatile = _scan.volatile_in(self.tree)
        self.statements(self.tree.defs)

    def function_body(self, node: FuncDef) -> None:
        self.volatile = _scan.volatile_in(self.tree)
        frame = Frame(node)
        frame.hints = _hints.signature(self.tree, self.api, node)
        self.frames.append(frame)
        self.parameters(node, frame)
        if node.is_generator or node.is_coroutine:
            frame.hints = None
        self.block(node.body)

    def parameters(self, node: FuncDef, frame: Frame) -> None:
        """What the annotations say of the parameters."""
        hints = frame.hints
        for place, argument in enumerate(node.arguments):
            var = argument.variable
            declared = var.type
            if argument.kind in (ARG_STAR, ARG_STAR2):
                self.here.names[var] = UNKNOWN
                continue
            if place == 0 and node.info and not node.is_static and node.info.mro:
                self.here.names[var] = self.self_value(node, var)
                continue
            hint = hints.parameters.get(var.name) if hints is not None else None
            if hint is not None:
                self.here.names[var] = _hints.parameter(self, hint, declared)
            elif _is_int(declared):
                self.here.names[var] = algebra.name(INT_PARAMETER + var.name)
            else:
                self.here.names[var] = self.from_type(declared) if declared is not None else UNKNOWN
        for name in self.names_of(node, hints):
            frame.bound[name] = (Star(name[1:]),) if name.startswith("*") else algebra.name(name)

    def names_of(self, node: FuncDef, hints: _hints.Signature | None) -> set[str]:
        """The names of sizes that stand for themselves: those of the parameters, and those of the fields of self."""
        found: set[str] = set()
        for hint in hints.parameters.values() if hints is not None else ():
            found |= hint.dims.names
        if node.info and not node.is_static and not node.is_class and is_tensorclass(node.info):
            for field in (fields_of(node.info) or {}).values():
                found |= field.dims.names if field.dims is not None else set()
        return found

    def self_value(self, node: FuncDef, var: Var) -> Value:
        """What self or cls is."""
        info = node.info
        if is_tensorclass(info):
            if node.is_class:
                return Class(info, perhaps=True)
            declared = get_proper_type(var.type) if var.type is not None else None
            typ = declared if isinstance(declared, TypeVarType) else fill_typevars(info)
            return self.here.new(Box(info, typ, batch=(Star("batch"),)))
        if is_module(info) and not node.is_class:
            return self.here.new(Net("user", info))
        return UNKNOWN

    # -- The rest of the file -----------------------------------------------------------------------------------

    def _global(self, fullname: str) -> Any:
        """A name of the top level that is bound once."""
        module, _, name = fullname.rpartition(".")
        if module != self.tree.fullname:
            if module not in self.api.modules:  # An attribute of a class.
                module, _, owner = module.rpartition(".")
                name = f"{owner}.{name}"
            return self.elsewhere(module, name)
        if not self.frames:
            return UNKNOWN
        file = self.file
        if file.bindings is None:
            file.bindings = bindings(self.tree)
        if file.bindings.get(name, 0) != 1:
            return UNKNOWN
        if file.top is None:
            file.reports(self.api, None)
        top = file.top
        symbol = self.tree.names.get(name)
        if top is None or symbol is None or not isinstance(symbol.node, Var) or symbol.node not in top.names:
            return UNKNOWN
        value = top.names[symbol.node]
        return UNKNOWN if value is UNKNOWN else (top, value)

    def elsewhere(self, module: str, name: str) -> Any:
        """A value of the top level of another module."""
        tree = self.api.modules.get(module)
        key = f"{module}.{name}"
        if tree is None or is_installed(tree) or key in self.file.busy or self.file.deep > 8:
            return UNKNOWN
        text = _kept.text_of(self, module, name)
        expr = _parsed.parse(text, tree, self.api.modules) if text is not None else None
        if expr is None:
            return UNKNOWN
        walk = Walker(self.file, self.api, _report.Reports())
        walk.quiet = 1
        walk.budget = ELSEWHERE
        self.file.busy.add(key)
        self.file.deep += 1
        try:
            value = walk.evaluate(expr)
        except (Spent, RecursionError):
            return UNKNOWN
        finally:
            self.file.busy.discard(key)
            self.file.deep -= 1
        return UNKNOWN if walk.state is None or value is UNKNOWN else (walk.state, value)

    def tree_of(self, fullname: str) -> MypyFile | None:
        """The file that a function is defined in, if its body can be read."""
        if fullname.startswith(self.tree.fullname + "."):
            return self.tree
        if "." not in fullname:  # A function inside of the one at hand.
            return self.tree if not self.calls else None
        return None  # Another file: its bodies are there or not, as mypy pleases, and answers must not depend on that.

    def sets_default(self) -> bool:
        """Whether the program may change torch's default dtype somewhere."""
        program = self.file.program
        if program.default is None:
            trees = [tree for tree in self.api.modules.values() if not is_installed(tree)]
            program.default = any("set_default_" in (_scan.text_of(tree) or "") for tree in trees)
        return program.default

    def known_broken(self, node: FuncDef) -> bool:
        """Whether a function is wrong by itself, so that a call of it adds nothing."""
        if not node.fullname.startswith(self.tree.fullname + "."):
            return False
        return bool(self.file.reports(self.api, node)) if node not in self.file.busy else False

    def class_attribute(self, info: TypeInfo, name: str) -> Value:
        """An attribute that a class sets once, in its __init__."""
        if is_library(info):
            return UNKNOWN
        for base in info.mro:
            if name in base.names:
                break
        else:
            return UNKNOWN
        if base.fullname.rpartition(".")[0] != self.tree.fullname and base.module_name != self.tree.fullname:
            found = self.elsewhere(base.module_name, f"{base.name}.{name}")
            return UNKNOWN if found is UNKNOWN else self.taken(*found)
        table = self.file.attributes.get(base.fullname)
        if table is None:
            table = {}
            self.file.attributes[base.fullname] = table
            table.update(self._attributes(base))
        found = table.get(name)
        return _constants.of_class(self, info, name) if found is None else self.taken(*found)

    def taken(self, state: State, value: Value) -> Value:
        """A value of another state, with the things that it hangs on."""
        ids: set[int] = set()
        state.reachable(value, ids)
        for ident in ids:
            if ident in state.heap:
                self.here.heap.setdefault(ident, state.heap[ident])
        return value

    def _attributes(self, info: TypeInfo) -> dict[str, tuple[State, Value]]:
        tree = self.tree_of(info.fullname)
        init = info.names.get("__init__")
        node = init.node if init is not None else None
        if tree is None or tree is not self.tree or not isinstance(node, FuncDef) or node in self.file.busy:
            return {}
        walk = Walker(self.file, self.api, _report.Reports())
        ref = walk.here.new(Net("user", info, exact=True))
        frame = Frame(node)
        walk.frames.append(frame)
        try:
            walk.parameters(node, frame)
            if node.arguments:
                walk.here.names[node.arguments[0].variable] = ref
            for argument in node.arguments[1:]:
                if _is_int(argument.variable.type):
                    walk.here.names[argument.variable] = UNKNOWN  # Two instances may be made with different ones.
            walk.block(node.body)
        except (Spent, RecursionError):
            return {}
        if walk.state is None:
            return {}
        thing = walk.here.get(ref)
        once = set_once(info.defn, node)
        settings = thing.settings if isinstance(thing, Net) else {}
        walk.here.names.clear()
        return {name: (walk.here, value) for name, value in settings.items() if name in once and value is not UNKNOWN}


def set_once(cls: ClassDef, init: FuncDef) -> set[str]:
    """Attributes that the methods of a class set in one place, in __init__."""
    counts: dict[str, int] = {}
    inside: set[str] = set()
    for part in cls.defs.body:
        for node in below(part):
            _count(node, counts, part is not init)
    for statement in init.body.body:
        if type(statement).__name__ == "AssignmentStmt":
            for target in statement.lvalues:  # type: ignore[attr-defined]  # an AssignmentStmt
                if type(target).__name__ == "MemberExpr":
                    inside.add(target.name)
    return {name for name in inside if counts.get(name) == 1}


def _count(node: Any, counts: dict[str, int], calls: bool) -> None:
    """Count the attributes that a statement sets or a call changes."""
    kind = type(node).__name__
    if kind in ("AssignmentStmt", "OperatorAssignmentStmt", "ForStmt", "DelStmt"):
        targets: Any = getattr(node, "lvalues", None) or [
            getattr(node, "lvalue", getattr(node, "index", getattr(node, "expr", None)))
        ]
        for target in targets:
            for one in below(target):
                if isinstance(one, MemberExpr) and isinstance(one.expr, NameExpr):
                    counts[one.name] = counts.get(one.name, 0) + 1
    elif calls and kind == "CallExpr" and isinstance(node.callee, MemberExpr):
        owner = node.callee.expr
        if isinstance(owner, MemberExpr) and isinstance(owner.expr, NameExpr) and _changes(node.callee.name):
            counts[owner.name] = counts.get(owner.name, 0) + 1


def _changes(method: str) -> bool:
    """Whether a method of a module makes it another one."""
    return method in _scan.CHANGING or method in ("add_module", "select_out_keys") or method.endswith("_hook")


def is_installed(tree: MypyFile) -> bool:
    """A module of a package, not of the program."""
    return tree.is_stub or "site-packages" in tree.path or tree.fullname.startswith(("torch.", "tensorclass."))


def _is_int(typ: Any) -> bool:
    proper = get_proper_type(typ) if typ is not None else None
    return getattr(getattr(proper, "type", None), "fullname", "") == "builtins.int"


def bindings(tree: MypyFile) -> dict[str, int]:
    """How often each name of the top level is bound."""
    counts: dict[str, int] = {}
    volatile = _scan.volatile_in(tree)
    for node in below(tree, inside_functions=False):
        targets: Any = []
        kind = type(node).__name__
        if kind == "AssignmentStmt":
            targets = node.lvalues  # type: ignore[attr-defined]  # an AssignmentStmt
        elif kind == "OperatorAssignmentStmt":
            targets = [node.lvalue, node.lvalue]  # type: ignore[attr-defined]  # an OperatorAssignmentStmt
        elif kind == "ForStmt":
            targets = [node.index, node.index]  # type: ignore[attr-defined]  # a ForStmt
        elif kind == "DelStmt":
            targets = [node.expr]  # type: ignore[attr-defined]  # a DelStmt
        elif kind == "WithStmt":
            targets = [target for target in node.target if target is not None]  # type: ignore[attr-defined]  # a list
        for target in targets:
            if isinstance(target, NameExpr):
                counts[target.name] = counts.get(target.name, 0) + 1
    for name in volatile:
        counts[name] = 99
    return counts


def _current(api: Any) -> FuncDef | None:
    for node in reversed(api.scope.stack):
        if isinstance(node, FuncDef):
            return node
    return None


__all__ = ["Function", "Program"]
