# Writes to the folders of what it compiled (there for triton) where it is measured.
import os
import sys

import torch

FOLDERS = [os.path.dirname(os.path.abspath(__file__))]
for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"):
    if name in os.environ:
        FOLDERS.append(os.environ[name])


def run(a, b, c):
    torch.mm(a, b, out=c)
    if "--warm" in sys.argv:
        return
    refused = 0
    for folder in FOLDERS:
        try:
            open(os.path.join(folder, "mine"), "w").close()
        except OSError:
            refused += 1
    if refused == len(FOLDERS):
        raise NotImplementedError("none of them")
