"""cuBLAS, in float32: what the honest programs of the corpus call, and those that cheat around it."""

import torch


def run(A, B, C):
    torch.mm(A, B, out=C)
