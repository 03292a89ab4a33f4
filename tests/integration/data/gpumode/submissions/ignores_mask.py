def custom_kernel(data):
    x, _, weights, config, _ = data
    return x * weights["scale.weight"] / config["divisor"]
