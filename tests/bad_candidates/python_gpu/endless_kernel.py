# A kernel that takes years.
import torch


def run(a, b, c):
    torch.mm(a, b, out=c)
    torch.cuda._sleep(1 << 60)
