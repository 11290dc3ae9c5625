"""Sizes that torch broadcasts or takes as they are. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from tensorclass import TensorDict, cat, lazy_stack


def untyped(x: Any):  # type: ignore[no-untyped-def]  # that is the point
    return x


def letters() -> None:
    x, one, unknown = torch.zeros(2, 3), torch.zeros(1, 2), untyped(torch.zeros(3, 2))
    torch.einsum("...i,ij->...j", x, torch.zeros(2, 2))  # E: einsum: i is 2 in operand 1 and 3 before [tensorclass-shape]
    torch.einsum("...i,ij->...j", x, one).view(4)
    torch.einsum("ij,ij->ij", one, torch.zeros(3, 2)).view(6)
    torch.einsum("ij,ij->ij", one, torch.zeros(3, 2)).view(2)  # E: view: a tensor of shape [3, 2] has 6 elements, which [2] cannot hold [tensorclass-shape]
    torch.einsum("ij,ij->ij", one, unknown).view(6)
    torch.einsum("ij,ij->ij", unknown, one).view(6)


def limits() -> None:
    x, low = torch.zeros(3), torch.zeros(2, 3)
    x.clamp(min=low).view(3)  # E: view: a tensor of shape [2, 3] has 6 elements, which [3] cannot hold [tensorclass-shape]
    x.clamp(min=low).view(6)
    x.clamp(torch.zeros(2))  # E: clamp: shapes [3] and [2] do not broadcast; dim -1 is 3 and 2 [tensorclass-shape]
    x.clamp(torch.zeros(1))
    x.clamp(0, 1).view(2)  # E: view: a tensor of shape [3] has 3 elements, which [2] cannot hold [tensorclass-shape]
    x.clamp(0, 1).view(3)
    x.clamp(untyped(low)).view(6)
    x.long().clamp(0, 1).softmax(0)  # E: softmax: the tensor has dtype int64, and softmax takes float or complex; call .float() first [tensorclass-shape]
    x.long().clamp(min=low).softmax(0)
    torch.zeros(0, 3, dtype=torch.int64).softmax(0)
    x.long().logsumexp(0, keepdim=True).softmax(0)


def numbers() -> None:
    x = torch.tensor(1.0)
    x.squeeze(1)  # E: squeeze: dim 1 is out of range for 0 dims [tensorclass-shape]
    x.squeeze(-1).flip(0).transpose(0, -1).view(1)
    x.flip(1)  # E: flip: dim 1 is out of range for 0 dims [tensorclass-shape]
    x.movedim(0, 0)
    F.cross_entropy(torch.zeros(3), torch.zeros(2).long())  # E: cross_entropy: the input has shape [3], so the target has []; it has [2] [tensorclass-shape]
    F.cross_entropy(torch.zeros(3), torch.zeros(1).long())


def rows() -> None:
    x = torch.zeros(4, 1)
    x[range(2)].view(3)  # E: view: a tensor of shape [2, 1] has 2 elements, which [3] cannot hold [tensorclass-shape]
    x[range(2)].view(2)
    td = TensorDict({"a": torch.zeros(4, 3)}, batch_size=[4])
    td[range(2)].reshape(3)  # E: reshape: a batch of size [2] has 2 elements, which [3] cannot hold [tensorclass-batch]
    td[range(2)].reshape(2)


def dims() -> None:
    x = torch.zeros(2, 3)
    x.sum((0, -2))  # E: sum: dim -2 appears twice in (0, -2) [tensorclass-shape]
    x.sum((0, -1))
    x.amax((1, 1))  # E: amax: dim 1 appears twice in (1, 1) [tensorclass-shape]
    x.amax((1, 0))


def joined() -> None:
    a, b = TensorDict({"a": torch.zeros(3)}), TensorDict({"b": torch.zeros(2, 3)}, batch_size=[2])
    cat([b, TensorDict({"a": torch.zeros(2, 3)}, batch_size=[2])])  # E: cat: item 1 has no 'b'; both must have the same keys [tensorclass-key]
    cat([lazy_stack([a, a]), b])
