"""Times a program of this folder with triton.testing.do_bench and compares with ksearch's times:
do_bench.py PROGRAM WORKLOADS RESULTS

PROGRAM defines `run` for rmsnorm_bf16, WORKLOADS is that task's workloads.jsonl, RESULTS what
corpus.py --json wrote. do_bench writes over the L2 cache before each call and times the call with events;
do_bench_cudagraph replays calls with inputs that stay in the cache. ksearch replays single calls,
with inputs that went round other buffers. Two things differ from do_bench, and a column shows each:
  clean   as do_bench, but what fills the cache was read, not written, so that the call does not wait
          for somebody else's lines to be written back
  empty   what the two events show around a kernel that does nothing; of ksearch's time, a call that
          does nothing has 2.05 us (docs/internals/benchmarks.md, "Isolated calls on a GPU")
Ends with 1 where ksearch's time is over 5 % above `clean`, or further below it than 5 % and what
`empty` is beyond 2.05 us.
"""

import importlib.util
import json
import os
import statistics
import sys

import torch
from triton.testing import do_bench, do_bench_cudagraph

SLACK = 0.05
EMPTY_CALL_US = 2.05
FLUSH_BYTES = 1 << 30  # takes longer to read than a call takes to queue
REPEATS = 200


def with_clean_cache(call):
    """Returns the median microseconds of `call` and of an empty kernel, by events."""
    filler = torch.ones(FLUSH_BYTES // 4, device="cuda")
    total = torch.empty((), device="cuda")
    nothing = torch.empty(1, device="cuda")
    medians = []
    for work in (call, nothing.zero_):
        times = []
        for _ in range(REPEATS):
            torch.sum(filler, 0, out=total)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            work()
            end.record()
            times.append((begin, end))
        torch.cuda.synchronize()
        medians.append(1000 * statistics.median(b.elapsed_time(e) for b, e in times))
    return medians


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
    print(f"{'workload':<12} {'rows':>7} {'ksearch us':>11} {'do_bench':>9} {'cudagraph':>10} "
          f"{'clean':>8} {'empty':>8}")
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
        clean, empty = with_clean_cache(lambda: module.run(x, weight, out))
        least = clean * (1 - SLACK) - max(0.0, empty - EMPTY_CALL_US)
        ok = least <= measured <= clean * (1 + SLACK)
        good = good and ok
        print(f"{uuid:<12} {rows[uuid]:>7} {measured:>11.2f} {cold:>9.2f} {warm:>10.2f} "
              f"{clean:>8.2f} {empty:>8.2f}  {'ok' if ok else 'BAD'}")
    return 0 if good and found else 1


if __name__ == "__main__":
    sys.exit(main())
