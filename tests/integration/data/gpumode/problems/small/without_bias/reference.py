import torch
from utils import make_match_reference


def generate_input(size: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    x = torch.randn(size, size, device="cuda", generator=generator)
    scale = torch.randn(size, device="cuda", generator=generator)
    return x, None, {"scale": scale, "bias": None, "mode": "rows"}


def ref_kernel(data):
    x, bias, options = data
    assert bias is None and options["bias"] is None and options["mode"] == "rows"
    return x * options["scale"][:, None]


check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
