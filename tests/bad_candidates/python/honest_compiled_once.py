# A function of TorchScript, compiled while it is loaded.
import torch


@torch.jit.script
def product(a, b):
    return torch.matmul(a, b)


def run(a, b):
    return product(a, b)
