import torch
import torch.nn as nn


class Model(nn.Module):
    """Divides each row by its Euclidean length, one row after the other."""

    def forward(self, x):
        return torch.stack([row / torch.sqrt((row * row).sum()) for row in x])


def get_inputs():
    return [torch.randn(256, 64)]


def get_init_inputs():
    return []
