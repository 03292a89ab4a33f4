import torch
from utils import make_match_reference


def ref_kernel(data):
    x, mask = data
    return (x * mask[:, None]).sum(dim=0)


def generate_input(rows: int, cols: int, nomask: bool, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda", generator=generator)
    if nomask:
        mask = torch.ones(rows, device="cuda")
    else:
        mask = torch.randint(0, 2, (rows,), device="cuda", generator=generator)
    return x, mask


check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
