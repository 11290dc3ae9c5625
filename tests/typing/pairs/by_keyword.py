"""Layers and functions whose arguments are given by name, in any order."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


def layers() -> None:
    many = nn.MultiheadAttention(8, 2, kdim=5, vdim=6, batch_first=True)
    many(key=torch.zeros(2, 4, 5), value=torch.zeros(2, 4, 6), query=torch.zeros(2, 3, 7))  # E: MultiheadAttention: the last dim of the query of the input [2, 3, 7] is 7, the layer takes 8 [tensorclass-shape]
    many(key=torch.zeros(2, 4, 5), value=torch.zeros(2, 4, 6), query=torch.zeros(2, 3, 8))
    both = nn.Bilinear(3, 4, 5)
    both(input2=torch.zeros(2, 3), input1=torch.zeros(2, 3))  # E: Bilinear: the last dim (of input 1) of the input [2, 3] is 3, the layer takes 4 [tensorclass-shape]
    both(input2=torch.zeros(2, 4), input1=torch.zeros(2, 3))
    nn.CrossEntropyLoss()(target=torch.zeros(3, dtype=torch.long), input=torch.zeros(2, 5))  # E: cross_entropy: the input has shape [2, 5], so the target has [2]; it has [3] [tensorclass-shape]
    nn.CrossEntropyLoss()(target=torch.zeros(2, dtype=torch.long), input=torch.zeros(2, 5))
    gru = nn.GRU(3, 4, batch_first=True)
    gru(hx=torch.zeros(1, 2, 4), input=torch.zeros(2, 5, 4))  # E: GRU: the last dim of the input [2, 5, 4] is 4, the layer takes 3 [tensorclass-shape]
    gru(hx=torch.zeros(1, 2, 4), input=torch.zeros(2, 5, 3))
    decoder = nn.TransformerDecoderLayer(8, 2, batch_first=True)
    decoder(memory=torch.zeros(2, 4, 8), tgt=torch.zeros(2, 3, 8)).reshape(47)  # E: reshape: a tensor of shape [2, 3, 8] has 48 elements, which [47] cannot hold [tensorclass-shape]
    decoder(memory=torch.zeros(2, 4, 8), tgt=torch.zeros(2, 3, 8)).reshape(48)


def functions() -> None:
    F.linear(weight=torch.zeros(4, 2), input=torch.zeros(2, 3))  # E: linear: the last dim of [2, 3] is 3, the weight takes 2 [tensorclass-shape]
    F.linear(weight=torch.zeros(4, 3), input=torch.zeros(2, 3))
