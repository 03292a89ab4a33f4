import torch
from task import input_t, output_t
from utils import make_match_reference


def ref_kernel(data: input_t) -> output_t:
    x, mask, weights, config, out = data
    for row in range(x.shape[0]):
        out[row] = x[row] * weights["scale.weight"] * mask[row] / config["divisor"]
    return out


def generate_input(rows: int, cols: int, divisor: int, masked: bool, seed: int) -> input_t:
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda", generator=generator)
    if masked:
        mask = torch.randint(0, 2, (rows,), device="cuda", generator=generator)
        # Of few rows, chance may keep all: then a submission without the mask would be right.
        mask[0] = 0
    else:
        mask = torch.ones(rows, device="cuda")
    # From the generator of the process, as some problems do.
    weights = {"scale.weight": torch.rand(cols, device="cuda") + 0.5}
    config = {"divisor": divisor}
    out = torch.empty(rows, cols, device="cuda")
    return x, mask, weights, config, out


check_implementation = make_match_reference(ref_kernel, rtol=1e-4, atol=1e-4)
