# Returns a tuple of its own instead of the reference's, and a cache of its own.
import torch


def custom_kernel(data):
    config, x, cache, options = data
    own = cache.data.clone()
    own[:, cache.length] = (x @ config.down)[:, 0]
    kept = own[:, : cache.length + 1]
    weights = torch.softmax(kept @ (x @ config.up).transpose(1, 2) * options.factor(), dim=1)
    return (weights * kept).sum(dim=1) @ cache.project.weight.t() * cache.scale, own
