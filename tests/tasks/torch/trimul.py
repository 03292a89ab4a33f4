"""Triangle multiplicative update (outgoing), step by step in float64."""

import torch

EPSILON = 1e-5


def normalize(values, weight, bias):
    centered = values - values.mean(dim=-1, keepdim=True)
    variance = (centered * centered).mean(dim=-1, keepdim=True)
    return centered / torch.sqrt(variance + EPSILON) * weight.double() + bias.double()


def project(values, weight):
    return torch.matmul(values, weight.double().t())


def run(
    x,
    mask,
    norm_weight,
    norm_bias,
    left_proj,
    right_proj,
    left_gate,
    right_gate,
    out_gate,
    to_out_norm_weight,
    to_out_norm_bias,
    to_out,
):
    y = normalize(x.double(), norm_weight, norm_bias)
    seen = mask.unsqueeze(-1).double()
    left = project(y, left_proj) * seen * torch.sigmoid(project(y, left_gate))
    right = project(y, right_proj) * seen * torch.sigmoid(project(y, right_gate))
    gate = torch.sigmoid(project(y, out_gate))
    del y
    # sum over k of left[b, i, k, d] right[b, j, k, d]: a product of matrices for each b and d
    sums = torch.matmul(left.permute(0, 3, 1, 2), right.permute(0, 3, 2, 1)).permute(0, 2, 3, 1)
    del left, right
    return project(normalize(sums, to_out_norm_weight, to_out_norm_bias) * gate, to_out).float()
