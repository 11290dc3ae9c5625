"""Sizes with names: polynomials of dim names with integer coefficients, whose equality can be decided."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce
from math import gcd
from typing import TypeAlias

from .sizes import Symbolic

# An atom is a name, or a quotient that does not come out even: ("//", left, right) or ("%", left, right).
Atom: TypeAlias = "str | tuple[str, Size, Size]"
Term = tuple[Atom, ...]  # the atoms of a product, sorted; () is the constant term
Size: TypeAlias = "int | Dim"


class Dim(Symbolic):
    """A size that is known by name, such as n + 1; one that comes out as a number is an int instead.

    >>> n = name("n")
    >>> (n + 1) * 2 - n
    n+2
    >>> n + 1 - n
    1
    """

    __slots__ = ("terms",)

    terms: dict[Term, int]

    def __init__(self, terms: dict[Term, int]) -> None:
        self.terms = terms

    def __add__(self, other: Size) -> Size:
        theirs = _terms(other)
        return NotImplemented if theirs is None else _sum([self.terms, theirs])

    __radd__ = __add__

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: Size) -> Size:
        return self + -other

    def __rsub__(self, other: Size) -> Size:
        return -self + other

    def __mul__(self, other: Size) -> Size:
        theirs = _terms(other)
        if theirs is None:
            return NotImplemented
        products = [
            {tuple(sorted(ours + term, key=repr)): count * number}
            for ours, count in self.terms.items()
            for term, number in theirs.items()
        ]
        return _sum(products)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Size:
        if not isinstance(power, int) or power < 0:
            return NotImplemented
        whole: Size = 1
        for _ in range(power):
            whole = self * whole
        return whole

    def __floordiv__(self, other: Size) -> Size:
        return NotImplemented if _terms(other) is None else _divide(self, other)[0]

    def __rfloordiv__(self, other: int) -> Size:
        return NotImplemented if _terms(other) is None else _divide(other, self)[0]

    def __mod__(self, other: Size) -> Size:
        return NotImplemented if _terms(other) is None else _divide(self, other)[1]

    def __rmod__(self, other: int) -> Size:
        return NotImplemented if _terms(other) is None else _divide(other, self)[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def same(self, other: object) -> bool | None:
        """Whether two sizes are equal whatever the names are; None when that depends on them."""
        return same(self, other) if isinstance(other, (int, Dim)) else None

    @property
    def names(self) -> frozenset[str]:
        """The dim names in it."""
        return frozenset(found for term in self.terms for atom in term for found in _names(atom))

    def given(self, sizes: Mapping[str, Size]) -> Size:
        """The size when some names are known.

        >>> (name("n") * 2).given({"n": 3})
        6
        """
        total: Size = 0
        for term, count in self.terms.items():
            part: Size = count
            for atom in term:
                part = part * _given(atom, sizes)
            total = total + part
        return total

    def __repr__(self) -> str:
        shown = ""
        for term, count in sorted(self.terms.items(), key=lambda item: (not item[0], repr(item[0]))):
            factors = "*".join(_show(atom) for atom in term)
            number = str(abs(count)) if not factors or abs(count) != 1 else ""
            sign = "-" if count < 0 else "+" if shown else ""
            shown += sign + number + ("*" if number and factors else "") + factors
        return shown


def name(name: str) -> Dim:
    """The size called by this name."""
    return Dim({(name,): 1})


def same(one: Size, other: Size) -> bool | None:
    """Whether two sizes are equal whatever the names are; None when that depends on them.

    >>> same(2 * name("n"), name("n") + name("n")), same(name("n"), name("n") + 1), same(name("n"), 3)
    (True, False, None)
    """
    gap = one - other
    if not isinstance(gap, Dim):
        return bool(gap == 0)
    constant = gap.terms.get((), 0)
    rest = [count for term, count in gap.terms.items() if term]
    if constant % reduce(gcd, rest):
        return False
    sizes_only = all(isinstance(atom, str) for term in gap.terms for atom in term)
    if constant and sizes_only and all((count > 0) == (constant > 0) for count in rest):
        return False  # A name is a size, so it is not negative, and nothing here can make up for the constant.
    return None


def read(text: str) -> Size | None:
    """The size that an expression means: "n+1", "2*n"; None when it is more than arithmetic on names.

    >>> read("2*n - 1")
    2*n-1
    """
    try:
        return _read(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _read(node: ast.expr) -> Size | None:
    if isinstance(node, ast.Name):
        return name(node.id)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _read(node.operand)
        return None if inner is None else -inner
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _read(node.left), _read(node.right)
    if left is None or right is None:
        return None
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow() if isinstance(right, int) and 0 <= right < 10:
            return left**right
        case _:
            return None


def _terms(size: object) -> dict[Term, int] | None:
    if isinstance(size, Dim):
        return size.terms
    return {(): size} if isinstance(size, int) else None


def _sum(parts: Iterable[Mapping[Term, int]]) -> Size:
    total: Counter[Term] = Counter()
    for part in parts:
        total.update(part)
    terms = {term: count for term, count in total.items() if count}
    return terms.get((), 0) if not terms or list(terms) == [()] else Dim(terms)


def _divide(left: Size, right: Size) -> tuple[Size, Size]:
    """Quotient and rest. What comes out even is divided; of the rest, a number is, and anything else stays unsolved."""
    divisor = _terms(right) or {}
    even: Size = 0
    rest: Size = 0
    if len(divisor) == 1:
        ((factors, number),) = divisor.items()
        for term, count in (_terms(left) or {}).items():
            part = _sum([{term: count}])
            if count % number or Counter(factors) - Counter(term):
                rest = rest + part
            else:
                left_over = tuple(sorted((Counter(term) - Counter(factors)).elements(), key=repr))
                even = even + _sum([{left_over: count // number}])
    elif same(left, right):
        even = 1
    else:
        rest = left
    if isinstance(rest, int) and isinstance(right, int):
        return even + rest // right, rest % right
    if isinstance(rest, int) and rest == 0:
        return even, 0
    return even + Dim({(("//", rest, right),): 1}), Dim({(("%", rest, right),): 1})


def _given(atom: Atom, sizes: Mapping[str, Size]) -> Size:
    if isinstance(atom, str):
        return sizes.get(atom, name(atom))
    sign, left, right = atom
    left = left.given(sizes) if isinstance(left, Dim) else left
    right = right.given(sizes) if isinstance(right, Dim) else right
    return left // right if sign == "//" else left % right


def _names(atom: Atom) -> Iterable[str]:
    if isinstance(atom, str):
        return [atom]
    return [found for part in atom[1:] if isinstance(part, Dim) for found in part.names]


def _show(atom: Atom) -> str:
    if isinstance(atom, str):
        return atom
    sign, left, right = atom
    return f"(({left}){sign}({right}))"
