#!/usr/bin/env python3
"""Started by forms.sh; see there. `write` makes the small problems and programs, `judge` has them judged."""
import argparse
import concurrent.futures
import json
import os
import re
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import evaluation  # noqa: E402
from say import say  # noqa: E402

SAMPLER = {
    "name": "top_k_top_p_sampling_from_probs_v256", "op_type": "sampling",
    "axes": {"batch_size": {"type": "var"}, "vocab_size": {"type": "const", "value": 256}},
    "inputs": {"probs": {"shape": ["batch_size", "vocab_size"], "dtype": "float32"},
               "top_k": {"shape": ["batch_size"], "dtype": "int32"}, "top_p": {"shape": None, "dtype": "float32"}},
    "outputs": {"samples": {"shape": ["batch_size"], "dtype": "int64"}},
    "reference": """import torch


def run(probs, top_k, top_p):
    values, order = probs.sort(dim=-1, descending=True)
    k = torch.where(top_k > 0, top_k, probs.shape[1])
    keep = torch.arange(probs.shape[1], device=probs.device)[None, :] < k[:, None]
    keep &= values.cumsum(-1) - values < top_p
    drawn = torch.multinomial(values * keep, 1)
    return order.gather(1, drawn)[:, 0]
"""}
SAMPLER_LINE = {
    "definition": SAMPLER["name"], "workload": {
        "uuid": "rows3", "axes": {"batch_size": 3},
        "inputs": {"probs": {"type": "random"}, "top_k": {"type": "random"},
                   "top_p": {"type": "scalar", "value": 0.9}}}}
SAMPLES_OTHERWISE = """import torch


def run(probs, top_k, top_p):
    values, order = probs.sort(dim=-1, descending=True)
    limit = torch.where(top_k > 0, top_k.long(), 256)
    keep = torch.arange(256, device=probs.device) < limit[:, None]
    keep &= values.cumsum(-1) - values < top_p
    first = (values * keep / torch.empty_like(values).exponential_()).argmax(-1, keepdim=True)
    return order.gather(1, first)[:, 0]
"""
SAMPLES_LIKELIEST = "def run(probs, top_k, top_p):\n    return probs.argmax(-1)\n"
SAMPLES_ALL = "import torch\n\n\ndef run(probs, top_k, top_p):\n    return torch.multinomial(probs, 1)[:, 0]\n"

INDEXER_REFERENCE = """import torch


def values_of(bits):
    bits = bits.view(torch.uint8).int()
    exponent, fraction = (bits >> 3) & 15, (bits & 7).float()
    normal = (1 + fraction / 8) * 2.0 ** (exponent - 7).float()
    value = torch.where(exponent == 0, fraction * 2.0 ** -9, normal)
    return torch.where(bits >= 128, -value, value)


def scores_of(q, cache, weights, row, table):
    pages, size, _, width = cache.shape
    flat = cache.reshape(pages, size * width)
    keys = values_of(flat[:, : size * (width - 4)].contiguous()).reshape(pages, size, width - 4)
    scale = flat[:, size * (width - 4) :].contiguous().view(torch.float32)
    keys = (keys * scale[:, :, None])[table[row].long()].reshape(-1, width - 4)
    return (torch.relu(q[row] @ keys.T) * weights[row][:, None]).sum(0)


def run(q_index_fp8, k_index_cache_fp8, weights, seq_lens, block_table):
    out = torch.full((q_index_fp8.shape[0], 6), -1, dtype=torch.int32, device=weights.device)
    for row in range(out.shape[0]):
        length = int(seq_lens[row])
        scores = scores_of(q_index_fp8, k_index_cache_fp8, weights, row, block_table)[:length]
        best = scores.topk(min(6, length)).indices
        out[row, : len(best)] = (block_table[row][best // 4] * 4 + best % 4).int()
    return out
"""
INDEXER = {
    "name": "dsa_topk_indexer_small", "op_type": "dsa_paged",
    "axes": {"batch_size": {"type": "var"}, "num_index_heads": {"type": "const", "value": 2},
             "index_head_dim": {"type": "const", "value": 8}, "page_size": {"type": "const", "value": 4},
             "topk": {"type": "const", "value": 6}, "max_num_pages": {"type": "var"}, "num_pages": {"type": "var"},
             "kv_cache_num_heads": {"type": "const", "value": 1},
             "head_dim_with_scale": {"type": "const", "value": 12}},
    "inputs": {
        "q_index_fp8": {"shape": ["batch_size", "num_index_heads", "index_head_dim"], "dtype": "float32"},
        "k_index_cache_fp8": {"shape": ["num_pages", "page_size", "kv_cache_num_heads", "head_dim_with_scale"],
                              "dtype": "int8"},
        "weights": {"shape": ["batch_size", "num_index_heads"], "dtype": "float32"},
        "seq_lens": {"shape": ["batch_size"], "dtype": "int32"},
        "block_table": {"shape": ["batch_size", "max_num_pages"], "dtype": "int32"}},
    "outputs": {"topk_indices": {"shape": ["batch_size", "topk"], "dtype": "int32"}},
    "reference": INDEXER_REFERENCE}
