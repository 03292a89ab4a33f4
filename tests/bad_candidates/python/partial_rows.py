# Writes all rows but the last.
import torch


def run(a, b, c):
    torch.mm(a[:-1], b, out=c[:-1])
