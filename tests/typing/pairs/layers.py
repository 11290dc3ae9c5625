"""Layers and functions that change sizes. A line with a mistake stands beside its good twin."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


def layers() -> None:
    x = torch.zeros(2, 3, 16, 16)
    s = torch.zeros(2, 7, 8)
    nn.Conv2d(3, 8, 3, stride=2, padding=1)(x).view(2, 8, 8, 9)  # E: view: a tensor of shape [2, 8, 8, 8] has 1024 elements, which [2, 8, 8, 9] cannot hold [tensorclass-shape]
    nn.Conv2d(3, 8, 3, stride=2, padding=1)(x).view(2, 8, 8, 8)
    nn.Conv2d(3, 8, (3, 5), padding="same")(x).view(2, 8, 16, 15)  # E: view: a tensor of shape [2, 8, 16, 16] has 4096 elements, which [2, 8, 16, 15] cannot hold [tensorclass-shape]
    nn.Conv2d(3, 8, (3, 5), padding="same")(x).view(2, 8, 16, 16)
    nn.Conv2d(3, 8, 3, dilation=2)(x).view(2, 8, 14, 14)  # E: view: a tensor of shape [2, 8, 12, 12] has 2304 elements, which [2, 8, 14, 14] cannot hold [tensorclass-shape]
    nn.Conv2d(3, 8, 3, dilation=2)(x).view(2, 8, 12, 12)
    nn.Conv2d(3, 6, 3, groups=2)  # E: Conv2d: in_channels 3 is no multiple of groups 2 [tensorclass-shape]
    nn.Conv2d(3, 6, 3, groups=3)
    nn.Conv1d(8, 4, 3)(s)  # E: Conv1d: the channels of the input [2, 7, 8] is 7, the layer takes 8 [tensorclass-shape]
    nn.Conv1d(8, 4, 3)(s.transpose(1, 2)).view(2, 4, 5)
    nn.Conv3d(3, 4, 3)(x.unsqueeze(0))  # E: Conv3d: the channels of the input [1, 2, 3, 16, 16] is 2, the layer takes 3 [tensorclass-shape]
    nn.Conv3d(3, 4, 3)(x.unsqueeze(2).repeat(1, 1, 3, 1, 1))
    nn.ConvTranspose2d(3, 8, 2, stride=2)(x).view(2, 8, 32, 31)  # E: view: a tensor of shape [2, 8, 32, 32] has 16384 elements, which [2, 8, 32, 31] cannot hold [tensorclass-shape]
    nn.ConvTranspose2d(3, 8, 2, stride=2)(x).view(2, 8, 32, 32)
    nn.MaxPool2d(2)(x).view(2, 3, 16, 8)  # E: view: a tensor of shape [2, 3, 8, 8] has 384 elements, which [2, 3, 16, 8] cannot hold [tensorclass-shape]
    nn.MaxPool2d(3, stride=2, padding=1)(x).view(2, 3, 8, 8)
    nn.AvgPool2d(2)(x).view(2, 3, 8, 7)  # E: view: a tensor of shape [2, 3, 8, 8] has 384 elements, which [2, 3, 8, 7] cannot hold [tensorclass-shape]
    nn.AdaptiveAvgPool2d(1)(x).view(2, 3, 2)  # E: view: a tensor of shape [2, 3, 1, 1] has 6 elements, which [2, 3, 2] cannot hold [tensorclass-shape]
    nn.AdaptiveAvgPool2d((4, 4))(x).view(2, 48)
    nn.AdaptiveAvgPool2d((None, 4))(x).shape
    nn.AdaptiveMaxPool1d(3)(s).view(2, 7, 4)  # E: view: a tensor of shape [2, 7, 3] has 42 elements, which [2, 7, 4] cannot hold [tensorclass-shape]
    nn.Upsample(scale_factor=2)(x).view(2, 3, 32, 31)  # E: view: a tensor of shape [2, 3, 32, 32] has 6144 elements, which [2, 3, 32, 31] cannot hold [tensorclass-shape]
    nn.Upsample(scale_factor=2)(x).view(2, 3, 32, 32)
    nn.Upsample(size=(8, 9))(x).view(2, 3, 8, 8)  # E: view: a tensor of shape [2, 3, 8, 9] has 432 elements, which [2, 3, 8, 8] cannot hold [tensorclass-shape]
    nn.Upsample(size=(8, 9))(x).view(2, 3, 8, 9)
    nn.PixelShuffle(2)(torch.zeros(2, 12, 4, 4)).view(2, 3, 8, 7)  # E: view: a tensor of shape [2, 3, 8, 8] has 384 elements, which [2, 3, 8, 7] cannot hold [tensorclass-shape]
    nn.PixelShuffle(2)(torch.zeros(2, 12, 4, 4)).view(2, 3, 8, 8)
    nn.PixelShuffle(2)(torch.zeros(2, 10, 4, 4))  # E: PixelShuffle: the input [2, 10, 4, 4] has 10 channels, no multiple of 2 * 2 [tensorclass-shape]
    nn.ZeroPad2d(1)(x).view(2, 3, 17, 18)  # E: view: a tensor of shape [2, 3, 18, 18] has 1944 elements, which [2, 3, 17, 18] cannot hold [tensorclass-shape]
    nn.ZeroPad2d(1)(x).view(2, 3, 18, 18)
    nn.ReflectionPad2d((1, 2, 0, 0))(x).view(2, 3, 16, 18)  # E: view: a tensor of shape [2, 3, 16, 19] has 1824 elements, which [2, 3, 16, 18] cannot hold [tensorclass-shape]
    nn.ReflectionPad2d((1, 2, 0, 0))(x).view(2, 3, 16, 19)
    nn.GroupNorm(2, 3)  # E: GroupNorm: num_channels 3 is no multiple of num_groups 2 [tensorclass-shape]
    nn.GroupNorm(3, 3)(x)
    nn.GroupNorm(2, 8)(s)  # E: GroupNorm: dim 1 of the input [2, 7, 8] is 7, the layer takes 8 [tensorclass-shape]
    nn.GroupNorm(2, 8)(s.transpose(1, 2))
    nn.BatchNorm2d(4)(x)  # E: BatchNorm2d: dim 1 of the input [2, 3, 16, 16] is 3, the layer takes 4 [tensorclass-shape]
    nn.BatchNorm1d(8)(s)  # E: BatchNorm1d: dim 1 of the input [2, 7, 8] is 7, the layer takes 8 [tensorclass-shape]
    nn.BatchNorm1d(7)(s)
    nn.LayerNorm((16, 3))(x)  # E: LayerNorm: the last dims of the input [2, 3, 16, 16] are [16, 16], the layer takes [16, 3] [tensorclass-shape]
    nn.LayerNorm((16, 16))(x)
    nn.LayerNorm([3, 16, 16])(x)
    nn.RMSNorm(7)(s)  # E: RMSNorm: the last dims of the input [2, 7, 8] are [8], the layer takes [7] [tensorclass-shape]
    nn.Embedding(10, 5)(torch.zeros(2, 3, dtype=torch.long)).view(2, 3, 4)  # E: view: a tensor of shape [2, 3, 5] has 30 elements, which [2, 3, 4] cannot hold [tensorclass-shape]
    nn.Embedding(10, 5)(torch.zeros(2, 3, dtype=torch.long)).view(2, 3, 5)
    nn.EmbeddingBag(10, 5)(torch.zeros(2, 3, dtype=torch.long)).view(2, 5)
    nn.MultiheadAttention(8, 2, batch_first=True)(s, s, s)[0].view(2, 7, 9)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 7, 9] cannot hold [tensorclass-shape]
    nn.MultiheadAttention(8, 2, batch_first=True)(s, s, s)[0].view(2, 7, 8)
    nn.MultiheadAttention(8, 2, batch_first=True)(s, s, s)[1].view(2, 7, 7)
    nn.LSTM(8, 5, batch_first=True)(s)[0].view(2, 7, 8)  # E: view: a tensor of shape [2, 7, 5] has 70 elements, which [2, 7, 8] cannot hold [tensorclass-shape]
    nn.LSTM(8, 5, batch_first=True, bidirectional=True)(s)[0].view(2, 7, 10)
    nn.LSTM(8, 5, batch_first=True)(s)[1][0].view(1, 2, 6)  # E: view: a tensor of shape [1, 2, 5] has 10 elements, which [1, 2, 6] cannot hold [tensorclass-shape]
    nn.LSTM(8, 5, num_layers=2, batch_first=True)(s)[1][0].view(2, 2, 5)
    nn.GRU(8, 5, batch_first=True)(s)[1].view(1, 7, 5)  # E: view: a tensor of shape [1, 2, 5] has 10 elements, which [1, 7, 5] cannot hold [tensorclass-shape]
    nn.GRU(8, 5, batch_first=True)(s)[1].view(1, 2, 5)
    nn.GRU(8, 5)(s, torch.zeros(1, 2, 5))  # E: GRU: the state has shape [1, 2, 5]; the layer and this input take [1, 7, 5] [tensorclass-shape]
    nn.GRU(8, 5)(s, torch.zeros(1, 7, 5))
    nn.LSTM(8, 5)(s, (torch.zeros(1, 2, 5), torch.zeros(1, 2, 5)))  # E: LSTM: the state has shape [1, 2, 5]; the layer and this input take [1, 7, 5] [tensorclass-shape]
    nn.LSTM(8, 5)(s, (torch.zeros(1, 7, 5), torch.zeros(1, 7, 5)))
    nn.LSTM(8, 5, 2)(s, (torch.zeros(1, 7, 5), torch.zeros(1, 7, 5)))  # E: LSTM: the state has shape [1, 7, 5]; the layer and this input take [2, 7, 5] [tensorclass-shape]
    nn.GRUCell(8, 5)(s[:, 0], torch.zeros(2, 4))  # E: GRUCell: the state has shape [2, 4]; the layer and this input take [2, 5] [tensorclass-shape]
    nn.GRUCell(8, 5)(s[:, 0], torch.zeros(2, 5))
    nn.Flatten()(x).view(2, 767)  # E: view: a tensor of shape [2, 768] has 1536 elements, which [2, 767] cannot hold [tensorclass-shape]
    nn.Flatten(0)(x).view(1536)
    nn.Flatten(2)(x).view(2, 3, 255)  # E: view: a tensor of shape [2, 3, 256] has 1536 elements, which [2, 3, 255] cannot hold [tensorclass-shape]
    nn.Unflatten(1, (3, 4))(torch.zeros(2, 13))  # E: unflatten: a tensor of shape [13] has 13 elements, which [3, 4] cannot hold [tensorclass-shape]
    nn.Unflatten(1, (3, 4))(torch.zeros(2, 12)).view(2, 3, 4)
    nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))(s).view(2, 7, 3)  # E: view: a tensor of shape [2, 7, 2] has 28 elements, which [2, 7, 3] cannot hold [tensorclass-shape]
    nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))(s).view(2, 7, 2)
    nn.ModuleList([nn.Linear(8, 4)])[0](s).view(2, 7, 5)  # E: view: a tensor of shape [2, 7, 4] has 56 elements, which [2, 7, 5] cannot hold [tensorclass-shape]
    nn.ModuleDict({"a": nn.Linear(8, 4)})["a"](s).view(2, 7, 5)  # E: view: a tensor of shape [2, 7, 4] has 56 elements, which [2, 7, 5] cannot hold [tensorclass-shape]
    nn.ModuleDict({"a": nn.Linear(8, 4)})["a"](s).view(2, 7, 4)
    nn.GLU()(s).view(2, 7, 8)  # E: view: a tensor of shape [2, 7, 4] has 56 elements, which [2, 7, 8] cannot hold [tensorclass-shape]
    nn.GLU()(s).view(2, 7, 4)
    nn.CosineSimilarity(dim=-1)(s, s).view(2, 7)
    nn.CrossEntropyLoss()(torch.zeros(4, 10), torch.zeros(4, 1, dtype=torch.long))  # E: cross_entropy: the input has shape [4, 10], so the target has [4]; it has [4, 1] [tensorclass-shape]
    nn.CrossEntropyLoss()(torch.zeros(4, 10), torch.zeros(4, dtype=torch.long))
    nn.CrossEntropyLoss()(torch.zeros(4, 10, 5), torch.zeros(4, 10, dtype=torch.long))  # E: cross_entropy: the input has shape [4, 10, 5], so the target has [4, 5]; it has [4, 10] [tensorclass-shape]
    nn.CrossEntropyLoss()(torch.zeros(4, 10, 5), torch.zeros(4, 5, dtype=torch.long))
    nn.CrossEntropyLoss(weight=torch.ones(10))(torch.zeros(4, 10), torch.zeros(4, dtype=torch.long))
    nn.BCEWithLogitsLoss()(torch.zeros(4, 1), torch.zeros(4))  # E: binary_cross_entropy_with_logits: the input has shape [4, 1], the target [4]; they must be equal [tensorclass-shape]
    nn.BCEWithLogitsLoss()(torch.zeros(4, 1).squeeze(1), torch.zeros(4))
    nn.MSELoss()(torch.zeros(4, 1), torch.zeros(4))  # E: mse_loss: the input has shape [4, 1], the target [4]; they must be equal [tensorclass-shape]
    nn.GaussianNLLLoss()(torch.zeros(4), torch.zeros(4), torch.ones(4))
    nn.TripletMarginLoss()(torch.zeros(4, 3), torch.zeros(4, 3), torch.zeros(4, 3))
    nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2)(s).view(2, 7, 9)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 7, 9] cannot hold [tensorclass-shape]
    nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2)(s).view(2, 7, 8)
    nn.TransformerDecoderLayer(8, 2)(s, torch.zeros(3, 7, 9))  # E: TransformerDecoderLayer: the last dim of the memory of the input [3, 7, 9] is 9, the layer takes 8 [tensorclass-shape]
    nn.TransformerDecoderLayer(8, 2)(s, torch.zeros(3, 7, 8))
    nn.Softmax(dim=3)(s)  # E: Softmax: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    nn.Softmax(dim=2)(s)
    nn.Identity()(s).view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    nn.Dropout(0.1)(s).view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    nn.PReLU(7)(s)
    nn.Linear(8, 4).weight.view(31)  # E: view: a tensor of shape [4, 8] has 32 elements, which [31] cannot hold [tensorclass-shape]
    nn.Linear(8, 4).weight.view(32)
    nn.Linear(8, 4).bias.view(5)  # E: view: a tensor of shape [4] has 4 elements, which [5] cannot hold [tensorclass-shape]
    nn.Embedding(10, 4).weight.view(41)  # E: view: a tensor of shape [10, 4] has 40 elements, which [41] cannot hold [tensorclass-shape]
    nn.Linear(8, 4)(nn.Linear(8, 7)(s))  # E: Linear: the last dim of the input [2, 7, 7] is 7, the layer takes 8 [tensorclass-shape]
    nn.Linear(7, 4)(nn.Linear(8, 7)(s))
    nn.Linear(in_features=7, out_features=4)(s)  # E: Linear: the last dim of the input [2, 7, 8] is 8, the layer takes 7 [tensorclass-shape]

def functionals() -> None:
    x = torch.zeros(2, 3, 16, 16)
    s = torch.zeros(2, 7, 8)
    F.interpolate(x, scale_factor=2).view(2, 3, 32, 31)  # E: view: a tensor of shape [2, 3, 32, 32] has 6144 elements, which [2, 3, 32, 31] cannot hold [tensorclass-shape]
    F.interpolate(x, scale_factor=2).view(2, 3, 32, 32)
    F.interpolate(x, size=(4, 5)).view(2, 3, 4, 4)  # E: view: a tensor of shape [2, 3, 4, 5] has 120 elements, which [2, 3, 4, 4] cannot hold [tensorclass-shape]
    F.interpolate(x, size=8).view(2, 3, 8, 8)
    F.interpolate(x, size=8, mode="bilinear").view(2, 3, 8, 9)  # E: view: a tensor of shape [2, 3, 8, 8] has 384 elements, which [2, 3, 8, 9] cannot hold [tensorclass-shape]
    F.pad(s, (1, 1)).view(2, 7, 9)  # E: view: a tensor of shape [2, 7, 10] has 140 elements, which [2, 7, 9] cannot hold [tensorclass-shape]
    F.pad(s, (1, 1)).view(2, 7, 10)
    F.pad(s, (0, 0, 1, 0)).view(2, 7, 8)  # E: view: a tensor of shape [2, 8, 8] has 128 elements, which [2, 7, 8] cannot hold [tensorclass-shape]
    F.pad(s, (0, 0, 1, 0)).view(2, 8, 8)
    F.pad(s, [0, -1]).view(2, 7, 7)
    F.one_hot(torch.zeros(2, 3, dtype=torch.long), 5).view(2, 3, 4)  # E: view: a tensor of shape [2, 3, 5] has 30 elements, which [2, 3, 4] cannot hold [tensorclass-shape]
    F.one_hot(torch.zeros(2, 3, dtype=torch.long), num_classes=5).view(2, 3, 5)
    F.softmax(s, dim=3)  # E: softmax: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    F.log_softmax(s, -4)  # E: log_softmax: dim -4 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    F.normalize(s, dim=3)  # E: normalize: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    F.normalize(s, dim=-1).view(2, 7, 8)
    F.glu(s).view(2, 7, 8)  # E: view: a tensor of shape [2, 7, 4] has 56 elements, which [2, 7, 8] cannot hold [tensorclass-shape]
    F.glu(s, dim=-1).view(2, 7, 4)
    F.max_pool2d(x, 2).view(2, 3, 8, 9)  # E: view: a tensor of shape [2, 3, 8, 8] has 384 elements, which [2, 3, 8, 9] cannot hold [tensorclass-shape]
    F.max_pool2d(x, 2).view(2, 3, 8, 8)
    F.avg_pool2d(x, 2, stride=1).view(2, 3, 8, 8)  # E: view: a tensor of shape [2, 3, 15, 15] has 1350 elements, which [2, 3, 8, 8] cannot hold [tensorclass-shape]
    F.avg_pool2d(x, 2, stride=1).view(2, 3, 15, 15)
    F.adaptive_avg_pool2d(x, 1).view(2, 4)  # E: view: a tensor of shape [2, 3, 1, 1] has 6 elements, which [2, 4] cannot hold [tensorclass-shape]
    F.adaptive_avg_pool2d(x, (1, 1)).view(2, 3)
    F.conv2d(x, torch.zeros(8, 3, 3, 3)).view(2, 8, 16, 16)  # E: view: a tensor of shape [2, 8, 14, 14] has 3136 elements, which [2, 8, 16, 16] cannot hold [tensorclass-shape]
    F.conv2d(x, torch.zeros(8, 3, 3, 3)).view(2, 8, 14, 14)
    F.conv2d(x, torch.zeros(8, 3, 3, 3), padding=1).view(2, 8, 16, 16)
    F.conv1d(s, torch.zeros(4, 7, 3), stride=2).view(2, 4, 4)  # E: view: a tensor of shape [2, 4, 3] has 24 elements, which [2, 4, 4] cannot hold [tensorclass-shape]
    F.linear(s, torch.zeros(4, 8)).view(2, 7, 5)  # E: view: a tensor of shape [2, 7, 4] has 56 elements, which [2, 7, 5] cannot hold [tensorclass-shape]
    F.linear(s, torch.zeros(4, 8), torch.zeros(5))  # E: linear: the bias has shape [5], the weight [4, 8] gives [4] [tensorclass-shape]
    F.linear(s, torch.zeros(4, 8), torch.zeros(4)).view(2, 7, 4)
    F.embedding(torch.zeros(2, 3, dtype=torch.long), torch.zeros(10, 4)).view(2, 3, 5)  # E: view: a tensor of shape [2, 3, 4] has 24 elements, which [2, 3, 5] cannot hold [tensorclass-shape]
    F.embedding(torch.zeros(2, 3, dtype=torch.long), torch.zeros(10, 4)).view(2, 3, 4)
    F.layer_norm(s, (7, 8)).view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    F.layer_norm(s, [8]).view(2, 56)
    F.cosine_similarity(s, s, dim=-1).view(2, 8)  # E: view: a tensor of shape [2, 7] has 14 elements, which [2, 8] cannot hold [tensorclass-shape]
    F.cosine_similarity(s, s, dim=-1).view(2, 7)
    F.cosine_similarity(s, torch.zeros(2, 6, 8), dim=-1)  # E: cosine_similarity: shapes [2, 7, 8] and [2, 6, 8] do not broadcast; dim -2 is 7 and 6 [tensorclass-shape]
    F.scaled_dot_product_attention(s, s, s).view(2, 7, 9)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 7, 9] cannot hold [tensorclass-shape]
    F.scaled_dot_product_attention(s, torch.zeros(2, 5, 8), torch.zeros(2, 5, 3)).view(2, 7, 3)
    F.scaled_dot_product_attention(s, torch.zeros(3, 5, 8), torch.zeros(3, 5, 3))  # E: scaled_dot_product_attention: shapes [2] and [3] do not broadcast; dim -1 is 2 and 3 [tensorclass-shape]
    F.scaled_dot_product_attention(s, s, s, attn_mask=torch.zeros(7, 8))  # E: scaled_dot_product_attention: shapes [2, 7, 7] and [7, 8] do not broadcast; dim -1 is 7 and 8 [tensorclass-shape]
    F.scaled_dot_product_attention(s, s, s, attn_mask=torch.zeros(7, 7))
    F.cross_entropy(s, torch.zeros(2, 7, dtype=torch.long))  # E: cross_entropy: the input has shape [2, 7, 8], so the target has [2, 8]; it has [2, 7] [tensorclass-shape]
    F.cross_entropy(s.transpose(1, 2), torch.zeros(2, 7, dtype=torch.long))
    F.cross_entropy(s.flatten(0, 1), torch.zeros(2, 7, dtype=torch.long).flatten())
    F.cross_entropy(s.view(-1, 8), torch.zeros(13, dtype=torch.long))  # E: cross_entropy: the input has shape [14, 8], so the target has [14]; it has [13] [tensorclass-shape]
    F.nll_loss(torch.zeros(4, 3).log_softmax(1), torch.zeros(5, dtype=torch.long))  # E: nll_loss: the input has shape [4, 3], so the target has [4]; it has [5] [tensorclass-shape]
    F.binary_cross_entropy_with_logits(s, torch.zeros(2, 7))  # E: binary_cross_entropy_with_logits: the input has shape [2, 7, 8], the target [2, 7]; they must be equal [tensorclass-shape]
    F.binary_cross_entropy(s.sigmoid(), torch.zeros(2, 7, 8))
    F.smooth_l1_loss(s, torch.zeros(2, 8))  # E: smooth_l1_loss: the input has shape [2, 7, 8], the target [2, 8]; they must be equal [tensorclass-shape]
    F.kl_div(s, torch.zeros(2, 7, 7))  # E: kl_div: the input has shape [2, 7, 8], the target [2, 7, 7]; they must be equal [tensorclass-shape]
    F.mse_loss(s, s).view(2)  # E: view: a tensor of shape [] has 1 elements, which [2] cannot hold [tensorclass-shape]
    F.mse_loss(s, s, reduction="none").view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    F.mse_loss(s, s, reduction="none").view(2, 56)
    F.gumbel_softmax(s, dim=-1).view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    F.dropout(s, 0.5).view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    F.relu(s, inplace=True).view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    F.leaky_relu(s, 0.1).view(2, 57)  # E: view: a tensor of shape [2, 7, 8] has 112 elements, which [2, 57] cannot hold [tensorclass-shape]
    F.unfold(x, 3).view(2, 27, 195)  # E: view: a tensor of shape [2, 27, 196] has 10584 elements, which [2, 27, 195] cannot hold [tensorclass-shape]
    F.unfold(x, 3).view(2, 27, 196)
    F.pixel_shuffle(torch.zeros(2, 12, 4, 4), 2).view(2, 3, 8, 7)  # E: view: a tensor of shape [2, 3, 8, 8] has 384 elements, which [2, 3, 8, 7] cannot hold [tensorclass-shape]
    F.group_norm(x, 3)
    F.batch_norm(x, torch.zeros(3), torch.ones(3))
    F.grid_sample(x, torch.zeros(2, 4, 5, 2), align_corners=False).view(2, 3, 4, 5)

def more() -> None:
    x = torch.zeros(4, 6)
    x.view(2, 2, -1).view(2, 2, 7)  # E: view: a tensor of shape [2, 2, 6] has 24 elements, which [2, 2, 7] cannot hold [tensorclass-shape]
    x.view(2, 2, -1).view(2, 2, 6)
    x.expand(3, -1, -1).view(3, 4, 5)  # E: view: a tensor of shape [3, 4, 6] has 72 elements, which [3, 4, 5] cannot hold [tensorclass-shape]
    x.unsqueeze(0).expand(3, 4, 6).reshape(72)
    x.expand(8, 6)  # E: expand: shape [4, 6] does not fit [8, 6]; dim 0 has size 4, and only size 1 can grow [tensorclass-shape]
    x.repeat(2, 1).view(8, 5)  # E: view: a tensor of shape [8, 6] has 48 elements, which [8, 5] cannot hold [tensorclass-shape]
    x.repeat(2, 1).view(8, 6)
    x.tile((2, 2)).view(8, 11)  # E: view: a tensor of shape [8, 12] has 96 elements, which [8, 11] cannot hold [tensorclass-shape]
    x.repeat_interleave(2, dim=0).view(8, 5)  # E: view: a tensor of shape [8, 6] has 48 elements, which [8, 5] cannot hold [tensorclass-shape]
    x.repeat_interleave(2, dim=0).view(8, 6)
    torch.repeat_interleave(x, 2, dim=1).view(4, 11)  # E: view: a tensor of shape [4, 12] has 48 elements, which [4, 11] cannot hold [tensorclass-shape]
    x.unbind(0)[4]  # E: index: 4 is out of range for 4 values [tensorclass-shape]
    x.unbind(0)[3]
    a, b = x.unbind(1)  # E: unpack: there are 6 values for 2 names [tensorclass-shape]
    a, b, c, d = x.unbind(0)
    x.chunk(3, dim=1)[2].view(9)  # E: view: a tensor of shape [4, 2] has 8 elements, which [9] cannot hold [tensorclass-shape]
    x.chunk(3, dim=1)[2].reshape(8)
    x.chunk(4, dim=1)[3]  # E: index: 3 is out of range for 3 values [tensorclass-shape]
    torch.split(x, [2, 2], dim=1)  # E: split: sizes [2, 2] sum to 4; dim 1 has size 6 [tensorclass-shape]
    torch.split(x, [2, 2, 2], dim=1)
    torch.tensor_split(x, 3, dim=1)[0].reshape(8)
    torch.stack([x, x]).view(2, 23)  # E: view: a tensor of shape [2, 4, 6] has 48 elements, which [2, 23] cannot hold [tensorclass-shape]
    torch.stack([x, x], dim=3)  # E: stack: dim 3 is out of range for 3 dims; -3 to 2 would do [tensorclass-shape]
    torch.stack([x, x], dim=2).view(4, 12)
    torch.cat([x, x], -1).view(4, 11)  # E: view: a tensor of shape [4, 12] has 48 elements, which [4, 11] cannot hold [tensorclass-shape]
    torch.cat([x, x], dim=2)  # E: cat: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    torch.cat([x, x[0]])  # E: cat: tensor 0 has shape [4, 6], tensor 1 has [6]; they may differ in dim 0 alone [tensorclass-shape]
    torch.cat([x, x[:1]]).view(30)
    torch.cat([x, x[0][None]]).view(31)  # E: view: a tensor of shape [5, 6] has 30 elements, which [31] cannot hold [tensorclass-shape]
    torch.flip(x, [2])  # E: flip: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    torch.flip(x, (0, 1)).view(24)
    torch.roll(x, 1, 2)  # E: roll: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    torch.roll(x, 1, 1).view(24)
    torch.kron(x, x).view(16, 35)  # E: view: a tensor of shape [16, 36] has 576 elements, which [16, 35] cannot hold [tensorclass-shape]
    torch.outer(x[:, 0], x[0]).view(4, 5)  # E: view: a tensor of shape [4, 6] has 24 elements, which [4, 5] cannot hold [tensorclass-shape]
    torch.outer(x[:, 0], x[0]).view(4, 6)
    torch.tensordot(x, x.T, dims=1).view(16)
    torch.inner(x, x).view(16)
    torch.dot(x[0], x[:, 0])  # E: matmul: shapes [6] and [4] do not fit: the last dim of the first is 6, the rows of the second are 4 [tensorclass-shape]
    torch.dot(x[0], x[1])
    torch.mv(x, x[:, 0])  # E: matmul: shapes [4, 6] and [4] do not fit: the last dim of the first is 6, the rows of the second are 4 [tensorclass-shape]
    torch.mv(x, x[0])
    torch.linalg.multi_dot([x, x.T, x]).view(24)
    torch.chain_matmul(x, x.T).view(16) if False else x
    torch.svd(x)[0].view(4, 4) if False else x
    torch.linalg.svd(x)[1].view(4)
    torch.tril(x).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    torch.triu(x).view(24)
    torch.bincount(torch.tensor([0, 1]), minlength=3).shape
    torch.nonzero(x).view(-1, 2)
    torch.movedim(x, 0, 2)  # E: movedim: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    torch.swapaxes(x, 0, 1).reshape(5, 4)  # E: reshape: a tensor of shape [6, 4] has 24 elements, which [5, 4] cannot hold [tensorclass-shape]
    torch.squeeze(x.unsqueeze(1), 1).view(4, 5)  # E: view: a tensor of shape [4, 6] has 24 elements, which [4, 5] cannot hold [tensorclass-shape]
    torch.ravel(x).view(25)  # E: view: a tensor of shape [24] has 24 elements, which [25] cannot hold [tensorclass-shape]
    torch.broadcast_to(x, (2, 4, 5))  # E: expand: shape [4, 6] does not fit [2, 4, 5]; dim 1 has size 6, and only size 1 can grow [tensorclass-shape]
    torch.broadcast_to(x, (2, 4, 6))
    torch.rot90(x).reshape(4, 6)
    torch.fft.rfft(x).view(4, 4)
    torch.as_tensor([1.0, 2.0]).view(3)  # E: view: a tensor of shape [2] has 2 elements, which [3] cannot hold [tensorclass-shape]
    x.reshape(torch.zeros(2, 12).shape).view(2, 11)  # E: view: a tensor of shape [2, 12] has 24 elements, which [2, 11] cannot hold [tensorclass-shape]
    x.to(torch.float64).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.T.contiguous().view(25)  # E: view: a tensor of shape [6, 4] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.mT.reshape(25)  # E: reshape: a tensor of shape [6, 4] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.index_add_(0, torch.tensor([0, 1]), torch.zeros(2, 6))
    x.scatter_add_(0, torch.zeros(4, 6, dtype=torch.long), torch.zeros(4, 6))
    x.clamp_(min=0).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.add_(torch.zeros(5))  # E: add: shapes [4, 6] and [5] do not broadcast; dim -1 is 6 and 5 [tensorclass-shape]
    x.mul_(torch.zeros(6))
    x.fill_diagonal_(1.0).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.lerp(x, 0.5).view(25)  # E: view: a tensor of shape [4, 6] has 24 elements, which [25] cannot hold [tensorclass-shape]
    x.float().mean(0).view(7)  # E: view: a tensor of shape [6] has 6 elements, which [7] cannot hold [tensorclass-shape]
    x.prod(1).view(5)  # E: view: a tensor of shape [4] has 4 elements, which [5] cannot hold [tensorclass-shape]
    x.all(dim=1).view(5)  # E: view: a tensor of shape [4] has 4 elements, which [5] cannot hold [tensorclass-shape]
    x.any(1).view(4)
    x.cumprod(dim=2)  # E: cumprod: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.logcumsumexp(2)  # E: logcumsumexp: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    x.mode(1)[0].view(5)  # E: view: a tensor of shape [4] has 4 elements, which [5] cannot hold [tensorclass-shape]
    x.nanmean(1).view(5)  # E: view: a tensor of shape [4] has 4 elements, which [5] cannot hold [tensorclass-shape]
