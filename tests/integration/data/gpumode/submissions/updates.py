def custom_kernel(data):
    cache, x = data
    cache += x
    return cache
