# Writes the answer to the output of the call before.
import torch

before = None


def run(a, b, c):
    global before
    torch.mm(a, b, out=c if before is None or before.shape != c.shape else before)
    before = c
