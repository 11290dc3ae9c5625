from torch.nn.modules.linear import Linear as Linear
from torch.nn.modules.linear import Tanh as Tanh
from torch.nn.modules.module import Module as Module
from torch.nn.modules.module import Sequential as Sequential
