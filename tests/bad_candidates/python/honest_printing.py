# What is printed from the first inputs on is dropped, and harms nobody.
import sys

import torch

print("loaded")


def run(a, b, c):
    torch.mm(a, b, out=c)
    print("a call on", tuple(a.shape), tuple(b.shape), file=sys.stderr)