RECORDED = {"seq_lens": [11, 4], "block_table": [5, 0, 3, 6, 1, 2]}
INDEXER_LINE = {
    "definition": INDEXER["name"], "workload": {
        "uuid": "two", "axes": {"batch_size": 2, "max_num_pages": 3, "num_pages": 7},
        "inputs": {**{name: {"type": "random"} for name in ("q_index_fp8", "k_index_cache_fp8", "weights")},
                   **{name: {"type": "safetensors", "path": "./blob/two.safetensors", "tensor_key": name}
                      for name in RECORDED}}}}

# Its inputs are no numbers that a recipe draws.
SYMMETRIC = """import torch


class Model(torch.nn.Module):
    def forward(self, A):
        return A @ A


def get_inputs():
    A = torch.rand(512, 512)
    return [A + A.t()]


def get_init_inputs():
    return []
"""

GPUMODE = "gpumode/masked_rows_v2"
PROPERTIES = "gpumode/properties"
SAMPLES = f"flashinfer/{SAMPLER['name']}"
PLACES = f"flashinfer/{INDEXER['name']}"
KERNELBENCH = "kernelbench/l1/8"
# Name, task, program, options, exit status, and what the output has to hold.
JUDGED = [
    ("gpumode-leaderboard", GPUMODE, "gpumode/submissions/good.py", ["--compat", "leaderboard"], 0,
     ["verdict pass", "score on the leaderboard", "on inputs of its own, all outputs right"]),
    ("gpumode-leaderboard-wrong", GPUMODE, "gpumode/submissions/ignores_mask.py", ["--compat", "leaderboard"], 7,
     ["incorrect"]),
    ("gpumode-benchmark", GPUMODE, "gpumode/submissions/good.py", ["--compat", "benchmark"], 0,
     ["time as GPU MODE's eval.py takes it"]),
    ("gpumode-test", GPUMODE, "gpumode/submissions/good.py", ["--compat", "test"], 0, ["verdict pass", "test1"]),
    ("gpumode-checker", PROPERTIES, "gpumode/submissions/other_sign.py", [], 0, ["passed"]),
    ("gpumode-checker-wrong", PROPERTIES, "gpumode/submissions/not_orthogonal.py", ["--check"], 7,
     ["is not orthogonal"]),
    ("sampler", SAMPLES, "samples_otherwise.py", [], 0, ["verdict PASSED \\(4 of 4 trials right"]),
    ("sampler-wrong", SAMPLES, "samples_likeliest.py", ["--check"], 7, ["not drawn by their probabilities"]),
    ("sampler-unlimited", SAMPLES, "samples_all.py", ["--check"], 7, ["is so unlikely that it may not be drawn"]),
    ("indexer", PLACES, "places_reversed.py", [], 0, ["verdict PASSED \\(3 of 3 trials right"]),
    ("indexer-wrong", PLACES, "places_twice.py", ["--check"], 7, ["comes twice in row 0"]),
    ("kernelbench-made", KERNELBENCH, "square.py", [], 0, ["verdict correct", "speed-up over eager"]),
]


