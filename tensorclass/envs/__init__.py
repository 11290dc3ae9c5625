"""Environments: typed transitions, specs, transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._check import check_env_specs as check_env_specs
    from ._env import EnvBase as EnvBase
    from ._specs.base import TensorSpec as TensorSpec
    from ._specs.box import Bounded as Bounded
    from ._specs.box import Unbounded as Unbounded
    from ._specs.choices import Categorical as Categorical
    from ._specs.choices import OneHot as OneHot
    from ._specs.composite import Composite as Composite
    from ._specs.multi import Binary as Binary
    from ._specs.multi import MultiCategorical as MultiCategorical
    from ._specs.multi import MultiOneHot as MultiOneHot
    from ._specs.plain import NonTensor as NonTensor
    from ._specs.stacked import Stacked as Stacked
    from ._specs.stacked import StackedComposite as StackedComposite
    from ._step import step_mdp as step_mdp
    from ._typed import Next as Next
    from ._typed import Transition as Transition
else:
    import importlib

    _HOME = {
        "_check": ("check_env_specs",),
        "_env": ("EnvBase",),
        "_step": ("step_mdp",),
        "_typed": ("Next", "Transition"),
        "_specs.base": ("TensorSpec",),
        "_specs.box": ("Bounded", "Unbounded"),
        "_specs.choices": ("Categorical", "OneHot"),
        "_specs.composite": ("Composite",),
        "_specs.multi": ("Binary", "MultiCategorical", "MultiOneHot"),
        "_specs.plain": ("NonTensor",),
        "_specs.stacked": ("Stacked", "StackedComposite"),
    }
    _MODULES = {name: module for module, names in _HOME.items() for name in names}
    __all__ = sorted(_MODULES)

    def __getattr__(name):
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *_MODULES})
