"""The references of the CUDA tasks in torch against loops in float64, at small sizes and on processors:
cuda_references_test.py FOLDER, which holds them

Skipped (status 77) where torch is missing.
"""

import importlib.util
import math
import os
import sys
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

BF16_ROUNDING = 2.0**-8
FLOAT_ROUNDING = 2.0**-23


def reference(task):
    path = os.path.join(FOLDER, task + ".py")
    spec = importlib.util.spec_from_file_location(task, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.run


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def softmax(logits):
    """(weights, logarithm of the sum to base 2)."""
    largest = max(logits)
    weights = [math.exp(x - largest) for x in logits]
    total = math.fsum(weights)
    return [w / total for w in weights], (largest + math.log(total)) / math.log(2)


def layer_norm(row, weight, bias):
    mean = math.fsum(row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    return [(x - mean) / math.sqrt(variance + 1e-5) * w + b for x, w, b in zip(row, weight, bias)]


def attention(heads, key_of, value_of, tokens, scale):
    """One query's output and lse per head. key_of(h, t) pairs up with the head's query."""
    outputs, lses = [], []
    for h, query in enumerate(heads):
        weights, lse = softmax([dot(query, key_of(h, t)) * scale for t in tokens])
        values = [value_of(h, t) for t in tokens]
        outputs.append([dot(weights, column) for column in zip(*values)])
        lses.append(lse)
    return outputs, lses


class ReferencesTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(20261123)

    def random(self, *shape, dtype=torch.bfloat16):
        return torch.randn(shape).to(dtype)

    def assert_near(self, got, want, dtype, rounding):
        want = torch.tensor(want, dtype=torch.float64).reshape(got.shape)
        self.assertEqual(got.dtype, dtype)
        infinite = torch.isinf(want)
        self.assertTrue(torch.equal(torch.isinf(got), infinite))
        error = (got.double() - want).masked_fill(infinite, 0).abs()
        allowed = rounding * want.masked_fill(infinite, 0).abs() + 1e-6 * rounding
        self.assertTrue(bool((error <= allowed).all()), (got, want))

    def test_rmsnorm(self):
        # Small enough that the epsilon matters.
        x, weight = (self.random(3, 40).float() / 64).to(torch.bfloat16), self.random(40)
        want = []
        for row in x.tolist():
            factor = 1 / math.sqrt(math.fsum(v * v for v in row) / len(row) + 1e-5)
            want.append([v * factor * w for v, w in zip(row, weight.tolist())])
        got = reference("rmsnorm_bf16")(x, weight)
        self.assert_near(got, want, torch.bfloat16, BF16_ROUNDING)

    def test_gemm(self):
        a, b = self.random(5, 33), self.random(7, 33)
        want = [[dot(row, column) for column in b.tolist()] for row in a.tolist()]
        self.assert_near(reference("gemm_bf16")(a, b), want, torch.bfloat16, BF16_ROUNDING)

    def test_gqa_paged_decode(self):
        heads, kv_heads, dim = 4, 2, 6
        q = self.random(3, heads, dim)
        k, v = self.random(9, 1, kv_heads, dim), self.random(9, 1, kv_heads, dim)
        indptr = torch.tensor([0, 4, 4, 6], dtype=torch.int32)  # the second sequence is empty
        indices = torch.tensor([7, 0, 3, 8, 5, 1], dtype=torch.int32)
        output, lse = reference("gqa_paged_decode")(q, k, v, indptr, indices, 0.4)
        wanted, wanted_lse = [], []
        for b in range(3):
            pages = indices[indptr[b] : indptr[b + 1]].tolist()
            if not pages:
                wanted.append([[0.0] * dim] * heads)
                wanted_lse.append([-math.inf] * heads)
                continue
            out, logs = attention(
                q[b].tolist(),
                lambda h, t: k[t, 0, h // 2].tolist(),
                lambda h, t: v[t, 0, h // 2].tolist(),
                pages,
                0.4,
            )
            wanted.append(out)
            wanted_lse.append(logs)
        self.assert_near(output, wanted, torch.bfloat16, BF16_ROUNDING)
        self.assert_near(lse, wanted_lse, torch.float32, FLOAT_ROUNDING)

    def latent_case(self, queries):
        heads, latent, positional = 3, 8, 4
        return {
            "q_nope": self.random(queries, heads, latent),
            "q_pe": self.random(queries, heads, positional),
            "ckv_cache": self.random(11, 1, latent),
            "kpe_cache": self.random(11, 1, positional),
        }

    def latent(self, case, query, pages, scale):
        """Output and lse of one query token that sees these pages."""
        joined = torch.cat([case["q_nope"][query], case["q_pe"][query]], dim=-1).tolist()
        keys = torch.cat([case["ckv_cache"], case["kpe_cache"]], dim=-1)
        values = case["ckv_cache"]
        return attention(
            joined, lambda h, t: keys[t, 0].tolist(), lambda h, t: values[t, 0].tolist(), pages, scale
        )

    def test_mla_paged_decode(self):
        case = self.latent_case(3)
        indptr = torch.tensor([0, 3, 3, 8], dtype=torch.int32)
        indices = torch.tensor([10, 2, 4, 0, 1, 9, 3, 7], dtype=torch.int32)
        output, lse = reference("mla_paged_decode")(*case.values(), indptr, indices, 0.3)
        wanted, wanted_lse = [], []
        for b in range(3):
            pages = indices[indptr[b] : indptr[b + 1]].tolist()
            out, logs = ([[0.0] * 8] * 3, [-math.inf] * 3)
            if pages:
                out, logs = self.latent(case, b, pages, 0.3)
            wanted.append(out)
            wanted_lse.append(logs)
        self.assert_near(output, wanted, torch.bfloat16, BF16_ROUNDING)
        self.assert_near(lse, wanted_lse, torch.float32, FLOAT_ROUNDING)

    def test_mla_paged_prefill(self):
        case = self.latent_case(5)
        # The second sequence has keys but no queries; the third sees two keys before its first.
        queries = torch.tensor([0, 2, 2, 5], dtype=torch.int32)
        indptr = torch.tensor([0, 2, 3, 8], dtype=torch.int32)
        indices = torch.tensor([10, 2, 4, 0, 1, 9, 3, 7], dtype=torch.int32)
        wanted, wanted_lse = [], []
        for b in range(3):
            pages = indices[indptr[b] : indptr[b + 1]].tolist()
            count = int(queries[b + 1] - queries[b])
            for i in range(count):
                seen = pages[: len(pages) - count + i + 1]
                out, logs = self.latent(case, int(queries[b]) + i, seen, 0.3)
                wanted.append(out)
                wanted_lse.append(logs)
        run = reference("mla_paged_prefill")
        for most in (1 << 28, 1):  # all queries at a time, and one
            run.__globals__["MOST_LOGITS"] = most
            output, lse = run(*case.values(), queries, indptr, indices, 0.3)
            self.assert_near(output, wanted, torch.bfloat16, BF16_ROUNDING)
            self.assert_near(lse, wanted_lse, torch.float32, FLOAT_ROUNDING)

    def test_trimul(self):
        n, dim, hidden = 3, 5, 4
        x = self.random(2, n, n, dim, dtype=torch.float32)
        mask = torch.rand(2, n, n) < 0.6
        norm = [self.random(dim, dtype=torch.float32) for _ in range(2)]
        projections = [self.random(hidden, dim, dtype=torch.float32) for _ in range(5)]
        out_norm = [self.random(hidden, dtype=torch.float32) for _ in range(2)]
        to_out = self.random(dim, hidden, dtype=torch.float32)
        weights = [w.tolist() for w in projections]

        def row(b, i, j):
            return layer_norm(x[b, i, j].tolist(), norm[0].tolist(), norm[1].tolist())

        def gated(b, i, j, value, gate, d):
            y = row(b, i, j)
            return bool(mask[b, i, j]) * dot(y, weights[value][d]) * sigmoid(dot(y, weights[gate][d]))

        wanted = []
        for b in range(2):
            left, right = (
                {
                    (i, k, d): gated(b, i, k, side, side + 2, d)
                    for i in range(n)
                    for k in range(n)
                    for d in range(hidden)
                }
                for side in range(2)
            )
            for i in range(n):
                for j in range(n):
                    sums = [
                        math.fsum(left[i, k, d] * right[j, k, d] for k in range(n))
                        for d in range(hidden)
                    ]
                    y = row(b, i, j)
                    normed = layer_norm(sums, out_norm[0].tolist(), out_norm[1].tolist())
                    gate = [sigmoid(dot(y, w)) for w in weights[4]]
                    z = [v * g for v, g in zip(normed, gate)]
                    wanted.append([dot(z, w) for w in to_out.tolist()])
        for task in ("trimul", "trimul_upstream"):
            got = reference(task)(x, mask, *norm, *projections, *out_norm, to_out)
            # Sums of both signs: an absolute error of a few roundings of their terms.
            want = torch.tensor(wanted, dtype=torch.float64).reshape(got.shape)
            self.assertEqual(got.dtype, torch.float32)
            self.assertLess(float((got.double() - want).abs().max()), 4 * FLOAT_ROUNDING)

    def test_moe(self):
        tokens, experts, local, hidden, inter, block = 3, 32, 6, 8, 4, 4
        offset, factor = 10, 2.5
        fp8 = getattr(torch, "float8_e4m3fn", None)

        def quantized(*shape):
            # Numbers that fp8 has; in float32 where this torch does not have fp8.
            values = torch.randint(-7, 8, shape).float() / 4
            return values if fp8 is None else values.to(fp8)

        logits = self.random(tokens, experts, dtype=torch.float32)
        bias = self.random(experts)
        x = quantized(tokens, hidden)
        x_scale = torch.rand(hidden // block, tokens)
        w1 = quantized(local, 2 * inter, hidden)
        w1_scale = torch.rand(local, 2 * inter // block, hidden // block)
        w2 = quantized(local, hidden, inter)
        w2_scale = torch.rand(local, hidden // block, inter // block)
        got = reference("moe_fp8_block_scale")(
            logits, bias, x, x_scale, w1, w1_scale, w2, w2_scale, offset, factor
        )
        x, w1, w2 = x.float().tolist(), w1.float().tolist(), w2.float().tolist()
        wanted = []
        used = 0
        for t in range(tokens):
            score = torch.sigmoid(logits[t]).tolist()
            choice = [s + b for s, b in zip(score, bias.float().tolist())]
            groups = [choice[g * 4 : g * 4 + 4] for g in range(8)]
            best = sorted(range(8), key=lambda g: -sum(sorted(groups[g])[-2:]))[:4]
            allowed = [e for e in range(experts) if e // 4 in best]
            chosen = sorted(allowed, key=lambda e: -choice[e])[:8]
            total = math.fsum(score[e] for e in chosen) + 1e-20
            row = [0.0] * hidden
            for expert in chosen:
                e = expert - offset
                if not 0 <= e < local:
                    continue
                used += 1
                tokens_row = [v * float(x_scale[c // block, t]) for c, v in enumerate(x[t])]
                up = [
                    dot(
                        tokens_row,
                        [v * float(w1_scale[e, r // block, c // block]) for c, v in enumerate(w)],
                    )
                    for r, w in enumerate(w1[e])
                ]
                act = [up[inter + i] * sigmoid(up[inter + i]) * up[i] for i in range(inter)]
                for r, w in enumerate(w2[e]):
                    scaled = [v * float(w2_scale[e, r // block, c // block]) for c, v in enumerate(w)]
                    row[r] += dot(act, scaled) * score[expert] / total * factor
            wanted.append(row)
        self.assertGreater(used, 2)
        self.assert_near(got, wanted, torch.bfloat16, BF16_ROUNDING)


if __name__ == "__main__":
    FOLDER = sys.argv.pop(1)
    unittest.main()
