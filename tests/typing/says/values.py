"""Correct programs: methods with *batch, fields that were left out, dtypes, arrays, ragged stacks, conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Float64, Int, Num, Shaped
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, lazy_stack
from tensorclass.nn import TensorDictModule, TensorDictSequential


class Cloud(TensorClass):
    pos: Float[Tensor, "*batch n 3"]
    w: Float[Tensor, "*batch n"]
    label: Int[Tensor, "*batch"]
    name: str = "c"
    extra: Float[Tensor, "*batch n k"] | None = None

    @property
    def n(self) -> int:
        return self.pos.shape[-2]

    @property
    def center(self) -> Float[Tensor, "*batch 3"]:
        w = self.w / self.w.sum(-1, keepdim=True)
        return (self.pos * w.unsqueeze(-1)).sum(-2)

    def centered(self) -> Self:
        return self.replace(pos=self.pos - self.center.unsqueeze(-2))

    def centered2(self) -> Self:
        return self.replace(pos=self.pos - self.center[..., None, :])

    def first(self, k: int) -> Self:
        return self.replace(pos=self.pos[..., :k, :], w=self.w[..., :k])

    def pad(self, to: int) -> Self:
        missing = to - self.n
        if missing <= 0:
            return self
        pos = torch.cat([self.pos, self.pos.new_zeros(*self.batch_size, missing, 3)], dim=-2)
        w = torch.cat([self.w, torch.zeros(*self.batch_size, missing)], dim=-1)
        return self.replace(pos=pos, w=w)

    def flat(self) -> Float[Tensor, "*batch m"]:
        return self.pos.flatten(-2)

    def flat2(self) -> Tensor:
        return self.pos.reshape(*self.batch_size, -1)

    def flat3(self) -> Tensor:
        return self.pos.reshape(self.batch_size + (-1,))

    def normalised(self) -> Cloud:
        scale = self.pos.norm(dim=-1).amax(-1)
        return Cloud(pos=self.pos / scale[..., None, None], w=self.w, label=self.label)

    def matmul(self, rotation: Float[Tensor, "3 3"]) -> Self:
        return self.replace(pos=self.pos @ rotation)

    def rotate(self, rotation: Float[Tensor, "*batch 3 3"]) -> Self:
        return self.replace(pos=self.pos @ rotation.mT)

    def rotate2(self, rotation: Float[Tensor, "*batch 3 3"]) -> Self:
        return self.replace(pos=torch.einsum("...ni,...ji->...nj", self.pos, rotation))

    def dist(self, other: Cloud) -> Float[Tensor, "*batch n m"]:
        return torch.cdist(self.pos, other.pos)

    def pairwise(self) -> Tensor:
        d = self.pos.unsqueeze(-2) - self.pos.unsqueeze(-3)
        return d.square().sum(-1).sqrt()

    def some(self, idx: Int[Tensor, "k"]) -> Self:
        return self[idx]

    def merge(self, other: Self) -> Self:
        return torch.cat([self, other], dim=0)

    def unbatch(self) -> list[Self]:
        return list(self.unbind(0))

    def resized(self) -> Self:
        new = self.clone()
        new.pos = new.pos * 2
        new.w = new.w / new.w.sum(dim=-1, keepdim=True)
        new.label = new.label + 1
        new["name"] = "d"
        return new

    def keys_of(self) -> list[str]:
        names = []
        for key in self.keys():
            names.append(key)
        if "pos" in self:
            names.append(str(self["pos"].shape))
        return names

    def rows(self) -> Iterator[Self]:
        for row in self:
            yield row.replace(w=row.w * 2)

    @classmethod
    def random(cls, *batch: int, n: int = 5) -> Self:
        return cls(pos=torch.randn(*batch, n, 3), w=torch.rand(*batch, n), label=torch.zeros(*batch, dtype=torch.long))

    @classmethod
    def random2(cls, batch: tuple[int, ...], n: int = 5) -> Self:
        return cls(
            pos=torch.randn(*batch, n, 3), w=torch.rand(batch + (n,)), label=torch.zeros(batch, dtype=torch.int64)
        )

    @classmethod
    def empty_like(cls, other: Cloud) -> Cloud:
        return cls(pos=torch.zeros_like(other.pos), w=torch.zeros_like(other.w), label=torch.zeros_like(other.label))

    @classmethod
    def stacked(cls, items: list[Cloud]) -> Cloud:
        return cls(
            pos=torch.stack([i.pos for i in items]),
            w=torch.stack([i.w for i in items]),
            label=torch.stack([i.label for i in items]),
        )

    @staticmethod
    def make(n: int) -> Cloud:
        return Cloud(pos=torch.zeros(n, 3), w=torch.ones(n), label=torch.tensor(1))


class Wide(Cloud):
    more: Float[Tensor, "*batch"] | None = None

    def go(self) -> Self:
        base = super().centered()
        return base.replace(more=base.w.sum(-1))

    def drop(self) -> Self:
        s = self.select("pos", "w", "label")
        print(s.pos, s.more)
        return s

    def opt(self) -> Float[Tensor, "*batch"]:
        if self.more is None:
            return self.w.mean(-1)
        return self.more


def unset() -> None:
    c = Cloud.make(4)
    d = c.exclude("w")
    d.w = torch.ones(4)
    print(d.w)
    e = c.exclude("w")
    e.update({"w": torch.ones(4)})
    print(e.w)
    f = c.select("pos")
    if "w" in f:
        print(f.w)
    print(f.get("w"), f.get("w", None), f.extra, f.get("extra"))
    try:
        print(f.w)
    except AttributeError:
        pass
    g = c.select("pos") if len(c.name) > 3 else c
    print(g.w)
    h = c.exclude("w").replace(w=torch.ones(4))
    print(h.w)
    k = c.exclude("w")
    fill(k)
    print(k.w)
    m = c.select("pos", "w", "label").clone()[..., None] if False else c
    print(m.w)


def fill(c: Cloud) -> None:
    c.w = torch.ones(4)


def dtypes(x: Float[Tensor, "n"], mask: Bool[Tensor, "n"]) -> Float[Tensor, "n"]:
    y = x.double() * 2
    z: Float64[Tensor, "n"] = y
    a = x * mask
    b = mask.sum() * x
    c = x.sum() / mask.float().mean()
    i = torch.arange(3) / 2
    j: Float32[Tensor, "3"] = i
    k: Num[Tensor, "3"] = torch.arange(3)
    print(z, j, k)
    return y + a + b + c


def truths(td: TensorDict, o: Cloud, maybe: TensorDict | None, t: Tensor) -> None:
    if (td == td).all() and (o == o).all():
        pass
    if td is td or o is not None:
        pass
    if not td.is_empty() and len(o):
        pass
    if maybe is not None and maybe.batch_size:
        pass
    if td.get("x") is None or "x" in td:
        pass
    if td.keys():
        pass
    if td["flag"]:
        pass
    if o.name == "c" and o.label.sum() > 0:
        pass
    if o.shape == td.shape:
        pass
    if td.batch_size and td.any() or td.all():
        pass
    assert o.numel() == 3 or o.n


def arrays(a: Any, fn: Callable[..., np.ndarray[Any, Any]]) -> None:
    x = np.zeros((4, 2))
    y = np.concatenate([x, x])
    t = torch.from_numpy(y)
    print(t.view(16))
    TensorDict(
        {"a": np.stack([x, x]), "b": fn(3), "c": np.asarray(a), "d": x.T.reshape(2, 4), "e": x.astype(np.float32)[:2]},
        batch_size=[2],
    )
    TensorDict({"a": [1, 2, 3], "b": [[1, 2], [3, 4], [5, 6]], "c": ["x", "y", "z"]}, batch_size=[3])
    TensorDict({"a": [torch.zeros(2), torch.zeros(2)]}, batch_size=[2])
    x.resize((2, 4))
    TensorDict({"a": x[:, :2]}, batch_size=[2])


def stacks(flag: bool) -> None:
    a = TensorDict({"x": torch.zeros(3, 2), "y": torch.zeros(3)}, batch_size=[3])
    b = TensorDict({"x": torch.zeros(5, 2), "y": torch.zeros(5)}, batch_size=[5])
    ragged = lazy_stack([a, b])
    ragged.permute(1, 0)
    ragged.unsqueeze(0)
    print(ragged.get("x", as_list=True), ragged[0]["x"], ragged.densify(pad=0)["x"], ragged[0].reshape(-1))
    for td in ragged:
        print(td["x"])
    c = lazy_stack([a, a.clone()])
    print(c["x"].view(12), c.reshape(-1), c.flatten())
    d = lazy_stack([a, b]) if flag else c
    print(d["x"])


def seq() -> None:
    s = TensorDictSequential(
        {
            "enc": TensorDictModule(nn.Linear(3, 2), in_keys=["x"], out_keys=["h"]),
            "dec": TensorDictModule(nn.Linear(2, 1), in_keys=["h"], out_keys=["y"]),
        }
    )
    sub = s.select_subsequence(out_keys=["h"])
    print(sub[0], sub(TensorDict({"x": torch.zeros(5, 3)}, batch_size=[5]))["h"])
    s["extra"] = TensorDictModule(nn.Linear(2, 1), in_keys=["h"], out_keys=["z"])
    print(s["extra"])
    t = TensorDictSequential(
        TensorDictModule(nn.Linear(3, 2), in_keys=["x"], out_keys=["h"]), lambda td: td.set("q", td["h"])
    )
    t.append(TensorDictModule(nn.Linear(2, 1), in_keys=["q"], out_keys=["z"]))
    print(t[2], t[-1])
    del t[0]
    u = TensorDictSequential(TensorDictModule(nn.Linear(3, 2), in_keys=["x"], out_keys=["h"]))
    for step in u:
        print(step)


class Opt(TensorClass, frozen=True):
    x: Tensor


class Base(TensorClass):
    def __init_subclass__(cls, tag: str = "", **kw: Any) -> None:
        super().__init_subclass__(**kw)


class Tagged(Base, tag="x"):
    x: Float[Tensor, "*batch rows=3"]


class Gen(TensorClass):
    x: Shaped[Cloud, "*batch"]
    y: Shaped[Tensor, "*batch"]

    def f(self) -> Self:
        return self.replace(x=self.x.centered(), y=self.x.label)


def main() -> None:
    cloud = Cloud.random(2, n=5)
    cloud.centered().rotate(torch.eye(3).expand(2, 3, 3)).pad(7).normalised().resized().keys_of()
    cloud.merge(cloud).unbatch()
    Wide(pos=cloud.pos, w=cloud.w, label=cloud.label).go().drop()
    for program in (unset, seq):
        program()
    dtypes(torch.ones(3), torch.ones(3, dtype=torch.bool))
    stacks(False)
    arrays(np.zeros((2, 3)), lambda n: np.zeros((2, n)))
    truths(TensorDict({"x": torch.ones(3), "flag": torch.tensor(True)}, batch_size=[]), cloud, None, torch.ones(1))


if __name__ == "__main__":
    main()
