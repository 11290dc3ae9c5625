"""The statements of random programs, by family. A field in <> is filled with values that fit, most of the time."""

from __future__ import annotations

import random
import re
from typing import Any

import torch

FIELD = re.compile(r"<(\w+)>")
SLIP = 0.12  # How often a number that fits is moved to one that may not.

STATEMENTS: dict[str, list[str]] = {
    "tensors": [
        "torch.zeros(<new>)", "torch.ones((<new>))", "torch.randn([<new>])", "torch.full((<new>,), 1.0)",
        "torch.randint(0, 2, (<new>,))", "torch.arange(<n>)", "torch.zeros(<new>, dtype=torch.long)",
        "torch.zeros_like(<t>)", "torch.eye(<n>)", "torch.linspace(0, 1, <n>)", "<t>.new_zeros(<new>)",
        "torch.ones(<new>) > 0", "torch.tensor([1.0, 2.0, 3.0])", "torch.empty(*<t>.shape, <n>)",
        "torch.zeros(<t>.shape[0], <n>)", "torch.rand(<t>.size(-1))",
    ],
    "containers": [
        "point(<new>)", "Point(pos=torch.zeros(<new>, 3), mass=torch.ones(<n>), batch_size=[<n>])",
        "Point(pos=torch.zeros(<n>, 3), mass=torch.ones(<n>))",
        "Body(pos=torch.zeros(4, 3), mass=torch.ones(4), spin=torch.zeros(4, 2, 2).long())",
        "Point(pos=torch.zeros(4, <k3>), mass=torch.ones(<k4>))",
        "Point(pos=<t>, mass=torch.ones(<n>), batch_size=[<n>])",
        "Link(left=<p>, right=None, label=torch.zeros(<batch>).long(), batch_size=[<batch>])",
        "Link(left=<p>, right=<p>, label=torch.zeros(<batch>).long())",
        "Bag(item=<t>, weight=torch.ones(<n>, 2), batch_size=[<n>])",
        "TensorDict({'a': <t>, 'n': {'c': torch.ones(<n>)}}, batch_size=[<n>])",
        "TensorDict(a=torch.zeros(2, 3), b=torch.zeros(2), batch_size=2)",
        "TensorDict({'x': torch.zeros(3, <n>, 2)}, [3, <n>])", "TensorDict({'x': <t>, 'y': <t>})",
        "Point.from_dict({'pos': torch.zeros(2, 3), 'mass': torch.ones(2)}, batch_size=[2])",
    ],
    "indexing": [
        "<any>[<i0>]", "<any>[<i0>:]", "<any>[:, <i1>]", "<any>[..., <il>]", "<any>[None]", "<any>[<i0>, <i1>]",
        "<any>[:<n>]", "<any>[::2]", "<any>[[0, <i0>]]", "<any>[torch.tensor([0, <i0>, 0])]",
        "<any>[torch.ones(<d0>, dtype=torch.bool)]", "<any>[..., None]", "<any>[1:3, None]", "<any>[<any> > 0]",
        "<any>[:, [0, <i1>]]", "<any>[[0, 0], [0, <i1>]]", "<any>[-<n>:]", "<any>[0:<n>:2, ...]",
        "<any>[torch.zeros(2, 2).long()]", "<any>[:, torch.zeros(<d1>) == 0]", "<any>[slice(<n>)]", "<any>[range(2)]",
        "<any>[True]", "<any>[..., 0, :]", "<any>[-1]", "<any>[:, 0, None]",
    ],
    "moves": [
        "<any>.reshape(<resize>)", "<any>.view(<resize>)", "<any>.permute(<perm>)", "<any>.transpose(<dim>, <dim>)",
        "<any>.unsqueeze(<dim>)", "<any>.squeeze(<dim>)", "<any>.squeeze()", "<any>.flatten(<dim>, <dim>)",
        "<any>.flatten()", "<any>.expand(<n>, *<any>.shape)", "<any>.expand(<grow>)",
        "<any>.unflatten(<dim>, (<n>, -1))", "torch.movedim(<any>, <dim>, <dim>)", "torch.flatten(<any>, <dim>)",
        "<t>.T", "<t>.mT", "<t>.repeat(<n>, <n>)", "<any>.repeat_interleave(<n>, dim=<dim>)", "<t>.flip(<dim>)",
        "<t>.roll(1, <dim>)", "<any>.swapaxes(<dim>, <dim>)", "torch.swapdims(<t>, <dim>, <dim>)", "<t>.tile(<n>)",
        "<t>.narrow(<dim>, 0, <n>)", "<t>.select(<dim>, <i0>)", "<t>.diagonal()", "<t>.unfold(<dim>, 2, 1)", "<t>.t()",
        "<t>.view(-1, <n>)", "<any>.reshape(-1)", "<t>.view_as(<t>)", "<t>.expand_as(<t>)",
        "torch.broadcast_to(<t>, (<n>, *<t>.shape))", "torch.atleast_2d(<t>)", "<t>.rot90()",
    ],
    "joins": [
        "torch.stack([<any>, <any>])", "torch.stack([<any>, <same>], <dim>)", "torch.cat([<any>, <same>], <dim>)",
        "torch.cat([<any>, <any>])", "stack([<b>, <b>], <dim>)", "cat([<b>, <b>])", "lazy_stack([<p>, <p>])",
        "lazy_stack([<b>, <b>], <dim>)", "torch.hstack([<t>, <same>])", "torch.vstack((<t>, <t>))",
        "<any>.split(<n>, <dim>)[0]", "<any>.chunk(<n>, <dim>)[-1]", "<any>.unbind(<dim>)[0]",
        "<any>.split([1, <n>])[1]", "torch.stack([x for x in <any>])", "torch.cat(<any>.chunk(2))",
        "torch.tensor_split(<t>, <n>)[0]", "<t>.split([1, <n>], <dim>)[1]", "torch.cat([x[None] for x in <any>], 1)",
    ],
    "reductions": [
        "<any>.sum(<dim>)", "<any>.mean(<dim>, keepdim=True)", "<t>.amax((<dim>, <dim>))", "<t>.max(<dim>)[0]",
        "<t>.max(<dim>).values", "<t>.argmax(<dim>)", "<t>.std(<dim>)", "<t>.sum((<dim>, <dim>), keepdim=True)",
        "<t>.sum()", "torch.mean(<t>, dim=<dim>)", "<t>.any(<dim>)", "<t>.cumsum(<dim>)", "<t>.norm(dim=<dim>)",
        "<t>.softmax(<dim>)", "<t>.sort(<dim>)[1]", "<t>.topk(<n>, <dim>)[0]", "<t>.logsumexp(<dim>)",
        "<t>.median(<dim>).indices", "torch.var(<t>, <dim>, keepdim=True)", "torch.linalg.norm(<t>, dim=<dim>)",
        "<t>.prod(<dim>)", "<t>.count_nonzero(<dim>)", "<t>.diff(dim=<dim>)", "<t>.quantile(0.5, <dim>)", "<t>.mean()",
        "<t>.max()", "<t>.kthvalue(1, <dim>)[0]",
    ],
    "arithmetic": [
        "<t> + <t>", "<t> * <same>", "<t> - <t>[..., :1]", "<t> / <t>.sum(-1, keepdim=True)", "<t> / <t>.sum(<dim>)",
        "torch.where(<t> > 0, <t>, <t>)", "<t> > <t>", "torch.maximum(<t>, <same>)", "<t>[:, None] - <t>[None]",
        "<b> + <b>", "<b> * 2", "<p> * <p>", "<t>.add(<t>)", "torch.lerp(<t>, <t>, 0.5)", "-<any>", "<t> ** 2",
        "<t>.clamp(min=<t>)", "torch.outer(<t>, <t>)", "torch.cross(<t>, <t>, dim=-1)", "<t>.masked_fill(<t> > 0, 0)",
        "<t>.addcmul(<t>, <t>)", "<t>.logical_and(<t>)", "<t>.clone().add_(<t>)",
    ],
    "products": [
        "<t> @ <t>", "<t> @ <t>.T", "<t> @ torch.zeros(<last>, <n>)", "torch.matmul(<t>, torch.zeros(<last>))",
        "torch.bmm(torch.zeros(2, 3, <n>), torch.zeros(<k2>, <n>, 5))", "torch.mm(<t>, <t>)",
        "torch.einsum('ij,jk->ik', <t>, <t>)", "torch.einsum('...i,ij->...j', <t>, torch.zeros(<last>, 2))",
        "torch.einsum('bi,bi->b', <t>, <t>)", "torch.einsum('i,j->ij', <t>, <t>)",
        "torch.addmm(torch.zeros(<n>), <t>, <t>.T)", "torch.tensordot(<t>, <t>, dims=1)", "torch.cdist(<t>, <t>)",
        "<t>.dot(<t>)", "<t>.mv(<t>)", "torch.kron(<t>, <t>)", "torch.einsum('bij,bjk->bik', <t>, <t>)",
        "torch.linalg.vecdot(<t>, <t>)", "torch.baddbmm(torch.zeros(1), <t>, <t>)",
        "torch.linalg.solve(torch.eye(<d0>), <t>)", "torch.linalg.inv(<t>)", "torch.trace(<t>)",
    ],
    "matrices": [
        *(f"torch.linalg.{name}(<t>)" for name in ("det", "pinv", "eigvals", "svdvals", "matrix_rank", "matrix_exp")),
        *(f"torch.linalg.{name}(<t> @ <t>.mT + torch.eye(<k3>))" for name in ("cholesky", "eigvalsh", "inv")),
        "torch.linalg.eigh(torch.eye(<d0>))[1] @ <t>", "torch.linalg.qr(<t>).R", "torch.linalg.qr(<t>, 'complete')[0]",
        "torch.linalg.svd(<t>)[<n>]", "torch.linalg.svd(<t>, full_matrices=False).Vh", "torch.linalg.slogdet(<t>)[1]",
        "torch.linalg.matrix_power(<t>, <n>)", "torch.linalg.solve(torch.rand(2, <k3>, 3), torch.zeros(<new>))",
        "torch.linalg.solve_triangular(torch.eye(<d0>), <t>, upper=True)", "torch.linalg.lstsq(<t>, <t>).solution",
        "torch.tensordot(<t>, <t>, dims=<n>)", "torch.tensordot(<t>, <t>, dims=([<dim>], [<dim>]))", "<t>.cov()",
        "torch.tensordot(<t>, <t>, ([<dim>, 0], [<dim>, 0]))", "torch.linalg.vecdot(<t>, <t>, dim=<dim>)",
        "torch.linalg.multi_dot([<t>, torch.zeros(<last>, 2), torch.zeros(<k2>, 3)])", "torch.corrcoef(<t>)",
    ],
    "spectra": [
        *(f"torch.fft.{name}(<t>)" for name in ("fft", "ifft", "fft2", "ifftn", "rfft", "rfft2", "rfftn", "fftshift")),
        *(f"torch.fft.{name}(<t>, dim=<dim>)" for name in ("fft", "rfft", "irfft", "hfft", "ihfft")),
        *(f"torch.fft.{name}(<t>)" for name in ("irfft", "irfft2", "irfftn")), "torch.fft.rfft(<t>, <n>, <dim>)",
        "torch.fft.irfft(<t>, n=<n>)", "torch.fft.fft(<t>, <n>)",
    ],
    "searches": [
        "torch.searchsorted(<t>, <t>)", "torch.bucketize(<t>, torch.arange(<n>))", "torch.isin(<t>, <t>)",
        "torch.histc(<t>, <n>)", "<t>.index_add(<dim>, torch.tensor([0, 0]), torch.zeros(<new>))",
        "<t>.index_copy(<dim>, torch.tensor([0]), <t>)", "torch.cartesian_prod(torch.arange(<n>), torch.arange(<n>))",
        "<t>.tensor_split(<n>, <dim>)[0]", "<t>.tensor_split(<n>, <dim>)[-1]", "<t>.kthvalue(1, <dim>, True).values",
        "<t>.quantile(torch.tensor([0.1, 0.9]), <dim>)", "<t>.quantile(torch.tensor(0.1), dim=<dim>, keepdim=True)",
    ],
    "layers": [
        "nn.Linear(<last>, <n>)(<t>)", "nn.Conv1d(<ch1>, <n>, 3, padding=1)(<t>)", "nn.Conv2d(<ch2>, <n>, 2)(<t>)",
        "nn.Embedding(10, <n>)(<t>)", "nn.LayerNorm(<last>)(<t>)", "nn.BatchNorm1d(<d1>)(<t>)", "nn.Flatten()(<t>)",
        "nn.Sequential(nn.Linear(<last>, 4), nn.ReLU(), nn.Linear(<k4>, <n>))(<t>)",
        "nn.MultiheadAttention(4, 2)(<t>, <t>, <t>)[0]", "nn.Unflatten(1, (<n>, <n>))(<t>)", "nn.MaxPool2d(2)(<t>)",
        "nn.GroupNorm(1, <d1>)(<t>)", "nn.LSTM(<last>, 5)(<t>)[0]", "nn.GRU(<last>, 5, batch_first=True)(<t>)[1]",
        "nn.Softmax(dim=<dim>)(<t>)", "nn.AvgPool1d(2)(<t>)", "nn.AdaptiveAvgPool2d(1)(<t>)",
        "nn.Bilinear(<last>, <last>, 2)(<t>, <t>)", "nn.ConvTranspose1d(<ch1>, 2, 2)(<t>)", "nn.Dropout(0.1)(<t>)",
        "nn.MSELoss()(<t>, <same>)", "nn.CrossEntropyLoss()(<t>, torch.zeros(<d0>).long())",
        "nn.LSTM(<last>, 5, proj_size=2, bidirectional=True)(<t>)[1][<n>]", "nn.InstanceNorm1d(<ch1>)(<t>)",
        "nn.LSTM(<last>, 5, 2, proj_size=<n>)(<t>)[0]",
        "nn.MultiheadAttention(4, 2, batch_first=True)(<t>, <t>, <t>)[1]",
        "nn.MultiheadAttention(4, 2)(torch.zeros(3, 2, <k4>), torch.zeros(5, 2, 4), torch.zeros(5, 2, 4))[1]",
        "nn.Transformer(4, 2, 1, 1, 4)(torch.zeros(5, 2, <k4>), <t>)", "nn.Fold((3, 4), (<n>, 2))(<t>)",
        "nn.Transformer(4, 2, 1, 1, 4)(torch.zeros(5, 2, <k4>), torch.zeros(3, 2, 4))",
        "nn.InstanceNorm2d(<ch2>)(<t>)", "nn.Fold(3, 2)(torch.zeros(2, 8, <k4>))",
        "nn.Upsample(scale_factor=2)(<t>)", "nn.LSTMCell(<last>, 3)(<t>)[0]", "nn.PReLU(<n>)(<t>)",
    ],
    "functionals": [
        "F.linear(<t>, torch.zeros(<n>, <last>))", "F.cross_entropy(<t>, torch.zeros(<d0>).long())",
        "F.mse_loss(<t>, <same>, reduction='none')", "F.softmax(<t>, dim=<dim>)", "F.one_hot(torch.arange(<n>), <n>)",
        "F.pad(<t>, (1, <n>))", "F.normalize(<t>, dim=<dim>)", "F.layer_norm(<t>, (<last>,))",
        "F.cosine_similarity(<t>, <t>, dim=<dim>)", "F.scaled_dot_product_attention(<t>, <t>, <t>)", "F.relu(<t>)",
        "F.glu(<t>, <dim>)", "F.embedding(torch.zeros(2, 3).long(), <t>)", "F.interpolate(<t>, scale_factor=2)",
        "F.nll_loss(<t>, torch.zeros(<d0>).long())", "F.binary_cross_entropy_with_logits(<t>, <same>)",
        "F.conv1d(<t>, torch.zeros(<n>, <ch1>, 2))", "F.avg_pool2d(<t>, 2)", "F.max_pool1d(<t>, 2)",
        "F.conv2d(<t>, torch.zeros(<n>, <ch2>, 2, 2))", "F.unfold(<t>, 2)", "F.l1_loss(<t>, <same>)",
        "F.grid_sample(<t>, torch.zeros(<d0>, 3, <n>, <k2>))", "F.pairwise_distance(<t>, <t>)",
        "F.group_norm(<t>, <n>)",
        "F.grid_sample(torch.zeros(<d0>, 2, 3, 4), <t>)", "F.batch_norm(<t>, torch.zeros(<d1>), torch.ones(<d1>))",
        "F.instance_norm(<t>)", "F.fold(<t>, (3, <n>), (2, <n>))", "F.fold(torch.zeros(3, 8, <k2>), (2, 3), 2)",
        "F.triplet_margin_loss(<t>, <same>, <same>)", "F.soft_margin_loss(<t>, <same>)",
        "F.pairwise_distance(<t>, <same>, keepdim=True)", "F.batch_norm(<t>, None, None, training=True)",
        "F.bilinear(<t>, <t>, torch.zeros(2, <last>, <last>))", "F.dropout(<t>)",
    ],
    "gathers": [
        "torch.gather(<t>, <dim>, torch.zeros_like(<t>).long())", "<t>.gather(<dim>, torch.zeros(<new>).long())",
        "<t>.index_select(<dim>, torch.tensor([0, 0]))",
        "torch.take_along_dim(<t>, torch.zeros_like(<t>).long(), <dim>)", "<t>.take(torch.zeros(2, 2).long())",
        "<t>.masked_select(<t> > 0)", "<t>.scatter(<dim>, torch.zeros_like(<t>).long(), 1)",
        "<t>.index_add(<dim>, torch.tensor([0, 0]), <t>)", "torch.searchsorted(torch.arange(<n>), <t>)",
        "<b>.gather(0, torch.zeros(2).long())", "<any>.where(<t> > 0, <any>)",
        "<b>.masked_select(torch.ones(<batch>) > 0)", "torch.where(torch.ones(<batch>) > 0, <b>, <b>)",
    ],
    "fields": [
        "<p>.pos", "<p>.mass", "<p>.heavy()", "<p>.moved(0.5)", "<p>.replace(mass=torch.ones(<batch>))",
        "<p>.replace(mass=<t>)", "<p>.replace(pos=torch.ones(<batch>, <k3>))", "<b>.apply(lambda x: x + 1)",
        "<b>.clone()", "<b>.to_tensordict()", "<p>.pos + <p>.mass", "<p>.pos * <p>.mass[..., None]",
        "<p>.pos @ torch.zeros(<k3>, 2)", "rows(<p>.pos)", "rows(<t>)", "dot(<t>, <t>)", "dot(<p>.pos, <p>.pos)",
        "<p>['mass']", "<p>.select('pos')", "untyped(<any>)", "<p>.set('mass', torch.ones(<batch>))", "<b>.empty()",
        "torch.zeros_like(<b>)", "<p>.apply(lambda x: x.sum(), batch_size=[])", "<b>.detach()",
        "<p>.pos.sum(-1) - <p>.mass", "<b>.batch_size[0] * torch.ones(<n>)",
    ],
    "statements": [
        "for {v} in <any>:\n    pass", "{v} = <any>\nif <t>.sum() > 0:\n    {v} = <any>",
        "{v} = <p>.clone()\n{v}.mass = torch.ones(<batch>)", "{v} = <p>.clone()\n{v}.pos = <t>",
        "{v}, _ = <any>[:2].unbind(0)", "{v} = <b>.clone()\n{v}.batch_size = []",
        "{v} = <b>.clone()\n{v}.batch_size = [<n>]", "{v} = <p>.clone()\n{v}['mass'] = <t>",
        "{v} = <t>.clone()\n{v}[0] = <t>", "{v} = <t>.clone()\n{v} += <t>",
        "{v} = <p>.clone()\n{v}.update({'mass': torch.ones(<batch>)})", "{v} = <b>.clone()\n{v}[0] = {v}[0] * 2",
        "{v} = <t>\nfor _ in range(2):\n    {v} = {v}.unsqueeze(0)",
        "{v} = <any>\nwhile {v}.shape[0] > 1:\n    {v} = {v}[1:]", "{v} = <t>.clone()\n{v}.unsqueeze_(<dim>)",
        "{v} = [<any> for _ in range(2)][0]", "a, *rest = <any>.unbind(0)\n{v} = a", "{v} = {'k': <any>}['k']",
        "{v} = <t>.clone()\n{v}[:, 0] = <t>", "{v} = <t>.clone()\n{v}.copy_(<t>)", "{v} = <p>.clone()\n{v}.mass += <t>",
        "{v} = (lambda x: x[None])(<any>)", "{v} = <any> if <t>.sum() > 0 else <any>",
        "n, *_ = <t>.shape\n{v} = torch.zeros(n, 2)", "{v} = <t>.clone()\n{v}.resize_(2, 3)",
        "{v} = <t>.clone()\nalias = {v}\nalias.squeeze_()", "{v} = <t>.clone()\n{v}.data = torch.zeros(<n>)",
        "{v} = <t>.clone()\n{v}.t_()",
    ],
}  # fmt: skip


