"""Full names, as users write them."""

from __future__ import annotations

# Where mypy finds what users know under a shorter name.
_PREFIXES = (
    ("torch._C._VariableFunctions.", "torch."),
    ("torch.functional.", "torch."),
    ("torch._functorch.apis.", "torch."),
    ("torch._C._nn.", "torch.nn.functional."),
    ("torch._tensor.", "torch."),
    ("torch.types.", "torch."),
    ("einops.einops.", "einops."),
)


def canonical(fullname: str) -> str:
    """torch.zeros for torch._C._VariableFunctions.zeros, tensorclass.stack for tensorclass._joins.stack.

    >>> canonical("torch._C._VariableFunctions.zeros")
    'torch.zeros'
    """
    for found, short in _PREFIXES:
        if fullname.startswith(found):
            return short + fullname[len(found) :]
    if fullname.startswith("tensorclass."):
        parts = fullname.split(".")
        if len(parts) > 2 and parts[1] == "nn":
            return "tensorclass.nn." + parts[-1]
        if len(parts) > 2 and parts[1].startswith("_"):
            return "tensorclass." + parts[-1]
    if fullname.startswith("torch.nn.modules."):
        return "torch.nn." + fullname.rsplit(".", 1)[-1]
    if fullname.startswith("torch.distributions."):
        return "torch.distributions." + fullname.rsplit(".", 1)[-1]
    return fullname
