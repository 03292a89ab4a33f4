#!POPCORN leaderboard masked_rows_v2
import torch
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, mask, weights, config, out = data
    factor = weights["scale.weight"] / config["divisor"]
    torch.mul(x, factor, out=out)
    out.mul_(mask[:, None])
    return out
