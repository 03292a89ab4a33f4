# Tables that depend on no input are built once, on the device.
import torch

identity = {}


def run(a, b, c):
    k = a.shape[1]
    if k not in identity:
        identity[k] = torch.eye(k, device=a.device)
    torch.mm(a @ identity[k], b, out=c)
