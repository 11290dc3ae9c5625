"""ParallelEnv: soon."""

from __future__ import annotations

from ._serial import SerialEnv as ParallelEnv
