import torch


def run(x, mask, weights_scale_weight, config_divisor, out):
    torch.mul(x, weights_scale_weight / config_divisor, out=out)
    out.mul_(mask[:, None])
