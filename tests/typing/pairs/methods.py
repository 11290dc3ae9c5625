"""Methods of a class with fields: keys and shapes of self. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass


class Particles(TensorClass):
    pos: Float[Tensor, "*batch 3"]
    vel: Float[Tensor, "*batch 3"]
    mass: Float[Tensor, "*batch"]

    def good(self, force: Float[Tensor, "*batch 3"], dt: float) -> Self:
        vel = self.vel + dt * force / self.mass.unsqueeze(-1)
        return self.replace(pos=self.pos + dt * vel, vel=vel)

    def bad1(self, force: Float[Tensor, "*batch 3"], dt: float) -> Self:
        vel = self.vel + dt * force / self.mass.unsqueeze(-1)
        return self.replace(ps=self.pos + dt * vel, vel=vel)  # E: Particles has no field 'ps'; did you mean 'pos'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad2(self) -> Self:
        return self.select("pos", "mss")  # E: Particles has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad3(self) -> Self:
        return self.replace(pos=self.mass)  # E: field 'pos' has shape [*batch], which does not fit "*batch 3": it has 1 dim too few [tensorclass-shape]

    def bad4(self) -> Self:
        return self.exclude("mss")  # E: Particles has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad5(self) -> Tensor:
        return self["mss"]  # E: Returning Any from function declared to return "Tensor" [no-any-return]  # E: Particles has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad6(self) -> Tensor:
        return self.get("mss")  # E: Returning Any from function declared to return "Tensor" [no-any-return]  # E: Particles has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad7(self) -> None:
        self["mss"] = self.mass  # E: Cannot set the attribute 'mss': Particles has no such field; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass'. [tensorclass-field]

    def bad8(self) -> None:
        self.update({"mss": self.mass})  # E: Particles has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad9(self) -> Self:
        return self.replace({"mss": self.mass})  # E: Particles has no field 'mss'; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad10(self) -> None:
        self.set("mss", self.mass)  # E: Cannot set the attribute 'mss': Particles has no such field; did you mean 'mass'? Its fields are 'pos', 'vel', 'mass'. [tensorclass-field]

    def bad11(self) -> None:
        self.pos = self.mass  # E: field 'pos' has shape [*batch], which does not fit "*batch 3": it has 1 dim too few [tensorclass-shape]

    def bad12(self) -> Self:
        return self.replace(mass=self.pos.norm(dim=-1, keepdim=True))  # E: field 'mass' has shape [*batch, 1], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]

    def good12(self) -> Self:
        return self.replace(mass=self.pos.norm(dim=-1))

    def bad13(self, force: Float[Tensor, "*batch 2"]) -> Self:
        return self.replace(vel=self.vel + force)  # E: add: shapes [*batch, 3] and [*batch, 2] do not broadcast; dim -1 is 3 and 2 [tensorclass-shape]

    def bad14(self, force: Float[Tensor, "*batch 3"]) -> Self:
        return self.replace(vel=force.sum(-1))  # E: field 'vel' has shape [*batch], which does not fit "*batch 3": it has 1 dim too few [tensorclass-shape]

    def bad15(self) -> Float[Tensor, "*batch"]:
        return self.vel  # E: the result has shape [*batch, 3], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]

    def good15(self) -> Float[Tensor, "*batch"]:
        return self.vel.sum(-1)

    def bad16(self) -> Float[Tensor, "*batch"]:
        return (self.vel**2).sum(-1, keepdim=True) * 0.5  # E: the result has shape [*batch, 1], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]

    def bad17(self) -> Particles:
        return Particles(pos=self.pos, vel=self.vel, mass=self.pos)  # E: fields 'pos' and 'mass' disagree on *batch: [*batch] and [*batch, 3] [tensorclass-batch]

    def good17(self) -> Particles:
        return Particles(pos=self.pos, vel=self.vel, mass=self.mass * 2)

    def bad18(self) -> Self:
        return self.replace(vel=self.pos)._replace(mss=1)  # E: Returning Any from function declared to return "Self" [no-any-return]  # E: "Self" has no attribute "_replace" [attr-defined]

    def bad19(self) -> Self:
        new = self.clone()
        new.mass = new.pos  # E: field 'mass' has shape [*batch, 3], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]
        return new

    def bad20(self) -> Self:
        new = self.clone()
        return new.replace(ps=new.pos)  # E: Particles has no field 'ps'; did you mean 'pos'? Its fields are 'pos', 'vel', 'mass' [tensorclass-field]

    def bad21(self, other: Self) -> Self:
        return self.replace(mass=other.pos)

    def good21(self, other: Self) -> Self:
        return self.replace(mass=other.mass)

    def bad22(self, other: Particles) -> Particles:
        return self.replace(mas=other.mass)  # E: Unexpected keyword argument "mas" for "replace" of "Declared"; did you mean "mass"? [call-arg]

    @property
    def speed(self) -> Float[Tensor, "*batch"]:
        return self.vel  # E: the result has shape [*batch, 3], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]

    @classmethod
    def zeros(cls, n: int) -> Self:
        return cls(pos=torch.zeros(n, 3), vel=torch.zeros(n, 2), mass=torch.zeros(n))  # E: field 'vel' has shape [n, 2], which does not fit "*batch 3": dim 1 is 2, not 3 [tensorclass-shape]

    @classmethod
    def zeros_good(cls, n: int) -> Self:
        return cls(pos=torch.zeros(n, 3), vel=torch.zeros(n, 3), mass=torch.zeros(n))

    @classmethod
    def zeros2(cls, n: int) -> Self:
        return cls(pos=torch.zeros(n, 3), vel=torch.zeros(n, 3), mss=torch.zeros(n))  # E: Unexpected keyword argument "mss" for "Particles"; did you mean "mass"? [call-arg]

    @staticmethod
    def zeros3(n: int) -> Particles:
        return Particles(pos=torch.zeros(n, 3), vel=torch.zeros(n, 3), mass=torch.zeros(n, 1))  # E: fields 'pos' and 'mass' disagree on *batch: [n] and [n, 1] [tensorclass-batch]
