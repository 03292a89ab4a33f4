import torch


def layer_forward(x, weight):
    return torch.tanh(x @ weight)


def layer_backward(x, weight, grad, squared):
    return {"weight": grad @ x, "norm": grad.square().sum()}
