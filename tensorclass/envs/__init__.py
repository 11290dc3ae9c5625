"""Environments: typed transitions, specs, transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._backend import set_gym_backend as set_gym_backend
    from ._check import check_env_specs as check_env_specs
    from ._compose import Compose as Compose
    from ._creator import EnvCreator as EnvCreator
    from ._crew import WorkerDied as WorkerDied
    from ._crew import WorkerError as WorkerError
    from ._env import EnvBase as EnvBase
    from ._exploration import ExplorationType as ExplorationType
    from ._exploration import exploration_type as exploration_type
    from ._exploration import set_exploration_type as set_exploration_type
    from ._gym import BoxAction as BoxAction
    from ._gym import BoxObs as BoxObs
    from ._gym import GymEnv as GymEnv
    from ._gym import GymWrapper as GymWrapper
    from ._info import default_info_dict_reader as default_info_dict_reader
    from ._parallel import ParallelEnv as ParallelEnv
    from ._serial import SerialEnv as SerialEnv
    from ._specs.base import TensorSpec as TensorSpec
    from ._specs.box import Bounded as Bounded
    from ._specs.box import BoundedContinuous as BoundedContinuous
    from ._specs.box import BoundedDiscrete as BoundedDiscrete
    from ._specs.box import Unbounded as Unbounded
    from ._specs.box import UnboundedContinuous as UnboundedContinuous
    from ._specs.box import UnboundedDiscrete as UnboundedDiscrete
    from ._specs.choice import Choice as Choice
    from ._specs.choices import Categorical as Categorical
    from ._specs.choices import OneHot as OneHot
    from ._specs.composite import Composite as Composite
    from ._specs.declared import specs_of as specs_of
    from ._specs.multi import Binary as Binary
    from ._specs.multi import MultiCategorical as MultiCategorical
    from ._specs.multi import MultiOneHot as MultiOneHot
    from ._specs.plain import NonTensor as NonTensor
    from ._specs.stacked import Stacked as Stacked
    from ._specs.stacked import StackedComposite as StackedComposite
    from ._step import step_mdp as step_mdp
    from ._transform import Transform as Transform
    from ._transformed import TransformedEnv as TransformedEnv
    from ._typed import Next as Next
    from ._typed import Transition as Transition
    from ._unwrap import auto_unwrap_transformed_env as auto_unwrap_transformed_env
    from ._unwrap import set_auto_unwrap_transformed_env as set_auto_unwrap_transformed_env
    from .transforms.action import ActionDiscretizer as ActionDiscretizer
    from .transforms.action import ActionMask as ActionMask
    from .transforms.action import Discrete as Discrete
    from .transforms.action import SamplingStrategy as SamplingStrategy
    from .transforms.casts import DeviceCastTransform as DeviceCastTransform
    from .transforms.casts import DoubleToFloat as DoubleToFloat
    from .transforms.casts import DTypeCastTransform as DTypeCastTransform
    from .transforms.casts import PinMemoryTransform as PinMemoryTransform
    from .transforms.cat import CatTensors as CatTensors
    from .transforms.counters import InitTracker as InitTracker
    from .transforms.counters import RewardSum as RewardSum
    from .transforms.counters import StepCounter as StepCounter
    from .transforms.finite import FiniteTensorDictCheck as FiniteTensorDictCheck
    from .transforms.frames import CatFrames as CatFrames
    from .transforms.frames import TimeMaxPool as TimeMaxPool
    from .transforms.horizon import EndOfLifeTransform as EndOfLifeTransform
    from .transforms.horizon import RandomTruncationTransform as RandomTruncationTransform
    from .transforms.images import CenterCrop as CenterCrop
    from .transforms.images import Crop as Crop
    from .transforms.images import GrayScale as GrayScale
    from .transforms.images import Resize as Resize
    from .transforms.images import ToTensorImage as ToTensorImage
    from .transforms.keys import ExcludeTransform as ExcludeTransform
    from .transforms.keys import RenameTransform as RenameTransform
    from .transforms.keys import SelectTransform as SelectTransform
    from .transforms.maps import MapObs as MapObs
    from .transforms.normalise import ObservationNorm as ObservationNorm
    from .transforms.primer import TensorDictPrimer as TensorDictPrimer
    from .transforms.reward import BinarizeReward as BinarizeReward
    from .transforms.reward import ClipTransform as ClipTransform
    from .transforms.reward import RewardClipping as RewardClipping
    from .transforms.reward import RewardScaling as RewardScaling
    from .transforms.reward import SignTransform as SignTransform
    from .transforms.shapes import FlattenObservation as FlattenObservation
    from .transforms.shapes import PermuteTransform as PermuteTransform
    from .transforms.shapes import SqueezeTransform as SqueezeTransform
    from .transforms.shapes import UnsqueezeTransform as UnsqueezeTransform
    from .transforms.stepping import FrameSkipTransform as FrameSkipTransform
    from .transforms.stepping import NoopResetEnv as NoopResetEnv
    from .transforms.targets import TargetReturn as TargetReturn
    from .transforms.vecnorm import VecNorm as VecNorm
    from .transforms.vecnorm import VecNormV2 as VecNormV2
else:
    import importlib

    _HOME = {
        "_backend": ("set_gym_backend",),
        "_gym": (
            "BoxAction",
            "BoxObs",
            "GymEnv",
            "GymWrapper",
        ),
        "_info": ("default_info_dict_reader",),
        "_serial": ("SerialEnv",),
        "_parallel": ("ParallelEnv",),
        "_creator": ("EnvCreator",),
        "_crew": ("WorkerDied", "WorkerError"),
        "_check": ("check_env_specs",),
        "_env": ("EnvBase",),
        "_exploration": ("ExplorationType", "exploration_type", "set_exploration_type"),
        "_step": ("step_mdp",),
        "_typed": ("Next", "Transition"),
        "_specs.base": ("TensorSpec",),
        "_specs.box": (
            "Bounded",
            "BoundedContinuous",
            "BoundedDiscrete",
            "Unbounded",
            "UnboundedContinuous",
            "UnboundedDiscrete",
        ),
        "_specs.choice": ("Choice",),
        "_specs.choices": ("Categorical", "OneHot"),
        "_specs.composite": ("Composite",),
        "_specs.declared": ("specs_of",),
        "_specs.multi": ("Binary", "MultiCategorical", "MultiOneHot"),
        "_specs.plain": ("NonTensor",),
        "_specs.stacked": ("Stacked", "StackedComposite"),
        "_compose": ("Compose",),
        "_transform": ("Transform",),
        "_transformed": ("TransformedEnv",),
        "_unwrap": ("auto_unwrap_transformed_env", "set_auto_unwrap_transformed_env"),
        "transforms.reward": ("BinarizeReward", "ClipTransform", "RewardClipping", "RewardScaling", "SignTransform"),
        "transforms.casts": ("DTypeCastTransform", "DeviceCastTransform", "DoubleToFloat", "PinMemoryTransform"),
        "transforms.keys": ("ExcludeTransform", "RenameTransform", "SelectTransform"),
        "transforms.cat": ("CatTensors",),
        "transforms.normalise": ("ObservationNorm",),
        "transforms.shapes": ("FlattenObservation", "PermuteTransform", "SqueezeTransform", "UnsqueezeTransform"),
        "transforms.images": ("CenterCrop", "Crop", "GrayScale", "Resize", "ToTensorImage"),
        "transforms.frames": ("CatFrames", "TimeMaxPool"),
        "transforms.vecnorm": ("VecNorm", "VecNormV2"),
        "transforms.action": ("ActionDiscretizer", "ActionMask", "Discrete", "SamplingStrategy"),
        "transforms.stepping": ("FrameSkipTransform", "NoopResetEnv"),
        "transforms.primer": ("TensorDictPrimer",),
        "transforms.targets": ("TargetReturn",),
        "transforms.finite": ("FiniteTensorDictCheck",),
        "transforms.horizon": ("EndOfLifeTransform", "RandomTruncationTransform"),
        "transforms.maps": ("MapObs",),
        "transforms.counters": ("InitTracker", "RewardSum", "StepCounter"),
    }
    _MODULES = {name: module for module, names in _HOME.items() for name in names}
    __all__ = sorted(_MODULES)

    def __getattr__(name):
        if name not in _MODULES:
            from .._rules.elsewhere import no_member

            raise AttributeError(no_member(__name__, name, __dir__()))
        value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *_MODULES})
