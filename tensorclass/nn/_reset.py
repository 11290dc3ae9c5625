"""New parameters for layers, drawn where they are kept."""

from __future__ import annotations

import torch
from torch import nn

from .._functional import to_module
from .._tensordict import TensorDict


def reset_in(module: nn.Module, parameters: TensorDict) -> TensorDict:
    """Call reset_parameters of every layer for each set of parameters in a container, which is changed in place."""
    if parameters.batch_dims:
        for row in parameters.unbind(0):
            reset_in(module, row)
        return parameters
    with to_module(parameters.data, module), torch.no_grad():
        reset_layers(module)
    return parameters


def reset_layers(module: nn.Module) -> None:
    """Call reset_parameters of every layer that has it."""
    for layer in module.modules():
        reset = getattr(layer, "reset_parameters", None)
        if callable(reset):
            reset()
