import torch


class Later(torch.Tensor):
    pass


def custom_kernel(data):
    x, mask, weights, config, _ = data
    return (x * mask[:, None] * weights["scale.weight"] / config["divisor"]).as_subclass(Later)
