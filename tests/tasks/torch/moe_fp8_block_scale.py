"""Mixture of experts with DeepSeek-V3 routing: one local expert at a time, dequantized to float64.

Routing is in float32, as the definition has it: which experts are chosen depends on it.
"""

import math

import torch

GROUPS = 8
KEPT_GROUPS = 4
CHOSEN = 8


def route(logits, bias):
    """(experts, their scores) of each token, CHOSEN of them."""
    tokens, experts = logits.shape
    score = torch.sigmoid(logits)
    choice = (score + bias.float()).reshape(tokens, GROUPS, experts // GROUPS)
    group_score = choice.topk(2, dim=-1).values.sum(dim=-1)
    kept = torch.zeros_like(group_score, dtype=torch.bool)
    kept.scatter_(1, group_score.topk(KEPT_GROUPS, dim=-1).indices, True)
    choice = choice.masked_fill(~kept.unsqueeze(-1), -math.inf).reshape(tokens, experts)
    # In order, so that of equal ones the lower index is chosen.
    chosen = torch.sort(choice, dim=-1, descending=True, stable=True).indices[:, :CHOSEN]
    return chosen, score.gather(1, chosen)


def dequantize(values, scale):
    """Each element times the scale of its block; blocks are as large as the shapes say."""
    for dimension in range(values.dim()):
        width = values.shape[dimension] // scale.shape[dimension]
        scale = scale.repeat_interleave(width, dim=dimension)
    return values.float().double() * scale.double()


def run(
    routing_logits,
    routing_bias,
    hidden_states,
    hidden_states_scale,
    gemm1_weights,
    gemm1_weights_scale,
    gemm2_weights,
    gemm2_weights_scale,
    local_expert_offset,
    routed_scaling_factor,
):
    intermediate = gemm2_weights.shape[2]
    chosen, score = route(routing_logits, routing_bias)
    weight = score.double()
    weight = weight / (weight.sum(dim=-1, keepdim=True) + 1e-20) * routed_scaling_factor
    x = dequantize(hidden_states, hidden_states_scale.t())
    output = torch.zeros_like(x)
    for expert in range(gemm1_weights.shape[0]):
        token, place = torch.nonzero(chosen == local_expert_offset + expert, as_tuple=True)
        if len(token) == 0:
            continue
        up = torch.matmul(x[token], dequantize(gemm1_weights[expert], gemm1_weights_scale[expert]).t())
        linear, gate = up[:, :intermediate], up[:, intermediate:]
        active = gate * torch.sigmoid(gate) * linear
        down = torch.matmul(active, dequantize(gemm2_weights[expert], gemm2_weights_scale[expert]).t())
        output[token] += down * weight[token, place].unsqueeze(-1)
    return output.to(torch.bfloat16)
