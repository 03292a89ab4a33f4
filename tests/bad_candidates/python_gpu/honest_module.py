# A torch.nn.Module, made when the program is loaded.
import torch


class Product(torch.nn.Module):
    def forward(self, x, weight):
        return torch.nn.functional.linear(x, weight.t())


product = Product().eval().cuda()


def run(a, b):
    return product(a, b)
