"""The metaclass of environments: specs are locked once an environment is made."""

from __future__ import annotations

from typing import TYPE_CHECKING


class EnvMeta(type):
    """Finishes an environment after the __init__ of its class, however many classes have one."""

    if not TYPE_CHECKING:  # With this in sight, a checker would take what a class makes for Any.

        def __call__(cls, *args, **kwargs):
            env = super().__call__(*args, **kwargs)
            env._finish()
            return env
