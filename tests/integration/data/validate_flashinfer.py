"""validate_flashinfer.py FOLDER DATASET: reads a data set with flashinfer-bench's own models, and what ksearch
added to it as flashinfer-bench's commands read a data set.

They and what they need beside torch are installed into FOLDER by pip, once. Prints what was read, or
"skipped: why" and ends with 77 where they cannot be had; ends with 1 and the model's words if a file is
refused.
"""

import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

PACKAGES = ["pydantic==2.12.5"]
MODELS = "flashinfer-bench==0.1.2"
PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
PIP += ["--only-binary", ":all:", "--timeout", "15", "--retries", "1", "--target"]
PIP_SECONDS = 100


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def install(folder):
    if os.path.isdir(folder):
        return
    partial = folder + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    # Its other dependencies are a torch of its own and whole libraries of kernels.
    for packages in (PACKAGES, ["--no-deps", MODELS]):
        command = [sys.executable, "-I", *PIP, partial, *packages]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PIP_SECONDS
            )
        except subprocess.TimeoutExpired:
            skip(f"pip took more than {PIP_SECONDS} s")
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["it says nothing"]
            skip("pip did not install " + " ".join(packages) + ": " + lines[-1][:300])
    os.rename(partial, folder)


def load(folder):
    sys.path.insert(0, folder)
    # The package itself would import the rest of it.
    package = types.ModuleType("flashinfer_bench")
    package.__path__ = [os.path.join(folder, "flashinfer_bench")]
    sys.modules["flashinfer_bench"] = package
    # Reads tensors, of which there are none here.
    for name in ("safetensors", "safetensors.torch"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["safetensors"].torch = sys.modules["safetensors.torch"]
    return importlib.import_module("flashinfer_bench.data")


def read_as_commands_do(data, root, traces):
    """`report summary` and `report best` of a data set without the solutions that are broken on purpose."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("definitions", "workloads", "solutions/ksearch", "traces/ksearch"):
            shutil.copytree(root / part, os.path.join(folder, part))
        known = data.TraceSet.from_path(folder)
        summary = known.summary()
        assert summary["passed"] == summary["total"] == traces, summary
        for name in known.solutions:
            best = known.get_best_trace(name)
            assert best is not None and best.evaluation.performance.speedup_factor > 1, best


def main():
    folder, root = sys.argv[1], pathlib.Path(sys.argv[2])
    install(folder)
    try:
        data = load(folder)
    except ImportError as error:
        skip(f"flashinfer_bench.data cannot be imported: {error}")
    definitions, solutions, traces = set(), set(), 0
    for path in sorted(root.glob("definitions/**/*.json")):
        definitions.add(data.Definition(**json.loads(path.read_text())).name)
    for path in sorted(root.glob("solutions/ksearch/**/*.json")):
        solution = data.Solution(**json.loads(path.read_text()))
        assert solution.definition in definitions, path
        assert solution.name == path.stem, path
        solutions.add(solution.name)
    for path in sorted(root.glob("traces/ksearch/**/*.jsonl")):
        for line in path.read_text().splitlines():
            trace = data.Trace(**json.loads(line))
            assert trace.definition in definitions and trace.solution in solutions, line
            assert trace.evaluation.status == data.EvaluationStatus.PASSED, line
            assert trace.evaluation.performance.latency_ms > 0, line
            traces += 1
    read_as_commands_do(data, root, traces)
    print(f"valid: {len(definitions)} definitions, {len(solutions)} solutions, {traces} traces")


if __name__ == "__main__":
    main()
