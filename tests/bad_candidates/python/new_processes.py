# Wants other processes, which nothing would stop.
import multiprocessing
import os
import subprocess

import torch


def run(a, b, c):
    torch.mm(a, b, out=c)
    ways = (
        os.fork,
        lambda: subprocess.run(["/bin/true"], check=True),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
        lambda: multiprocessing.get_context("forkserver").Process(target=print).start(),
    )
    refused = 0
    for way in ways:
        try:
            way()
        except (OSError, ImportError):
            refused += 1
    if refused == len(ways):
        raise NotImplementedError("none of them")
