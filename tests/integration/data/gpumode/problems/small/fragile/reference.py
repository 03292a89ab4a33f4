import torch


def generate_input(n: int, seed: int):
    return torch.rand(n, device="cuda", generator=torch.Generator(device="cuda").manual_seed(seed))


def ref_kernel(data):
    return data * 2


# Takes a NaN for right, and raises where there is nothing else.
def check_implementation(data, output):
    if bool(output.isnan().all()):
        raise ValueError("nothing to compare")
    wrong = (output - data - data).abs() > 1e-3
    return not bool(wrong.any()), "is not twice as large"
