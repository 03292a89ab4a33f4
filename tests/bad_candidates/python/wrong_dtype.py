# Returns the right numbers in half the bytes.
import torch


def run(a, b):
    return (a @ b).to(torch.bfloat16)
