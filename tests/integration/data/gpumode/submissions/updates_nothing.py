def custom_kernel(data):
    cache, x = data
    return cache
