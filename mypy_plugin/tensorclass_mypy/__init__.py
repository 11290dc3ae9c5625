"""The mypy plugin: write `plugins = ["tensorclass_mypy"]` in mypy's settings."""

from __future__ import annotations

from mypy.plugin import Plugin


def plugin(version: str) -> type[Plugin]:
    """What mypy calls."""
    from ._plugin import TensorClassPlugin

    return TensorClassPlugin
