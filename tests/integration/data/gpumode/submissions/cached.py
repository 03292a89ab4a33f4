import torch

from reference import Answer, Cache, Config


def custom_kernel(data):
    config, x, cache, options = data
    assert type(config) is Config and isinstance(cache, Cache) and type(config.shape) is torch.Size
    assert options is config.options and options.mode.value == "soft" and not cache.training
    assert set(cache.state_dict()) == {"data", "scale", "project.weight"} and cache.scale.requires_grad
    cache.data[:, cache.length] = (x @ config.down)[:, 0]
    kept = cache.data[:, : cache.length + 1]
    weights = torch.softmax(kept @ (x @ config.up).transpose(1, 2) * options.factor(), dim=1)
    y = (weights * kept).sum(dim=1) @ cache.project.weight.t() * cache.scale
    return Answer(y, cache.data)
