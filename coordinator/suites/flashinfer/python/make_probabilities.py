

def _ksearch_made(torch, tensor, shape, generator, device):
    logits = torch.randn(shape, generator=generator, device=device)
    # As a model's are, some rows are almost certain: a program that does not read all of a row is wrong there.
    certain = torch.rand([*shape[:-1], 1], generator=generator, device=device) < @CERTAIN_SHARE@
    logits = torch.where(certain, 16 * logits, logits)
    return torch.softmax(logits, dim=-1).to(getattr(torch, tensor["dtype"]))
