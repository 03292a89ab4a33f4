# Prints without end while it is loaded.
while True:
    print("x" * 65536)


def run(a, b, c):
    pass
