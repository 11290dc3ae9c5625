"""Matrices, spectra and searches. A line with a mistake stands beside its good twin."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Complex, Float, Int
from torch import Tensor, nn


def square(a: Float[Tensor, "b n n"], x: Float[Tensor, "b n k"]) -> Float[Tensor, "b n k"]:
    torch.linalg.inv(x)  # E: linalg.inv: the matrices are not square: the shape is [b, n, k] [tensorclass-shape]
    torch.linalg.inv(a) @ x
    torch.linalg.inv(a) @ x.mT  # E: matmul: shapes [b, n, n] and [b, k, n] do not fit: the last dim of the first is n, the rows of the second are k [tensorclass-shape]
    torch.linalg.solve(a, x)
    torch.linalg.solve(x, a)  # E: linalg.solve: the matrices are not square: the shape is [b, n, k] [tensorclass-shape]
    values, vectors = torch.linalg.eigh(a)
    good: Float[Tensor, "b n"] = values
    bad: Float[Tensor, "b n"] = vectors  # E: bad has shape [b, n, n], which does not fit "b n": it has 3 dims, not 2 [tensorclass-shape]
    same: Float[Tensor, "b n n"] = torch.linalg.eigh(a).eigenvectors
    log: Float[Tensor, "b"] = torch.linalg.slogdet(a).logabsdet
    sign: Float[Tensor, "b n"] = torch.linalg.slogdet(a).sign  # E: sign has shape [b], which does not fit "b n": it has 1 dim, not 2 [tensorclass-shape]
    solved: Tensor = torch.linalg.solve(a, x)
    if log.sum() > 0:
        solved = torch.linalg.inv(a)
        return solved  # E: the result has shape [b, n, n], which does not fit "b n k": k is n here [tensorclass-shape]
    return solved


def parts(x: Float[Tensor, "8 3"], y: Float[Tensor, "8 2"]) -> None:
    q, r = torch.linalg.qr(x)
    q.view(3, 3)  # E: view: a tensor of shape [8, 3] has 24 elements, which [3, 3] cannot hold [tensorclass-shape]
    r.view(3, 3)
    u, s, vh = torch.linalg.svd(x, full_matrices=False)
    u @ s.diag() @ vh
    u @ s.diag() @ x  # E: matmul: shapes [8, 3] and [8, 3] do not fit: the last dim of the first is 3, the rows of the second are 8 [tensorclass-shape]
    torch.linalg.svd(x).U.view(8, 8)
    torch.linalg.svd(x).U.view(8, 3)  # E: view: a tensor of shape [8, 8] has 64 elements, which [8, 3] cannot hold [tensorclass-shape]
    torch.linalg.lstsq(x, y).solution.view(6)
    torch.linalg.lstsq(x, y.T)  # E: linalg.lstsq: the matrix [8, 3] has 8 rows, the right side [2, 8] has 2 [tensorclass-shape]
    torch.linalg.pinv(x) @ y
    torch.linalg.pinv(x) @ y.T  # E: matmul: shapes [3, 8] and [2, 8] do not fit: the last dim of the first is 8, the rows of the second are 2 [tensorclass-shape]
    torch.linalg.det(torch.zeros(3))  # E: linalg.det: the tensor has shape [3]; it takes matrices, of 2 dims at least [tensorclass-shape]
    torch.linalg.det(torch.zeros(3, 3))
    torch.linalg.det(torch.zeros(3, 3).long())  # E: linalg.det: the tensor has dtype int64, and linalg.det takes float or complex; call .float() first [tensorclass-shape]
    torch.linalg.multi_dot([x, x.T, y])
    torch.linalg.multi_dot([x, y, x.T])  # E: matmul: shapes [8, 3] and [8, 2] do not fit: the last dim of the first is 3, the rows of the second are 8 [tensorclass-shape]
    torch.tensordot(x, y, dims=([0], [0])).view(3, 2)
    torch.tensordot(x, y, dims=1)  # E: tensordot: dim 1 of [8, 3] meets dim 0 of [8, 2]; they are 3 and 8 [tensorclass-shape]
    x.T.cov().view(9)
    x.cov().view(9)  # E: view: a tensor of shape [8, 8] has 64 elements, which [9] cannot hold [tensorclass-shape]


def spectra(x: Float[Tensor, "b 16"]) -> Complex[Tensor, "b 9"]:
    torch.fft.rfft(x, dim=2)  # E: rfft: dim 2 is out of range for 2 dims; -2 to 1 would do [tensorclass-shape]
    torch.fft.rfft(x, dim=1)
    torch.fft.rfft(torch.fft.fft(x))  # E: rfft: the tensor has dtype complex, and rfft takes real values; fft takes any [tensorclass-shape]
    torch.fft.irfft(torch.fft.rfft(x))
    half: Tensor = torch.fft.rfft(x)
    whole: Tensor = torch.fft.fft(x)
    if x.sum() > 0:
        return whole  # E: the result has shape [b, 16], which does not fit "b 9": dim 1 is 16, not 9 [tensorclass-shape]
    return half


def back(x: Complex[Tensor, "b 9"], n: int) -> Float[Tensor, "b 16"]:
    longer: Float[Tensor, "b 17"] = torch.fft.irfft(x, n=17)
    other: Float[Tensor, "b 20"] = torch.fft.irfft(x, n=n)
    short: Float[Tensor, "b 9"] = torch.fft.irfft(x)  # E: short has shape [b, 16], which does not fit "b 9": dim 1 is 16, not 9 [tensorclass-shape]
    good: Float[Tensor, "b 16"] = torch.fft.irfft(x)
    return good


def runs(x: Float[Tensor, "*batch n d"]) -> Float[Tensor, "*batch n n"]:
    flat: Float[Tensor, "*batch n*d"] = x.flatten(-2)
    whole: Float[Tensor, "*batch n*d"] = x.flatten(-1)  # E: whole has shape [*batch, n, d], which does not fit "*batch n*d": it has 1 dim too many [tensorclass-shape]
    if x.sum() > 0:
        return x.mT @ x  # E: the result has shape [*batch, d, d], which does not fit "*batch n n": n is d here [tensorclass-shape]
    return x @ x.mT


def folds(x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch"]:
    twice: Float[Tensor, "*more 2*d"] = torch.cat([x, x], -1)
    once: Float[Tensor, "*batch 2*d"] = torch.cat([x, x], 0)  # E: once has shape [..., d], which does not fit "*batch 2*d": dim -1 is d, not 2*d [tensorclass-shape]
    if x.sum() > 0:
        return x.sum(-2)  # E: the result has shape [*batch[:-1], d], which does not fit "*batch": its last dim is gone: it is [*batch[:-1], d] [tensorclass-shape]
    return x.sum(-1)


def searches(x: Float[Tensor, "n d"], i: Int[Tensor, "k"], y: Float[Tensor, "k d"]) -> Float[Tensor, "n d"]:
    places: Int[Tensor, "n d"] = torch.searchsorted(y[:, 0], x)
    torch.searchsorted(y, x)  # E: searchsorted: the edges have shape [k, d], the values [n, d]; they may differ in the last dim alone [tensorclass-shape]
    x.index_add(0, i, y)
    x.index_add(1, i, y)  # E: index_add: the source has shape [k, d]; the tensor [n, d] and the index [k] take [n, k] [tensorclass-shape]
    x.kthvalue(1, keepdim=True).values + x
    x.kthvalue(1).values + x  # E: add: shapes [n] and [n, d] do not broadcast; dim -1 is n and d [tensorclass-shape]
    torch.histc(x, 10).view(10)
    torch.histc(x).view(10)  # E: view: a tensor of shape [100] has 100 elements, which [10] cannot hold [tensorclass-shape]
    torch.cartesian_prod(x[0], y[0]).view(-1)
    torch.zeros(2, 12).tensor_split(3, 1)[0].view(2, 4)
    torch.zeros(2, 12).tensor_split(4, 1)[0].view(2, 4)  # E: view: a tensor of shape [2, 3] has 6 elements, which [2, 4] cannot hold [tensorclass-shape]
    tails: Float[Tensor, "2 d"] = x.quantile(torch.tensor([0.1, 0.9]), dim=0)
    three: Float[Tensor, "2 d"] = x.quantile(torch.tensor([0.1, 0.5, 0.9]), dim=0)  # E: three has shape [3, d], which does not fit "2 d": dim 0 is 3, not 2 [tensorclass-shape]
    return x.index_add(0, i, y)


def images(x: Float[Tensor, "b 8 h w"], grid: Float[Tensor, "b 5 6 2"], m: Float[Tensor, "8"]) -> Float[Tensor, "b 8 5 6"]:
    F.grid_sample(x, grid.permute(0, 3, 1, 2))  # E: grid_sample: the input has shape [b, 8, h, w], the grid [b, 2, 5, 6]; the last dim of the grid must be 2 [tensorclass-shape]
    F.grid_sample(x, grid)
    F.batch_norm(x, m, m)
    F.batch_norm(x, m[1:], m[1:])  # E: batch_norm: dim 1 of the input [b, 8, h, w] is 8, running_mean has shape [7] [tensorclass-shape]
    F.group_norm(x, 3)  # E: group_norm: dim 1 of the input [b, 8, h, w] is 8, no multiple of num_groups 3 [tensorclass-shape]
    F.group_norm(x, 4)
    nn.InstanceNorm2d(8)(x)
    nn.InstanceNorm2d(8)(x[0, 0])  # E: InstanceNorm2d: the input [h, w] has 2 dims; 3 or 4 would do [tensorclass-shape]
    F.fold(torch.zeros(2, 27, 36), (8, 8), 3).view(2, 3, 64)
    F.fold(torch.zeros(2, 27, 36), (8, 8), 2)  # E: fold: dim -2 of the input [2, 27, 36] is 27, no multiple of a window's 4 [tensorclass-shape]
    F.fold(torch.zeros(2, 27, 35), (8, 8), 3)  # E: fold: dim -1 of the input [2, 27, 35] is 35, the image has 36 windows [tensorclass-shape]
    nn.Fold((8, 8), 3)(torch.zeros(2, 27, 36))
    return F.grid_sample(x, grid)


def sequences(x: Float[Tensor, "t b 8"], s: Float[Tensor, "s b 8"]) -> Float[Tensor, "t b 8"]:
    out, (h, c) = nn.LSTM(8, 16, proj_size=4)(x)
    h.view(4, -1)
    shorter: Float[Tensor, "t b 4"] = out
    longer: Float[Tensor, "t b 16"] = out  # E: longer has shape [t, b, 4], which does not fit "t b 16": dim 2 is 4, not 16 [tensorclass-shape]
    kept: Float[Tensor, "1 b 16"] = c
    given: Float[Tensor, "1 b 16"] = h  # E: given has shape [1, b, 4], which does not fit "1 b 16": dim 2 is 4, not 16 [tensorclass-shape]
    weights: Float[Tensor, "b t s"] = nn.MultiheadAttention(8, 2)(x, s, s)[1]
    turned: Float[Tensor, "b s t"] = nn.MultiheadAttention(8, 2)(x, s, s)[1]  # E: turned has shape [b, t, s], which does not fit "b s t": s is t here [tensorclass-shape]
    F.pairwise_distance(x, x, keepdim=True) * x
    F.pairwise_distance(x, x) * x  # E: mul: shapes [t, b] and [t, b, 8] do not broadcast; dim -2 is t and b [tensorclass-shape]
    source: Float[Tensor, "s b 8"] = nn.Transformer(8, 2)(s, x)  # E: source has shape [t, b, 8], which does not fit "s b 8": s is t here [tensorclass-shape]
    target: Float[Tensor, "t b 8"] = nn.Transformer(8, 2)(s, x)
    return target


def unknown(x, n: int, mode: str, full: bool, a: Float[Tensor, "b n n"], y: Float[Tensor, "b n"]) -> None:  # type: ignore[no-untyped-def]  # What is not known is not told.
    torch.linalg.inv(x)
    torch.linalg.svd(torch.zeros(8, 3), full_matrices=full)[0].view(8, 8)
    torch.linalg.qr(torch.zeros(8, 3), mode=mode)[0].view(8, 8)
    torch.linalg.solve(a, y)  # A stack of vectors, or a matrix.
    torch.linalg.solve(a, x).view(3)
    torch.tensordot(a, y, dims=n).view(3)
    torch.fft.rfft(y, dim=n).view(3)
    torch.fft.irfft(torch.zeros(3, 9), n=n).view(3, 7)
    torch.fft.rfft(torch.zeros(n, n)).view(3)
    torch.histc(y, n).view(3)
    y.tensor_split(n)[4].view(3)
    F.fold(torch.zeros(n, 27, n), (8, 8), 3)
    F.fold(torch.zeros(2, n, 36), (8, 8), 3)
    F.grid_sample(torch.zeros(n, 3, 8, 8), torch.zeros(2, n, n, n))
    torch.cov(torch.zeros(n, 3)).view(9)
    matrix = torch.zeros(3, 3)
    if full:
        matrix = torch.zeros(3, 4)
    torch.linalg.inv(matrix)
    nn.MultiheadAttention(8, 2, batch_first=full)(torch.zeros(5, 2, 8), torch.zeros(5, 2, 8), torch.zeros(5, 2, 8))[1].view(20)
    options: Any = {"proj_size": n}
    nn.LSTM(8, 16, **options)(torch.zeros(5, 2, 8))[0].view(5, 2, 3)
