"""Environments whose _reset and _step do not fit the classes that they name."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import EnvBase, Next, Transition


class Place(TensorClass):
    pos: Float[Tensor, "*batch"]


class Push(TensorClass):
    force: Float[Tensor, "*batch"]


class Other(TensorClass):
    z: Float[Tensor, "*batch"]


class Typed(EnvBase[Place, Push]):
    def _reset(self, tensordict: TensorDict | None = None, **kwargs: Any) -> Place:
        return Place(pos=torch.zeros(()))

    def _step(self, tensordict: Transition[Place, Push]) -> Next[Place]:
        return Next(obs=tensordict.obs, reward=tensordict.action.force)


class ByKey(EnvBase[Place, Push]):
    def _reset(self, tensordict: TensorDict) -> TensorDict:
        return TensorDict(pos=torch.zeros(()))

    def _step(self, td: TensorDict) -> TensorDict:
        return td


class Untyped(EnvBase):
    def _reset(self, tensordict: TensorDict | None = None, **kwargs: Any) -> Other:
        return Other(z=torch.zeros(()))

    def _step(self, tensordict: Any) -> Any:
        return tensordict


class OtherAction(EnvBase[Place, Push]):
    def _step(self, tensordict: Transition[Place, Other]) -> Next[Place]:  # E: Argument 1 of "_step" is incompatible with supertype "tensorclass.envs._env.EnvBase"; supertype defines the argument type as "Transition[Place, Push]" [override]
        return Next(obs=tensordict.obs, reward=tensordict.action.z)


class OtherStart(EnvBase[Place, Push]):
    def _reset(self, tensordict: TensorDict | None = None, **kwargs: Any) -> Other:  # E: Return type "Other" of "_reset" incompatible with return type "Place | TensorDict" in supertype "tensorclass.envs._env.EnvBase" [override]
        return Other(z=torch.zeros(()))


class NoReward(EnvBase[Place, Push]):
    def _step(self, tensordict: Transition[Place, Push]) -> Place:  # E: Return type "Place" of "_step" incompatible with return type "TensorDict" in supertype "tensorclass.envs._env.EnvBase" [override]
        return tensordict.obs


class AsGymnasium(EnvBase[Place, Push]):
    def _step(self, tensordict: Transition[Place, Push]) -> tuple[Place, Tensor, bool]:  # E: Return type "tuple[Place, Tensor, bool]" of "_step" incompatible with return type "TensorDict" in supertype "tensorclass.envs._env.EnvBase" [override]
        return tensordict.obs, tensordict.obs.pos, False


class ActionAlone(EnvBase[Place, Push]):
    def _step(self, action: Push) -> Next[Place]:  # E: Argument 1 of "_step" is incompatible with supertype "tensorclass.envs._env.EnvBase"; supertype defines the argument type as "Transition[Place, Push]" [override]
        return Next(obs=Place(pos=action.force), reward=action.force)
