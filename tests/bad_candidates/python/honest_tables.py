# Tables that depend on no input are built once.
import torch

identity = {n: torch.eye(n) for n in range(1, 130)}


def run(a, b, c):
    torch.mm(a @ identity[a.shape[1]], b, out=c)
