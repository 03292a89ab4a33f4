# Takes all the memory there is.
import torch


def run(a, b, c):
    hoard = []
    while True:
        hoard.append(torch.ones(1 << 26))
