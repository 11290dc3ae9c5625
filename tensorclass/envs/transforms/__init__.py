"""Transforms, a file for each kind; tensorclass.envs has all of them too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._compose import Compose as Compose
    from .._transform import Transform as Transform
    from .._transformed import TransformedEnv as TransformedEnv
    from ._leafwise import _apply_to_composite as _apply_to_composite
    from ._leafwise import _apply_to_composite_inv as _apply_to_composite_inv
    from .action import ActionDiscretizer as ActionDiscretizer
    from .action import ActionMask as ActionMask
    from .action import Discrete as Discrete
    from .action import SamplingStrategy as SamplingStrategy
    from .casts import DeviceCastTransform as DeviceCastTransform
    from .casts import DoubleToFloat as DoubleToFloat
    from .casts import DTypeCastTransform as DTypeCastTransform
    from .casts import PinMemoryTransform as PinMemoryTransform
    from .cat import CatTensors as CatTensors
    from .counters import InitTracker as InitTracker
    from .counters import RewardSum as RewardSum
    from .counters import StepCounter as StepCounter
    from .finite import FiniteTensorDictCheck as FiniteTensorDictCheck
    from .frames import CatFrames as CatFrames
    from .frames import TimeMaxPool as TimeMaxPool
    from .horizon import EndOfLifeTransform as EndOfLifeTransform
    from .horizon import RandomTruncationTransform as RandomTruncationTransform
    from .images import CenterCrop as CenterCrop
    from .images import Crop as Crop
    from .images import GrayScale as GrayScale
    from .images import Resize as Resize
    from .images import ToTensorImage as ToTensorImage
    from .keys import ExcludeTransform as ExcludeTransform
    from .keys import RenameTransform as RenameTransform
    from .keys import SelectTransform as SelectTransform
    from .maps import MapObs as MapObs
    from .normalise import ObservationNorm as ObservationNorm
    from .primer import TensorDictPrimer as TensorDictPrimer
    from .reward import BinarizeReward as BinarizeReward
    from .reward import ClipTransform as ClipTransform
    from .reward import RewardClipping as RewardClipping
    from .reward import RewardScaling as RewardScaling
    from .reward import SignTransform as SignTransform
    from .shapes import FlattenObservation as FlattenObservation
    from .shapes import PermuteTransform as PermuteTransform
    from .shapes import SqueezeTransform as SqueezeTransform
    from .shapes import UnsqueezeTransform as UnsqueezeTransform
    from .stepping import FrameSkipTransform as FrameSkipTransform
    from .stepping import NoopResetEnv as NoopResetEnv
    from .targets import TargetReturn as TargetReturn
    from .vecnorm import VecNorm as VecNorm
    from .vecnorm import VecNormV2 as VecNormV2
else:

    def __getattr__(name):
        if name in ("_apply_to_composite", "_apply_to_composite_inv"):
            from . import _leafwise as home
        else:
            from .. import __all__ as known

            if name not in known:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            import tensorclass.envs as home
        return getattr(home, name)
