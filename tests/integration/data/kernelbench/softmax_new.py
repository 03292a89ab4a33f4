import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        y = torch.exp(self.scale * (x - x.amax(dim=1, keepdim=True)))
        return y / y.sum(dim=1, keepdim=True)
