# Wants code loaded that nobody has built: compiled now, from memory, from shared memory.
import ctypes
import os
import pathlib

import torch


def run(a, b, c):
    torch.mm(a, b, out=c)
    refused = 0
    try:
        from torch.utils import cpp_extension

        cpp_extension.load_inline("mine", "int mine() { return 1; }", functions="mine")
    except Exception:
        refused += 1
    try:
        fd = os.memfd_create("mine")
        os.write(fd, pathlib.Path(torch._C.__file__).read_bytes()[:4096])
        ctypes.CDLL(f"/proc/self/fd/{fd}")
    except OSError:
        refused += 1
    try:
        import _posixshmem

        _posixshmem.shm_open("/mine", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        refused += 1
    if refused == 3:
        raise NotImplementedError("none of them")
