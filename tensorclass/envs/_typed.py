"""What an environment gives, as typed views of the flat layout: Transition at the root, Next under "next"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

import torch
from torch import Tensor
from typing_extensions import TypeVar

from .._lazystack import lazy_stack
from .._rules import errors
from .._tensordict import TensorDict
from .._tree import pytree
from .._tree.node import Node, kind
from ..nn._ends import class_of
from ._classes import built, flat, has_fields, known

# A class that is not named is Any, and then everything is allowed.
Obs = TypeVar("Obs", default=Any)
Action = TypeVar("Action", default=Any)

OWN = ("reward", "done", "terminated", "truncated")
ADDED = {
    "step_count": "StepCounter()",
    "episode_reward": "RewardSum()",
    "is_init": "InitTracker()",
    "truncated": "StepCounter(max_steps) or env.add_truncated_keys()",
}


class View(TensorDict):
    """A TensorDict that knows which classes its entries make up; ops on it keep that knowledge."""

    __slots__ = ()
    _kin = TensorDict
    _classes: ClassVar[tuple[Any, ...]] = ()
    _seen: ClassVar[tuple[Any, ...]] = (None, None)  # Those of them that have fields.
    _kinds: ClassVar[dict[tuple[type, tuple[Any, ...]], Any]] = {}

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters):
            given = parameters if isinstance(parameters, tuple) else (parameters,)
            return of_classes(cls, tuple(known(one) for one in given))

    def __reduce__(self) -> Any:
        _, (cls, *state) = super().__reduce__()
        return restored, (base_of(cls), cls._classes, *state)

    def _flag(self, name: str) -> Tensor:
        try:
            return self._fields[name] if self._items is None else self[name]  # type: ignore[no-any-return]  # A tensor.
        except KeyError:
            raise AttributeError(absent(name, self.keys())) from None

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
        if isinstance(obs, Node) and batch_size is None:
            batch_size, names = obs._batch, obs._names
        super().__init__(source, batch_size, device, names, **entries)
        if obs is not None:
            self._fields.update(flat(obs))
        for key, value in zip(OWN, (reward, done, terminated, truncated)):
            if value is not None:
                self._fields[key] = column(key, value, self._batch)

    @property
    def obs(self) -> Obs:
        """The observation after the step, as the class that the environment declares."""
        return cast(Obs, seen(self, 0, "obs"))

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

    @property
    def obs(self) -> Obs:
        """The observation before the step, as the class that the environment declares."""
        return cast(Obs, seen(self, 0, "obs"))

    @obs.setter
    def obs(self, value: Obs) -> None:
        write(self, value)

    @property
    def action(self) -> Action:
        """The action of the step, as the class that the environment declares."""
        return cast(Action, seen(self, 1, "action"))

    @action.setter
    def action(self, value: Action) -> None:
        write(self, value)

    @property
    def next(self) -> Next[Obs]:
        """What came of the step."""
        if self._items is not None:
            return cast("Next[Obs]", by_item(self, lambda one: one.next))
        node = self._fields.get("next")
        if node is None:
            raise AttributeError("no 'next' here: env.step(...) puts it there")
        return cast("Next[Obs]", seen_as(of_classes(Next, self._classes[:1]), node))

    if not TYPE_CHECKING:

        @property
        def reward(self):
            """Not here: the reward comes with what follows."""
            raise AttributeError("the reward of a step is .next.reward")


def absent(name: str, keys: Iterable[str]) -> str:
    """The words for an entry that is not there."""
    return f"no {name!r} here: add {ADDED[name]}" if name in ADDED else errors.key_missing(name, keys)


def of_classes(base: Any, classes: tuple[Any, ...]) -> Any:
    """The class of views with these classes; always the same one for the same classes."""
    base = base_of(base)
    if all(one is Any for one in classes):
        return base
    made = View._kinds.get((base, classes))
    if made is None:
        names = ", ".join(getattr(one, "__name__", str(one)) for one in classes)
        fields = tuple(class_of(one) if has_fields(class_of(one)) else None for one in classes)
        body = {
            "__slots__": (),
            "_classes": classes,
            "_seen": fields,
            "__module__": base.__module__,
            "__doc__": base.__doc__,
        }
        made = View._kinds[base, classes] = type(f"{base.__name__}[{names}]", (base,), body)
        pytree.register(made)
    return made


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


def write(node: View, value: Any) -> None:
    """Put the entries of an observation or action into a view."""
    if not isinstance(value, Node):
        raise errors.KindError(f"{kind(value)} has no fields; a TensorClass would do")
    for key, one in flat(value).items():
        node[key] = one


def column(key: str, value: Any, batch: torch.Size) -> Tensor:
    """A reward or flag with its last dim of size 1; a number of Python is that of every row."""
    if not isinstance(value, Tensor):
        value = torch.as_tensor(value)
        return value.expand(*batch, 1) if not value.ndim else column(key, value, batch)
    tensor: Tensor = value
    shape = tensor.shape
    if shape == batch:
        return tensor.unsqueeze(-1)
    if shape[: len(batch)] != batch:
        raise errors.ShapeError(errors.batch_mismatch(key, tuple(shape), tuple(batch)))
    return tensor


def seen(node: View, at: int, key: str) -> Any:
    """The observation or action of a view, as the class at that place of its type arguments."""
    if node._items is not None:
        return by_item(node, lambda one: seen(one, at, key))
    cls = node._seen[at]
    if cls is not None:
        return built(node, cls)
    if node._classes and node._classes[at] is not Any:  # A class without fields: a plain tensor.
        return node._fields["observation" if key == "obs" else key]
    raise AttributeError(
        f"no class is declared for .{key}: make the environment class with EnvBase[Obs, Action], and name the class "
        "that comes out of a transform of your own (MapObs does); or read the entries by key"
    )


def by_item(stack: View, read: Callable[[Any], Any]) -> Any:
    """What is read off each item of a lazy stack, as a lazy stack: only that need fit together."""
    return lazy_stack([read(item) for item in stack._items], stack._dim)


pytree.register(Transition)
pytree.register(Next)

__all__ = ["Action", "Next", "Obs", "Transition"]
