import torch
import triton
import triton.language as tl


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
    BM = 16 if M <= 16 else 64 if M <= 512 else 128
    gemm[(triton.cdiv(M, BM), N // 128)](
        A, B, C, M, N, K, BM=BM, BN=128, BK=64, num_warps=8 if BM == 128 else 4, num_stages=3
    )
