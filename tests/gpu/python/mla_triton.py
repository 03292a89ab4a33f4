import torch
import triton
import triton.language as tl

PARTS = 32  # of a sequence, added up by the second kernel
LOG2_E = 1.4426950408889634


@triton.jit
def attend(q_nope_ptr, q_pe_ptr, ckv_ptr, kpe_ptr, indptr_ptr, indices_ptr, part_ptr, max_ptr,
           sum_ptr, scale, HEADS: tl.constexpr, DIM: tl.constexpr, PE_DIM: tl.constexpr,
           PARTS: tl.constexpr, TOKENS: tl.constexpr):
    batch = tl.program_id(0)
    part = tl.program_id(1)
    begin = tl.load(indptr_ptr + batch)
    end = tl.load(indptr_ptr + batch + 1)
    length = tl.cdiv(end - begin, PARTS)
    first = begin + part * length
    last = tl.minimum(first + length, end)
    row = batch * HEADS + tl.arange(0, HEADS)
    dim = tl.arange(0, DIM)
    pe_dim = tl.arange(0, PE_DIM)
    q_nope = tl.load(q_nope_ptr + row[:, None] * DIM + dim[None, :])
    q_pe = tl.load(q_pe_ptr + row[:, None] * PE_DIM + pe_dim[None, :])
    most = tl.full((HEADS,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((HEADS,), dtype=tl.float32)
    out = tl.zeros((HEADS, DIM), dtype=tl.float32)
    for start in range(first, last, TOKENS):
        token = start + tl.arange(0, TOKENS)
        inside = token < last
        page = tl.load(indices_ptr + token, mask=inside, other=0).to(tl.int64)
        # The compressed keys are also the values.
        ckv = tl.load(ckv_ptr + page[:, None] * DIM + dim[None, :], mask=inside[:, None], other=0.0)
        kpe = tl.load(kpe_ptr + page[None, :] * PE_DIM + pe_dim[:, None], mask=inside[None, :],
                      other=0.0)
        logits = (tl.dot(q_nope, tl.trans(ckv)) + tl.dot(q_pe, kpe)) * scale
        logits = tl.where(inside[None, :], logits, -float("inf"))
        now = tl.maximum(most, tl.max(logits, 1))
        weights = tl.exp2(logits - now[:, None])
        old = tl.exp2(most - now)
        out = out * old[:, None] + tl.dot(weights.to(tl.bfloat16), ckv)
        total = total * old + tl.sum(weights, 1)
        most = now
    place = row.to(tl.int64) * PARTS + part
    tl.store(part_ptr + place[:, None] * DIM + dim[None, :], out)
    tl.store(max_ptr + place, most)
    tl.store(sum_ptr + place, total)


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


def run(q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale, output, lse):
    batch, heads, dim = q_nope.shape
    kinds = {"dtype": torch.float32, "device": q_nope.device}
    parts = torch.empty((batch, heads, PARTS, dim), **kinds)
    most = torch.empty((batch, heads, PARTS), **kinds)
    total = torch.empty((batch, heads, PARTS), **kinds)
    attend[(batch, PARTS)](
        q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, parts, most, total,
        sm_scale * LOG2_E, HEADS=heads, DIM=dim, PE_DIM=q_pe.shape[2], PARTS=PARTS, TOKENS=32,
        num_warps=8
    )
    add_up[(batch * heads,)](parts, most, total, output, lse, DIM=dim, PARTS=PARTS, num_warps=4)
