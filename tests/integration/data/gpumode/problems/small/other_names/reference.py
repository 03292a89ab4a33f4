import torch

BOUND = 1e-3


def make_rows(count, width, seed=7):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn(count, width, device="cuda", generator=generator)
    weight = torch.randn(width, device="cuda", generator=generator)
    grad = torch.randn(count, device="cuda", generator=generator)
    return x, weight, grad


def forward_rows(x, weight):
    return torch.tanh(x @ weight)


def backward_rows(x, weight, grad, squared):
    slope = 1 - forward_rows(x, weight) ** 2
    return {"weight": (grad * slope) @ x, "norm": grad.square().sum() if squared else grad.norm()}
