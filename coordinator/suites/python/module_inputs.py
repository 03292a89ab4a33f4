

# ---- Added by ksearch: fresh inputs, parameters and buffers, as the problem itself makes them.
def _ksearch_varied(module, seed):
    """Of a module's parameters, those that every seed gives the same values, with others: weights are learned,
    and no program may take them for what they begin with."""
    import torch

    own = dict(module.named_parameters())
    others = {}
    if sum(tensor.numel() for tensor in own.values()) <= 1 << 26:  # else, another module takes too long
        torch.manual_seed(seed + 1)
        others = dict(Model(*@INIT@).named_parameters())
    varied = {}
    torch.manual_seed(seed + 2)
    for path, tensor in own.items():
        tensor = tensor.detach()
        if not tensor.is_floating_point() or tensor.numel() == 0:
            continue
        if not torch.equal(others[path].detach() if others else tensor.flatten()[:1].expand_as(tensor), tensor):
            continue
        width = tensor.double().square().mean().sqrt().to(tensor.dtype)
        width = torch.where(width > 0, width, torch.ones_like(width))
        varied[path] = tensor + (torch.rand(tensor.shape, dtype=tensor.dtype, device=tensor.device) - 0.5) * width
    return varied


def _ksearch_larger(values, precision):
    """Inputs of both signs that are larger than the problem's own: a branch may depend on that."""
    import torch

    wide = torch.finfo(precision).max > 1e30

    def larger(value):
        signed = isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 0
        return 8 * value if wide and signed and bool((value < 0).any()) else value

    return {name: larger(value) for name, value in values.items()}


def make_inputs(seed):
    import torch

    def stored(value):
        return value.detach().to(@PRECISION@) if value.is_floating_point() else value.detach()

    torch.manual_seed(seed)
    module = Model(*@INIT@)
    values = dict(zip(@INPUTS@, get_inputs()))
    own = dict(module.named_parameters())
    own.update(module.named_buffers())
    if seed >= 1 << 32:  # of a hidden case
        own.update(_ksearch_varied(module, seed))
        if seed >= 1 << 33:
            values = _ksearch_larger(values, @PRECISION@)
    made = {name: stored(v) for name, v in values.items() if isinstance(v, torch.Tensor)}
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
