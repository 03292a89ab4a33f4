import torch
import triton
import triton.language as tl

PARTS = 16  # of a sequence, added up by the second kernel
LOG2_E = 1.4426950408889634


@triton.jit
def attend(q_ptr, k_ptr, v_ptr, indptr_ptr, indices_ptr, part_ptr, max_ptr, sum_ptr, scale,
           HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, PARTS: tl.constexpr,
           TOKENS: tl.constexpr):
    GROUP: tl.constexpr = HEADS // KV_HEADS
    batch = tl.program_id(0)
    kv_head = tl.program_id(1)
    part = tl.program_id(2)
    begin = tl.load(indptr_ptr + batch)
    end = tl.load(indptr_ptr + batch + 1)
    length = tl.cdiv(end - begin, PARTS)
    first = begin + part * length
    last = tl.minimum(first + length, end)
    # A product needs at least 16 rows; GROUP of them are heads.
    row = tl.arange(0, 16)
    real = row < GROUP
    head = kv_head * GROUP + row
    dim = tl.arange(0, DIM)
    q = tl.load(q_ptr + (batch * HEADS + head)[:, None] * DIM + dim[None, :],
                mask=real[:, None], other=0.0)
    most = tl.full((16,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((16,), dtype=tl.float32)
    out = tl.zeros((16, DIM), dtype=tl.float32)
    for start in range(first, last, TOKENS):
        token = start + tl.arange(0, TOKENS)
        inside = token < last
        page = tl.load(indices_ptr + token, mask=inside, other=0).to(tl.int64)
        at = (page * KV_HEADS + kv_head) * DIM
        k = tl.load(k_ptr + at[None, :] + dim[:, None], mask=inside[None, :], other=0.0)
        logits = tl.dot(q, k) * scale
        logits = tl.where(inside[None, :], logits, -float("inf"))
        now = tl.maximum(most, tl.max(logits, 1))
        weights = tl.exp2(logits - now[:, None])
        old = tl.exp2(most - now)
        v = tl.load(v_ptr + at[:, None] + dim[None, :], mask=inside[:, None], other=0.0)
        out = out * old[:, None] + tl.dot(weights.to(tl.bfloat16), v)
        total = total * old + tl.sum(weights, 1)
        most = now
    place = (batch * HEADS + head) * PARTS + part
    tl.store(part_ptr + place[:, None] * DIM + dim[None, :], out, mask=real[:, None])
    tl.store(max_ptr + place, most, mask=real)
    tl.store(sum_ptr + place, total, mask=real)


@triton.jit
def add_up(part_ptr, max_ptr, sum_ptr, out_ptr, lse_ptr, DIM: tl.constexpr, PARTS: tl.constexpr):
    place = tl.program_id(0).to(tl.int64)
    part = tl.arange(0, PARTS)
    dim = tl.arange(0, DIM)
    most = tl.load(max_ptr + place * PARTS + part)
    total = tl.load(sum_ptr + place * PARTS + part)
    top = tl.max(most, 0)
    shift = tl.where(most > -float("inf"), tl.exp2(most - top), 0.0)
    whole = tl.sum(total * shift, 0)
    parts = tl.load(part_ptr + (place * PARTS + part)[:, None] * DIM + dim[None, :])
    out = tl.sum(parts * shift[:, None], 0)
    empty = whole == 0.0
    out = tl.where(empty, 0.0, out / tl.where(empty, 1.0, whole))
    tl.store(out_ptr + place * DIM + dim, out.to(tl.bfloat16))
    tl.store(lse_ptr + place, tl.where(empty, -float("inf"), top + tl.log2(whole)))


def run(q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse):
    batch, heads, dim = q.shape
    kv_heads = k_cache.shape[2]
    kinds = {"dtype": torch.float32, "device": q.device}
    parts = torch.empty((batch, heads, PARTS, dim), **kinds)
    most = torch.empty((batch, heads, PARTS), **kinds)
    total = torch.empty((batch, heads, PARTS), **kinds)
    attend[(batch, kv_heads, PARTS)](
        q, k_cache, v_cache, kv_indptr, kv_indices, parts, most, total, sm_scale * LOG2_E,
        HEADS=heads, KV_HEADS=kv_heads, DIM=dim, PARTS=PARTS, TOKENS=64, num_warps=4
    )
    add_up[(batch * heads,)](parts, most, total, output, lse, DIM=dim, PARTS=PARTS, num_warps=4)
