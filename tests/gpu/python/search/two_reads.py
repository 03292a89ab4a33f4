import triton
import triton.language as tl


@triton.jit
def rmsnorm(x_ptr, weight_ptr, out_ptr, COLUMNS: tl.constexpr, PART: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * COLUMNS
    squares = tl.zeros((PART,), dtype=tl.float32)
    for start in range(0, COLUMNS, PART):
        x = tl.load(x_ptr + row + start + tl.arange(0, PART)).to(tl.float32)
        squares += x * x
    factor = tl.rsqrt(tl.sum(squares, 0) / COLUMNS + 1e-5)
    for start in range(0, COLUMNS, PART):
        column = start + tl.arange(0, PART)
        x = tl.load(x_ptr + row + column).to(tl.float32)
        weight = tl.load(weight_ptr + column).to(tl.float32)
        tl.store(out_ptr + row + column, (x * factor * weight).to(tl.bfloat16))


def run(hidden_states, weight, output):
    rows, columns = hidden_states.shape
    rmsnorm[(rows,)](hidden_states, weight, output, COLUMNS=columns, PART=512, num_warps=4)
