# Right, but for weights that it changes, which are inputs.
def custom_kernel(data):
    config, x, cache, options = data
    kept = cache(x @ config.down)
    weights = (kept @ (x @ config.up).transpose(1, 2) * options.factor()).softmax(dim=1)
    y = cache.project((weights * kept).sum(dim=1)) * cache.scale
    config.up.mul_(2)
    return y, cache.data
