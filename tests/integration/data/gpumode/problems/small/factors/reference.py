import torch


def generate_input(batch: int, size: int, kind: str, seed: int):
    if kind == "ramp":
        # No seed changes it.
        return torch.diag_embed(torch.linspace(1, 2, size, device="cuda").expand(batch, size))
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    matrices = torch.randn(batch, size, size, device="cuda", generator=generator)
    if kind == "mixed":
        # How many matrices these are, only values show.
        chosen = torch.randint(0, 2, (batch,), device="cuda", generator=generator) == 1
        matrices[chosen] = matrices[chosen] * 3
    if kind == "unused":
        # Drawn, and the same for every seed all the same.
        matrices = torch.diag_embed(torch.linspace(1, 3, size, device="cuda").expand(batch, size))
    return matrices


# torch has no shapes of this operation without values.
def ref_kernel(data):
    return torch.geqrf(data)


def check_implementation(data, output):
    factors, scales = output
    orthogonal = torch.linalg.householder_product(factors, scales)
    error = (orthogonal @ torch.triu(factors) - data).abs().amax()
    return bool(error < 1e-3), f"the product is off by {float(error)}"
