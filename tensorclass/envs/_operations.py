"""What is asked of an environment that stands among others, in this process or in another one."""

from __future__ import annotations

from typing import Any, NamedTuple


class Description(NamedTuple):
    """What must be known of an environment to stand for it."""

    output: Any
    input: Any
    batch: tuple[int, ...]
    device: Any
    classes: tuple[Any, Any]


def describe(env: Any) -> Description:
    """Its specs, batch size, device and classes."""
    return Description(env.output_spec, env.input_spec, tuple(env.batch_size), env.device, env._classes)


def seed(env: Any, number: int | None, static: bool) -> int | None:
    """Seed it; the seed for the next one."""
    following: int | None = env.set_seed(number, static_seed=static)
    return following


def state(env: Any) -> Any:
    """Its state_dict."""
    return env.state_dict()


def load(env: Any, state: Any, strict: bool) -> None:
    """Load a state_dict."""
    env.load_state_dict(state, strict=strict)


def train(env: Any, mode: bool) -> None:
    """Switch its transforms between training and evaluation."""
    env.train(mode)


def look(env: Any, name: str) -> tuple[bool, Any]:
    """Whether an attribute is a function, and its value if it is none."""
    value = getattr(env, name)
    return callable(value), None if callable(value) else value


def call(env: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method."""
    return getattr(env, name)(*args, **kwargs)


def add_truncated(env: Any) -> Description:
    """Add "truncated" beside every done; what it is then."""
    env.add_truncated_keys()
    return describe(env)
