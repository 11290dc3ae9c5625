"""The algebra of dims: exact where it answers, silent where it cannot know."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorclass._rules.algebra import Dim, Size, name, read, same

NAMES = ("n", "m", "k")
sizes = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9), min_size=3, max_size=3)
texts = st.recursive(
    st.sampled_from(NAMES) | st.integers(0, 5).map(str),
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    max_leaves=6,
)


def value(size: Size | None, given: dict[str, int]) -> object:
    return size.given(given) if isinstance(size, Dim) else size


@given(texts, sizes)
def test_a_dim_has_the_value_of_its_expression(text: str, given: dict[str, int]) -> None:
    assert value(read(text), given) == eval(text, dict(given))


@given(texts, texts, sizes)
def test_the_answer_about_equality_holds_for_every_value_of_the_names(
    one: str, two: str, given: dict[str, int]
) -> None:
    left, right = read(one), read(two)
    assert left is not None and right is not None
    answer = same(left, right)

    equal = value(left, given) == value(right, given)
    assert answer is None or answer is equal


@given(texts, st.sampled_from(["n", "2", "m", "3*n"]), sizes)
def test_a_quotient_has_the_value_of_the_quotient(text: str, by: str, given: dict[str, int]) -> None:
    assert value(read(f"{text}//({by})"), given) == eval(f"{text}//({by})", dict(given))
    assert value(read(f"{text}%({by})"), given) == eval(f"{text}%({by})", dict(given))


@pytest.mark.parametrize(
    ("one", "two", "answer"),
    [
        ("n+n", "2*n", True),
        ("(n+1)*(n-1)", "n*n-1", True),
        ("n+1", "n", False),
        ("2*n", "2*m+1", False),
        ("n+3", "1", False),
        ("n", "m", None),
        ("n", "3", None),
        ("2*n//2", "n", True),
        ("n*m//m", "n", True),
        ("(2*n+1)//2", "n", True),
        ("n//2", "m//2", None),
    ],
)
def test_equality_is_decided_where_it_can_be(one: str, two: str, answer: bool | None) -> None:
    left, right = read(one), read(two)
    assert left is not None and right is not None
    assert same(left, right) is answer


def test_a_dim_that_comes_out_as_a_number_is_one() -> None:
    n = name("n")
    assert n - n + 3 == 3
    assert (2 * n) // n == 2
    assert isinstance(n - n, int)


@pytest.mark.parametrize(
    ("text", "shown"), [("n+1", "n+1"), ("2*n-1", "2*n-1"), ("-n+3", "-n+3"), ("m*n", "m*n"), ("n//2", "((n)//(2))")]
)
def test_a_dim_is_shown_as_an_expression(text: str, shown: str) -> None:
    assert repr(read(text)) == shown


@pytest.mark.parametrize("text", ["min(a, b)", "{x}+1", "a.b", "n+", "1.5", "n//0", "True"])
def test_what_is_more_than_arithmetic_on_names_is_unknown(text: str) -> None:
    assert read(text) is None
