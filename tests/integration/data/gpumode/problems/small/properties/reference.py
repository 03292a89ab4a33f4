import torch


def ref_kernel(data):
    return torch.linalg.qr(data)[0]


def generate_input(n, seed):
    return torch.rand(n, n, generator=torch.Generator(device="cuda").manual_seed(seed))


def check_implementation(data, output):
    close = (output.t() @ output - torch.eye(data.shape[0], device=data.device)).abs().max() < 1e-3
    return bool(close), "" if close else "is not orthogonal"