def fill(template: str, chance: random.Random, values: dict[str, Any]) -> str | None:
    """A statement of this template about these values; None where there are none of its kind."""
    about: Any = None

    def number(fits: int) -> str:
        return str(fits if chance.random() > SLIP else chance.choice([fits + 1, fits - 1, 1, 2]))

    def pick(kind: str) -> str:
        classes: dict[str, Any] = {
            "t": lambda one: isinstance(one, torch.Tensor),
            "b": lambda one: not isinstance(one, torch.Tensor),
            "p": lambda one: type(one).__name__ in ("Point", "Body"),
            "any": lambda one: True,
        }
        names = [name for name, value in values.items() if classes[kind](value)]
        shape = shape_of(about)
        alike = [name for name in names if about is not None and shape_of(values[name]) == shape]
        if not names:
            raise LookupError(kind)
        return chance.choice(alike if alike and chance.random() < 0.6 else names)

    def shape_of(value: Any) -> tuple[int, ...]:
        return tuple(value.shape if isinstance(value, torch.Tensor) else value.batch_size) if value is not None else ()

    def one(match: re.Match[str]) -> str:
        nonlocal about
        word, shape = match[1], shape_of(about)
        if word in ("t", "b", "p", "any"):
            name = pick(word)
            about = values[name]
            return name
        if word == "same":
            names = [name for name, value in values.items() if type(value) is type(about) and shape_of(value) == shape]
            return chance.choice(names) if chance.random() > SLIP else pick("t")
        if word == "n":
            return str(chance.choice([1, 2, 2, 3, 3, 4, 5]))
        if word == "new":
            return ", ".join(str(chance.choice([1, 2, 3, 3, 4, 4])) for _ in range(chance.choice([1, 2, 2, 3, 3, 4])))
        if word in ("k2", "k3", "k4"):
            return number(int(word[1]))
        if word == "dim":
            rank = max(len(shape), 1)
            return str(chance.randrange(-rank, rank) if chance.random() > SLIP else chance.choice([rank, -rank - 1]))
        if word in ("i0", "i1", "il"):
            at = {"i0": 0, "i1": 1, "il": -1}[word]
            size = shape[at] if -len(shape) <= at < len(shape) else 1
            return str(chance.randrange(-size, max(size, 1)) if chance.random() > SLIP and size else size)
        if word in ("d0", "d1", "last", "ch1", "ch2"):
            at = {"d0": 0, "d1": 1, "last": -1, "ch1": -2, "ch2": -3}[word]
            return number(shape[at] if -len(shape) <= at < len(shape) else 2)
        if word == "batch":
            return ", ".join(number(size) for size in shape)
        if word == "perm":
            order = list(range(len(shape)))
            chance.shuffle(order)
            return ", ".join(number(at) if chance.random() < SLIP else str(at) for at in order)
        if word == "grow":
            return ", ".join(number(chance.choice([3, 1]) if size == 1 else size) for size in shape) or "2"
        sizes = list(shape)
        chance.shuffle(sizes)
        if len(sizes) > 1 and chance.random() < 0.5:
            sizes[:2] = [sizes[0] * sizes[1]]
        return ", ".join(number(size) for size in sizes) or "1"

    try:
        return FIELD.sub(one, template)
    except LookupError:
        return None
