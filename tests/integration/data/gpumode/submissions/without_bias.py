def custom_kernel(data):
    x, bias, options = data
    assert bias is None and options["bias"] is None
    return x * options["scale"].unsqueeze(1)
