"""Statements: what is known after each, with branches joined and loops run until nothing changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from mypy.nodes import (
    AssertStmt,
    AssignmentStmt,
    Block,
    BreakStmt,
    ClassDef,
    ContinueStmt,
    Decorator,
    DelStmt,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    IndexExpr,
    ListExpr,
    Lvalue,
    MatchStmt,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    RaiseStmt,
    ReturnStmt,
    StarExpr,
    Statement,
    TempNode,
    TryStmt,
    TupleExpr,
    TypeInfo,
    Var,
    WhileStmt,
    WithStmt,
)

from tensorclass._rules.sizes import UNKNOWN, NotKnown

from . import _attributes, _calls, _codes, _containers, _hints, _late, _scan, _tensors, _truth
from ._attributes import delete_item, enter, leave, write, write_item
from ._binary import binary
from ._evaluate import elements, evaluate, plain_decorators
from ._state import State, join, join_values, unlike
from ._truth import truth
from ._types import from_type, item_of
from ._values import Items, Many, Net, Outputs, Perhaps, Pieces, Ref, Results, Tensor, Typed, Value

_late.attributes, _late.calls, _late.containers = _attributes, _calls, _containers
_late.tensors, _late.truth = _tensors, _truth

UNROLL = 16  # A loop over this many known values is followed one by one.
BUDGET = 8_000  # Expressions looked at for one function; what is left after that is unknown.
DEPTH = 5  # Calls inside calls that are followed.


@dataclass
class Frame:
    """A function that is being walked."""

    node: FuncDef | None
    returns: list[tuple[State, Value]] = field(default_factory=list)
    hints: _hints.Signature | None = None
    bound: dict[str, Any] = field(default_factory=dict)  # Sizes of the dim names of annotations.


@dataclass
class Loop:
    """A loop that is being walked, and the states in which it is left or starts over."""

    breaks: list[State | None] = field(default_factory=list)
    continues: list[State | None] = field(default_factory=list)


class Spent(Exception):
    """The walk has become too long."""


Say = Callable[[Node, Any, str, str], None]


class Walk(ABC):
    """One walk through a function, or through the top level of a module."""

    def __init__(self, api: Any, tree: MypyFile, say: Say, globals_of: Callable[[str], Any]) -> None:
        self.api = api
        self.tree = tree
        self._say = say
        self.globals_of = globals_of
        self.state: State | None = State()
        self.frames: list[Frame] = []
        self.loops: list[Loop] = []
        self.quiet = 0
        self.told = 0  # Errors and notes so far.
        self.buffer: list[tuple[Node, Any, str, str]] | None = None
        self.calls: list[Expression] = []  # The calls that are being followed, outermost first.
        self.volatile: set[str] = set()
        self.doubted: set[str] = set()
        self.budget = BUDGET
        self.unrolled = 1
        self.self_class: Any = None

    # -- Reports ------------------------------------------------------------------------------------------------

    def say(self, node: Node, code: Any, text: str) -> None:
        """Report a mistake, at the call in this program that leads to it."""
        if self.quiet or self.state is None:
            return
        if self.calls:
            inner = self.frames[-1].node
            where = f" (in {inner.name}, line {node.line})" if inner is not None else ""
            self.tell(self.calls[0], code, text + where, "error")
        else:
            self.tell(node, code, text, "error")

    def note(self, node: Node, text: str) -> None:
        if not self.quiet and not self.calls:
            self.tell(node, None, text, "note")

    def tell(self, node: Node, code: Any, text: str, severity: str) -> None:
        self.told += 1
        if self.buffer is not None:
            self.buffer.append((node, code, text, severity))
        else:
            self._say(node, code, text, severity)

    def spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise Spent

    # -- Blocks -------------------------------------------------------------------------------------------------

    def block(self, block: Block | None) -> None:
        if block is None or block.is_unreachable:
            if block is not None:
                self.state = None
            return
        self.statements(block.body)

    def statements(self, body: Iterable[Statement]) -> None:
        for statement in body:
            if self.state is None:
                return
            self.spend()
            handler = _STATEMENTS.get(type(statement).__name__)
            if handler is not None:
                try:
                    handler(self, statement)
                except NotKnown:
                    self.forget_all()

    def share(self, body: Node) -> None:
        """Code that is not followed has a function: what the function can reach may change at any time."""
        for var in _scan.names_in_vars(body):
            if self.state is not None and var in self.here.names:
                self.here.forget(self.here.names[var])
                self.volatile = self.volatile | {var.name}

    def forget_all(self) -> None:
        """Somewhere a size was compared that nobody knows: nothing is said of what hangs on it."""
        for value in list(self.here.names.values()) if self.state is not None else ():
            self.here.forget(value)

    def evaluate(self, expr: Expression) -> Value:
        return evaluate(self, expr)

    def truth(self, expr: Expression) -> bool | None:
        return truth(self, expr)

    # -- Assignments --------------------------------------------------------------------------------------------

    def assignment(self, s: AssignmentStmt) -> None:
        if isinstance(s.rvalue, TempNode):  # Only declared: x: int
            for lvalue in s.lvalues:
                if isinstance(lvalue, NameExpr) and isinstance(lvalue.node, Var):
                    self.here.names.pop(lvalue.node, None)
            return
        value = self.evaluate(s.rvalue)
        hint = _hints.of_type(self.tree, self.api, s.unanalyzed_type) if s.unanalyzed_type is not None else None
        if hint is not None:
            value = _hints.declared(self, s.rvalue, value, hint, _name_of(s.lvalues[0]))
        elif s.type is not None and not s.is_final_def and value is UNKNOWN:
            value = self.from_type(s.type)
        for lvalue in s.lvalues:
            self.assign(lvalue, value, s.rvalue)

    def assign(self, target: Lvalue | Expression, value: Value, source: Expression | None = None) -> None:
        """Bind a name, or write to what an attribute or an index stands for."""
        if self.state is None:
            return
        if isinstance(target, NameExpr):
            if isinstance(target.node, Var):
                if target.name in self.volatile:
                    self.here.forget(value)
                    value = UNKNOWN
                self.here.names[target.node] = value
        elif isinstance(target, (TupleExpr, ListExpr)):
            self.unpack(target, value, source)
        elif isinstance(target, StarExpr):
            self.assign(target.expr, UNKNOWN)
        elif isinstance(target, MemberExpr):
            write(self, target, self.evaluate(target.expr), value, source)
        elif isinstance(target, IndexExpr):
            write_item(self, target, self.evaluate(target.base), self.evaluate(target.index), value, source)

    def unpack(self, target: TupleExpr | ListExpr, value: Value, source: Expression | None) -> None:
        values = elements(self, value)
        stars = [item for item in target.items if isinstance(item, StarExpr)]
        if isinstance(value, Pieces) and not stars and len(value) != len(target.items) and source is not None:
            # What a tuple's own type says is mypy's to report; here it is what only a shape tells.
            code = _codes.MODULE if isinstance(value, Outputs) else _codes.SHAPE
            code = _codes.CALL if isinstance(value, Results) else code
            what = "value" if len(value) == 1 else "values"
            self.say(source, code, f"unpack: there are {len(value)} {what} for {len(target.items)} names")
        for place, item in enumerate(target.items):
            if isinstance(values, tuple) and len(values) == len(target.items) and not stars:
                self.assign(item, values[place])
            elif isinstance(values, tuple) and len(stars) == 1 and len(values) >= len(target.items) - 1:
                first = target.items.index(stars[0])
                after = len(target.items) - first - 1
                if isinstance(item, StarExpr):
                    self.assign(item.expr, self.here.new(Items(values[first : len(values) - after])))
                else:
                    self.assign(item, values[place] if place < first else values[place - len(target.items)])
            else:
                self.assign(item, values.each if isinstance(values, Many) else UNKNOWN)

    def augmented(self, s: OperatorAssignmentStmt) -> None:
        value = self.evaluate(s.lvalue)
        thing = self.here.get(value)
        result = binary(self, s, s.op, value, self.evaluate(s.rvalue))
        if isinstance(thing, Tensor) and isinstance(result, Tensor) and result.shape is None:
            result = Tensor(thing.shape, result.dtype)
        if isinstance(value, Ref):
            self.here.forget(value) if isinstance(thing, (Items, Net)) else None
            result = value
        if isinstance(s.lvalue, NameExpr):
            self.assign(s.lvalue, result)
        elif isinstance(s.lvalue, (MemberExpr, IndexExpr)) and not isinstance(value, Ref):
            self.assign(s.lvalue, UNKNOWN)

    def delete(self, s: DelStmt) -> None:
        targets = s.expr.items if isinstance(s.expr, TupleExpr) else [s.expr]
        for target in targets:
            if isinstance(target, NameExpr) and isinstance(target.node, Var):
                self.here.names[target.node] = UNKNOWN
            elif isinstance(target, IndexExpr):
                delete_item(self, target, self.evaluate(target.base), self.evaluate(target.index))
            elif isinstance(target, MemberExpr):
                self.here.forget(self.evaluate(target.expr))

    # -- Flow ---------------------------------------------------------------------------------------------------

    @property
    def here(self) -> State:
        if self.state is None:
            raise NotKnown  # What was followed does not come back: the rest of the statement does not run.
        return self.state

    def guarded(self, test: Expression | None) -> bool:
        """Whether a test that cannot be decided asks about shapes or keys, so that what it guards may be right."""
        return test is not None and _scan.asks(test)

    def if_(self, s: IfStmt) -> None:
        after: State | None = None
        hushed = 0
        for test, body in zip(s.expr, s.body):
            if self.state is None:
                break
            known = self.truth(test)
            if known is None and self.guarded(test):
                self.quiet += 1
                hushed += 1
            rest = None if known is True else self.here.copy()
            if known is not False:
                self.narrow(test, True)
                self.block(body)
                after = join(after, self.state)
            self.state = rest
            if self.state is not None:
                self.narrow(test, False)
        if self.state is not None and s.else_body is not None:
            self.block(s.else_body)
        self.quiet -= hushed
        self.state = join(after, self.state)

    def narrow(self, test: Expression, outcome: bool) -> None:
        """What a test says of the names in it: after `isinstance(x, C)` mypy's own type of x counts."""
        for var, is_none in _scan.tested_none(test, outcome):
            value = self.here.names.get(var, UNKNOWN)
            if isinstance(value, Perhaps):
                self.here.names[var] = None if is_none else value.value
        for var in _scan.tested_kinds(test):
            value = self.here.names.get(var, UNKNOWN)
            if isinstance(value, Typed) or value is UNKNOWN:
                self.here.names.pop(var, None)

    def for_(self, s: ForStmt) -> None:
        values = elements(self, self.evaluate(s.expr), s.expr)
        if isinstance(values, tuple) and len(values) * self.unrolled <= UNROLL and not s.is_async:
            self.unroll(s, values)
            return
        each: Value = UNKNOWN
        if isinstance(values, Many):
            each = values.each
        elif isinstance(values, tuple) and values:
            each = values[0]
            for value in values[1:]:
                each = join_values(self.here, each, value)
        if each is UNKNOWN:
            each = self.from_item_type(s.expr)

        def start() -> None:
            self.assign(s.index, self.fresh(each))

        self.loop(s.body, start)
        if s.else_body is not None and self.state is not None:
            self.block(s.else_body)

    def fresh(self, value: Value) -> Value:
        """Another value of which the same is known."""
        if isinstance(value, Ref):
            return self.here.new(self.here.get(value))
        return value

    def unroll(self, s: ForStmt, values: tuple[Value, ...]) -> None:
        loop = Loop()
        self.loops.append(loop)
        times = max(len(values), 1)
        self.unrolled *= times
        for value in values:
            if self.state is None:
                break
            self.assign(s.index, value)
            self.block(s.body)
            for state in loop.continues:
                self.state = join(self.state, state)
            loop.continues = []
        self.unrolled //= times
        self.loops.pop()
        if s.else_body is not None and self.state is not None:
            self.block(s.else_body)
        for state in loop.breaks:
            self.state = join(self.state, state)

    def while_(self, s: WhileStmt) -> None:
        known = self.truth(s.expr)
        if known is False:
            return

        def start() -> None:
            self.truth(s.expr)

        hush = known is None and self.guarded(s.expr)
        self.quiet += hush
        forever = known is True and not _scan.names_in(s.expr)
        self.loop(s.body, start, forever)
        self.quiet -= hush
        if s.else_body is not None and self.state is not None:
            self.block(s.else_body)

    def loop(self, body: Block, start: Callable[[], None], forever: bool = False) -> None:
        """A body that runs nobody knows how often."""
        head = self.here
        kept = self.buffer
        loop = Loop()
        for attempt in range(5):
            self.buffer = []  # What is said counts only if this turn starts from what every turn starts from.
            self.state = head.copy()
            loop = Loop()
            after = self.once(body, start, loop)
            joined = join(head.copy(), after)
            assert joined is not None
            if attempt == 4 or not unlike(head, joined):
                break
            if attempt == 3:
                self.give_up(head, joined)
            head = joined
        said, self.buffer = self.buffer, kept
        for report in said or ():
            self.tell(*report)
        self.state = None if forever else head
        for state in loop.breaks:
            self.state = join(self.state, state)

    def once(self, body: Block, start: Callable[[], None], loop: Loop) -> State | None:
        """One turn: the state at its end, wherever it ends."""
        self.loops.append(loop)
        start()
        self.block(body)
        self.loops.pop()
        state = self.state
        for other in loop.continues:
            state = join(state, other)
        return state

    def give_up(self, head: State, joined: State) -> None:
        """Forget whatever still changes."""
        for var, value in list(joined.names.items()):
            alone = State({var: value}, joined.heap)
            before = State({var: head.names.get(var, UNKNOWN)}, head.heap)
            if unlike(before, alone):
                joined.forget(value)
                joined.names[var] = UNKNOWN
        for ident, thing in list(joined.heap.items()):
            if ident in head.heap and thing is not head.heap[ident]:
                joined.forget(Ref(ident))

    def break_(self, s: BreakStmt) -> None:
        if self.loops:
            self.loops[-1].breaks.append(self.state)
        self.state = None

    def continue_(self, s: ContinueStmt) -> None:
        if self.loops:
            self.loops[-1].continues.append(self.state)
        self.state = None

    def return_(self, s: ReturnStmt) -> None:
        value: Value = None if s.expr is None else self.evaluate(s.expr)
        frame = self.frames[-1] if self.frames else None
        if frame is not None and self.state is not None:
            if frame.hints is not None and s.expr is not None and not self.calls:
                _hints.check_return(self, s.expr, value, frame.hints)
            frame.returns.append((self.here, value))
        self.state = None

    def raise_(self, s: RaiseStmt) -> None:
        if s.expr is not None:
            self.evaluate(s.expr)
        self.state = None

    def assert_(self, s: AssertStmt) -> None:
        known = self.truth(s.expr)
        if known is False:
            _scan.report_assert(self, s)
            self.state = None

    def try_(self, s: TryStmt) -> None:
        before = self.here.copy()
        self.quiet += bool(s.handlers)
        self.block(s.body)
        self.quiet -= bool(s.handlers)
        done = self.state
        after: State | None = None
        if s.handlers:
            # Somewhere in the body: whatever it touches is unknown.
            middle = join(before, done) if done is not None else before
            assert middle is not None
            if done is None:
                for value in list(middle.names.values()):
                    middle.forget(value)
            for var in _scan.bound_in(s.body):
                middle.names[var] = UNKNOWN
            for caught, handler in zip(s.vars, s.handlers):
                self.state = middle.copy()
                if caught is not None and isinstance(caught.node, Var):
                    self.here.names[caught.node] = UNKNOWN
                self.block(handler)
                after = join(after, self.state)
        self.state = done
        if s.else_body is not None and self.state is not None:
            self.block(s.else_body)
        self.state = join(self.state, after)
        if s.finally_body is not None:
            if self.state is None:
                self.state = before
                self.quiet += 1
                self.block(s.finally_body)
                self.quiet -= 1
                self.state = None
            else:
                self.block(s.finally_body)

    def with_(self, s: WithStmt) -> None:
        expects = any(_scan.expects_errors(expr) for expr in s.expr)
        managers = []
        for expr, target in zip(s.expr, s.target):
            value = self.evaluate(expr)
            managers.append((expr, value))
            inside = enter(self, expr, value)
            if target is not None:
                self.assign(target, inside)
        before = self.here.copy() if expects else None
        self.quiet += expects
        self.block(s.body)
        self.quiet -= expects
        if before is not None:
            for var in _scan.bound_in(s.body):
                before.names[var] = UNKNOWN
            self.state = join(before, self.state)
        if self.state is not None:
            for expr, value in managers:
                leave(self, expr, value)

    def match(self, s: MatchStmt) -> None:
        value = self.evaluate(s.subject)
        if any(_scan.captured(pattern) for pattern in s.patterns):
            self.here.forget(value)
        before = self.here
        after: State | None = before.copy()  # No case may fit.
        self.quiet += 1  # A pattern may ask about anything.
        for pattern, body in zip(s.patterns, s.bodies):
            self.state = before.copy()
            for var in _scan.captured(pattern):
                self.here.names[var] = UNKNOWN
            self.block(body)
            after = join(after, self.state)
        self.quiet -= 1
        self.state = after

    def expression(self, s: ExpressionStmt) -> None:
        self.evaluate(s.expr)

    def function(self, s: FuncDef) -> None:
        return None

    def decorated(self, s: Decorator) -> None:
        if self.frames and not plain_decorators(s):
            self.share(s.func.body)

    def class_(self, s: ClassDef) -> None:
        return None

    # -- What the rest of the program knows; see _analysis ----------------------------------------------------

    @abstractmethod
    def tree_of(self, fullname: str) -> MypyFile | None:
        """The file that a function is defined in, if its body can be read."""

    @abstractmethod
    def sets_default(self) -> bool:
        """Whether the program may change torch's default dtype somewhere."""

    @abstractmethod
    def known_broken(self, node: FuncDef) -> bool:
        """Whether a function is wrong by itself, so that a call of it adds nothing."""

    @abstractmethod
    def class_attribute(self, info: TypeInfo, name: str) -> Value:
        """An attribute that a class sets once, in its __init__."""

    @abstractmethod
    def taken(self, state: State, value: Value) -> Value:
        """A value of another state, with the things that it hangs on."""

    # -- Types --------------------------------------------------------------------------------------------------

    def from_type(self, typ: Any) -> Value:
        return from_type(self, typ)

    def from_item_type(self, expr: Expression) -> Value:
        return item_of(self, expr)


def _name_of(target: Lvalue | Expression) -> str:
    if isinstance(target, NameExpr):
        return target.name
    return target.name if isinstance(target, MemberExpr) else "value"


_STATEMENTS: dict[str, Callable[[Walk, Any], None]] = {
    "Block": Walk.block,
    "AssignmentStmt": Walk.assignment,
    "OperatorAssignmentStmt": Walk.augmented,
    "ExpressionStmt": Walk.expression,
    "IfStmt": Walk.if_,
    "ForStmt": Walk.for_,
    "WhileStmt": Walk.while_,
    "BreakStmt": Walk.break_,
    "ContinueStmt": Walk.continue_,
    "ReturnStmt": Walk.return_,
    "RaiseStmt": Walk.raise_,
    "AssertStmt": Walk.assert_,
    "TryStmt": Walk.try_,
    "WithStmt": Walk.with_,
    "MatchStmt": Walk.match,
    "DelStmt": Walk.delete,
    "FuncDef": Walk.function,
    "Decorator": Walk.decorated,
    "ClassDef": Walk.class_,
}
