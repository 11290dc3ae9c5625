"""Constructors: fields, their kinds and their order; batch sizes that contradict the values."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict, tensorclass


class Obs(TensorClass):
    pixels: Tensor
    state: Tensor
    note: str | None = None


class Outer(TensorClass):
    obs: Obs
    action: Tensor


class Body(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]


class Grid(TensorClass):
    rows: Float[Tensor, "*batch n 2"]
    cols: Float[Tensor, "*batch n"]


@tensorclass
class Sample:
    image: Tensor


class Late(TensorClass):
    weight: Tensor | None = None
    pixels: Tensor  # E: Attributes without a default cannot follow attributes with one [misc]


def arguments() -> None:
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[4])
    Obs(torch.zeros(4, 3), torch.zeros(4), batch_size=[4])
    Obs(pixels=torch.zeros(4, 3), batch_size=[4])  # E: Missing positional argument "state" in call to "Obs" [call-arg]
    Obs(pixels=torch.zeros(4, 3), stat=torch.zeros(4), batch_size=[4])  # E: Unexpected keyword argument "stat" for "Obs"; did you mean "state"? [call-arg]
    Obs(torch.zeros(4, 3), torch.zeros(4), "a", [4])  # E: Too many positional arguments for "Obs" [call-arg]
    Obs(pixels=torch.zeros(4, 3), state="no", batch_size=[4])  # E: Argument "state" to "Obs" has incompatible type "str"; expected "Tensor" [arg-type]
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batchsize=[4])  # E: Unexpected keyword argument "batchsize" for "Obs"; did you mean "batch_size"? [call-arg]
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[4 / 2])  # E: List item 0 has incompatible type "float"; expected "int" [list-item]
    Sample(image=torch.zeros(4, 3), batch_size=[4])
    Sample(imgae=torch.zeros(4, 3), batch_size=[4])  # E: Unexpected keyword argument "imgae" for "Sample"; did you mean "image"? [call-arg]


def sizes() -> None:
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[3])  # E: field 'pixels' has shape [4, 3]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(5), batch_size=[4])  # E: field 'state' has shape [5]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4), batch_size=[4, 3])  # E: field 'state' has shape [4]; the batch size is [4, 3], and the leading dims of a value must equal it [tensorclass-batch]
    Obs(pixels=torch.rand(4, 3), state=torch.ones(4, dtype=torch.long), batch_size=(4,))
    Obs(pixels=torch.rand(4, 3), state=torch.full((4,), 2.0), batch_size=torch.Size([5]))  # E: field 'pixels' has shape [4, 3]; the batch size is [5], and the leading dims of a value must equal it [tensorclass-batch]
    n = 4
    Obs(pixels=torch.rand(n, 3), state=torch.arange(n), batch_size=[n])
    Obs(pixels=torch.rand(n, 3), state=torch.arange(n), batch_size=[n + 1])  # E: field 'pixels' has shape [4, 3]; the batch size is [5], and the leading dims of a value must equal it [tensorclass-batch]
    Sample(image=torch.zeros(4, 3), batch_size=[2])  # E: field 'image' has shape [4, 3]; the batch size is [2], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": torch.zeros(4, 3), "b": torch.zeros(4)}, batch_size=[4])
    TensorDict({"a": torch.zeros(4, 3), "b": torch.zeros(4)}, batch_size=[4, 3])  # E: field 'b' has shape [4]; the batch size is [4, 3], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict({"a": torch.zeros(4, 3), "n": {"b": torch.zeros(5)}}, batch_size=[4])  # E: field 'b' has shape [5]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    TensorDict(a=torch.zeros(4, 3), batch_size=[3])  # E: field 'a' has shape [4, 3]; the batch size is [3], and the leading dims of a value must equal it [tensorclass-batch]


def unknown(n: int, x: Tensor) -> None:
    Obs(pixels=torch.zeros(n, 3), state=torch.zeros(n), batch_size=[n])
    Obs(pixels=torch.zeros(n, 3), state=torch.zeros(n + 1), batch_size=[n])  # E: field 'state' has shape [n+1]; the batch size is [n], and the leading dims of a value must equal it [tensorclass-batch]
    Obs(pixels=x, state=torch.zeros(4), batch_size=[4])
    Obs(pixels=x, state=torch.zeros(5), batch_size=[4])  # E: field 'state' has shape [5]; the batch size is [4], and the leading dims of a value must equal it [tensorclass-batch]
    Obs(pixels=torch.zeros(x.shape[0], 3), state=torch.zeros(4), batch_size=[4])


def nested() -> None:
    inner = Obs(pixels=torch.zeros(5, 3), state=torch.zeros(5), batch_size=[5])
    Outer(obs=inner, action=torch.zeros(5), batch_size=[5])
    Outer(obs=inner, action=torch.zeros(4), batch_size=[4])  # E: 'obs' has batch size [5]; inside batch size [4] it must start with that [tensorclass-batch]
    Outer(obs=inner, action=torch.zeros(5), batch_size=[])
    Outer(obs={"pixels": torch.zeros(5)}, action=torch.zeros(5))  # E: Argument "obs" to "Outer" has incompatible type "dict[str, Tensor]"; expected "Obs" [arg-type]


def voted() -> None:
    Body(pos=torch.zeros(8, 3), mass=torch.ones(8))
    Body(pos=torch.zeros(8, 3), mass=torch.ones(7))  # E: fields 'pos' and 'mass' disagree on *batch: [8] and [7] [tensorclass-batch]
    Body(pos=torch.zeros(8, 4), mass=torch.ones(8))  # E: field 'pos' has shape [8, 4], which does not fit "*batch 3": dim 1 is 4, not 3 [tensorclass-shape]
    Body(pos=torch.zeros(3), mass=torch.ones(()))
    Body(pos=torch.zeros(8, 3), mass=torch.ones(8, dtype=torch.long))  # E: field 'mass' has dtype int64, which Float does not take [tensorclass-shape]
    Grid(rows=torch.zeros(8, 5, 2), cols=torch.zeros(8, 5))
    Grid(rows=torch.zeros(8, 5, 2), cols=torch.zeros(8, 6))  # E: field 'cols' has shape [8, 6], which does not fit "*batch n": n is 6 here and 5 elsewhere [tensorclass-shape]


def without_batch_size() -> None:
    obs = Obs(pixels=torch.zeros(4, 3), state=torch.zeros(4))
    print(obs[0])  # E: index: 1 index for 0 batch dims (batch size []); index a field to reach its feature dims; no batch_size was given where this was made [tensorclass-batch]
    assert len(obs) == 4  # E: this assertion is always false: it compares 0 and 4 [tensorclass-shape]
    for row in obs:
        print(row)
    for place in range(len(obs)):
        print(place)
