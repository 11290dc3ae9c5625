"""A real model written three times: in plain torch, by key and typed; they train alike to the last bit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict
from tensorclass.nn import Chain, TensorClassModuleBase, TensorDictModule, TensorDictSequential

WIDTH, HEADS, WORDS, LENGTH = 16, 2, 128, 24


class Text(TensorClass):
    token: Int[Tensor, "*batch t"]
    mask: Bool[Tensor, "*batch t"]


class Encoded(TensorClass):
    state: Float[Tensor, "*batch t 16"]
    mask: Bool[Tensor, "*batch t"]


class Guess(TensorClass):
    logits: Float[Tensor, "*batch t 128"]


class Block(nn.Module):
    """Attention over what came before and is not masked, and a layer behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.layer = nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, WIDTH))
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        later = torch.ones(state.shape[1], state.shape[1], dtype=torch.bool).triu(1)
        inner = self.before(state)
        heard, _ = self.attend(inner, inner, inner, key_padding_mask=~mask, attn_mask=later, need_weights=False)
        state = state + heard
        out: Tensor = state + self.layer(self.between(state))
        return out


class Embed(TensorClassModuleBase[Text, Encoded]):
    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        self.table = table

    def forward(self, x: Text) -> Encoded:
        return Encoded(state=self.table(x.token), mask=x.mask)


class Think(TensorClassModuleBase[Encoded, Encoded]):
    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Encoded) -> Encoded:
        return x.replace(state=self.block(x.state, x.mask))


class Read(TensorClassModuleBase[Encoded, Guess]):
    def __init__(self, head: nn.Linear) -> None:
        super().__init__()
        self.head = head

    def forward(self, x: Encoded) -> Guess:
        return Guess(logits=self.head(x.state))


def parts() -> tuple[nn.Embedding, Block, Block, nn.Linear]:
    torch.manual_seed(0)
    return nn.Embedding(WORDS, WIDTH), Block(), Block(), nn.Linear(WIDTH, WORDS)


def plain() -> tuple[nn.Module, Callable[[Text], Tensor]]:
    table, one, two, head = parts()
    return nn.ModuleList([table, one, two, head]), lambda x: head(two(one(table(x.token), x.mask), x.mask))


def by_key() -> tuple[nn.Module, Callable[[Text], Tensor]]:
    table, one, two, head = parts()
    model = TensorDictSequential(
        TensorDictModule(table, ["token"], ["state"]),
        TensorDictModule(one, ["state", "mask"], ["state"]),
        TensorDictModule(two, ["state", "mask"], ["state"]),
        TensorDictModule(head, ["state"], ["logits"]),
    )
    return model, lambda x: model(x.to_tensordict())["logits"]


def typed() -> tuple[nn.Module, Callable[[Text], Tensor]]:
    table, one, two, head = parts()
    model = Chain(Embed(table), Think(one), Think(two), Read(head))
    return model, lambda x: model(x).logits


def wrapped() -> tuple[nn.Module, Callable[[Text], Tensor]]:
    table, one, two, head = parts()
    model = Chain(Embed(table), Think(one), Think(two), Read(head)).as_td_module()
    return model, lambda x: model(x.to_tensordict())["logits"]


def text() -> Text:
    """The docstrings of the standard library that is running, some rows cut short."""
    words = "\n".join(importlib.import_module(name).__doc__ or "" for name in STANDARD)
    letters = torch.tensor([ord(letter) % WORDS for letter in words[: 16 * LENGTH]])
    token = letters.reshape(-1, LENGTH)
    ends = torch.arange(len(token)) % 7 + LENGTH - 6
    return Text(token=token, mask=torch.arange(LENGTH) < ends.unsqueeze(-1))


STANDARD = (
    "abc",
    "argparse",
    "ast",
    "collections",
    "copy",
    "functools",
    "inspect",
    "json",
    "logging",
    "os",
    "re",
    "typing",
)


def train(make: Any) -> list[float]:
    module, guess = make()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
    data = text()
    losses = []
    for step in range(6):
        batch = data[step % 2 :: 2]
        logits = guess(batch)[:, :-1]
        wanted, counts = batch.token[:, 1:], batch.mask[:, 1:]
        loss = nn.functional.cross_entropy(logits[counts], wanted[counts])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("make", [by_key, typed, wrapped])
def test_it_trains_like_its_plain_twin_to_the_last_bit(make: Any) -> None:
    expected = train(plain)

    assert train(make) == expected
    assert expected[-1] < expected[0]


def test_the_text_is_there() -> None:
    assert text().batch_size == (16,) and isinstance(text().to_tensordict(), TensorDict)
