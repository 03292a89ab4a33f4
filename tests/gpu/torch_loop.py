#!/usr/bin/env python3
"""Measures the usual way from a candidate's text to a verdict: torch.utils.cpp_extension builds
the task's baseline with a binding (a source with PyTorch's headers beside the kernel's), then a loop
in Python checks it against the task's Python reference and times it, 10 calls to warm up and 10
timed ones with a flushed cache, on each feedback workload. A new process per candidate, as evaluators
have it that must survive a candidate's crash. Started by figures.sh torch.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import check_tasks

WARM_UP, TIMED = 10, 10


def binding(definition, source):
    axes = list(definition["axes"])
    parameters = ["std::vector<int64_t> axes"]
    body = [f"args.{axis} = axes[{i}];" for i, axis in enumerate(axes)]
    for kind in ("inputs", "outputs"):
        for name, spec in definition[kind].items():
            if spec["shape"] is None:
                parameters.append(f"double {name}")
                body.append(f"args.{name} = {name};")
            else:
                parameters.append(f"torch::Tensor {name}")
                body.append(f"args.{name} = static_cast<decltype(args.{name})>({name}.data_ptr());")
    sizes = "\n  ".join(line for line in body[:len(axes)])
    workspace = "ksearch_workspace_bytes(&args)" if "ksearch_workspace_bytes" in source else "0"
    lines = "\n  ".join(body)
    return f"""#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include "ksearch_task.h"
int64_t workspace_bytes(std::vector<int64_t> axes) {{
  KsearchArgs args = {{}};
  {sizes}
  return {workspace};
}}
int run({', '.join(parameters)}, torch::Tensor workspace) {{
  KsearchArgs args = {{}};
  {lines}
  args.workspace = workspace.data_ptr();
  args.workspace_bytes = workspace.numel();
  return ksearch_run(&args, c10::cuda::getCurrentCUDAStream().stream());
}}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{
  m.def("run", &run);
  m.def("workspace_bytes", &workspace_bytes);
}}
"""


def feedback_workloads(task):
    held_out = [line.split('"')[1] for line in check_tasks.read(task, "task.textproto").splitlines()
                if line.startswith("held_out:")]
    workloads = [json.loads(line)["workload"]
                 for line in check_tasks.read(task, "workloads.jsonl").splitlines() if line]
    return [workload for workload in workloads if workload["uuid"] not in held_out]


def judge_candidate(task, folder):
    """In a process of its own: builds what lies in the folder, checks and times it."""
    start = time.monotonic()
    import numpy as np
    import torch
    from torch.utils.cpp_extension import load
    torch.zeros(1, device="cuda")
    imported = time.monotonic()
    module = load(name="candidate", sources=[os.path.join(folder, name)
                                             for name in ("binding.cpp", "kernel.cu")],
                  extra_include_paths=[folder], extra_cuda_cflags=["-O3", "-std=c++20"],
                  extra_cflags=["-O3"], build_directory=folder, verbose=False)
    built = time.monotonic()
    definition = json.loads(check_tasks.read(task, "definition.json"))
    namespace = {}
    exec(definition["reference"], namespace)  # of the task, which is ours
    flush = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8,
                        device="cuda")
    check_seconds, time_seconds, latencies = 0.0, 0.0, {}
    for workload in feedback_workloads(task):
        begin = time.monotonic()
        axes, values = check_tasks.draw_inputs(torch, np, definition, workload, 1)
        sizes = [axes[axis] for axis in definition["axes"]]
        expected = namespace["run"](*[values[name] for name in definition["inputs"]])
        expected = expected if isinstance(expected, (tuple, list)) else (expected,)
        outputs = [torch.empty_like(tensor) for tensor in expected]
        workspace = torch.empty(max(1, module.workspace_bytes(sizes)), dtype=torch.uint8,
                                device="cuda")
        arguments = [sizes, *[values[name] for name in definition["inputs"]], *outputs, workspace]

        def call():
            if module.run(*arguments) != 0:
                raise RuntimeError("the candidate returned an error")

        call()
        torch.cuda.synchronize()
        for got, want in zip(outputs, expected):
            got, want = got.float(), want.float()
            error = (got - want).abs()
            wrong = (error > 1e-2) & (error / (want.abs() + 1e-8) > 1e-2)
            if bool((wrong | ~torch.isfinite(got)).any()):
                raise RuntimeError(f"wrong output on {workload['uuid']}")
        checked = time.monotonic()
        for _ in range(WARM_UP):
            call()
        times = []
        for _ in range(TIMED):
            flush.zero_()
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            before.record()
            call()
            after.record()
            torch.cuda.synchronize()
            times.append(before.elapsed_time(after) * 1000)
        latencies[workload["uuid"]] = statistics.median(times)
        check_seconds += checked - begin
        time_seconds += time.monotonic() - checked
    print(json.dumps({"import": imported - start, "build": built - imported,
                      "check": check_seconds, "time": time_seconds, "latency_us": latencies}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="gqa_paged_decode")
    parser.add_argument("--count", type=int, default=3, help="candidates")
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        judge_candidate(options.task, options.child)
        return
    end = time.monotonic() + options.seconds
    definition = json.loads(check_tasks.read(options.task, "definition.json"))
    source = check_tasks.read(options.task, "baseline.cu")
    environment = dict(os.environ)
    environment.setdefault("TORCH_CUDA_ARCH_LIST", "9.0a")
    figures = {"task": options.task, "cold_runs": [], "warm_runs": []}
    for number in range(options.count):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("ksearch_task.h", check_tasks.header(definition)),
                               ("binding.cpp", binding(definition, source)),
                               ("kernel.cu", f"{source}\n// candidate {number}\n")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            for kind in ("cold_runs", "warm_runs"):
                left = end - time.monotonic()
                if left < 10:
                    break
                start = time.monotonic()
                try:
                    done = subprocess.run(
                        [sys.executable, os.path.abspath(__file__), "--task", options.task,
                         "--child", folder], env=environment, capture_output=True, text=True,
                        timeout=left, check=False)
                except subprocess.TimeoutExpired:
                    print(f"no verdict within {left:.0f} s")
                    break
                if done.returncode != 0:
                    sys.exit("the loop failed:\n" + done.stderr[-3000:] + done.stdout[-1000:])
                run = json.loads(done.stdout.splitlines()[-1])
                run["total"] = time.monotonic() - start
                figures[kind].append(run)
    if not figures["cold_runs"] or not figures["warm_runs"]:
        sys.exit("there was no time for one candidate")
    print(f"torch.utils.cpp_extension and a loop in Python, {options.task}; medians in seconds")
    print(f"{'build':<7}{'n':>3}" + "".join(f"{s:>9}" for s in ("total", "import", "build", "check",
                                                               "time")))
    for kind in ("cold", "warm"):
        runs = figures[kind + "_runs"]
        figures[kind] = {part: statistics.median(run[part] for run in runs)
                         for part in ("total", "import", "build", "check", "time")}
        print(f"{kind:<7}{len(runs):>3}" + "".join(f"{v:>9.2f}" for v in figures[kind].values()))
    if os.environ.get("OUT"):
        with open(os.path.join(os.environ["OUT"], "figures_torch.json"), "w",
                  encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
