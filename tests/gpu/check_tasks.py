#!/usr/bin/env python3
"""Checks the CUDA tasks at full size on a GPU. Needs nvcc, PyTorch with CUDA and numpy; no network.

  python3 tests/gpu/check_tasks.py [--seconds N] [TASK...]

Builds every reference.cu and baseline.cu, draws inputs by the recipes of workloads.jsonl, compares
with the same mathematics in PyTorch (float64) and prints one line per workload:

  us     median time of the reference and of the baseline, cold L2
  ref    relative RMS error of the reference against float64 (the rounding of the output type) and
         its greatest absolute error
  base   relative RMS error of the baseline against the reference; a '!' follows if the task's
         tolerance refuses it
  honest the same for an honest program of lower precision: the largest is what rms_yardstick of
         task.textproto should be
  lse    relative errors of the reference and of the baseline, of tasks that have one
  |      the errors of zeros, a copied input, work without its last half percent, and fp8, as
         multiples of what the task allows (below 1 it would pass: marked '!')
"""
import argparse
import ctypes
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from task_mathematics import Mathematics

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TASKS = os.path.join(ROOT, "configs", "tasks", "cuda")
C_TYPES = {"float32": "float", "bfloat16": "uint16_t", "float16": "uint16_t",
           "float8_e4m3fn": "uint8_t", "float8_e5m2": "uint8_t", "int64": "int64_t",
           "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "bool": "uint8_t"}
ROUNDING = {"float32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
# trimul_upstream uses trimul's programs; its small cases suffice to test it.
MAX_PAIRS = {"trimul_upstream": 300000}


def read(task, name):
    with open(os.path.join(TASKS, task, name), encoding="utf-8") as file:
        return file.read()


def header(definition):
    """ksearch_task.h: axes, inputs, outputs, workspace; each field is 8 bytes wide."""
    fields = [f"int64_t {axis};" for axis in definition["axes"]]
    for kind in ("inputs", "outputs"):
        for name, spec in definition[kind].items():
            floating = "float" in spec["dtype"]
            if spec["shape"] is None:
                fields.append(f"{'double' if floating else 'int64_t'} {name};")
            else:
                const = "const " if kind == "inputs" else ""
                fields.append(f"{const}{C_TYPES[spec['dtype']]}* {name};")
    body = "\n  ".join(fields + ["void* workspace;", "int64_t workspace_bytes;"])
    return ("#pragma once\n#include <stdint.h>\n#include <cuda_runtime.h>\n"
            f"typedef struct KsearchArgs {{\n  {body}\n}} KsearchArgs;\n"
            'extern "C" {\nint ksearch_run(const KsearchArgs* args, cudaStream_t stream);\n'
            "int64_t ksearch_workspace_bytes(const KsearchArgs* args);\n}\n")


def start_builds(tasks, folder, arch):
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    running = []
    for task in tasks:
        os.makedirs(os.path.join(folder, task))
        with open(os.path.join(folder, task, "ksearch_task.h"), "w", encoding="utf-8") as file:
            file.write(header(json.loads(read(task, "definition.json"))))
        for program in ("reference", "baseline"):
            command = [nvcc, "-std=c++20", "-O3", f"-gencode=arch=compute_{arch},code=sm_{arch}",
                       "-Xcompiler", "-fPIC", "-shared", "-I", os.path.join(folder, task), "-o",
                       os.path.join(folder, task, program + ".so"),
                       os.path.join(TASKS, task, program + ".cu")]
            running.append((task, program, subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
    return running


# ------------------------------------------------------------------------- one process per task


def draw_inputs(torch, np, definition, workload, seed):
    axes = {n: a["value"] for n, a in definition["axes"].items() if a["type"] == "const"}
    axes.update(workload["axes"])
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)

    def cuts(recipe, segments, total):
        least = recipe.get("min_length", 0)
        free = total - least * segments
        inner = np.sort(rng.integers(0, free + 1, segments - 1))
        return np.concatenate([[0], inner, [free]]) + least * np.arange(segments + 1)

    values = {}
    for name, spec in definition["inputs"].items():
        recipe = workload["inputs"][name]
        if recipe["type"] == "scalar":
            values[name] = recipe["value"]
            continue
        shape = [axes[axis] for axis in spec["shape"]]
        kind = recipe.get("recipe", "")
        if kind == "indptr":
            total = axes[recipe["total_axis"]]
            if "plus" in recipe:
                other = values[recipe["plus"]].cpu().numpy()
                bounds = other + cuts(recipe, shape[0] - 1, total - int(other[-1]))
            else:
                bounds = cuts(recipe, shape[0] - 1, total)
            values[name] = torch.tensor(bounds.tolist(), dtype=torch.int32, device="cuda")
        elif kind == "page_indices":
            pool = axes[recipe["pool_axis"]]
            order = np.arange(pool) if recipe["contiguous"] else rng.permutation(pool)
            values[name] = torch.tensor(order[:shape[0]].tolist(), dtype=torch.int32, device="cuda")
        elif spec["dtype"] == "bool":
            values[name] = torch.rand(shape, device="cuda") < recipe.get("probability", 0.5)
        else:
            if recipe.get("distribution") == "cauchy":
                uniform = torch.rand(shape, device="cuda") * 0.999999 - 0.4999995
                drawn = torch.tan(math.pi * uniform)
            else:
                drawn = torch.randn(shape, device="cuda")
            if "float8" in spec["dtype"]:
                drawn = drawn.clamp(-2, 2)
            drawn = drawn * recipe.get("scale", 1) + recipe.get("offset", 0)
            if "raise" in recipe:
                first = recipe["raise"]["first"]
                drawn[..., first:first + recipe["raise"]["count"]] += recipe["raise"]["by"]
            values[name] = drawn.to(getattr(torch, spec["dtype"]))
            del drawn
    return axes, values


class Program:
    """One shared object with its arguments; outputs begin as NaN, the workspace as 0xff."""

    def __init__(self, torch, path, definition, axes, values):
        self.torch = torch
        self.library = ctypes.CDLL(path)
        self.outputs = {}
        slots = [struct.pack("<q", axes[axis]) for axis in definition["axes"]]
        for name, spec in definition["inputs"].items():
            value = values[name]
            if spec["shape"] is not None:
                slots.append(struct.pack("<q", value.data_ptr()))
            elif "float" in spec["dtype"]:
                slots.append(struct.pack("<d", float(value)))
            else:
                slots.append(struct.pack("<q", int(value)))
        for name, spec in definition["outputs"].items():
            shape = [axes[axis] for axis in spec["shape"]]
            tensor = torch.empty(shape, dtype=getattr(torch, spec["dtype"]), device="cuda")
            tensor.fill_(float("nan"))
            self.outputs[name] = tensor
            slots.append(struct.pack("<q", tensor.data_ptr()))
        raw = b"".join(slots)
        arguments = ctypes.create_string_buffer(raw + bytes(16), len(raw) + 16)
        wanted = 0
        if hasattr(self.library, "ksearch_workspace_bytes"):
            self.library.ksearch_workspace_bytes.restype = ctypes.c_int64
            wanted = self.library.ksearch_workspace_bytes(arguments)
        self.workspace = torch.full((wanted + 1,), 255, dtype=torch.uint8, device="cuda")
        tail = struct.pack("<qq", self.workspace.data_ptr(), wanted)
        self.arguments = ctypes.create_string_buffer(raw + tail, len(raw) + 16)

    def run(self):
        stream = self.torch.cuda.current_stream().cuda_stream
        status = self.library.ksearch_run(self.arguments, ctypes.c_void_p(stream))
        if status != 0:
            raise RuntimeError(f"ksearch_run returned {status}")

    def median_us(self, flush, seconds=0.2):
        torch, times, begin = self.torch, [], time.time()
        while len(times) < 3 or (len(times) < 30 and time.time() - begin < seconds):
            flush.add_(1)
            before = torch.cuda.Event(enable_timing=True)
            after = torch.cuda.Event(enable_timing=True)
            before.record()
            self.run()
            after.record()
            after.synchronize()
            times.append(before.elapsed_time(after) * 1000)
        return sorted(times)[len(times) // 2]


def relative_rms(got, want):
    """Over elements where `want` is finite; infinite if a value that should be finite is not."""
    got, want = got.double(), want.double()
    finite = want.isfinite()
    if not bool(finite.all()):
        if not bool((got[~finite] == want[~finite]).all()):
            return math.inf
        got, want = got[finite], want[finite]
    if got.numel() == 0:
        return 0.0
    error = (got - want).square().sum().sqrt().item()
    scale = want.square().sum().sqrt().item()
    if not math.isfinite(error):
        return math.inf
    return 0.0 if error == 0 else error / max(scale, 1e-150)


def wrong_share(got, want, atol, rtol):
    got, want = got.double(), want.double()
    off = (got - want).abs()
    right = (off <= atol) | (off / (want.abs() + 1e-8) <= rtol) | (got == want)
    return 1 - right.double().mean().item() if right.numel() else 0.0


def copied(torch, values, definition, like):
    """The first floating input, repeated to the size of an output."""
    for name, spec in definition["inputs"].items():
        if spec["shape"] is not None and "float" in spec["dtype"]:
            flat = values[name].reshape(-1)[:like.numel()].float()
            repeats = -(-like.numel() // flat.numel())
            return flat.repeat(repeats)[:like.numel()].reshape(like.shape).to(like.dtype)
    return torch.ones_like(like)


def check_workload(torch, np, folder, task, definition, workload, limits, flush):
    """Prints one line; returns the errors of an honest program and of the baseline."""
    axes, values = draw_inputs(torch, np, definition, workload, 1)
    mathematics = getattr(Mathematics(torch), definition["op_type"])
    outputs, times = {}, []
    for program in ("reference", "baseline"):
        built = Program(torch, os.path.join(folder, task, program + ".so"), definition, axes, values)
        built.run()
        torch.cuda.synchronize()
        outputs[program] = {k: t.clone() for k, t in built.outputs.items()}
        times.append(built.median_us(flush))
        del built
    reference, base = outputs["reference"], outputs["baseline"]
    main = next(iter(reference))  # the first output; the other is an lse
    dtype = definition["outputs"][main]["dtype"]
    allowed = limits["ratio"] * max(limits["yardstick"], ROUNDING[dtype])

    exact = mathematics(axes, values, "exact")
    ref_rms = relative_rms(reference[main], exact[main])
    ref_max = (reference[main].double() - exact[main]).abs().max().item()
    note = ""
    for output in list(reference)[1:]:
        off = relative_rms(reference[output], exact[output])
        off_base = relative_rms(base[output], reference[output])
        note += f" {output} {off:.0e}/{off_base:.0e}{'!' if off > 1e-5 or off_base > 1e-4 else ''}"
    del exact
    base_rms = relative_rms(base[main], reference[main])
    refused = base_rms > allowed or any(
        1 - wrong_share(base[o], reference[o], limits["atol"], limits["rtol"]) < limits["matched"]
        for o in reference)

    def rms_of(mode):
        rounded = mathematics(axes, values, mode)[main].to(reference[main].dtype)
        return relative_rms(rounded, reference[main])

    honest = rms_of("honest")
    cheats = {"zeros": relative_rms(torch.zeros_like(reference[main]), reference[main]),
              "copy": relative_rms(copied(torch, values, definition, reference[main]),
                                   reference[main]),
              "drop": rms_of("drop"), "fp8": rms_of("fp8")}
    shown = " ".join(f"{k} {r / allowed:.3g}{'' if r > allowed else '!'}" for k, r in cheats.items())
    bound = 1e-5 if dtype == "float32" else 2.5e-3
    print(f"{workload['uuid']}: us {times[0]:.0f}/{times[1]:.1f} ref {ref_rms:.2e}"
          f"{'' if ref_rms < bound else '!'} max {ref_max:.1e} base {base_rms:.1e}"
          f"{'!' if refused else ''} honest {honest:.1e}{'' if honest < allowed else '!'}"
          f"{note} | {shown}", flush=True)
    return honest, base_rms


def check_task(task, folder, seconds):
    import numpy as np
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    definition = json.loads(read(task, "definition.json"))
    settings = read(task, "task.textproto")

    def setting(field, default):
        found = re.search(rf"^ +{field}: ([0-9.e+-]+)", settings, re.MULTILINE)
        return float(found[1]) if found else default

    limits = {"atol": setting("atol", 0), "rtol": setting("rtol", 0),
              "matched": setting("required_matched_ratio", 1),
              "ratio": setting("max_rms_error_ratio", 0), "yardstick": setting("rms_yardstick", 0)}
    flush = torch.zeros(64 << 20, dtype=torch.float32, device="cuda")
    begin, honest, base = time.time(), [0.0], [0.0]
    print(f"== {task}: yardstick {limits['yardstick']:g}, ratio {limits['ratio']:g}", flush=True)
    for line in read(task, "workloads.jsonl").splitlines():
        workload = json.loads(line)["workload"]
        if time.time() - begin > seconds:
            print(f"{workload['uuid']}: left out, {seconds:.0f} s are over")
            continue
        axes = workload["axes"]
        pairs = axes.get("batch_size", 0) * axes.get("seq_len", 0)**2
        if pairs > MAX_PAIRS.get(task, 1 << 60):
            continue
        try:
            torch.cuda.empty_cache()
            errors = check_workload(torch, np, folder, task, definition, workload, limits, flush)
            honest.append(errors[0])
            base.append(errors[1])
        except Exception as error:  # pylint: disable=broad-except; the next may still tell something
            print(f"{workload['uuid']}: FAILED {type(error).__name__}: {str(error)[:200]}",
                  flush=True)
            if "CUDA error" in str(error):
                break
    print(f"-- {task}: largest honest rms {max(honest):.2e}, baseline {max(base):.2e}, "
          f"{time.time() - begin:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=190, help="for everything but building")
    parser.add_argument("--one", metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_args()
    if options.one:
        check_task(options.tasks[0], options.one, options.seconds)
        return 0
    tasks = options.tasks or sorted(os.listdir(TASKS))
    import torch
    if not torch.cuda.is_available():
        print("there is no GPU here")
        return 1
    capability = torch.cuda.get_device_capability()
    arch = f"{capability[0]}{capability[1]}{'a' if capability[0] >= 9 else ''}"
    print(f"{torch.cuda.get_device_name()}, sm_{arch}, torch {torch.__version__}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        begin, broken = time.time(), set()
        for task, program, process in start_builds(tasks, folder, arch):
            text = process.communicate()[0]
            if process.returncode != 0:
                broken.add(task)
            if text.strip():
                print(f"nvcc {task}/{program}.cu rc={process.returncode}: {text.strip()[:600]}")
        print(f"built in {time.time() - begin:.0f} s", flush=True)
        begin = time.time()
        for i, task in enumerate(tasks):
            if task in broken:
                failed = 1
                continue
            left = max(5.0, options.seconds - (time.time() - begin))
            share = min(left, max(5.0, left / (len(tasks) - i) * 2.5))
            try:
                # A separate process, because a sticky CUDA error lasts as long as its process.
                done = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", folder,
                                       "--seconds", str(share), task],
                                      timeout=left + 20, check=False)
                failed |= int(done.returncode != 0)
            except subprocess.TimeoutExpired:
                print(f"-- {task}: did not end", flush=True)
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
