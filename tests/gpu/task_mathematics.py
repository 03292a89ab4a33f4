"""The mathematics of the CUDA tasks in PyTorch, for check_tasks.py."""
import math


class Mathematics:
    """What the tasks compute, in float64. `mode`: exact, honest (lower precision), drop (without the
    last half percent of the work), fp8. Returns a dictionary of outputs, not rounded."""

    def __init__(self, torch):
        self.torch = torch

    def bf16(self, x):
        return x.to(self.torch.bfloat16).double()

    def e4m3(self, x):
        return x.float().to(self.torch.float8_e4m3fn).float().double()

    def fp8(self, x):
        scale = x.abs().amax().clamp(min=1e-30) / 448
        return self.e4m3(x / scale) * scale

    def rmsnorm(self, axes, v, mode):
        torch = self.torch
        x, weight = v["hidden_states"].double(), v["weight"].double()
        if mode == "fp8":
            x = self.fp8(x)
        y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
        if mode == "honest":
            y = self.bf16(y)
        y = y * weight
        if mode == "drop":
            y[:, -max(1, y.shape[1] // 200):] = 0
        return {"output": y}

    def gemm(self, axes, v, mode):
        a, b = v["A"].double(), v["B"].double()
        if mode == "fp8":
            a, b = self.fp8(a), self.fp8(b)
        if mode == "drop":
            kept = a.shape[1] - max(1, a.shape[1] // 200)
            a, b = a[:, :kept], b[:, :kept]
        if mode == "honest":
            step = (a.shape[1] + 3) // 4
            parts = [self.bf16(a[:, i:i + step] @ b[:, i:i + step].T)
                     for i in range(0, a.shape[1], step)]
            return {"C": sum(parts)}
        return {"C": a @ b.T}

    def attend(self, logits, values, mode):
        """logits [..., keys], values [..., keys, width]; -inf where a key is masked."""
        torch = self.torch
        if mode == "drop":
            rank = torch.isfinite(logits).cumsum(-1)
            count = rank[..., -1:]
            gone = torch.clamp(count // 200, min=1)
            logits = logits.masked_fill(rank > count - gone, -math.inf)
        lse = torch.logsumexp(logits, -1)
        if mode == "honest":  # weights relative to the largest, as in an online softmax
            top = torch.exp(logits - logits.amax(-1, keepdim=True))
            weights = self.bf16(top) / top.sum(-1, keepdim=True)
        else:
            weights = torch.nan_to_num(torch.exp(logits - lse[..., None]), nan=0.0)
        return weights @ values, lse / math.log(2)

    def gqa_paged(self, axes, v, mode):
        torch = self.torch
        kv_heads, dim = axes["num_kv_heads"], axes["head_dim"]
        group = axes["num_qo_heads"] // kv_heads
        output = torch.zeros(v["q"].shape, dtype=torch.float64, device="cuda")
        lse = torch.full(v["q"].shape[:2], -math.inf, dtype=torch.float64, device="cuda")
        bounds = v["kv_indptr"].tolist()
        for b in range(len(bounds) - 1):
            pages = v["kv_indices"][bounds[b]:bounds[b + 1]].long()
            if pages.numel() == 0:
                continue
            k = v["k_cache"][pages, 0].double().transpose(0, 1)
            values = v["v_cache"][pages, 0].double().transpose(0, 1)
            if mode == "fp8":
                k, values = self.fp8(k), self.fp8(values)
            q = v["q"][b].double().reshape(kv_heads, group, dim)
            logits = q @ k.transpose(1, 2) * v["sm_scale"]
            out, base2 = self.attend(logits, values, mode)
            output[b], lse[b] = out.reshape(-1, dim), base2.reshape(-1)
        return {"output": output, "lse": lse}

    def mla_paged(self, axes, v, mode):
        torch = self.torch
        output = torch.zeros(v["q_nope"].shape, dtype=torch.float64, device="cuda")
        lse = torch.full(v["q_nope"].shape[:2], -math.inf, dtype=torch.float64, device="cuda")
        bounds = v["kv_indptr"].tolist()
        queries = v["qo_indptr"].tolist() if "qo_indptr" in v else list(range(len(bounds)))
        for b in range(len(bounds) - 1):
            pages = v["kv_indices"][bounds[b]:bounds[b + 1]].long()
            first, last = queries[b], queries[b + 1]
            if pages.numel() == 0 or first == last:
                continue
            c, p = v["ckv_cache"][pages, 0].double(), v["kpe_cache"][pages, 0].double()
            if mode == "fp8":
                c, p = self.fp8(c), self.fp8(p)
            q = v["q_nope"][first:last].double().transpose(0, 1)
            q_pe = v["q_pe"][first:last].double().transpose(0, 1)
            logits = (q @ c.T + q_pe @ p.T) * v["sm_scale"]
            n, m = last - first, pages.numel()
            key = torch.arange(m, device="cuda")[None]
            query = torch.arange(n, device="cuda")[:, None]
            logits = logits.masked_fill(key > m - n + query, -math.inf)
            out, base2 = self.attend(logits, c, mode)
            output[first:last], lse[first:last] = out.transpose(0, 1), base2.transpose(0, 1)
        return {"output": output, "lse": lse}

    def moe(self, axes, v, mode):
        torch = self.torch
        tokens, inter = axes["seq_len"], axes["intermediate_size"]
        score = torch.sigmoid(v["routing_logits"])
        choice = (score + v["routing_bias"].float()).reshape(tokens, 8, -1)
        kept = choice.topk(2, dim=2).values.sum(2).topk(4, dim=1).indices
        allowed = torch.zeros(tokens, 8, dtype=torch.bool, device="cuda")
        allowed.scatter_(1, kept, True)
        masked = choice.masked_fill(~allowed[:, :, None], -math.inf).reshape(tokens, -1)
        experts = masked.topk(8, dim=1).indices
        weight = score.gather(1, experts).double()
        weight = weight / (weight.sum(1, keepdim=True) + 1e-20) * v["routed_scaling_factor"]
        x = v["hidden_states"].float().double()
        x = x * v["hidden_states_scale"].double().T.repeat_interleave(128, 1)
        output = torch.zeros(x.shape, dtype=torch.float64, device="cuda")

        def dequantized(name, e):
            scale = v[name + "_scale"][e].double()
            scale = scale.repeat_interleave(128, 0).repeat_interleave(128, 1)
            full = v[name][e].float().double() * scale
            return self.bf16(full) if mode == "honest" else full

        for e in range(axes["num_local_experts"]):
            token, place = (experts == e + v["local_expert_offset"]).nonzero(as_tuple=True)
            if token.numel() == 0:
                continue
            rows = self.bf16(x[token]) if mode == "honest" else x[token]
            up = rows @ dequantized("gemm1_weights", e).T
            act = torch.nn.functional.silu(up[:, inter:]) * up[:, :inter]
            if mode == "honest":
                act = self.bf16(act)
            if mode == "fp8":
                blocks = act.reshape(act.shape[0], -1, 128)
                scale = blocks.abs().amax(2, keepdim=True).clamp(min=1e-30) / 448
                act = (self.e4m3(blocks / scale) * scale).reshape(up.shape[0], inter)
            if mode == "drop":
                act[:, -(inter // 200):] = 0
            down = act @ dequantized("gemm2_weights", e).T
            output.index_add_(0, token, down * weight[token, place][:, None])
        return {"output": output}

    def trimul(self, axes, v, mode):
        torch = self.torch

        def low(t):
            return {"honest": self.bf16, "fp8": self.fp8}[mode](t) if mode in ("honest", "fp8") else t

        def norm(t, w, b):
            return torch.nn.functional.layer_norm(t, t.shape[-1:], v[w].double(), v[b].double(), 1e-5)

        def weight(name):
            return low(v[name].double()).T

        y = low(norm(v["x"].double(), "norm_weight", "norm_bias"))
        seen = v["mask"][..., None].double()
        left = low((y @ weight("left_proj")) * seen * torch.sigmoid(y @ weight("left_gate")))
        right = low((y @ weight("right_proj")) * seen * torch.sigmoid(y @ weight("right_gate")))
        gate = low(torch.sigmoid(y @ weight("out_gate")))
        del y, seen
        n = axes["seq_len"]
        kept = n - max(1, n // 200) if mode == "drop" else n
        left = left[:, :, :kept].permute(0, 3, 1, 2).contiguous()
        right = right[:, :, :kept].permute(0, 3, 2, 1).contiguous()
        o = (left @ right).permute(0, 2, 3, 1).contiguous()
        del left, right
        o = low(norm(o, "to_out_norm_weight", "to_out_norm_bias") * gate)
        return {"output": o @ weight("to_out")}
