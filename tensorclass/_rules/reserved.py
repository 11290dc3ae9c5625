"""Names that a field cannot have, unless its class says shadow=True: they are methods of every container.

The list stands still: a method that is added later is not in it, so that no field that was legal is ever refused.
"""

from __future__ import annotations

RESERVED = frozenset(
    """
    abs abs_ acos acos_ add add_ addcdiv addcmul all amax amin any apply apply_ asin asin_ atan atan2 atan_
    auto_batch_size_ batch_dims batch_size bfloat16 bitwise_and bitwise_and_ bitwise_left_shift bitwise_or
    bitwise_or_ bitwise_right_shift bitwise_xor bitwise_xor_ bool bytes ceil ceil_ chunk clamp clamp_ clear
    clear_device_ clone conj consolidate contiguous copy copy_ copysign cos cos_ cosh cosh_ cpu cuda cumprod
    cumsum data del_ densify detach detach_ device digamma digamma_ dim div div_ double dtype empty eq erf erf_
    erfc erfc_ exclude exp exp_ expand expand_as expm1 expm1_ fill_ flatten flatten_keys flip float floor floor_
    floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_ from_dict from_module from_tensordict gather ge
    get get_at get_non_tensor grad gt half hypot index_select int is_contiguous is_empty is_locked is_memmap
    is_pinned is_shared isfinite isinf isnan isneginf isposinf isreal items keys le lerp lgamma lgamma_
    load_memmap load_state_dict lock_ log log10 log10_ log1p log1p_ log2 log2_ log_ log_softmax logaddexp
    logcumsumexp logical_and logical_not logical_not_ logical_or logical_xor logsumexp long lt masked_fill
    masked_fill_ masked_select max maximum mean memmap memmap_ memmap_like min minimum movedim mul mul_
    named_apply names nanmean nansum narrow ndim ndimension ne neg neg_ non_tensor_items norm numel param_count
    permute pin_memory pop popitem positive pow pow_ prod reciprocal reciprocal_ refine_names relu relu_
    remainder remainder_ rename rename_ rename_key_ repeat repeat_interleave replace requires_grad
    requires_grad_ reshape reshape_as roll round round_ rsqrt rsqrt_ select set set_ set_at_ set_non_tensor
    setdefault sgn sgn_ shape share_memory_ short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinh sinh_ size
    softmax sorted_keys split split_keys sqrt sqrt_ square square_ squeeze state_dict std sub sub_ sum tan tan_
    tanh tanh_ tensor_split to to_dict to_module to_tensordict tolist transpose true_divide trunc trunc_ type
    unbind unflatten unflatten_keys unlock_ unlocked unsqueeze update update_ update_at_ values var view view_as
    where zero_ zero_grad
    """.split()
)

# What a frozen class refuses.
IN_PLACE = frozenset(
    """
    __iadd__ __iand__ __ifloordiv__ __imod__ __imul__ __ior__ __ipow__ __isub__ __itruediv__ __ixor__ __setitem__
    abs_ acos_ add_ addcdiv_ addcmul_ apply_ asin_ atan_ auto_batch_size_ bitwise_and_ bitwise_or_ bitwise_xor_
    ceil_ clamp_ clear clear_device_ copy_ cos_ cosh_ del_ detach_ digamma_ div_ erf_ erfc_ exp_ expm1_ fill_ floor_
    floor_divide_ fmod_ frac_ lerp_ lgamma_ load_state_dict log10_ log1p_ log2_ log_ logical_not_ masked_fill_
    memmap_ mul_ neg_ pop popitem pow_ reciprocal_ relu_ remainder_ rename_ rename_key_ requires_grad_ round_ rsqrt_
    set set_ set_at_ set_non_tensor setdefault sgn_ sigmoid_ sign_ sin_ sinh_ sqrt_ square_ sub_ tan_ tanh_ trunc_
    update update_ update_at_ zero_
    """.split()
)
