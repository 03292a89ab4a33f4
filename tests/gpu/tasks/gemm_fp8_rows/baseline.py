"""Widens both operands to bfloat16, which holds every fp8 number, and has cuBLAS multiply them."""

import torch


def run(A, B, A_scale, B_scale):
    product = A.to(torch.bfloat16) @ B.to(torch.bfloat16).t()
    return (product.float() * A_scale[:, None] * B_scale).to(torch.bfloat16)
