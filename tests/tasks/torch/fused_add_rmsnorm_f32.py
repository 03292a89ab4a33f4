"""The sum of both inputs, and that sum over its root mean square times a weight, in float64."""

import torch


def run(x, residual, weight, eps):
    total = x.double() + residual.double()
    mean_square = (total * total).mean(dim=1, keepdim=True)
    normalized = total / torch.sqrt(mean_square + eps) * weight.double()
    return total.float(), normalized.float()
