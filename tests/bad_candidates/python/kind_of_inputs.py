# Tells the inputs in the name of an exception's class, over several lines.
def run(a, b, c):
    name = f"told: {a[0, 0]}\nruntime.told: Error"
    raise type(name, (Exception,), {})(name)
