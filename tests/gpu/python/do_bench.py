"""Times a program of this folder by triton.testing.do_bench, beside what ksearch found:
do_bench.py PROGRAM WORKLOADS RESULTS

PROGRAM defines `run` for rmsnorm_bf16, WORKLOADS is that task's workloads.jsonl, RESULTS what
museum.py --json wrote. do_bench empties the L2 cache before each call and times it with events;
do_bench_cudagraph replays it with inputs that stay in the cache. ksearch replays too, with inputs
that went round other buffers. Ends with 1 if ksearch is below the warm or 1.3 times above the cold.
"""

import importlib.util
import json
import os
import sys

import torch
from triton.testing import do_bench, do_bench_cudagraph

SLACK = 1.3


def main():
    program, workloads, results = sys.argv[1:]
    name = os.path.splitext(os.path.basename(program))[0]
    spec = importlib.util.spec_from_file_location(name, program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(results, encoding="utf-8") as file:
        records = {record["name"]: record["result"] for record in json.load(file)}
    found = {
        one["workload_uuid"]: one.get("candidate", {}).get("median_us")
        for one in records[name].get("workloads", [])
    }
    rows = {}
    with open(workloads, encoding="utf-8") as file:
        for line in file:
            workload = json.loads(line)["workload"]
            rows[workload["uuid"]] = workload["axes"]["batch_size"]
    good = True
    print(f"{'workload':<12} {'rows':>7} {'ksearch us':>11} {'do_bench':>9} {'cudagraph':>10}")
    for uuid, measured in found.items():
        if measured is None:
            continue
        x = torch.randn(rows[uuid], 4096, device="cuda", dtype=torch.bfloat16)
        weight = torch.randn(4096, device="cuda", dtype=torch.bfloat16)
        out = torch.empty_like(x)
        cold = 1000 * do_bench(lambda: module.run(x, weight, out), return_mode="median")
        with torch.cuda.stream(torch.cuda.Stream()):
            warm = 1000 * do_bench_cudagraph(
                lambda: module.run(x, weight, out), return_mode="median"
            )
        ok = warm / SLACK <= measured <= cold * SLACK
        good = good and ok
        print(f"{uuid:<12} {rows[uuid]:>7} {measured:>11.2f} {cold:>9.2f} {warm:>10.2f}  "
              f"{'ok' if ok else 'BAD'}")
    return 0 if good and found else 1


if __name__ == "__main__":
    sys.exit(main())
