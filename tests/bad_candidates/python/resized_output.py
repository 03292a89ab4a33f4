# Makes the output larger, so that torch moves it to memory of its own, and writes there.
import torch


def run(a, b, c):
    larger = torch.empty(0)
    larger.set_(c.storage().clone(), 0, c.shape)
    c.set_(larger.storage(), 0, c.shape)
    torch.mm(a, b, out=c)
