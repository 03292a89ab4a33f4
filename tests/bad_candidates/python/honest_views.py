# Views of all kinds, over inputs and over the output.
import torch


def run(a, b, c):
    half = a.shape[0] // 2
    left = a.narrow(0, 0, half)
    right = a.t()[:, half:].t()
    c[:half] = (b.t() @ left.t()).t()
    torch.as_strided(c, (c.shape[0] - half, c.shape[1]), c.stride(), half * c.stride(0)).copy_(
        right @ b
    )
