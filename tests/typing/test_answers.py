"""A hook answers once for each name, unless what it answers may change."""

from __future__ import annotations

from tensorclass_mypy._plugin import Answers


def test_a_hook_is_asked_once_for_a_name_whose_answer_stays() -> None:
    asked: list[str] = []

    def ask(fullname: str) -> str | None:
        asked.append(fullname)
        return None if fullname == "builtins.len" else fullname

    answer = Answers(ask, lambda fullname: fullname == "torch.stack").__getitem__
    names = ["builtins.len", "torch.cat", "torch.stack"] * 2

    assert [answer(name) for name in names] == [None, "torch.cat", "torch.stack"] * 2
    assert asked == ["builtins.len", "torch.cat", "torch.stack", "torch.stack"]
