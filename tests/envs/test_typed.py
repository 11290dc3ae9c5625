"""Typed environments: observation and action by class, over the flat layout."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Annotated, Any

import pytest
import torch
import torch.utils._pytree as pytree
from jaxtyping import Float
from torch import Tensor, nn

from tensorclass import TensorClass, TensorDict, lazy_stack, stack
from tensorclass.envs import Bounded, Composite, EnvBase, Next, Transition, Unbounded, check_env_specs, step_mdp
from tensorclass.nn import TensorClassModuleBase
from tests.envs.worlds import Counter


class Joint(TensorClass):
    bend: Float[Tensor, "*batch 2"]


class Arm(TensorClass):
    angle: Annotated[Tensor, Bounded(-3.0, 3.0)]
    joint: Joint


class Push(TensorClass):
    u: Annotated[Tensor, Bounded(-1.0, 1.0)]


class ArmEnv(EnvBase[Arm, Push]):
    """An arm that is pushed; over when it has gone far."""

    def __init__(self, batch_size: Any = (3,)) -> None:
        super().__init__(batch_size=batch_size)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Arm:
        batch = self.batch_size
        joint = Joint(bend=torch.zeros(*batch, 2), batch_size=batch)
        return Arm(angle=torch.zeros(batch), joint=joint, batch_size=batch)

    def _step(self, tensordict: Transition[Arm, Push]) -> Next[Arm]:
        arm, u = tensordict.obs, tensordict.action.u
        after = arm.replace(angle=(arm.angle + u).clamp(-3, 3), joint=arm.joint.replace(bend=arm.joint.bend + 1))
        return Next(obs=after, reward=-u.abs(), terminated=after.angle.abs() > 2.9)

    def _set_seed(self, seed: int | None) -> None:
        pass


def test_specs_come_from_the_classes() -> None:
    env = ArmEnv()

    assert env.observation_spec["angle"] == Bounded(-3.0, 3.0, (3,))
    assert env.observation_spec["joint", "bend"] == Unbounded((3, 2))
    assert env.action_spec == Bounded(-1.0, 1.0, (3,))
    assert env.action_keys == ["u"] and env.observation_keys == ["angle", ("joint", "bend")]
    assert env.action_spec_unbatched.shape == ()
    check_env_specs(env)


def test_what_an_environment_gives_is_seen_by_class_and_by_key() -> None:
    tr = ArmEnv().rollout(4)

    assert tr.obs.angle is tr["angle"] and tr.action.u is tr["u"]
    assert isinstance(tr.obs, Arm) and isinstance(tr.obs.joint, Joint)
    assert tr.next.obs.joint.bend is tr["next", "joint", "bend"]
    assert tr.next.reward is tr["next", "reward"] and tr.next.reward.shape == (3, 4, 1)
    assert tr.next.done is tr["next", "done"] and tr.terminated is tr["terminated"]
    assert tr.obs.batch_size == tr.next.batch_size == (3, 4)
    assert tr.names == tr.obs.names == [None, "time"]


def test_the_layout_beneath_is_flat() -> None:
    tr = ArmEnv().rollout(2)

    assert set(tr.keys()) == {"angle", "joint", "u", "done", "terminated", "next"}
    assert type(tr["joint"]) is TensorDict
    assert set(tr["next"].keys()) == {"angle", "joint", "reward", "done", "terminated"}


def test_the_classes_are_views_that_are_not_written_to() -> None:
    tr = ArmEnv().reset()
    with pytest.raises(RuntimeError, match="cannot set 'angle': the container is locked"):
        tr.obs.angle = torch.ones(3)
    with pytest.raises(RuntimeError, match="locked"):
        tr.obs.joint.bend = torch.ones(3, 2)

    assert tr.obs.replace(angle=torch.ones(3)).angle.tolist() == [1, 1, 1]


def test_an_observation_or_action_can_be_put_in_as_a_whole() -> None:
    tr = ArmEnv().reset()
    tr.action = Push(u=torch.ones(3), batch_size=3)
    tr.obs = tr.obs.replace(angle=torch.full((3,), 2.0))

    assert tr["u"].tolist() == [1, 1, 1] and tr["angle"].tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="'u' has shape"):
        tr.action = Push(u=torch.ones(2), batch_size=2)


SURVIVES: dict[str, Any] = {
    "index": lambda tr: tr[0],
    "slice": lambda tr: tr[:, 1:],
    "mask": lambda tr: tr[tr.next.reward.squeeze(-1) <= 0],
    "stack": lambda tr: torch.stack([tr, tr]),
    "cat": lambda tr: torch.cat([tr, tr], 1),
    "item of a lazy stack": lambda tr: lazy_stack([tr, tr])[1],
    "reshape": lambda tr: tr.reshape(-1),
    "permute": lambda tr: tr.permute(1, 0),
    "expand": lambda tr: tr.expand(2, 3, 4),
    "unbind": lambda tr: tr.unbind(0)[0],
    "clone": lambda tr: tr.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda tr: pickle.loads(pickle.dumps(tr)),
    "pytree": lambda tr: pytree.tree_map(torch.clone, tr),
    "to": lambda tr: tr.to("cpu"),
    "replace": lambda tr: tr.replace(extra=torch.zeros(3, 4)),
    "exclude": lambda tr: tr.exclude("done"),
    "where": lambda tr: torch.where(torch.ones(3, 4).bool(), tr, tr),
    "lock": lambda tr: tr.clone().lock_(),
}


@pytest.mark.parametrize("op", SURVIVES.values(), ids=list(SURVIVES))
def test_ops_keep_the_classes(op: Any) -> None:
    tr = ArmEnv().rollout(4)
    out = op(tr)

    assert type(out) is Transition[Arm, Push] and type(out.next) is Next[Arm]
    assert isinstance(out.obs, Arm) and isinstance(out.action, Push) and isinstance(out.next.obs.joint, Joint)


def test_rollouts_of_different_lengths_are_seen_by_class_in_a_lazy_stack() -> None:
    tr: Any = lazy_stack([ArmEnv().rollout(3)[0], ArmEnv().rollout(4)[0]])

    assert [one.angle.shape[0] for one in tr.obs] == [3, 4]
    assert [one.obs.joint.bend.shape[0] for one in tr.next] == [3, 4]
    assert tr.densify().next.obs.angle.shape == (2, 4)


def test_steps_move_on_as_transitions() -> None:
    env = ArmEnv()
    tr = env.rand_step(env.reset())

    assert type(step_mdp(tr)) is type(env.step_mdp(tr)) is Transition[Arm, Push]
    assert env.step_mdp(tr).obs.angle is tr.next.obs.angle


def test_transitions_stack_with_plain_containers() -> None:
    env = Counter()
    td = env.reset()
    plain = td.to_tensordict()

    assert type(plain) is TensorDict
    assert stack([td, plain]).batch_size == stack([plain, td]).batch_size == (2,)


def test_on_disk_the_class_that_loads_decides(tmp_path: Path) -> None:
    tr = ArmEnv().rollout(4)
    tr.memmap(tmp_path)

    assert Transition[Arm, Push].load_memmap(tmp_path).next.obs.angle.shape == (3, 4)
    assert type(TensorDict.load_memmap(tmp_path)) is TensorDict


def test_vmap_goes_over_transitions() -> None:
    tr = ArmEnv().rollout(4)
    doubled = torch.vmap(lambda one: one.obs.angle * 2 + one.next.reward.squeeze(-1))(tr)

    assert torch.equal(doubled, tr["angle"] * 2 + tr["next", "reward"].squeeze(-1))


# ---- policies --------------------------------------------------------------------------------------------------------


class Damp(TensorClassModuleBase[Arm, Push]):
    def forward(self, x: Arm) -> Push:
        return Push(u=(0.5 - x.angle).clamp(-1, 1), batch_size=x.batch_size)


def by_observation(obs: Arm) -> Push:
    return Damp()(obs)


def by_transition(tr: Transition[Arm, Push]) -> None:
    tr.action = by_observation(tr.obs)


def giving_the_action(tr: Transition[Arm, Push]) -> Push:
    return by_observation(tr.obs)


class Module(nn.Module):
    def forward(self, obs: Arm) -> Push:
        return by_observation(obs)


@pytest.mark.parametrize("policy", [Damp(), by_observation, by_transition, giving_the_action, Module()])
def test_policies_over_classes_act(policy: Any) -> None:
    tr = ArmEnv().rollout(3, policy)

    assert torch.equal(tr.action.u, (0.5 - tr.obs.angle).clamp(-1, 1))


def test_a_typed_policy_acts_in_an_environment_without_classes() -> None:
    class Seen(TensorClass):
        observation: Tensor

    class Move(TensorClass):
        action: Tensor

    class Half(TensorClassModuleBase[Seen, Move]):
        def forward(self, x: Seen) -> Move:
            return Move(action=x.observation / 2, batch_size=x.batch_size)

    td = Counter().rollout(3, Half())
    assert td["action"].flatten().tolist() == [0, 0.5, 1]


class Angle(TensorClass):
    angle: Tensor


class Rewarded(TensorClass):
    reward: Tensor


class Blind(TensorClassModuleBase[Angle, Push]):
    def forward(self, x: Angle) -> Push:
        return Push(u=torch.zeros(x.batch_size), batch_size=x.batch_size)


class Stray(TensorClassModuleBase[Rewarded, Push]):
    def forward(self, x: Rewarded) -> Push:
        return Push(u=x.reward, batch_size=x.batch_size)


def test_a_policy_over_another_class_acts_if_its_fields_are_there() -> None:
    policy: Any = Blind()
    assert ArmEnv().rollout(3, policy).action.u.abs().max() == 0

    policy = Stray()
    with pytest.raises(TypeError, match="policy: Stray takes Rewarded; the observations are Arm"):
        ArmEnv().rollout(3, policy)


def test_an_action_of_another_shape_is_named_when_the_step_fails() -> None:
    def wide(tr: Transition[Arm, Push]) -> None:
        tr["u"] = torch.zeros(3, 5)

    says = r"^ArmEnv._step failed; 'u' has shape \[3, 5\], its spec has \[3\]$"
    with pytest.raises(RuntimeError, match=says):
        ArmEnv().rollout(3, wide)
    env = ArmEnv()
    start = env.reset()
    start["u"] = torch.zeros(3, 5)
    with pytest.raises(RuntimeError, match=says):
        env.step(start)


def test_an_action_of_another_shape_is_named_when_what_came_of_it_has_another_shape() -> None:
    class Slide(EnvBase):
        def __init__(self) -> None:
            super().__init__()
            self.observation_spec = Composite(pos=Unbounded((1,)))
            self.action_spec = Bounded(-1.0, 1.0, (1,))

        def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
            return TensorDict(pos=torch.zeros(1))

        def _step(self, tensordict: Any) -> Any:
            return TensorDict(pos=tensordict["pos"] + tensordict["action"], reward=torch.ones(1))

    env = Slide()
    says = r"^Slide._step failed; 'action' has shape \[3\], its spec has \[1\]$"
    with pytest.raises(RuntimeError, match=says):
        env.step(env.reset().set("action", torch.zeros(3)))
    with pytest.raises(RuntimeError, match=says):
        env.rollout(2, lambda td: td.set("action", torch.zeros(3)))


class Chain(TensorClass):
    links: Float[Tensor, "*batch n"]


class Pull(TensorClass):
    force: Float[Tensor, "*batch n"]


class Chained(EnvBase[Chain, Pull]):
    """Of as many links as one likes."""

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Chain:
        return Chain(links=torch.zeros(*self.batch_size, 3))

    def _step(self, tensordict: Transition[Chain, Pull]) -> Next[Chain]:
        links = tensordict.obs.links + tensordict.action.force
        return Next(obs=Chain(links=links), reward=torch.zeros(self.batch_size))


def test_a_size_that_has_a_name_is_any_size() -> None:
    env = Chained(batch_size=[2])
    assert env.observation_spec["links"].shape == (2, -1)
    words = (
        r"no 'force' can be drawn: its spec has shape \[2, -1\], and -1 is any size; set self.action_spec in __init__"
    )
    with pytest.raises(RuntimeError, match=f"^{words}"):
        env.rollout(2)
    with pytest.raises(AssertionError, match=f"^Chained: {words}"):
        check_env_specs(env)

    env.action_spec = Composite(force=Bounded(-1.0, 1.0, (2, 3)), shape=(2,))
    check_env_specs(env)
    assert env.rollout(4).obs.links.shape == (2, 4, 3)


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_an_attribute_error_that_says_what_would_put_it_there() -> None:
    tr = ArmEnv().rollout(2)
    for of in (tr, tr.next):
        with pytest.raises(AttributeError, match=r"no 'step_count' here: add StepCounter\(\)"):
            _ = of.step_count
    with pytest.raises(AttributeError, match=r"add RewardSum\(\)"):
        _ = tr.next.episode_reward
    with pytest.raises(AttributeError, match=r"the reward of a step is .next.reward"):
        _ = tr.reward  # type: ignore[attr-defined]  # As a checker says.
    with pytest.raises(AttributeError, match="env.step"):
        _ = ArmEnv().reset().next
    assert not hasattr(tr, "truncated") and not hasattr(tr, "nxt")


def test_without_classes_there_is_no_observation_to_see() -> None:
    td = Counter().rollout(2)

    assert type(td) is Transition and td.next.reward.shape == (2, 1)
    with pytest.raises(AttributeError, match=r"no class is declared for .obs: .* EnvBase\[Obs, Action\]"):
        _ = td.obs


def test_fields_that_would_collide_are_refused_when_the_class_is_made() -> None:
    with pytest.raises(ValueError, match="Both: Arm and Angle both have a field 'angle'; .* rename one of the fields"):

        class Both(EnvBase[Arm, Angle]):
            pass

    with pytest.raises(ValueError, match="Taken: field 'reward' of Rewarded is a key that every environment has"):

        class Taken(EnvBase[Rewarded, Push]):
            pass


def test_a_field_that_a_step_leaves_out_is_named() -> None:
    class Forgets(ArmEnv):
        def _step(self, tensordict: Any) -> Any:
            return TensorDict(angel=torch.zeros(3), reward=torch.zeros(3, 1), batch_size=3)

    env = Forgets()
    with pytest.raises(KeyError, match="Forgets._step gave no 'angle'; did you mean 'angel'"):
        env.rand_step(env.reset())


def test_classes_may_come_by_way_of_a_base_or_a_variable() -> None:
    class Faster(ArmEnv):
        pass

    assert isinstance(Faster().reset().obs, Arm) and type(Faster().reset()) is Transition[Arm, Push]


class Averaged(ArmEnv):
    """A reward that has lost its rows."""

    def _step(self, tensordict: Transition[Arm, Push]) -> Next[Arm]:
        return Next(obs=tensordict.obs.clone(), reward=tensordict.action.u.mean(), terminated=False)


def test_a_tensor_without_rows_is_no_reward_of_every_row_but_a_number_is() -> None:
    with pytest.raises(RuntimeError, match=r"field 'reward' has shape \[\]; the batch size is \[3\]"):
        Averaged().rollout(2)

    steps = Averaged(()).rollout(2).next
    assert steps.reward.shape == steps.terminated.shape == (2, 1)


class Early(EnvBase["Later", "Push"]):
    """Its observation is declared below."""

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Later:
        return Later(pos=torch.zeros(2))

    def _step(self, tensordict: Transition[Later, Push]) -> Next[Later]:
        pos = tensordict.obs.pos + tensordict.action.u
        return Next({"speed": pos}, obs=Later(pos=pos), reward=0.0)


class Later(TensorClass):
    pos: Float[Tensor, "*batch 2"]


def test_a_class_may_be_named_before_it_is_there() -> None:
    env = Early()

    assert env.observation_spec["pos"].shape == (2,)
    assert isinstance(env.rollout(3).next.obs, Later)
    assert env.rollout(3)["next", "speed"].shape == (3, 2)


def test_a_field_whose_shape_nobody_says_is_found_by_the_check() -> None:
    class Plain(EnvBase[Angle, Push]):
        def _reset(self, tensordict: Any = None, **kwargs: Any) -> Angle:
            return Angle(angle=torch.zeros(2))

        def _step(self, tensordict: Any) -> Next[Angle]:
            return Next(obs=Angle(angle=torch.zeros(2)), reward=0.0)

    with pytest.raises(AssertionError, match="gives 'angle', which no spec has; its annotation in Angle says no shape"):
        check_env_specs(Plain())


def test_the_class_of_views_is_one_for_the_same_classes() -> None:
    assert Transition[Arm, Push] is Transition[Arm, Push]
    assert Transition[Any, Any] is Transition and Next[Any] is Next
    assert issubclass(Transition[Arm, Push], Transition) and issubclass(Transition, TensorDict)


# ---- the compiler ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_step_and_the_body_of_a_rollout_are_one_graph() -> None:
    env, policy = ArmEnv(), Damp()

    def steps(tr: Transition[Arm, Push]) -> Transition[Arm, Push]:
        for _ in range(3):
            tr.action = policy(tr.obs)
            tr = env.step_mdp(env.step(tr))
        return tr

    compiled = torch.compile(steps, fullgraph=True, backend="eager")(env.reset())
    plain = steps(env.reset())
    assert type(compiled) is Transition[Arm, Push]
    assert torch.equal(compiled.obs.angle, plain.obs.angle)
    assert torch.equal(compiled.obs.joint.bend, plain.obs.joint.bend)

    start = env.rand_action(env.reset())
    step = torch.compile(env.step, fullgraph=True, backend="eager")
    assert torch.equal(step(start.copy()).next.reward, env.step(start.copy()).next.reward)
