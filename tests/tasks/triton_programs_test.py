"""Programs in Triton against the references in torch of their tasks, by Triton's interpreter, on processors:
triton_programs_test.py FOLDER, in which Triton lies or is installed (triton_on_cpu.py)

The programs are those of the tables that say what a GPU makes of each. Honest ones must be right by the
tolerance of their task, with every configuration of their autotuner; those said to be INCORRECT must not be.
Sizes are small. Skipped (status 77) where Triton's interpreter is not to be had.
"""

import importlib.util
import inspect
import json
import math
import os
import re
import sys
import time

from triton_on_cpu import NoTriton, triton_in

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TESTS = os.path.join(ROOT, "tests")
PROGRAMS = os.path.join(TESTS, "gpu", "python")
CORPUS = os.path.join(TESTS, "bad_candidates", "python_gpu")
TASKS = (os.path.join(ROOT, "configs", "tasks", "cuda"), os.path.join(TESTS, "gpu", "tasks"))
REFERENCES = os.path.join(TESTS, "tasks", "torch")
# From tests/gpu/python/search.cassette.textproto, which is no table.
SEARCHED = (
    ("search/two_reads", "rmsnorm_bf16", "HONEST"),
    ("search/autotuned", "rmsnorm_bf16", "HONEST"),
    ("search/no_weight", "rmsnorm_bf16", "INCORRECT"),
)
BF16_ROUNDING = 2.0**-8
FP8_KINDS = 256
CONTENTS = 2  # of the same tensors, one after the other

# What each task is tried with: sizes of axes, in place of the task's where it has some, and for the paged
# ones the lengths of the sequences.
SIZES = {
    "rmsnorm_bf16": [{"batch_size": 5}],
    "gemm_bf16": [{"M": rows, "N": 256, "K": 192} for rows in (5, 70, 530)],
    "gemm_fp8_rows": [{"M": 70, "N": 256, "K": 256}],
    "gqa_paged_decode": [{"lengths": [100, 0, 1]}],
    "mla_paged_decode": [{"lengths": [70, 0, 1]}],
}
SPARE_PAGES = 20


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def load(path):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(folder, name):
    for line in read(folder, name).splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()[:3]


def programs():
    """(path, task, whether it is right) of each program in Triton that numbers can judge, once."""
    rows = [(PROGRAMS, row) for row in (*table(PROGRAMS, "programs.txt"), *SEARCHED)]
    rows += [(CORPUS, row) for row in table(CORPUS, "corpus.txt")]
    found = {}
    for folder, (name, task, verdict) in rows:
        path = os.path.normpath(os.path.join(folder, name + ".py"))
        verdicts = verdict.split("|")
        judged = "HONEST" in verdicts or "INCORRECT" in verdicts
        if judged and "@triton.jit" in read(path):
            found[path] = (task, "HONEST" in verdicts)
    return [(path, *rest) for path, rest in found.items()]


