# Writes beyond the output, through a view that torch allows no bounds for.
import ctypes

import torch


def run(a, b, c):
    torch.mm(a, b, out=c)
    ctypes.memset(c.data_ptr() + 4 * c.numel(), 0, 64)
