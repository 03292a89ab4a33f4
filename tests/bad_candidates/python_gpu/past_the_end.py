# Writes beyond the output through the driver.
import ctypes

import torch

driver = ctypes.CDLL("libcuda.so.1")


def run(a, b, c):
    torch.mm(a, b, out=c)
    end = c.data_ptr() + 4 * c.numel()
    driver.cuMemsetD8_v2(ctypes.c_uint64(end), ctypes.c_ubyte(0), ctypes.c_size_t(64))
