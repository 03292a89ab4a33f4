# fp8 operands on the tensor cores, in Triton.
import triton
import triton.language as tl


@triton.jit
def gemm(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K, BM: tl.constexpr,
         BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    inside = rows < M
    a = a_ptr + rows[:, None] * K + inner[None, :]
    b = b_ptr + columns[None, :] * K + inner[:, None]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total += tl.dot(tl.load(a, mask=inside[:, None], other=0.0), tl.load(b))
        a += BK
        b += BK
    a_scale = tl.load(a_scale_ptr + rows, mask=inside, other=0.0)
    b_scale = tl.load(b_scale_ptr + columns)
    total = total * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16),
             mask=inside[:, None])


def run(A, B, A_scale, B_scale, C):
    M, K = A.shape
    N = B.shape[0]
    gemm[(triton.cdiv(M, 64), N // 128)](
        A, B, A_scale, B_scale, C, M, N, K, BM=64, BN=128, BK=128, num_warps=4, num_stages=3
    )
