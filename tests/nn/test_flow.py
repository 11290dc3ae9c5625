"""The algebra of keys that sequences go by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tensorclass._rules.flow import Flow, provided, sequence, subsequence

KEYS = st.sampled_from(["a", "b", "c", "d"])
SOME = st.lists(KEYS, max_size=2).map(tuple)
FLOWS = st.lists(st.builds(Flow, SOME, SOME, st.just(True)), max_size=5)


@given(FLOWS)
def test_a_sequence_of_sequences_is_the_sequence_of_their_modules(flows: list[Flow]) -> None:
    for cut in range(len(flows) + 1):
        assert sequence([sequence(flows[:cut]), sequence(flows[cut:])]) == sequence(flows)


@given(FLOWS)
def test_what_a_subsequence_for_some_keys_reads_the_whole_reads_too(flows: list[Flow]) -> None:
    whole = sequence(flows)
    for key in whole.writes:
        part = sequence([flows[at] for at in subsequence(flows, out_keys=[key])])
        assert key in part.writes
        assert set(part.reads) <= set(whole.reads)


@given(FLOWS, st.lists(KEYS))
def test_a_subsequence_from_some_keys_reads_nothing_else(flows: list[Flow], keys: list[str]) -> None:
    part = sequence([flows[at] for at in subsequence(flows, in_keys=keys)])

    assert set(part.reads) <= set(keys)


def test_a_key_inside_another_is_provided_not_the_other_way_round() -> None:
    assert provided(("a", "b"), ["a"]) and not provided("a", [("a", "b")])
