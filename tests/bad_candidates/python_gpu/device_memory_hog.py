# Takes all the memory of the device.
import torch


def run(a, b, c):
    hoard = []
    while True:
        hoard.append(torch.ones(1 << 28, device=c.device))
