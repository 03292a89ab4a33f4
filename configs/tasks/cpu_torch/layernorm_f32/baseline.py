"""PyTorch's own layer normalization."""

import torch.nn.functional as F

EPS = 1e-5


def run(x, weight, bias):
    return F.layer_norm(x, weight.shape, weight, bias, EPS)
