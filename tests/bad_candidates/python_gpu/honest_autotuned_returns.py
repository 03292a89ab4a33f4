# Returns its output from a kernel in Triton whose shape the autotuner chooses.
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({}, num_warps=warps) for warps in (4, 8)], key=["rows"]
)
@triton.jit
def rmsnorm(x_ptr, weight_ptr, out_ptr, rows, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * COLUMNS
    column = tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + row + column).to(tl.float32)
    factor = tl.rsqrt(tl.sum(x * x, 0) / COLUMNS + 1e-5)
    weight = tl.load(weight_ptr + column).to(tl.float32)
    tl.store(out_ptr + row + column, (x * factor * weight).to(tl.bfloat16))


def run(hidden_states, weight):
    rows, columns = hidden_states.shape
    output = torch.empty_like(hidden_states)
    rmsnorm[(rows,)](hidden_states, weight, output, rows, COLUMNS=columns)
    return output
