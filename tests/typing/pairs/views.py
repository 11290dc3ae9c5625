"""What environments give, by key and by attribute: only slips are told, since more may be there than classes say."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tensorclass import TensorClass, TensorDict
from tensorclass.envs import EnvBase, Next, StepCounter, TransformedEnv, Transition
from tensorclass.nn import TensorDictModule


class Pose(TensorClass):
    angle: Tensor
    speed: Tensor


class Torque(TensorClass):
    force: Tensor


class Cart(EnvBase[Pose, Torque]):
    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Pose:
        return Pose(angle=torch.zeros(1), speed=torch.zeros(1))

    def _step(self, tensordict: Transition[Pose, Torque]) -> Next[Pose]:
        tensordict["angle"]
        tensordict["anlge"]  # E: no key 'anlge'; did you mean 'angle'? The keys here are 'angle', 'speed', 'force', 'action', 'next', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' [tensorclass-key]
        tensordict["next", "speed"]
        tensordict["next", "sped"]  # E: no key 'sped'; did you mean 'speed'? The keys here are 'angle', 'speed', 'reward', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' (under 'next') [tensorclass-key]
        Next(obs=tensordict.obs, reward=torch.zeros(1), heat=torch.zeros(1))
        Next(obs=tensordict.obs, rewrd=torch.zeros(1))  # E: Next has no argument 'rewrd'; did you mean 'reward'? [tensorclass-field]
        return Next(obs=tensordict.obs, reward=torch.zeros(1), terminated=torch.zeros(1).bool())


def steps(env: Cart, longer: TransformedEnv[Pose, Torque], plain: EnvBase, policy: TensorDictModule) -> None:
    traj = env.rollout(5)
    traj["next", "reward"]
    traj["next", "rewad"]  # E: no key 'rewad'; did you mean 'reward'? The keys here are 'angle', 'speed', 'reward', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' (under 'next') [tensorclass-key]
    traj["next"]["angle"]
    traj["next"]["agnle"]  # E: no key 'agnle'; did you mean 'angle'? The keys here are 'angle', 'speed', 'reward', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' [tensorclass-key]
    traj.get("force")
    traj.get("forces")  # E: no key 'forces'; did you mean 'force'? The keys here are 'angle', 'speed', 'force', 'action', 'next', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' [tensorclass-key]
    traj["temperature"]
    traj["speeds"] = traj["speed"] * 2
    traj["speeds"]
    traj[0]["angle"]
    traj[0]["angel"]  # E: no key 'angel'; did you mean 'angle'? The keys here are 'angle', 'speed', 'force', 'action', 'next', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' [tensorclass-key]
    env.step(traj)["next", "terminated"]
    env.step(traj)["next", "terminate"]  # E: no key 'terminate'; did you mean 'terminated'? The keys here are 'angle', 'speed', 'reward', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' (under 'next') [tensorclass-key]
    longer.rollout(3)["next", "step_count"]
    longer.rollout(3)["next", "step_coun"]  # E: no key 'step_coun'; did you mean 'step_count'? The keys here are 'angle', 'speed', 'reward', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' (under 'next') [tensorclass-key]
    plain.rollout(3)["next", "reward"]
    plain.rollout(3)["next", "reword"]  # E: no key 'reword'; did you mean 'reward'? The keys here are 'reward', 'done', 'terminated', 'truncated', 'step_count', 'episode_reward', 'is_init' (under 'next') [tensorclass-key]
    plain.rollout(3)["pixels"]
    env.rollout(3)
    env.rolout(3)  # E: Cart has no attribute 'rolout'; did you mean 'rollout'? [tensorclass-field]
    env.pole_length
    policy.in_keys
    policy.in_kyes  # E: TensorDictModule has no attribute 'in_kyes'; did you mean 'in_keys'? [tensorclass-field]
    TransformedEnv(env, StepCounter())


def passed_on(td: TensorDict, function: Any) -> None:
    function(td)["next", "rewad"]
    td["next", "rewad"]
