import functools

import torch
from utils import make_match_reference


def generate_input(experts: int, size: int, rows: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    drawn = functools.partial(torch.randn, device="cuda", generator=generator)
    weights = {"router.weight": drawn(experts, size)}
    for i in range(experts):
        weights[f"experts.{i}.0.weight"] = drawn(size, size)
        weights[f"experts.{i}.1.bias"] = drawn(size)
    weights["shared.0.weight"] = drawn(size, size)
    scales = [drawn(size) for _ in range(experts)]
    x = drawn(rows, size)
    config = {"n_experts": experts}
    return x, weights, scales, config


# torch does not know the shape of its result without values.
def ref_kernel(data):
    x, weights, scales, config = data
    chosen = (x @ weights["router.weight"].t()).argmax(dim=1)
    result = x @ weights["shared.0.weight"]
    for i in range(config["n_experts"]):
        rows = torch.nonzero(chosen == i)[:, 0]
        if rows.numel() == 0:
            continue
        product = x[rows] @ weights[f"experts.{i}.0.weight"] + weights[f"experts.{i}.1.bias"]
        result[rows] += product * scales[i]
    return result


check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
