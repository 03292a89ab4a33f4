"""Attention of one query token per sequence over its pages, in float64, one sequence at a time."""

import math

import torch


def run(q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale):
    sequences, heads, dim = q.shape
    kv_heads = k_cache.shape[2]
    output = torch.zeros_like(q)
    lse = torch.full((sequences, heads), -math.inf, dtype=torch.float32, device=q.device)
    bounds = kv_indptr.tolist()
    for sequence in range(sequences):
        pages = kv_indices[bounds[sequence] : bounds[sequence + 1]].long()
        if len(pages) == 0:
            continue  # output 0, lse -inf
        # For each key-value head: its keys and values, and the queries that share it.
        keys = k_cache[pages, 0].double().permute(1, 2, 0)
        values = v_cache[pages, 0].double().permute(1, 0, 2)
        queries = q[sequence].double().reshape(kv_heads, heads // kv_heads, dim)
        logits = torch.matmul(queries, keys) * sm_scale
        attended = torch.matmul(torch.softmax(logits, dim=-1), values)
        output[sequence] = attended.reshape(heads, dim).to(q.dtype)
        lse[sequence] = (torch.logsumexp(logits, dim=-1) / math.log(2)).reshape(heads).float()
    return output, lse
