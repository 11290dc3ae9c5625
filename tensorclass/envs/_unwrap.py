"""Whether a TransformedEnv around a TransformedEnv takes it apart: a setting."""

from __future__ import annotations

import os
from contextlib import ContextDecorator
from typing import Any

_STATE = [os.environ.get("AUTO_UNWRAP_TRANSFORMED_ENV", "1").lower() not in ("0", "false", "no", "off")]


def auto_unwrap_transformed_env() -> bool:
    """Whether a TransformedEnv that is wrapped again is taken apart."""
    return _STATE[-1]


class set_auto_unwrap_transformed_env(ContextDecorator):
    """Whether a TransformedEnv around a TransformedEnv has copies of its transforms, in a block or a function.

    >>> from tensorclass.envs import auto_unwrap_transformed_env
    >>> with set_auto_unwrap_transformed_env(False):
    ...     print(auto_unwrap_transformed_env())
    False

    The environment variable AUTO_UNWRAP_TRANSFORMED_ENV sets it for the whole program, and so does .set().
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        _STATE.append(self.mode)

    def __exit__(self, *error: Any) -> None:
        _STATE.pop()

    def set(self) -> None:
        """Set it from now on."""
        _STATE[-1] = self.mode
