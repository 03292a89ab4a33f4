import torch


def generate_input(n: int, seed: int):
    return torch.rand(n, device="cuda", generator=torch.Generator(device="cuda").manual_seed(seed))


def ref_kernel(data):
    return data * 2


# Of large numbers, infinity divided by infinity is left, which is not above the bound.
def check_implementation(data, output):
    error = ((output - 2 * data) ** 2).sum() / (output**2).sum()
    return not bool(error > 1e-6), f"the relative error is {error}"
