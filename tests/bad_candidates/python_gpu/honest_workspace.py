# A scratch tensor that is kept from call to call, by shape; nothing in it is used again.
import torch

scratch = {}


def run(a, b, c):
    key = b.shape
    if key not in scratch:
        scratch[key] = torch.empty(b.shape[1], b.shape[0], device=b.device)
    transposed = scratch[key]
    transposed.copy_(b.t())
    torch.mm(a, transposed.t(), out=c)
