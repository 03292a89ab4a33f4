import torch


def layer_forward(x, weight):
    return (x * weight).sum(dim=1).tanh()


def layer_backward(x, weight, grad, squared):
    assert squared is True
    slope = 1 - torch.tanh(x @ weight).square()
    return {"norm": (grad * grad).sum(), "weight": ((grad * slope)[:, None] * x).sum(dim=0)}
