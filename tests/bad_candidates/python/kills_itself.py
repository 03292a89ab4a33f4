# Wants to pass for a fault of the machine.
import os
import signal


def run(a, b, c):
    os.kill(os.getpid(), signal.SIGKILL)
