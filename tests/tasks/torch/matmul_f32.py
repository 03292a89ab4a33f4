"""C = A * B, in float64."""


def run(A, B):
    return (A.double() @ B.double()).float()
