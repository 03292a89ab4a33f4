"""Attention of one query token per sequence over its pages, in float64.

A sequence without pages gives zeros and a logarithm of minus infinity.
"""

import math

import torch


def run(q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale):
    batch_size, num_qo_heads, _ = q.shape
    group = num_qo_heads // k_cache.shape[2]
    output = torch.zeros_like(q)
    lse = torch.full((batch_size, num_qo_heads), -math.inf, dtype=q.dtype)
    ends = kv_indptr.tolist()
    for b in range(batch_size):
        pages = kv_indices[ends[b] : ends[b + 1]].long()
        if len(pages) == 0:
            continue
        # [tokens, heads, head_dim], each key-value head once for every query head that reads it.
        keys = k_cache[pages, 0].double().repeat_interleave(group, dim=1)
        values = v_cache[pages, 0].double().repeat_interleave(group, dim=1)
        logits = torch.einsum("hd,thd->ht", q[b].double(), keys) * sm_scale
        lse[b] = torch.logsumexp(logits, dim=1) / math.log(2)
        output[b] = torch.einsum("ht,thd->hd", torch.softmax(logits, dim=1), values)
    return output, lse
