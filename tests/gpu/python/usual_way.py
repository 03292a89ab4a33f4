"""From a program's text to a verdict in the usual way, to compare ksearch's with:
usual_way.py PROGRAM WORKLOADS

A process of its own imports torch, loads PROGRAM, a `run` for rmsnorm_bf16, compiles it by its
first call, compares one call for each workload of WORKLOADS with torch, and times it by
triton.testing.do_bench. Nothing is isolated, hidden or repeated. Prints the seconds of each part.
"""

import importlib.util
import json
import sys
import time

START = time.monotonic()


def main():
    program, workloads = sys.argv[1:]
    import torch
    from triton.testing import do_bench

    torch.cuda.init()
    imported = time.monotonic()
    spec = importlib.util.spec_from_file_location("program", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    first = checked = timed = 0.0
    with open(workloads, encoding="utf-8") as file:
        sizes = [json.loads(line)["workload"]["axes"]["batch_size"] for line in file][:5]
    for rows in sizes:
        begin = time.monotonic()
        x = torch.randn(rows, 4096, device="cuda", dtype=torch.bfloat16)
        weight = torch.randn(4096, device="cuda", dtype=torch.bfloat16)
        out = torch.empty_like(x)
        module.run(x, weight, out)
        torch.cuda.synchronize()
        called = time.monotonic()
        wide = x.double()
        right = wide * torch.rsqrt(wide.square().mean(1, keepdim=True) + 1e-5) * weight.double()
        torch.testing.assert_close(out.double(), right, atol=1e-2, rtol=1e-2)
        compared = time.monotonic()
        do_bench(lambda: module.run(x, weight, out), return_mode="median")
        first += called - begin
        checked += compared - called
        timed += time.monotonic() - compared
    print(f"import {imported - START:.2f} s, first calls {first:.2f} s, checks {checked:.2f} s, "
          f"do_bench {timed:.2f} s, {len(sizes)} workloads; in all {time.monotonic() - START:.2f} s "
          "and what the interpreter takes to start")


if __name__ == "__main__":
    main()
