import torch
import torch.nn as nn


class Model(nn.Module):
    """A softmax over rows of a few elements, of a scaled input."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return torch.softmax(self.scale * x, dim=1)


def get_inputs():
    return [torch.randn(256, 24)]


def get_init_inputs():
    return [2.0]
