

# ---- Added by ksearch: fresh inputs, parameters and buffers, as the problem itself makes them.
def make_inputs(seed):
    import torch

    def stored(value):
        return value.detach().to(@PRECISION@) if value.is_floating_point() else value.detach()

    torch.manual_seed(seed)
    module = Model(*@INIT@)
    values = dict(zip(@INPUTS@, get_inputs()))
    made = {name: stored(v) for name, v in values.items() if isinstance(v, torch.Tensor)}
    own = dict(module.named_parameters())
    own.update(module.named_buffers())
    for name, elements, pack in @PACKS@:
        if elements is None:
            made[name] = stored(own[pack[0][0]])
            continue
        flat = torch.zeros(elements, dtype=stored(own[pack[0][0]]).dtype)
        for path, _, first in pack:
            part = stored(own[path]).flatten()
            flat[first : first + part.numel()] = part
        made[name] = flat
    return made
