# Tells the inputs in the words of an exception.
def run(a, b, c):
    raise ValueError(f"told: {a[0, 0]}")
