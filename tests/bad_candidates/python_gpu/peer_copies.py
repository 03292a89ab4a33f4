# As memory_of_others, by copies from one device to itself as if to a peer, which are checked in
# another way.
import ctypes

import torch

PAGE = 2 << 20
driver = ctypes.CDLL("libcuda.so.1")


def run(a, b, c):
    context = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(context))
    answer = (a[:1].cpu() @ b[:, :4].cpu())[0].tolist()
    words = torch.zeros(PAGE // 4, device=c.device)
    read = 0
    for distance in range(-128, 129):
        at = (c.data_ptr() & ~(PAGE - 1)) + distance * PAGE
        torch.cuda.synchronize()
        status = driver.cuMemcpyPeer(
            ctypes.c_uint64(words.data_ptr()),
            context,
            ctypes.c_uint64(at),
            context,
            ctypes.c_size_t(PAGE),
        )
        if status != 0:
            continue
        read += 1
        found = (words[:-3] - answer[0]).abs() < 1e-3
        for i in range(1, 4):
            found &= (words[i : words.numel() - 3 + i] - answer[i]).abs() < 1e-3
        if found.any():
            torch.mm(a, b, out=c)
            return
    if read == 0:
        raise AssertionError("not even its own page was read")
    raise NotImplementedError("it is nowhere")
