"""What an environment gives, as typed views of the flat layout: Transition at the root, Next under "next"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

import torch
from torch import Tensor
from typing_extensions import Self, TypeVar

from .._declared import Declared
from .._rules import errors
from .._rules.nearest import suggest
from .._tensorclass import TensorClass
from .._tensordict import TensorDict, untyped
from .._tree import pytree
from .._tree.node import Node, is_tree, kind
from ..nn._ends import class_of, declared

# A class that is not named is Any, and then everything is allowed.
Obs = TypeVar("Obs", default=Any)
Action = TypeVar("Action", default=Any)

FLAGS = ("done", "terminated", "truncated")
ADDED = {
    "step_count": "StepCounter()",
    "episode_reward": "RewardSum()",
    "is_init": "InitTracker()",
    "truncated": "StepCounter(max_steps) or env.add_truncated_keys()",
}


class View(TensorDict):
    """A TensorDict that knows which classes its entries make up; ops on it keep that knowledge."""

    __slots__ = ()
    _classes: ClassVar[tuple[Any, ...]] = ()
    _kinds: ClassVar[dict[tuple[type, tuple[Any, ...]], Any]] = {}

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters):
            given = parameters if isinstance(parameters, tuple) else (parameters,)
            return of_classes(cls, tuple(known(one) for one in given))

        def __getattr__(self, name):
            raise AttributeError(self._no_attribute(name))

    def _no_attribute(self, name: str) -> str:
        if name in self._fields:
            return f"{type(self).__name__} has no attribute {name!r}; the entry of that name is [{name!r}]"
        if name in ADDED:
            return f"no {name!r} here: add {ADDED[name]}"
        if name in ("obs", "action"):
            return (
                f"no class is declared for .{name}: make the environment class with EnvBase[Obs, Action], "
                "or read the entries by key"
            )
        if name == "next":
            return "no 'next' here: env.step(...) puts it there"
        if name in self._attributes:
            return errors.key_missing(name, self._fields)
        return f"{type(self).__name__} has no attribute {name!r}{suggest(name, self._attributes)}"

    _attributes: ClassVar[tuple[str, ...]] = (*FLAGS, *ADDED)

    def __reduce__(self) -> Any:
        _, (cls, *state) = super().__reduce__()
        return restored, (base_of(cls), cls._classes, *state)

    def _flag(self, name: str) -> Tensor:
        try:
            return self._fields[name]  # type: ignore[no-any-return]  # The environment keeps tensors there.
        except KeyError:
            raise AttributeError(self._no_attribute(name)) from None

    @property
    def done(self) -> Tensor:
        """Whether the episode is over, for whichever reason: shape [*B, 1]."""
        return self._flag("done")

    @property
    def terminated(self) -> Tensor:
        """Whether the episode came to an end of its own: shape [*B, 1]."""
        return self._flag("terminated")

    @property
    def truncated(self) -> Tensor:
        """Whether the episode was cut off: shape [*B, 1]."""
        return self._flag("truncated")

    @property
    def step_count(self) -> Tensor:
        """The number of steps since the last reset, as StepCounter counts them."""
        return self._flag("step_count")

    @property
    def episode_reward(self) -> Tensor:
        """The rewards since the last reset, as RewardSum adds them up."""
        return self._flag("episode_reward")

    @property
    def is_init(self) -> Tensor:
        """Whether this is the first step of an episode, as InitTracker tells."""
        return self._flag("is_init")


class Next(View, Generic[Obs]):
    """What comes of a step: the observation after it, the reward, and whether the episode is over.

    >>> class Body(TensorClass):
    ...     pos: Tensor
    >>> after = Next(obs=Body(pos=torch.ones(3), batch_size=3), reward=torch.zeros(3), terminated=torch.zeros(3).bool())
    >>> after["pos"], after.reward.shape
    (tensor([1., 1., 1.]), torch.Size([3, 1]))

    A TensorDict that has the fields of the observation beside "reward" and the flags. Reward and flags may be given
    with the batch size as their shape; they get their last dim of size 1.
    """

    __slots__ = ()
    _attributes = ("obs", "reward", *FLAGS, *ADDED)

    def __init__(
        self,
        source: Any = None,
        batch_size: Any = None,
        device: Any = None,
        names: Any = None,
        *,
        obs: Obs | None = None,
        reward: Tensor | float | None = None,
        done: Tensor | bool | None = None,
        terminated: Tensor | bool | None = None,
        truncated: Tensor | bool | None = None,
        **entries: Any,
    ) -> None:
        if isinstance(obs, Node) and source is None and batch_size is None:
            batch_size, names = obs._batch, obs._names
        super().__init__(source, batch_size, device, names, **entries)
        if obs is not None:
            self._fields.update(flat(obs))
        given = {"reward": reward, "done": done, "terminated": terminated, "truncated": truncated}
        for key, value in given.items():
            if value is not None:
                self[key] = column(value, self._batch)

    @property
    def obs(self) -> Obs:
        """The observation after the step, as the class that the environment declares."""
        return cast(Obs, built(self, self._classes[0] if self._classes else Any))

    @property
    def reward(self) -> Tensor:
        """The reward of the step: shape [*B, 1]."""
        return self._flag("reward")


class Transition(View, Generic[Obs, Action]):
    """A step of an environment, or many: what was seen, what was done, and what came of it.

    A TensorDict in every respect: the root holds observation, action and flags before the step, "next" those after it
    and the reward. `obs` and `action` are views of it as the classes that the environment declares: they share its
    tensors, and are locked because what is set on them would not be seen here.
    """

    __slots__ = ()
    _attributes = ("obs", "action", "next", *FLAGS, *ADDED)

    @property
    def obs(self) -> Obs:
        """The observation before the step, as the class that the environment declares."""
        return cast(Obs, built(self, self._classes[0] if self._classes else Any))

    @obs.setter
    def obs(self, value: Obs) -> None:
        write(self, value)

    @property
    def action(self) -> Action:
        """The action of the step, as the class that the environment declares."""
        return cast(Action, built(self, self._classes[1] if self._classes else Any, "action"))

    @action.setter
    def action(self, value: Action) -> None:
        write(self, value)

    @property
    def next(self) -> Next[Obs]:
        """What came of the step."""
        node = self._fields.get("next")
        if node is None:
            raise AttributeError(self._no_attribute("next"))
        return cast("Next[Obs]", seen_as(of_classes(Next, self._classes[:1]), node))

    def _no_attribute(self, name: str) -> str:
        if name == "reward":
            return "the reward of a step is .next.reward"
        return super()._no_attribute(name)


def known(one: Any) -> Any:
    """A type argument as it is kept: a class of containers, a tensor, or Any."""
    return one if isinstance(class_of(one), type) else Any


def of_classes(base: Any, classes: tuple[Any, ...]) -> Any:
    """The class of views with these classes; always the same one for the same classes."""
    base = base_of(base)
    if all(one is Any for one in classes):
        return base
    made = View._kinds.get((base, classes))
    if made is None:
        names = ", ".join(getattr(one, "__name__", str(one)) for one in classes)
        body = {"__slots__": (), "_classes": classes, "__module__": base.__module__, "__doc__": base.__doc__}
        made = View._kinds[base, classes] = type(f"{base.__name__}[{names}]", (base,), body)
        pytree.register(made)
    return made


TAKEN = ("next", "reward", "done", "terminated", "truncated", "_reset", "_step")


def refuse_collisions(owner: str, obs: Any, action: Any) -> None:
    """Refuse classes whose fields would sit under one key in the flat layout."""
    by_class = {cls: list(declared(cls)) for cls in map(class_of, (obs, action)) if has_fields(cls)}
    for cls, names in by_class.items():
        for name in names:
            if name in TAKEN:
                raise errors.OptionError(
                    f"{owner}: field {name!r} of {cls.__name__} is a key that every environment has; rename the field"
                )
    if len(by_class) == 2:
        (first, here), (second, there) = by_class.items()
        shared = [name for name in here if name in there]
        if shared:
            raise errors.OptionError(
                f"{owner}: {first.__name__} and {second.__name__} both have a field {shared[0]!r}; observation and "
                "action are entries of one container, so rename one of the fields"
            )


def has_fields(cls: Any) -> bool:
    """Whether a type argument is a class of containers with fields."""
    return isinstance(cls, type) and issubclass(cls, Declared)


def base_of(cls: Any) -> Any:
    """Transition or Next, of a class of views with classes."""
    return Next if issubclass(cls, Next) else Transition if issubclass(cls, Transition) else cls


def restored(base: Any, classes: tuple[Any, ...], *state: Any) -> Any:
    """A view out of a pickle."""
    fields, batch, device, names, locked = state
    new = view(of_classes(base, classes) if classes else base, fields, torch.Size(batch), device, names)
    return new.lock_() if locked else new


def view(cls: Any, fields: dict[str, Any], batch: Any, device: Any = None, names: Any = None) -> Any:
    """A new container of a class with these entries, unchecked; the dict is not copied."""
    new = object.__new__(cls)
    new._fields = fields
    new._batch = batch
    new._device = device
    new._names = names
    new._locked = False
    new._leaves = None
    return new


def seen_as(cls: Any, node: Any) -> Any:
    """A TensorDict as a view of some class: the same entries, and writes to one are writes to the other."""
    if isinstance(node, cls):
        return node
    out = view(cls, node._fields, node._batch, node._device, node._names)
    out._locked = node._locked
    return out


def flat(value: Any) -> dict[str, Any]:
    """The entries of an observation or action as the flat layout has them: nested classes as TensorDicts."""
    return {
        key: untyped(one) if is_tree(one) and one.__class__ is not TensorDict else one
        for key, one in value._fields.items()
        if one is not None or not value._none_is_unset
    }


def write(node: View, value: Any) -> None:
    """Put the entries of an observation or action into a view."""
    if not isinstance(value, Node):
        raise errors.KindError(f"{kind(value)} has no fields; a TensorClass would do")
    for key, one in flat(value).items():
        node[key] = one


def column(value: Any, batch: torch.Size) -> Any:
    """A reward or flag with its last dim of size 1."""
    tensor = torch.as_tensor(value)
    if tensor.shape == batch:
        return tensor.unsqueeze(-1)
    return tensor.expand(*batch, 1) if tensor.ndim == 0 else tensor


def built(node: View, cls: Any, key: str = "obs") -> Any:
    """An instance of a class of containers with the entries of a view; the tensors are shared, and it is locked."""
    if cls is Any:
        raise AttributeError(node._no_attribute(key))
    cls = class_of(cls)
    if not has_fields(cls):
        return node._fields["observation" if key == "obs" else key]
    fields = declared(cast("type[TensorClass]", cls))
    here = node._fields
    missing = [name for name, one in fields.items() if name not in here and not one.optional]
    if missing:
        raise errors.KeyMissing(f"{cls.__name__}: {errors.key_missing(missing[0], here)}")
    given = {name: here[name] for name in fields if name in here}
    if any(isinstance(one, Node) for one in given.values()) or len(given) < len(fields):
        out = cls.from_tensordict(node._like(given))
    else:
        out = object.__new__(cls)
        for slot, value in (("_batch", node._batch), ("_device", node._device), ("_names", node._names)):
            object.__setattr__(out, slot, value)
        object.__setattr__(out, "_locked", False)
        object.__setattr__(out, "_leaves", None)
        out._fill(given)
    return out.lock_()


__all__ = ["Action", "Next", "Obs", "Self", "Transition"]
