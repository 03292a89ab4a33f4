import torch
import torch.nn as nn


class Model(nn.Module):
    """A linear layer and what lies above zero of it."""

    def __init__(self, features, hidden):
        super().__init__()
        self.layer = nn.Linear(features, hidden)

    def forward(self, x):
        return torch.relu(self.layer(x))


def get_inputs():
    return [torch.randn(96, 64)]


def get_init_inputs():
    return [64, 48]
