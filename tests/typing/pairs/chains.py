"""Typed modules in a row, and modules by key as typed ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, stack
from tensorclass.nn import Chain, TensorClassModuleBase, TensorDictModule, TypedByKey


class Text(TensorClass):
    ids: Tensor


class Long(Text):
    more: Tensor


class Emb(TensorClass):
    vec: Tensor


class Out(TensorClass):
    logit: Tensor


class Embed(TensorClassModuleBase[Text, Emb]):
    def forward(self, x: Text) -> Emb:
        return Emb(vec=x.ids, batch_size=x.batch_size)


class Widen(TensorClassModuleBase[Text, Long]):
    def forward(self, x: Text) -> Long:
        return Long(ids=x.ids, more=x.ids, batch_size=x.batch_size)


class Head(TensorClassModuleBase[Emb, Out]):
    def forward(self, x: Emb) -> Out:
        return Out(logit=x.vec, batch_size=x.batch_size)


def text() -> Text:
    return Text(ids=torch.zeros(3), batch_size=[3])


def chains(any_module: Any, some: TensorClassModuleBase[Any, Any]) -> None:
    Chain(Head(), Embed())  # E: Chain: Head gives Out, but Embed takes Text [tensorclass-module]
    Chain(Embed(), Head())
    Chain(Embed(), Head(), Embed())  # E: Chain: Head gives Out, but Embed takes Text [tensorclass-module]
    Chain(Widen(), Widen(), Embed(), Head())
    Chain(Chain(Embed(), Head()), Head())  # E: Chain: Chain gives Out, but Head takes Emb [tensorclass-module]
    Chain(Chain(Widen(), Embed()), Head())
    Chain(Head(), any_module, Embed())
    Chain(Head(), some, Embed())
    Chain(Head(), any_module, Embed(), Embed())  # E: Chain: Embed gives Emb, but Embed takes Text [tensorclass-module]
    Chain(Embed(), Embed())(text()).vec  # E: Chain: Embed gives Emb, but Embed takes Text [tensorclass-module]
    Chain(Embed())(text()).vec


def results() -> None:
    Chain(Embed(), Head())(text()).vec  # E: "Out" has no attribute "vec" [attr-defined]
    Chain(Embed(), Head())(text()).logit


def by_key(key: str) -> None:
    TypedByKey(TensorDictModule(nn.ReLU(), ["idz"], ["vec"]), Text, Emb)  # E: Text has no field 'idz'; did you mean 'ids'? Its fields are 'ids' [tensorclass-module]
    TypedByKey(TensorDictModule(nn.ReLU(), ["ids"], ["vec"]), Text, Emb)
    TypedByKey(TensorDictModule(nn.ReLU(), ["ids"], ["vecs"]), Text, Emb)  # E: Emb.vec is neither written by the module nor a field of Text; the out_keys are 'vecs' [tensorclass-module]
    TypedByKey(TensorDictModule(nn.ReLU(), [key], ["vec"]), Text, Emb)


def again() -> None:
    td = TensorDict({"a": torch.zeros(4)}, batch_size=[4])
    stack([td] * 2, dim=2)  # E: stack: dim 2 is out of range for 1 batch dim; -2 to 1 would do [tensorclass-batch]
    stack([td] * 2, dim=1)
