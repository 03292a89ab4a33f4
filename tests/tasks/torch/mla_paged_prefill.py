"""Causal latent attention over pages, in float64, some queries of one sequence at a time.

The compressed key of a token is its value, too; the positional key adds to the logits only.
"""

import math

import torch

MOST_LOGITS = 1 << 28  # at a time: 2 GiB


def attend(q_nope, q_pe, latent, positional, seen, sm_scale):
    """Of queries [n, heads, ...], the i-th of which sees the first seen[i] tokens."""
    logits = torch.einsum("nhc,tc->nht", q_nope, latent)
    logits = (logits + torch.einsum("nhp,tp->nht", q_pe, positional)) * sm_scale
    token = torch.arange(latent.shape[0], device=latent.device)
    hidden = token[None, :] >= seen[:, None]
    logits = logits.masked_fill(hidden[:, None, :], -math.inf)
    lse = torch.logsumexp(logits, dim=-1)
    # A query that sees nothing has lse -inf, and no weights.
    weights = torch.exp(logits - lse[..., None]).nan_to_num(nan=0.0)
    return torch.einsum("nht,tc->nhc", weights, latent), lse / math.log(2)


def run(q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale):
    queries, heads, _ = q_nope.shape
    output = torch.zeros_like(q_nope)
    lse = torch.full((queries, heads), -math.inf, dtype=torch.float32, device=q_nope.device)
    query_bounds, key_bounds = qo_indptr.tolist(), kv_indptr.tolist()
    for sequence in range(len(query_bounds) - 1):
        begin, end = query_bounds[sequence : sequence + 2]
        pages = kv_indices[key_bounds[sequence] : key_bounds[sequence + 1]].long()
        if begin == end or len(pages) == 0:
            continue
        latent, positional = ckv_cache[pages, 0].double(), kpe_cache[pages, 0].double()
        step = max(1, MOST_LOGITS // (heads * len(pages)))
        for first in range(begin, end, step):
            last = min(first + step, end)
            # The last query of a sequence sees all its tokens, the one before it one less.
            query = torch.arange(first, last, device=q_nope.device)
            seen = len(pages) - (end - 1 - query)
            attended, base2 = attend(
                q_nope[first:last].double(),
                q_pe[first:last].double(),
                latent,
                positional,
                seen,
                sm_scale,
            )
            output[first:last] = attended.to(output.dtype)
            lse[first:last] = base2.float()
    return output, lse
