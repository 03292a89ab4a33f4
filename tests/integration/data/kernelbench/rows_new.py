import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x / torch.linalg.vector_norm(x, dim=1, keepdim=True)
