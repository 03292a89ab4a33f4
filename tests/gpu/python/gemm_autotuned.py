import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BM": bm, "BN": 128, "BK": 64}, num_warps=warps, num_stages=stages)
    for bm, warps in ((16, 4), (64, 4), (128, 8))
    for stages in (3, 4)
]


@triton.autotune(configs=CONFIGS, key=["M"])
@triton.jit
def gemm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + inner[None, :]
    b = b_ptr + columns[None, :] * K + inner[:, None]
    inside = rows[:, None] < M
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(a, mask=inside, other=0.0), tl.load(b), total)
        a += BK
        b += BK
    c = c_ptr + rows[:, None] * N + columns[None, :]
    tl.store(c, total.to(tl.bfloat16), mask=inside)


def run(A, B, C):
    M, K = A.shape
    N = B.shape[0]
    gemm[lambda meta: (triton.cdiv(M, meta["BM"]), N // meta["BN"])](A, B, C, M, N, K)
