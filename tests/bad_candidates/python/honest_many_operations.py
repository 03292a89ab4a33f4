# Operations of all parts of torch, on more than one thread: none needs a system call that is
# refused.
import torch
import torch.nn.functional as functional

torch.set_num_threads(2)
tried = False


def try_all():
    x = torch.rand(8, 16, 32)
    image = torch.rand(2, 3, 64, 64)
    square = torch.rand(32, 32) + 32 * torch.eye(32)
    functional.conv2d(image, torch.rand(8, 3, 3, 3), padding=1)
    functional.max_pool2d(image, 2)
    functional.layer_norm(x, (32,))
    functional.gelu(functional.linear(x, torch.rand(64, 32)))
    functional.softmax(x @ x.transpose(1, 2), dim=-1)
    functional.interpolate(image, scale_factor=2, mode="bilinear")
    torch.nn.GRU(32, 16)(x)
    torch.fft.rfft(x)
    torch.linalg.solve(square, torch.rand(32))
    torch.linalg.svd(square)
    torch.einsum("bij,bkj->bik", x, x)
    torch.sort(x)
    torch.topk(x, 4)
    torch.cumsum(x, 0)
    torch.zeros(100).scatter_add_(0, torch.randint(0, 100, (1000,)), torch.ones(1000))
    torch.randperm(1000)
    torch.sparse.mm(torch.eye(32).to_sparse(), square)
    torch.rand(1 << 20).exp().sum()
    square.to(torch.bfloat16) @ square.to(torch.bfloat16)
    torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()


def run(a, b, c):
    global tried
    if not tried:
        tried = True
        try_all()
    torch.mm(a, b, out=c)
