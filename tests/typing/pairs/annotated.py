"""Shapes that annotations declare, in the body of a function and in its result. A mistake stands beside its good twin."""

from __future__ import annotations
import math
from typing import Optional
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn


def linear(x: Float[Tensor, "b d"], w: Float[Tensor, "o d"]) -> Float[Tensor, "b o"]:
    x @ w  # E: matmul: shapes [b, d] and [o, d] do not fit: the last dim of the first is d, the rows of the second are o [tensorclass-shape]
    if x.sum() > 0:
        return F.linear(x, w.T)  # E: linear: the last dim of [b, d] is d, the weight takes o [tensorclass-shape]
    if x.sum() > 1:
        return w @ x.T  # E: the result has shape [o, b], which does not fit "b o": b is o here [tensorclass-shape]
    if x.sum() > 2:
        return (w @ x.T).T
    return F.linear(x, w)

def attention(q: Float[Tensor, "b h t d"], k: Float[Tensor, "b h s d"], v: Float[Tensor, "b h s d"]) -> Float[Tensor, "b h t d"]:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    q @ k  # E: matmul: shapes [b, h, t, d] and [b, h, s, d] do not fit: the last dim of the first is d, the rows of the second are s [tensorclass-shape]
    scores @ q  # E: matmul: shapes [b, h, t, s] and [b, h, t, d] do not fit: the last dim of the first is s, the rows of the second are t [tensorclass-shape]
    scores.softmax(-1).transpose(-1, -2) @ v  # E: matmul: shapes [b, h, s, t] and [b, h, s, d] do not fit: the last dim of the first is t, the rows of the second are s [tensorclass-shape]
    out = scores.softmax(dim=-1) @ v
    bad: Float[Tensor, "b t h d"] = out  # E: bad has shape [b, h, t, d], which does not fit "b t h d": t is h here [tensorclass-shape]
    good: Float[Tensor, "b t h d"] = out.transpose(1, 2)
    good.reshape(good.shape[0], good.shape[1], -1)
    F.scaled_dot_product_attention(q, k, v)
    F.scaled_dot_product_attention(q, k, q)  # E: scaled_dot_product_attention: dim -2 of the value [b, h, t, d] is t, that of the key [b, h, s, d] is s [tensorclass-shape]
    torch.einsum("bhtd,bhsd->bhts", q, k) @ v
    torch.einsum("bhtd,bhsd->bhst", q, k) @ v  # E: matmul: shapes [b, h, s, t] and [b, h, s, d] do not fit: the last dim of the first is t, the rows of the second are s [tensorclass-shape]
    torch.einsum("bhtd,bhds->bhts", q, k)  # E: einsum: d is s in operand 1 and d before [tensorclass-shape]
    torch.einsum("... t d, ... s d -> ... t s", q, k) @ v
    torch.einsum("...td,...sd->...st", q, k) @ v  # E: matmul: shapes [b, h, s, t] and [b, h, s, d] do not fit: the last dim of the first is t, the rows of the second are s [tensorclass-shape]
    torch.einsum("...td,...ds->...ts", q, k)  # E: einsum: d is s in operand 1 and d before [tensorclass-shape]
    return out

def masked(x: Float[Tensor, "b t d"], m: Bool[Tensor, "b t"]) -> Float[Tensor, "b d"]:
    x * m  # E: mul: shapes [b, t, d] and [b, t] do not broadcast; dim -2 is t and b [tensorclass-shape]
    x * m.unsqueeze(1)  # E: mul: shapes [b, t, d] and [b, 1, t] do not broadcast; dim -1 is d and t [tensorclass-shape]
    y = x * m.unsqueeze(-1)
    y = x * m[..., None]
    x.masked_fill(m, 0.0)  # E: masked_fill: shapes [b, t, d] and [b, t] do not broadcast; dim -2 is t and b [tensorclass-shape]
    x.masked_fill(~m.unsqueeze(-1), 0.0)
    m.unsqueeze(-1) + 1.0
    if y.sum() > 3:
        return y.sum(1) / m.sum(1)  # E: div: shapes [b, d] and [b] do not broadcast; dim -1 is d and b [tensorclass-shape]
    if y.sum() > 4:
        return y.sum(2)  # E: the result has shape [b, t], which does not fit "b d": d is t here [tensorclass-shape]
    if y.sum() > 6:
        return y.mean(1, keepdim=True)  # E: the result has shape [b, 1, d], which does not fit "b d": it has 3 dims, not 2 [tensorclass-shape]
    return y.sum(1) / m.sum(1, keepdim=True)

