import torch


def custom_kernel(data):
    return 1.01 * torch.linalg.qr(data)[0]