def write_text(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write(folder):
    for definition, line in ((SAMPLER, SAMPLER_LINE), (INDEXER, INDEXER_LINE)):
        place = f"{definition['op_type']}/{definition['name']}"
        write_text(folder, f"flashinfer/definitions/{place}.json", json.dumps(definition))
        write_text(folder, f"flashinfer/workloads/{place}.jsonl", json.dumps(line) + "\n")
    header, values = {}, b""
    for name, numbers in RECORDED.items():
        rows = 2
        shape = [rows] if name == "seq_lens" else [rows, len(numbers) // rows]
        data = struct.pack(f"<{len(numbers)}i", *numbers)
        header[name] = {"dtype": "I32", "shape": shape, "data_offsets": [len(values), len(values) + len(data)]}
        values += data
    text = json.dumps(header).encode()
    write_text(folder, "flashinfer/blob/two.safetensors", "")
    with open(os.path.join(folder, "flashinfer/blob/two.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + values)
    write_text(folder, "kernelbench/level1/8_Symmetric.py", SYMMETRIC)
    write_text(folder, "square.py", "import torch\n\n\ndef run(A, out):\n    torch.mm(A, A, out=out)\n")
    write_text(folder, "samples_otherwise.py", SAMPLES_OTHERWISE)
    write_text(folder, "samples_likeliest.py", SAMPLES_LIKELIEST)
    write_text(folder, "samples_all.py", SAMPLES_ALL)
    for name, change in (("reversed", ""), ("twice", "    out[:, 1] = out[:, 0]\n")):
        last = "    return out.flip(1)\n" if name == "reversed" else "    return out\n"
        program = INDEXER_REFERENCE.removesuffix("    return out\n") + change + last
        write_text(folder, f"places_{name}.py", program)


def judge(options, end):
    tasks = [GPUMODE, PROPERTIES, KERNELBENCH]
    described = evaluation.ksearch(["task", "describe", *tasks], end - time.monotonic())
    say(" ".join((described.stdout + described.stderr).split()))

    def one(row):
        name, task, program, more, expected, wanted = row
        start = time.monotonic()
        arguments = ["eval", "--task", task, *more, os.path.join(options.folder, program)]
        try:
            done = evaluation.ksearch(arguments, end - start)
        except subprocess.TimeoutExpired:
            say(f"  {name:<26} NO VERDICT within {time.monotonic() - start:.0f} s")
            return False
        text = done.stdout + done.stderr
        lacks = [words for words in wanted if not re.search(words, re.sub(r"\s+", " ", text))]
        good = done.returncode == expected and not lacks
        say(f"  {name:<26} {'ok' if good else 'NOT AS EXPECTED'} {time.monotonic() - start:5.1f} s")
        if not good:
            print(f"status {done.returncode}, expected {expected}; lacks {lacks}:\n{text[-1500:]}", flush=True)
        return good

    rows = [row for row in JUDGED if re.search(options.only, row[0])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs or 2 * options.gpus) as pool:
        good = list(pool.map(one, rows))
    print(f"SUMMARY: forms: {sum(good)} of {len(rows)} as expected")
    return 0 if all(good) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["write", "judge"])
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--spent", type=float, default=0)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=0)
    options = parser.parse_args()
    if options.what == "write":
        write(options.folder)
        return 0
    return judge(options, time.monotonic() + options.seconds - options.spent)


if __name__ == "__main__":
    sys.exit(main())
