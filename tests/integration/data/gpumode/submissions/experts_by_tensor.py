import torch


def run(x, router, weights, bias, shared, scales, n_experts, out):
    chosen = (x @ router.t()).argmax(dim=1)
    product = torch.bmm(x[:, None], weights[chosen])[:, 0] + bias[chosen]
    torch.add(x @ shared, product * scales[chosen], out=out)
