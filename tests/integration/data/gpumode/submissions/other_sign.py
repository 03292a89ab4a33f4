import torch


def custom_kernel(data):
    return -torch.linalg.qr(data)[0]
