

def make_inputs(seed, **axes):
    """Added by ksearch: one tensor as upstream draws it; the others come from elsewhere."""
    import json
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator = torch.Generator(device=device)
    generator.manual_seed(seed)
    made = {}
    for tensor in json.loads(bytes.fromhex("@TENSORS@").decode("utf-8")):
        shape = [axes[extent] if isinstance(extent, str) else extent for extent in tensor["shape"]]
        if tensor["made"]:
            made[tensor["name"]] = _ksearch_made(torch, tensor, shape, generator, device)
        else:
            made[tensor["name"]] = torch.zeros(shape, dtype=getattr(torch, tensor["dtype"]), device=device)
    return made
