import torch
from utils import make_match_reference


def generate_input(size: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    cache = torch.randn(size, device="cuda", generator=generator)
    x = torch.randn(size, device="cuda", generator=generator)
    return cache, x


def ref_kernel(data):
    cache, x = data
    cache.add_(x)
    return cache


check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
