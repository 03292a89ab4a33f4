import torch


def run(a, b):
    c = torch.zeros(a.shape[0], b.shape[1])
    c[:, 1:] = a @ b[:, 1:]
    return c
