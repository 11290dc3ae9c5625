"""The metaclass of environments: specs are locked once an environment is made."""

from __future__ import annotations

from typing import Any


class EnvMeta(type):
    """Finishes an environment after the __init__ of its class, however many classes have one."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        env = super().__call__(*args, **kwargs)
        env._finish()
        return env
