# Exceptions that are handled say nothing of the call.
import torch


def run(a, b, c):
    try:
        torch.mm(a, b.t(), out=c)
    except RuntimeError:
        torch.mm(a, b, out=c)
    try:
        raise SystemExit(1)
    except BaseException:
        pass