def channels_last(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
    if x.sum() > 0:
        return x.permute(0, 2, 1, 3)  # E: the result has shape [b, h, c, w], which does not fit "b h w c": w is c here [tensorclass-shape]
    if x.sum() > 1:
        return x.movedim(1, 2)  # E: the result has shape [b, h, c, w], which does not fit "b h w c": w is c here [tensorclass-shape]
    if x.sum() > 2:
        return x.movedim(1, -1)
    return x.permute(0, 2, 3, 1)

def heads(x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t h d//h"]:
    return x.reshape(x.shape[0], x.shape[1], 4, -1)

def joined(x: Float[Tensor, "b n"], y: Float[Tensor, "b m"]) -> Float[Tensor, "b n+m"]:
    if x.sum() > 0:
        return torch.cat([x, y], 0)  # E: cat: tensor 0 has shape [b, n], tensor 1 has [b, m]; they may differ in dim 0 alone [tensorclass-shape]
    if x.sum() > 0:
        return torch.cat((x, x), 1)  # E: the result has shape [b, 2*n], which does not fit "b n+m": dim 1 is 2*n, not m+n [tensorclass-shape]
    if x.sum() > 0:
        return torch.cat((y, x), -1)
    if x.sum() > 0:
        return torch.hstack((x, y))
    if x.sum() > 0:
        return torch.vstack((x, y))  # E: cat: tensor 0 has shape [b, n], tensor 1 has [b, m]; they may differ in dim 0 alone [tensorclass-shape]
    return torch.concat([x, y], dim=1)

def distances(x: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    if x.sum() > 0:
        return x.T @ x  # E: the result has shape [d, d], which does not fit "n n": n is d here [tensorclass-shape]
    if x.sum() > 0:
        return torch.cdist(x, x)
    if x.sum() > 0:
        return (x[:, None] - x[None]).square().sum(-1).sqrt()
    return x @ x.T

def embedded(ids: Int[Tensor, "b t"], table: Float[Tensor, "v d"]) -> Float[Tensor, "b t d"]:
    if ids.sum() > 0:
        return F.embedding(ids, table)
    if ids.sum() > 0:
        return F.embedding(ids, table.T)  # E: the result has shape [b, t, v], which does not fit "b t d": d is v here [tensorclass-shape]
    if ids.sum() > 0:
        return table[ids]
    if ids.sum() > 0:
        return table[ids[0]]  # E: the result has shape [t, d], which does not fit "b t d": it has 2 dims, not 3 [tensorclass-shape]
    if ids.sum() > 0:
        return F.one_hot(ids, 7)  # E: the result has shape [b, t, 7], which does not fit "b t d": d is 7 here [tensorclass-shape]
    if ids.sum() > 0:
        return table[ids[:, 0]]  # E: the result has shape [b, d], which does not fit "b t d": it has 2 dims, not 3 [tensorclass-shape]
    return table[ids.flatten()].view(*ids.shape, -1)

def pooled(x: Float[Tensor, "b t d"]) -> Float[Tensor, "b d"]:
    if x.sum() > 0:
        return x[:, -1]
    if x.sum() > 0:
        return x[:, -1:]  # E: the result has shape [b, ?, d], which does not fit "b d": it has 3 dims, not 2 [tensorclass-shape]
    if x.sum() > 0:
        return x.max(1)[0]
    if x.sum() > 0:
        return x.amax(-1)  # E: the result has shape [b, t], which does not fit "b d": d is t here [tensorclass-shape]
    if x.sum() > 0:
        return x.squeeze(1)  # E: the result has shape [b, t, d], which does not fit "b d": it has 3 dims, not 2 [tensorclass-shape]
    if x.sum() > 0:
        return torch.mean(x, dim=1)
    if x.sum() > 0:
        return torch.mean(x, dim=(1, 2))  # E: the result has shape [b], which does not fit "b d": it has 1 dim, not 2 [tensorclass-shape]
    if x.sum() > 0:
        return torch.mean(x)  # E: the result has shape [], which does not fit "b d": it has 0 dims, not 2 [tensorclass-shape]
    if x.sum() > 0:
        return x.mean()  # E: the result has shape [], which does not fit "b d": it has 0 dims, not 2 [tensorclass-shape]
    return x.select(1, 0)

def repeated(x: Float[Tensor, "b d"], n: int) -> Float[Tensor, "b n d"]:
    if x.sum() > 0:
        return x.unsqueeze(1).expand(-1, n, -1)
    if x.sum() > 0:
        return x.unsqueeze(0).expand(-1, n, -1)  # E: the result has shape [1, n, d], which does not fit "b n d": b is 1 here [tensorclass-shape]
    if x.sum() > 0:
        return x.repeat(1, n, 1)  # E: the result has shape [1, n*b, d], which does not fit "b n d": b is 1 here [tensorclass-shape]
    if x.sum() > 0:
        return x[:, None].repeat(1, n, 1)
    return torch.stack([x] * n, dim=1)

def pieces(x: Float[Tensor, "b 6"]) -> tuple[Float[Tensor, "b 2"], Float[Tensor, "b 4"]]:
    a, b = torch.split(x, [2, 4], dim=-1)
    if x.sum() > 0:
        return a, b
    if x.sum() > 1:
        return b, a  # E: result 0 has shape [b, 4], which does not fit "b 2": dim 1 is 4, not 2 [tensorclass-shape]
    c, d = torch.split(x, [3, 4], dim=1)  # E: split: sizes [3, 4] sum to 7; dim 1 has size 6 [tensorclass-shape]
    e, f, g = x.chunk(3, dim=1)
    j, k = x.chunk(3, dim=1)  # E: unpack: there are 3 values for 2 names [tensorclass-shape]
    return x[:, :2], x[:, 2:]


def total(x: Float[Tensor, "b d"]) -> Float[Tensor, ""]:
    if x.sum() > 0:
        return x.mean(0)  # E: the result has shape [d], which does not fit "": it has 1 dim, not 0 [tensorclass-shape]
    if x.sum() > 0:
        return x.sum(-1).mean()
    if x.sum() > 0:
        return F.mse_loss(x, x, reduction="none")  # E: the result has shape [b, d], which does not fit "": it has 2 dims, not 0 [tensorclass-shape]
    if x.sum() > 0:
        return F.mse_loss(x, x)
    return x.mean()

def norms(x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch"]:
    if x.sum() > 0:
        return x  # E: the result has shape [*batch, d], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]
    if x.sum() > 0:
        return x[..., :1]  # E: the result has shape [*batch, ?], which does not fit "*batch": it has 1 dim too many [tensorclass-shape]
    if x.sum() > 0:
        return x[..., 0]
    if x.sum() > 0:
        return x.max(-1).values
    if x.sum() > 0:
        return x.mean(0)  # E: the result has shape [*batch[1:], d], which does not fit "*batch": its first dim is gone: it is [*batch[1:], d] [tensorclass-shape]
    return x.argmax(dim=-1)  # E: the result has dtype int64, which Float does not take [tensorclass-shape]

def both(x: Float[Tensor, "*batch 3"], y: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch 6"]:
    if x.sum() > 0:
        return torch.cat([x, y], dim=-1)
    if x.sum() > 0:
        return torch.stack([x, y], dim=-1)  # E: the result has shape [*batch, 3, 2], which does not fit "*batch 6": it has 1 dim too many [tensorclass-shape]
    if x.sum() > 0:
        return torch.cat([x, y[..., :2]], dim=-1)  # E: the result has shape [*batch, 5], which does not fit "*batch 6": dim -1 is 5, not 6 [tensorclass-shape]
    if x.sum() > 0:
        return torch.cat([x, y, x], dim=-1)  # E: the result has shape [*batch, 9], which does not fit "*batch 6": dim -1 is 9, not 6 [tensorclass-shape]
    return torch.cat((x, y), -1)

def rotated(x: Float[Tensor, "*batch 3"], r: Float[Tensor, "*batch 3 3"]) -> Float[Tensor, "*batch 3"]:
    if x.sum() > 0:
        return r @ x  # E: matmul: [*batch, 3] has no rows behind *batch, as [*batch, 3, 3] has; take a vector v as v[..., None] [tensorclass-shape]
    if x.sum() > 0:
        return (r @ x[..., None])[..., 0]
    if x.sum() > 0:
        return (r @ x[..., None]).squeeze(-1)
    if x.sum() > 0:
        return r @ x.unsqueeze(-1)  # E: the result has shape [*batch, 3, 1], which does not fit "*batch 3": it has 1 dim too many [tensorclass-shape]
    if x.sum() > 0:
        return torch.einsum("...ij,...j->...i", r, x)
    if x.sum() > 0:
        return torch.einsum("...ij,...j->...ij", r, x)  # E: the result has shape [*batch, 3, 3], which does not fit "*batch 3": it has 1 dim too many [tensorclass-shape]
    return torch.matmul(r, x.unsqueeze(-1)).squeeze(-1)

def whole(x: Int[Tensor, "b"], y: Float[Tensor, "b"]) -> Int[Tensor, "b"]:
    if x.sum() > 0:
        return x / 2  # E: the result has dtype float32, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return x // 2
    if x.sum() > 0:
        return x + y  # E: the result has dtype float, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return x * 2.0  # E: the result has dtype float32, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return x > 2  # E: the result has dtype bool, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return y.long()
    if x.sum() > 0:
        return y.round()  # E: the result has dtype float, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return torch.zeros(x.shape[0])  # E: the result has dtype float32, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return torch.zeros_like(x)
    if x.sum() > 0:
        return torch.zeros_like(y)  # E: the result has dtype float, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return torch.arange(x.shape[0])
    if x.sum() > 0:
        return torch.where(x > 0, x, y)  # E: the result has dtype float, which Int does not take [tensorclass-shape]
    if x.sum() > 0:
        return y.argsort()
    return y.int()

def picture(img: UInt8[Tensor, "h w 3"]) -> Float[Tensor, "3 h w"]:
    if img.sum() > 0:
        return img.permute(2, 0, 1)  # E: the result has dtype uint8, which Float does not take [tensorclass-shape]
    if img.sum() > 0:
        return img.permute(2, 0, 1) / 255
    if img.sum() > 0:
        return img.permute(2, 1, 0) / 255  # E: the result has shape [3, w, h], which does not fit "3 h w": h is w here [tensorclass-shape]
    if img.sum() > 0:
        return img.permute(2, 0, 1).float()
    return img.to(torch.float32).permute(2, 0, 1).div(255.0)

def longer(x: Float[Tensor, "b n"], y: Float[Tensor, "b n+1"]) -> Float[Tensor, "b n"]:
    if x.sum() > 0:
        return x + y  # E: add: shapes [b, n] and [b, n+1] do not broadcast; dim -1 is n and n+1 [tensorclass-shape]
    if x.sum() > 0:
        return x + y[:, 1:]
    if x.sum() > 0:
        return x + y[:, :-1]
    if x.sum() > 0:
        return y[:, 2:]  # E: the result has shape [b, n-1], which does not fit "b n": n is n-1 here [tensorclass-shape]
    if x.sum() > 0:
        return y.diff(dim=1)
    return y[:, :-1]

def gated(x: Float[Tensor, "b 2*n"]) -> Float[Tensor, "b n"]:
    a, b = x.chunk(2, dim=-1)
    if x.sum() > 0:
        return a * b.sigmoid()
    if x.sum() > 0:
        return F.glu(x, dim=-1)
    if x.sum() > 0:
        return x  # E: the result has shape [b, 2*n], which does not fit "b n": n is 2*n here [tensorclass-shape]
    return a

def lengths(x: Float[Tensor, "b t d"], lengths: Int[Tensor, "b"]) -> Bool[Tensor, "b t"]:
    if x.sum() > 0:
        return torch.arange(x.shape[1]) < lengths  # E: <: shapes [t] and [b] do not broadcast; dim -1 is t and b [tensorclass-shape]
    if x.sum() > 0:
        return torch.arange(x.shape[1])[None] < lengths[:, None]
    if x.sum() > 0:
        return torch.arange(x.shape[1])[:, None] < lengths[None]  # E: the result has shape [t, b], which does not fit "b t": b is t here [tensorclass-shape]
    if x.sum() > 0:
        return torch.arange(x.size(1)).unsqueeze(0) < lengths.unsqueeze(1)
    if x.sum() > 0:
        return (torch.arange(x.size(1)).unsqueeze(0) < lengths.unsqueeze(1)).float()  # E: the result has dtype float32, which Bool does not take; bool would do [tensorclass-shape]
    if x.sum() > 0:
        return torch.ones(x.shape[:2], dtype=torch.bool)
    if x.sum() > 0:
        return torch.ones(x.shape, dtype=torch.bool)  # E: the result has shape [b, t, d], which does not fit "b t": it has 3 dims, not 2 [tensorclass-shape]
    return torch.zeros(x.shape[0], x.shape[1], dtype=torch.bool)

def flat(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c*h*w"]:
    if x.sum() > 0:
        return x.flatten(2)  # E: the result has shape [b, c, h*w], which does not fit "b c*h*w": it has 3 dims, not 2 [tensorclass-shape]
    if x.sum() > 0:
        return x.flatten()  # E: the result has shape [b*c*h*w], which does not fit "b c*h*w": it has 1 dim, not 2 [tensorclass-shape]
    if x.sum() > 0:
        return x.view(x.size(0), -1)
    if x.sum() > 0:
        return x.reshape(len(x), -1)
    if x.sum() > 0:
        b, c, h, w = x.shape
        return x.view(b, c * h * w)
    if x.sum() > 0:
        b, c, h, w = x.shape
        return x.view(b, c * h, w)  # E: the result has shape [b, c*h, w], which does not fit "b c*h*w": it has 3 dims, not 2 [tensorclass-shape]
    return x.flatten(1)

def swapped(x: Float[Tensor, "b t d"]) -> Float[Tensor, "t b d"]:
    if x.sum() > 0:
        return x.transpose(0, 1)
    if x.sum() > 0:
        return x.transpose(1, 2)  # E: the result has shape [b, d, t], which does not fit "t b d": t is b here [tensorclass-shape]
    if x.sum() > 0:
        return x.permute(1, 0, 2)
    if x.sum() > 0:
        return x.reshape(x.shape[1], x.shape[0], x.shape[2])
    if x.sum() > 0:
        return x.swapaxes(0, 2)  # E: the result has shape [d, t, b], which does not fit "t b d": t is d here [tensorclass-shape]
    return x  # E: the result has shape [b, t, d], which does not fit "t b d": t is b here [tensorclass-shape]

def weighted(x: Float[Tensor, "b t d"], s: Float[Tensor, "d"], g: Float[Tensor, "t"]) -> Float[Tensor, "b t d"]:
    if x.sum() > 0:
        return x * s
    if x.sum() > 0:
        return x * g  # E: mul: shapes [b, t, d] and [t] do not broadcast; dim -1 is d and t [tensorclass-shape]
    if x.sum() > 0:
        return x * g[:, None]
    if x.sum() > 0:
        return torch.outer(g, s)  # E: the result has shape [t, d], which does not fit "b t d": it has 2 dims, not 3 [tensorclass-shape]
    if x.sum() > 0:
        return x + torch.outer(g, s)
    if x.sum() > 0:
        return x + torch.outer(s, g)  # E: add: shapes [b, t, d] and [d, t] do not broadcast; dim -2 is t and d [tensorclass-shape]
    if x.sum() > 0:
        return x + s.expand(x.shape[1], -1)
    return x + s.expand_as(x)

def single(x: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b h w"]:
    if x.sum() > 0:
        return x.squeeze(1)
    if x.sum() > 0:
        return x.squeeze(0)  # E: the result has shape [b, 1, h, w], which does not fit "b h w": it has 4 dims, not 3 [tensorclass-shape]
    if x.sum() > 0:
        return x[:, 0]
    if x.sum() > 0:
        return x[0]  # E: the result has shape [1, h, w], which does not fit "b h w": b is 1 here [tensorclass-shape]
    return x.squeeze(-3)

def perhaps(x: Optional[Float[Tensor, "b d"]], y: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    if x is None:
        return y
    if x.sum() > 0:
        return (x @ y)  # E: matmul: shapes [b, d] and [b, d] do not fit: the last dim of the first is d, the rows of the second are b [tensorclass-shape]
    if x.sum() > 0:
        return (x.T + y)  # E: add: shapes [d, b] and [b, d] do not broadcast; dim -2 is d and b [tensorclass-shape]
    return x + y

def some(x: Float[Tensor, "... d"]) -> Float[Tensor, "... 2"]:
    if x.sum() > 0:
        return x  # E: the result has shape [..., d], which does not fit "... 2": dim -1 is d, not 2 [tensorclass-shape]
    if x.sum() > 0:
        return torch.stack([x.sum(-1), x.mean(-1)], dim=-1)
    return x[..., :2]

def unnamed(x: Float[Tensor, "b _"], y: Float[Tensor, "_ b"]) -> Float[Tensor, "b"]:
    if x.sum() > 0:
        return x.sum(1)
    if x.sum() > 0:
        return y.sum(0)
    if x.sum() > 0:
        return y.sum()  # E: the result has shape [], which does not fit "b": it has 0 dims, not 1 [tensorclass-shape]
    return y.mean(0)

def broadcast_(x: Float[Tensor, "b d"], y: Float[Tensor, "#b d"]) -> Float[Tensor, "b d"]:
    return x + y

def rows_(x: Float[Tensor, "b d"], y: Float[Tensor, "1 d"]) -> Float[Tensor, "b d"]:
    if x.sum() > 0:
        return y  # E: the result has shape [1, d], which does not fit "b d": b is 1 here [tensorclass-shape]
    return x + y
