from types import SimpleNamespace


def custom_kernel(data):
    above = (data > 1).sum().item()
    return SimpleNamespace(scaled=data + data, total=data.sum().item(), above=above + 0.5, any_above=above > 0)
