# Gives the output another storage, where the answer is prepared.
import torch


def run(a, b, c):
    c.set_((a @ b).contiguous())
