#!POPCORN leaderboard more_weights
import torch


def custom_kernel(data):
    x, weights, scales, config = data
    count = config["n_experts"]
    order = ["router.weight"]
    for i in range(count):
        order += [f"experts.{i}.0.weight", f"experts.{i}.1.bias"]
    if list(weights) != [*order, "shared.0.weight"] or type(scales) is not list or len(scales) != count:
        raise ValueError("data is not as generate_input makes it")
    chosen = (x @ weights["router.weight"].t()).argmax(dim=1)
    own = torch.stack([weights[f"experts.{i}.0.weight"] for i in range(count)])[chosen]
    bias = torch.stack([weights[f"experts.{i}.1.bias"] for i in range(count)])[chosen]
    product = torch.bmm(x[:, None], own)[:, 0] + bias
    return x @ weights["shared.0.weight"] + product * torch.stack(scales)[chosen]
