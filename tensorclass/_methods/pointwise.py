"""Pointwise ops, comparisons and operators.

Written by python -m tensorclass._rules.write; do not edit.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from typing_extensions import Self

from .._tree import grouped as _grouped
from .._tree import inplace as _inplace
from .._tree import pair as _pair
from .._tree.node import Node

Other = Any  # A container with the same keys, a batch-shaped tensor or array, or a number.


class PointwiseMethods(Node):
    """Ops that leave the batch as it is, or broadcast it."""

    __slots__ = ()

    def abs(self) -> Self:
        """Apply torch.abs to every leaf."""
        return _grouped.unary(self, torch.abs, torch._foreach_abs)

    def neg(self) -> Self:
        """Apply torch.neg to every leaf."""
        return _grouped.unary(self, torch.neg, torch._foreach_neg)

    def exp(self) -> Self:
        """Apply torch.exp to every leaf."""
        return _grouped.unary(self, torch.exp, torch._foreach_exp)

    def expm1(self) -> Self:
        """Apply torch.expm1 to every leaf."""
        return _grouped.unary(self, torch.expm1, torch._foreach_expm1)

    def log(self) -> Self:
        """Apply torch.log to every leaf."""
        return _grouped.unary(self, torch.log, torch._foreach_log)

    def log10(self) -> Self:
        """Apply torch.log10 to every leaf."""
        return _grouped.unary(self, torch.log10, torch._foreach_log10)

    def log1p(self) -> Self:
        """Apply torch.log1p to every leaf."""
        return _grouped.unary(self, torch.log1p, torch._foreach_log1p)

    def log2(self) -> Self:
        """Apply torch.log2 to every leaf."""
        return _grouped.unary(self, torch.log2, torch._foreach_log2)

    def sqrt(self) -> Self:
        """Apply torch.sqrt to every leaf."""
        return _grouped.unary(self, torch.sqrt, torch._foreach_sqrt)

    def rsqrt(self) -> Self:
        """Apply torch.rsqrt to every leaf."""
        return _grouped.unary(self, torch.rsqrt, torch._foreach_rsqrt)

    def square(self) -> Self:
        """Apply torch.square to every leaf."""
        return _grouped.unary(self, torch.square, None)

    def reciprocal(self) -> Self:
        """Apply torch.reciprocal to every leaf."""
        return _grouped.unary(self, torch.reciprocal, torch._foreach_reciprocal)

    def sigmoid(self) -> Self:
        """Apply torch.sigmoid to every leaf."""
        return _grouped.unary(self, torch.sigmoid, torch._foreach_sigmoid)

    def tanh(self) -> Self:
        """Apply torch.tanh to every leaf."""
        return _grouped.unary(self, torch.tanh, torch._foreach_tanh)

    def sin(self) -> Self:
        """Apply torch.sin to every leaf."""
        return _grouped.unary(self, torch.sin, torch._foreach_sin)

    def cos(self) -> Self:
        """Apply torch.cos to every leaf."""
        return _grouped.unary(self, torch.cos, torch._foreach_cos)

    def tan(self) -> Self:
        """Apply torch.tan to every leaf."""
        return _grouped.unary(self, torch.tan, torch._foreach_tan)

    def asin(self) -> Self:
        """Apply torch.asin to every leaf."""
        return _grouped.unary(self, torch.asin, torch._foreach_asin)

    def acos(self) -> Self:
        """Apply torch.acos to every leaf."""
        return _grouped.unary(self, torch.acos, torch._foreach_acos)

    def atan(self) -> Self:
        """Apply torch.atan to every leaf."""
        return _grouped.unary(self, torch.atan, torch._foreach_atan)

    def sinh(self) -> Self:
        """Apply torch.sinh to every leaf."""
        return _grouped.unary(self, torch.sinh, torch._foreach_sinh)

    def cosh(self) -> Self:
        """Apply torch.cosh to every leaf."""
        return _grouped.unary(self, torch.cosh, torch._foreach_cosh)

    def erf(self) -> Self:
        """Apply torch.erf to every leaf."""
        return _grouped.unary(self, torch.erf, torch._foreach_erf)

    def erfc(self) -> Self:
        """Apply torch.erfc to every leaf."""
        return _grouped.unary(self, torch.erfc, torch._foreach_erfc)

    def lgamma(self) -> Self:
        """Apply torch.lgamma to every leaf."""
        return _grouped.unary(self, torch.lgamma, torch._foreach_lgamma)

    def digamma(self) -> Self:
        """Apply torch.digamma to every leaf."""
        return _grouped.unary(self, torch.digamma, None)

    def sign(self) -> Self:
        """Apply torch.sign to every leaf."""
        return _grouped.unary(self, torch.sign, torch._foreach_sign)

    def sgn(self) -> Self:
        """Apply torch.sgn to every leaf."""
        return _grouped.unary(self, torch.sgn, None)

    def floor(self) -> Self:
        """Apply torch.floor to every leaf."""
        return _grouped.unary(self, torch.floor, torch._foreach_floor)

    def ceil(self) -> Self:
        """Apply torch.ceil to every leaf."""
        return _grouped.unary(self, torch.ceil, torch._foreach_ceil)

    def round(self) -> Self:
        """Apply torch.round to every leaf."""
        return _grouped.unary(self, torch.round, torch._foreach_round)

    def trunc(self) -> Self:
        """Apply torch.trunc to every leaf."""
        return _grouped.unary(self, torch.trunc, torch._foreach_trunc)

    def frac(self) -> Self:
        """Apply torch.frac to every leaf."""
        return _grouped.unary(self, torch.frac, torch._foreach_frac)

    def relu(self) -> Self:
        """Apply torch.relu to every leaf."""
        return _grouped.unary(self, torch.relu, None)

    def positive(self) -> Self:
        """Apply torch.positive to every leaf."""
        return _grouped.unary(self, torch.positive, None)

    def conj(self) -> Self:
        """Apply torch.conj to every leaf."""
        return _grouped.unary(self, torch.conj, None)

    def isnan(self) -> Self:
        """Apply torch.isnan to every leaf."""
        return _grouped.unary(self, torch.isnan, None)

    def isinf(self) -> Self:
        """Apply torch.isinf to every leaf."""
        return _grouped.unary(self, torch.isinf, None)

    def isfinite(self) -> Self:
        """Apply torch.isfinite to every leaf."""
        return _grouped.unary(self, torch.isfinite, None)

    def isposinf(self) -> Self:
        """Apply torch.isposinf to every leaf."""
        return _grouped.unary(self, torch.isposinf, None)

    def isneginf(self) -> Self:
        """Apply torch.isneginf to every leaf."""
        return _grouped.unary(self, torch.isneginf, None)

    def isreal(self) -> Self:
        """Apply torch.isreal to every leaf."""
        return _grouped.unary(self, torch.isreal, None)

    def signbit(self) -> Self:
        """Apply torch.signbit to every leaf."""
        return _grouped.unary(self, torch.signbit, None)

    def logical_not(self) -> Self:
        """Apply torch.logical_not to every leaf."""
        return _grouped.unary(self, torch.logical_not, None)

    def abs_(self) -> Self:
        """Apply torch.abs to every leaf, in place."""
        return _inplace.each("abs_", self, Tensor.abs_, torch._foreach_abs_)

    def neg_(self) -> Self:
        """Apply torch.neg to every leaf, in place."""
        return _inplace.each("neg_", self, Tensor.neg_, torch._foreach_neg_)

    def exp_(self) -> Self:
        """Apply torch.exp to every leaf, in place."""
        return _inplace.each("exp_", self, Tensor.exp_, torch._foreach_exp_)

    def expm1_(self) -> Self:
        """Apply torch.expm1 to every leaf, in place."""
        return _inplace.each("expm1_", self, Tensor.expm1_, torch._foreach_expm1_)

    def log_(self) -> Self:
        """Apply torch.log to every leaf, in place."""
        return _inplace.each("log_", self, Tensor.log_, torch._foreach_log_)

    def log10_(self) -> Self:
        """Apply torch.log10 to every leaf, in place."""
        return _inplace.each("log10_", self, Tensor.log10_, torch._foreach_log10_)

    def log1p_(self) -> Self:
        """Apply torch.log1p to every leaf, in place."""
        return _inplace.each("log1p_", self, Tensor.log1p_, torch._foreach_log1p_)

    def log2_(self) -> Self:
        """Apply torch.log2 to every leaf, in place."""
        return _inplace.each("log2_", self, Tensor.log2_, torch._foreach_log2_)

    def sqrt_(self) -> Self:
        """Apply torch.sqrt to every leaf, in place."""
        return _inplace.each("sqrt_", self, Tensor.sqrt_, torch._foreach_sqrt_)

    def rsqrt_(self) -> Self:
        """Apply torch.rsqrt to every leaf, in place."""
        return _inplace.each("rsqrt_", self, Tensor.rsqrt_, torch._foreach_rsqrt_)

    def square_(self) -> Self:
        """Apply torch.square to every leaf, in place."""
        return _inplace.each("square_", self, Tensor.square_)

    def reciprocal_(self) -> Self:
        """Apply torch.reciprocal to every leaf, in place."""
        return _inplace.each("reciprocal_", self, Tensor.reciprocal_, torch._foreach_reciprocal_)

    def sigmoid_(self) -> Self:
        """Apply torch.sigmoid to every leaf, in place."""
        return _inplace.each("sigmoid_", self, Tensor.sigmoid_, torch._foreach_sigmoid_)

    def tanh_(self) -> Self:
        """Apply torch.tanh to every leaf, in place."""
        return _inplace.each("tanh_", self, Tensor.tanh_, torch._foreach_tanh_)

    def sin_(self) -> Self:
        """Apply torch.sin to every leaf, in place."""
        return _inplace.each("sin_", self, Tensor.sin_, torch._foreach_sin_)

    def cos_(self) -> Self:
        """Apply torch.cos to every leaf, in place."""
        return _inplace.each("cos_", self, Tensor.cos_, torch._foreach_cos_)

    def tan_(self) -> Self:
        """Apply torch.tan to every leaf, in place."""
        return _inplace.each("tan_", self, Tensor.tan_, torch._foreach_tan_)

    def asin_(self) -> Self:
        """Apply torch.asin to every leaf, in place."""
        return _inplace.each("asin_", self, Tensor.asin_, torch._foreach_asin_)

    def acos_(self) -> Self:
        """Apply torch.acos to every leaf, in place."""
        return _inplace.each("acos_", self, Tensor.acos_, torch._foreach_acos_)

    def atan_(self) -> Self:
        """Apply torch.atan to every leaf, in place."""
        return _inplace.each("atan_", self, Tensor.atan_, torch._foreach_atan_)

    def sinh_(self) -> Self:
        """Apply torch.sinh to every leaf, in place."""
        return _inplace.each("sinh_", self, Tensor.sinh_, torch._foreach_sinh_)

    def cosh_(self) -> Self:
        """Apply torch.cosh to every leaf, in place."""
        return _inplace.each("cosh_", self, Tensor.cosh_, torch._foreach_cosh_)

    def erf_(self) -> Self:
        """Apply torch.erf to every leaf, in place."""
        return _inplace.each("erf_", self, Tensor.erf_, torch._foreach_erf_)

    def erfc_(self) -> Self:
        """Apply torch.erfc to every leaf, in place."""
        return _inplace.each("erfc_", self, Tensor.erfc_, torch._foreach_erfc_)

    def lgamma_(self) -> Self:
        """Apply torch.lgamma to every leaf, in place."""
        return _inplace.each("lgamma_", self, Tensor.lgamma_, torch._foreach_lgamma_)

    def digamma_(self) -> Self:
        """Apply torch.digamma to every leaf, in place."""
        return _inplace.each("digamma_", self, Tensor.digamma_)

    def sign_(self) -> Self:
        """Apply torch.sign to every leaf, in place."""
        return _inplace.each("sign_", self, Tensor.sign_, torch._foreach_sign_)

    def sgn_(self) -> Self:
        """Apply torch.sgn to every leaf, in place."""
        return _inplace.each("sgn_", self, Tensor.sgn_)

    def floor_(self) -> Self:
        """Apply torch.floor to every leaf, in place."""
        return _inplace.each("floor_", self, Tensor.floor_, torch._foreach_floor_)

    def ceil_(self) -> Self:
        """Apply torch.ceil to every leaf, in place."""
        return _inplace.each("ceil_", self, Tensor.ceil_, torch._foreach_ceil_)

    def round_(self) -> Self:
        """Apply torch.round to every leaf, in place."""
        return _inplace.each("round_", self, Tensor.round_, torch._foreach_round_)

    def trunc_(self) -> Self:
        """Apply torch.trunc to every leaf, in place."""
        return _inplace.each("trunc_", self, Tensor.trunc_, torch._foreach_trunc_)

    def frac_(self) -> Self:
        """Apply torch.frac to every leaf, in place."""
        return _inplace.each("frac_", self, Tensor.frac_, torch._foreach_frac_)

    def relu_(self) -> Self:
        """Apply torch.relu to every leaf, in place."""
        return _inplace.each("relu_", self, Tensor.relu_)

    def logical_not_(self) -> Self:
        """Apply torch.logical_not to every leaf, in place."""
        return _inplace.each("logical_not_", self, Tensor.logical_not_)

    def add(self, other: Other, *, alpha: float = 1) -> Self:
        """Apply torch.add to every pair of leaves."""
        if alpha != 1:
            return _pair.binary("add", self, other, lambda a, b: torch.add(a, b, alpha=alpha), None)
        return _pair.binary("add", self, other, torch.add, torch._foreach_add)

    def sub(self, other: Other, *, alpha: float = 1) -> Self:
        """Apply torch.sub to every pair of leaves."""
        if alpha != 1:
            return _pair.binary("sub", self, other, lambda a, b: torch.sub(a, b, alpha=alpha), None)
        return _pair.binary("sub", self, other, torch.sub, torch._foreach_sub)

    def mul(self, other: Other) -> Self:
        """Apply torch.mul to every pair of leaves."""
        return _pair.binary("mul", self, other, torch.mul, torch._foreach_mul)

    def div(self, other: Other, *, rounding_mode: str | None = None) -> Self:
        """Apply torch.div to every pair of leaves."""
        if rounding_mode is not None:
            return _pair.binary("div", self, other, lambda a, b: torch.div(a, b, rounding_mode=rounding_mode), None)
        return _pair.binary("div", self, other, torch.div, torch._foreach_div)

    def true_divide(self, other: Other) -> Self:
        """Apply torch.true_divide to every pair of leaves."""
        return _pair.binary("true_divide", self, other, torch.true_divide, None)

    def floor_divide(self, other: Other) -> Self:
        """Apply torch.floor_divide to every pair of leaves."""
        return _pair.binary("floor_divide", self, other, torch.floor_divide, None)

    def remainder(self, other: Other) -> Self:
        """Apply torch.remainder to every pair of leaves."""
        return _pair.binary("remainder", self, other, torch.remainder, None)

    def fmod(self, other: Other) -> Self:
        """Apply torch.fmod to every pair of leaves."""
        return _pair.binary("fmod", self, other, torch.fmod, None)

    def pow(self, other: Other) -> Self:
        """Apply torch.pow to every pair of leaves."""
        return _pair.binary("pow", self, other, torch.pow, torch._foreach_pow)

    def maximum(self, other: Other) -> Self:
        """Apply torch.maximum to every pair of leaves."""
        return _pair.binary("maximum", self, other, _pair.with_tensor(torch.maximum), torch._foreach_maximum)

    def minimum(self, other: Other) -> Self:
        """Apply torch.minimum to every pair of leaves."""
        return _pair.binary("minimum", self, other, _pair.with_tensor(torch.minimum), torch._foreach_minimum)

    def fmax(self, other: Other) -> Self:
        """Apply torch.fmax to every pair of leaves."""
        return _pair.binary("fmax", self, other, _pair.with_tensor(torch.fmax), None)

    def fmin(self, other: Other) -> Self:
        """Apply torch.fmin to every pair of leaves."""
        return _pair.binary("fmin", self, other, _pair.with_tensor(torch.fmin), None)

    def atan2(self, other: Other) -> Self:
        """Apply torch.atan2 to every pair of leaves."""
        return _pair.binary("atan2", self, other, _pair.with_tensor(torch.atan2), None)

    def hypot(self, other: Other) -> Self:
        """Apply torch.hypot to every pair of leaves."""
        return _pair.binary("hypot", self, other, _pair.with_tensor(torch.hypot), None)

    def copysign(self, other: Other) -> Self:
        """Apply torch.copysign to every pair of leaves."""
        return _pair.binary("copysign", self, other, torch.copysign, None)

    def logaddexp(self, other: Other) -> Self:
        """Apply torch.logaddexp to every pair of leaves."""
        return _pair.binary("logaddexp", self, other, _pair.with_tensor(torch.logaddexp), None)

    def bitwise_and(self, other: Other) -> Self:
        """Apply torch.bitwise_and to every pair of leaves."""
        return _pair.binary("bitwise_and", self, other, torch.bitwise_and, None)

    def bitwise_or(self, other: Other) -> Self:
        """Apply torch.bitwise_or to every pair of leaves."""
        return _pair.binary("bitwise_or", self, other, torch.bitwise_or, None)

    def bitwise_xor(self, other: Other) -> Self:
        """Apply torch.bitwise_xor to every pair of leaves."""
        return _pair.binary("bitwise_xor", self, other, torch.bitwise_xor, None)

    def bitwise_left_shift(self, other: Other) -> Self:
        """Apply torch.bitwise_left_shift to every pair of leaves."""
        return _pair.binary("bitwise_left_shift", self, other, torch.bitwise_left_shift, None)

    def bitwise_right_shift(self, other: Other) -> Self:
        """Apply torch.bitwise_right_shift to every pair of leaves."""
        return _pair.binary("bitwise_right_shift", self, other, torch.bitwise_right_shift, None)

    def eq(self, other: Other) -> Self:
        """Apply torch.eq to every pair of leaves: bool leaves."""
        return _pair.compare("eq", self, other, torch.eq)  # type: ignore[no-any-return]

    def ne(self, other: Other) -> Self:
        """Apply torch.ne to every pair of leaves: bool leaves."""
        return _pair.compare("ne", self, other, torch.ne)  # type: ignore[no-any-return]

    def lt(self, other: Other) -> Self:
        """Apply torch.lt to every pair of leaves: bool leaves."""
        return _pair.compare("lt", self, other, torch.lt)  # type: ignore[no-any-return]

    def le(self, other: Other) -> Self:
        """Apply torch.le to every pair of leaves: bool leaves."""
        return _pair.compare("le", self, other, torch.le)  # type: ignore[no-any-return]

    def gt(self, other: Other) -> Self:
        """Apply torch.gt to every pair of leaves: bool leaves."""
        return _pair.compare("gt", self, other, torch.gt)  # type: ignore[no-any-return]

    def ge(self, other: Other) -> Self:
        """Apply torch.ge to every pair of leaves: bool leaves."""
        return _pair.compare("ge", self, other, torch.ge)  # type: ignore[no-any-return]

    def logical_and(self, other: Other) -> Self:
        """Apply torch.logical_and to every pair of leaves: bool leaves."""
        return _pair.compare("logical_and", self, other, torch.logical_and)  # type: ignore[no-any-return]

    def logical_or(self, other: Other) -> Self:
        """Apply torch.logical_or to every pair of leaves: bool leaves."""
        return _pair.compare("logical_or", self, other, torch.logical_or)  # type: ignore[no-any-return]

    def logical_xor(self, other: Other) -> Self:
        """Apply torch.logical_xor to every pair of leaves: bool leaves."""
        return _pair.compare("logical_xor", self, other, torch.logical_xor)  # type: ignore[no-any-return]

    def add_(self, other: Other) -> Self:
        """Apply torch.add to every pair of leaves, in place."""
        return _pair.in_place("add_", self, other, Tensor.add_, torch._foreach_add_)

    def sub_(self, other: Other) -> Self:
        """Apply torch.sub to every pair of leaves, in place."""
        return _pair.in_place("sub_", self, other, Tensor.sub_, torch._foreach_sub_)

    def mul_(self, other: Other) -> Self:
        """Apply torch.mul to every pair of leaves, in place."""
        return _pair.in_place("mul_", self, other, Tensor.mul_, torch._foreach_mul_)

    def div_(self, other: Other) -> Self:
        """Apply torch.div to every pair of leaves, in place."""
        return _pair.in_place("div_", self, other, Tensor.div_, torch._foreach_div_)

    def floor_divide_(self, other: Other) -> Self:
        """Apply torch.floor_divide to every pair of leaves, in place."""
        return _pair.in_place("floor_divide_", self, other, Tensor.floor_divide_)

    def remainder_(self, other: Other) -> Self:
        """Apply torch.remainder to every pair of leaves, in place."""
        return _pair.in_place("remainder_", self, other, Tensor.remainder_)

    def fmod_(self, other: Other) -> Self:
        """Apply torch.fmod to every pair of leaves, in place."""
        return _pair.in_place("fmod_", self, other, Tensor.fmod_)

    def pow_(self, other: Other) -> Self:
        """Apply torch.pow to every pair of leaves, in place."""
        return _pair.in_place("pow_", self, other, Tensor.pow_, torch._foreach_pow_)

    def bitwise_and_(self, other: Other) -> Self:
        """Apply torch.bitwise_and to every pair of leaves, in place."""
        return _pair.in_place("bitwise_and_", self, other, Tensor.bitwise_and_)

    def bitwise_or_(self, other: Other) -> Self:
        """Apply torch.bitwise_or to every pair of leaves, in place."""
        return _pair.in_place("bitwise_or_", self, other, Tensor.bitwise_or_)

    def bitwise_xor_(self, other: Other) -> Self:
        """Apply torch.bitwise_xor to every pair of leaves, in place."""
        return _pair.in_place("bitwise_xor_", self, other, Tensor.bitwise_xor_)

    def __add__(self, other: Other) -> Self:
        return _pair.binary("add", self, other, torch.add, torch._foreach_add)

    def __radd__(self, other: Other) -> Self:
        return _pair.reflected("add", self, other, torch.add)

    def __iadd__(self, other: Other) -> Self:
        return _pair.in_place("add_", self, other, Tensor.add_, torch._foreach_add_)

    def __sub__(self, other: Other) -> Self:
        return _pair.binary("sub", self, other, torch.sub, torch._foreach_sub)

    def __rsub__(self, other: Other) -> Self:
        return _pair.reflected("sub", self, other, torch.sub)

    def __isub__(self, other: Other) -> Self:
        return _pair.in_place("sub_", self, other, Tensor.sub_, torch._foreach_sub_)

    def __mul__(self, other: Other) -> Self:
        return _pair.binary("mul", self, other, torch.mul, torch._foreach_mul)

    def __rmul__(self, other: Other) -> Self:
        return _pair.reflected("mul", self, other, torch.mul)

    def __imul__(self, other: Other) -> Self:
        return _pair.in_place("mul_", self, other, Tensor.mul_, torch._foreach_mul_)

    def __truediv__(self, other: Other) -> Self:
        return _pair.binary("div", self, other, torch.div, torch._foreach_div)

    def __rtruediv__(self, other: Other) -> Self:
        return _pair.reflected("div", self, other, torch.div)

    def __itruediv__(self, other: Other) -> Self:
        return _pair.in_place("div_", self, other, Tensor.div_, torch._foreach_div_)

    def __floordiv__(self, other: Other) -> Self:
        return _pair.binary("floor_divide", self, other, torch.floor_divide, None)

    def __rfloordiv__(self, other: Other) -> Self:
        return _pair.reflected("floor_divide", self, other, torch.floor_divide)

    def __ifloordiv__(self, other: Other) -> Self:
        return _pair.in_place("floor_divide_", self, other, Tensor.floor_divide_)

    def __mod__(self, other: Other) -> Self:
        return _pair.binary("remainder", self, other, torch.remainder, None)

    def __rmod__(self, other: Other) -> Self:
        return _pair.reflected("remainder", self, other, torch.remainder)

    def __imod__(self, other: Other) -> Self:
        return _pair.in_place("remainder_", self, other, Tensor.remainder_)

    def __pow__(self, other: Other) -> Self:
        return _pair.binary("pow", self, other, torch.pow, torch._foreach_pow)

    def __rpow__(self, other: Other) -> Self:
        return _pair.reflected("pow", self, other, torch.pow)

    def __ipow__(self, other: Other) -> Self:
        return _pair.in_place("pow_", self, other, Tensor.pow_, torch._foreach_pow_)

    def __and__(self, other: Other) -> Self:
        return _pair.binary("bitwise_and", self, other, torch.bitwise_and, None)

    def __rand__(self, other: Other) -> Self:
        return _pair.reflected("bitwise_and", self, other, torch.bitwise_and)

    def __iand__(self, other: Other) -> Self:
        return _pair.in_place("bitwise_and_", self, other, Tensor.bitwise_and_)

    def __or__(self, other: Other) -> Self:
        return _pair.binary("bitwise_or", self, other, torch.bitwise_or, None)

    def __ror__(self, other: Other) -> Self:
        return _pair.reflected("bitwise_or", self, other, torch.bitwise_or)

    def __ior__(self, other: Other) -> Self:
        return _pair.in_place("bitwise_or_", self, other, Tensor.bitwise_or_)

    def __xor__(self, other: Other) -> Self:
        return _pair.binary("bitwise_xor", self, other, torch.bitwise_xor, None)

    def __rxor__(self, other: Other) -> Self:
        return _pair.reflected("bitwise_xor", self, other, torch.bitwise_xor)

    def __ixor__(self, other: Other) -> Self:
        return _pair.in_place("bitwise_xor_", self, other, Tensor.bitwise_xor_)

    def __lshift__(self, other: Other) -> Self:
        return _pair.binary("bitwise_left_shift", self, other, torch.bitwise_left_shift, None)

    def __rlshift__(self, other: Other) -> Self:
        return _pair.reflected("bitwise_left_shift", self, other, torch.bitwise_left_shift)

    def __rshift__(self, other: Other) -> Self:
        return _pair.binary("bitwise_right_shift", self, other, torch.bitwise_right_shift, None)

    def __rrshift__(self, other: Other) -> Self:
        return _pair.reflected("bitwise_right_shift", self, other, torch.bitwise_right_shift)

    def __eq__(self, other: Other) -> Self:  # type: ignore[override]
        return _pair.compare("eq", self, other, torch.eq)  # type: ignore[no-any-return]

    def __ne__(self, other: Other) -> Self:  # type: ignore[override]
        return _pair.compare("ne", self, other, torch.ne)  # type: ignore[no-any-return]

    def __lt__(self, other: Other) -> Self:
        return _pair.compare("lt", self, other, torch.lt)  # type: ignore[no-any-return]

    def __le__(self, other: Other) -> Self:
        return _pair.compare("le", self, other, torch.le)  # type: ignore[no-any-return]

    def __gt__(self, other: Other) -> Self:
        return _pair.compare("gt", self, other, torch.gt)  # type: ignore[no-any-return]

    def __ge__(self, other: Other) -> Self:
        return _pair.compare("ge", self, other, torch.ge)  # type: ignore[no-any-return]

    __hash__ = None  # type: ignore[assignment]  # == is elementwise, so there is nothing to hash by.

    def __neg__(self) -> Self:
        return _grouped.unary(self, torch.neg, torch._foreach_neg)

    def __abs__(self) -> Self:
        return _grouped.unary(self, torch.abs, torch._foreach_abs)

    def __pos__(self) -> Self:
        return _grouped.unary(self, torch.positive, None)

    def __invert__(self) -> Self:
        return _grouped.unary(self, torch.bitwise_not, None)
