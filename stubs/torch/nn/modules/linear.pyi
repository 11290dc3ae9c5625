from torch import Tensor
from torch.nn.modules.module import Module

class Linear(Module):
    weight: Tensor
    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Tanh(Module):
    def forward(self, input: Tensor) -> Tensor: ...
