"""Latent attention of one query token per sequence over its pages, in float64.

The compressed key of a token is its value, too; the positional key adds to the logits only.
"""

import math

import torch


def run(q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale):
    sequences, heads, _ = q_nope.shape
    output = torch.zeros_like(q_nope)
    lse = torch.full((sequences, heads), -math.inf, dtype=torch.float32, device=q_nope.device)
    bounds = kv_indptr.tolist()
    for sequence in range(sequences):
        pages = kv_indices[bounds[sequence] : bounds[sequence + 1]].long()
        if len(pages) == 0:
            continue  # output 0, lse -inf
        latent = ckv_cache[pages, 0].double()
        positional = kpe_cache[pages, 0].double()
        logits = torch.matmul(q_nope[sequence].double(), latent.t())
        logits = (logits + torch.matmul(q_pe[sequence].double(), positional.t())) * sm_scale
        output[sequence] = torch.matmul(torch.softmax(logits, dim=-1), latent).to(output.dtype)
        lse[sequence] = (torch.logsumexp(logits, dim=-1) / math.log(2)).float()
    return output, lse
