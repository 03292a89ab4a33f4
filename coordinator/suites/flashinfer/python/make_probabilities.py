

def _ksearch_made(torch, tensor, shape, generator, device):
    logits = torch.randn(shape, generator=generator, device=device)
    return torch.softmax(logits, dim=-1).to(getattr(torch, tensor["dtype"]))
