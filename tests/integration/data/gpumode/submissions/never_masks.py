def custom_kernel(data):
    x, _ = data
    return x.sum(dim=0)
