def custom_kernel(data):
    result = data * 2
    result[3] = float("nan")
    return result