class Task:
    def __init__(self, name):
        self.name = name
        folder = next(f for f in (os.path.join(tasks, name) for tasks in TASKS) if os.path.isdir(f))
        self.definition = json.loads(read(folder, "definition.json"))
        workload = json.loads(read(folder, "workloads.jsonl").splitlines()[0])["workload"]
        self.recipes = workload["inputs"]
        settings = read(folder, "task.textproto")
        self.atol, self.rtol, ratio, yardstick = (
            float(re.search(rf"^  {field}: (\S+)$", settings, re.MULTILINE).group(1))
            for field in ("atol", "rtol", "max_rms_error_ratio", "rms_yardstick")
        )
        # As the verifier has it for an output in bfloat16.
        self.relative_rms = ratio * max(yardstick, BF16_ROUNDING)
        reference = os.path.join(REFERENCES, name + ".py")
        if not os.path.exists(reference):
            reference = os.path.join(folder, "baseline.py")
        self.reference = load(reference).run

    def axes(self, sizes):
        axes = {k: v["value"] for k, v in self.definition["axes"].items() if "value" in v}
        axes.update(sizes)
        if "lengths" in axes:
            lengths = axes["lengths"]
            axes["batch_size"], axes["len_indptr"] = len(lengths), len(lengths) + 1
            axes["num_kv_indices"] = sum(lengths)
            axes["num_pages"] = sum(lengths) + SPARE_PAGES
        return axes

    def tensor(self, spec, axes):
        shape = [axes[axis] for axis in spec["shape"]]
        if spec["dtype"] == "float8_e4m3fn":  # as bits, since not every torch has it; no NaN
            return torch.randint(0, 127, shape).add(128 * torch.randint(0, 2, shape)).to(torch.uint8)
        return torch.randn(shape).to(getattr(torch, spec["dtype"]))

    def inputs(self, axes):
        made = {}
        for name, spec in self.definition["inputs"].items():
            recipe = self.recipes[name]
            if recipe["type"] == "scalar":
                made[name] = recipe["value"]
            elif recipe.get("recipe") == "indptr":
                ends = torch.tensor([0, *axes["lengths"]]).cumsum(0)
                made[name] = ends.to(torch.int32)
            elif recipe.get("recipe") == "page_indices":
                made[name] = torch.randperm(axes["num_pages"])[: axes["num_kv_indices"]].int()
            else:
                made[name] = self.tensor(spec, axes)
        for name, spec in self.definition["inputs"].items():
            if spec["shape"] and spec["shape"][0] == "num_pages":  # unused pages may hold anything
                used = torch.zeros(axes["num_pages"], dtype=torch.bool)
                used[made["kv_indices"].long()] = True
                made[name][~used] = math.nan
        return made

    def poisoned_outputs(self, axes):
        return {
            name: torch.full(
                [axes[axis] for axis in spec["shape"]], math.nan, dtype=getattr(torch, spec["dtype"])
            )
            for name, spec in self.definition["outputs"].items()
        }

    def is_fp8(self, name):
        return self.definition["inputs"][name]["dtype"] == "float8_e4m3fn"

    def wanted(self, inputs):
        values = [fp8_values()[v.long()] if self.is_fp8(n) else v for n, v in inputs.items()]
        outputs = self.reference(*values)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def call(self, run, inputs, outputs):
        arguments = [
            triton.reinterpret(v, triton.language.float8e4nv) if self.is_fp8(n) else v
            for n, v in inputs.items()
        ]
        if len(inspect.signature(run).parameters) > len(arguments):
            run(*arguments, *outputs.values())
            return tuple(outputs.values())
        returned = run(*arguments)
        return returned if isinstance(returned, tuple) else (returned,)

    def error(self, got, want):
        """The RMS error as a part of the limit; infinite where an element is out of tolerance."""
        if got.shape != want.shape or got.dtype != want.dtype:
            return math.inf
        got, want = got.double(), want.double()
        infinite = torch.isinf(want)
        if not torch.equal(got[infinite], want[infinite]):
            return math.inf
        got, want = got[~infinite], want[~infinite]
        off = (got - want).abs()
        if not bool((off <= self.atol + self.rtol * want.abs()).all()):  # NaN is not
            return math.inf
        return float(off.square().mean().sqrt() / want.square().mean().sqrt()) / self.relative_rms


def fp8_values():
    """What each of the bytes means in e4m3."""
    values = []
    for byte in range(FP8_KINDS):
        exponent, mantissa = byte >> 3 & 15, byte & 7
        value = math.ldexp(8 + mantissa, exponent - 10) if exponent else math.ldexp(mantissa, -9)
        values.append(-value if byte & 128 else value)
    return torch.tensor(values, dtype=torch.float32)


def configurations(module):
    """Makes the program's autotuner use one configuration after the other: there is no GPU to time them on."""
    tuners = [v for v in vars(module).values() if isinstance(v, triton.runtime.Autotuner)]
    if not tuners:
        yield
    for tuner in tuners:
        different = {str(config.kwargs): config for config in tuner.configs}
        for config in different.values():
            tuner.configs = [config]
            yield


def largest_error(path, task):
    """And how many calls there were."""
    module = load(path)
    largest, calls = 0.0, 0
    for _ in configurations(module):
        for sizes in SIZES[task.name]:
            axes = task.axes(sizes)
            inputs = task.inputs(axes)
            for content in range(CONTENTS):
                if content > 0:
                    for name, value in task.inputs(axes).items():
                        if isinstance(value, torch.Tensor):
                            inputs[name].copy_(value)
                want = task.wanted(inputs)
                got = task.call(module.run, inputs, task.poisoned_outputs(axes))
                assert len(got) == len(want), (path, len(got))
                largest = max(largest, *(task.error(g, w) for g, w in zip(got, want)))
                calls += 1
    return largest, calls


def main():
    torch.manual_seed(20261123)
    bad = 0
    tasks = {}
    for path, name, right in programs():
        begin = time.monotonic()
        if name not in tasks:
            tasks[name] = Task(name)
        error, calls = largest_error(path, tasks[name])
        as_said = (error <= 1) == right
        words = f"RMS error {error:.2f} of the limit" if error < math.inf else "out of tolerance"
        bad += not as_said
        print(
            f"{'ok ' if as_said else 'BAD'} {os.path.relpath(path, TESTS):57} {name:17} {calls:2} calls, "
            f"{words}{'' if right else ', as it must be' if as_said else ', but must be wrong'}, "
            f"{time.monotonic() - begin:.1f} s"
        )
    if not tasks:
        sys.exit("no programs in Triton")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        triton = triton_in(sys.argv[1])
    except NoTriton as why:
        print(f"skipped: {why}")
        sys.exit(77)
    import numpy
    import torch

    numpy.seterr(all="ignore")  # kernels take logarithms of 0 where they leave them out afterwards
    sys.exit(main())
