# A torch.nn.Module whose parameter is replaced in every call, as programs out of models do it.
import torch


class Product(torch.nn.Module):
    def forward(self, x, weight):
        return torch.nn.functional.linear(x, weight.t())


product = Product().eval().cuda()


def run(a, b):
    return product(a, b)
