import torch


def run(a, b, c)
    torch.mm(a, b, out=c)
