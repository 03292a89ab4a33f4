# numpy over the same memory.
import numpy


def run(a, b, c):
    numpy.matmul(a.numpy(), b.numpy(), out=c.numpy())
