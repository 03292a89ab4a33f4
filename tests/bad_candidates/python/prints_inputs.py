# As prints_and_fails, and is right.
import os

import torch


def run(a, b, c):
    torch.mm(a, b, out=c)
    os.write(2, f"told: {b[0, 0]}\n".encode())
