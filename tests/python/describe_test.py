#!/usr/bin/env python3
"""usage: describe_test.py PYTHON SOURCE_DIR: what is reported of KernelBench problems whose file does not end, or
raises, and which answers without work pass."""

import json
import pathlib
import subprocess
import sys
import tempfile

PROBLEMS = {
    "loops": "while True:\n    pass\n",
    "waits": "import threading\nthreading.Event().wait()\n",
    "catches": "import time\ntry:\n    time.sleep(1000)\nexcept Exception:\n    pass\ntime.sleep(1000)\n",
}

RAISING = {
    "at the top level": ("import math\nmath.sqrt(-1)\n", "ValueError: math domain error (problem.py, line 2)"),
    "no Python": ("import torch\nclass Model(\n", "SyntaxError: '(' was never closed (problem.py, line 2)"),
    "in a call": (
        "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.cat(x, x)\n"
        "def get_inputs(): return [torch.rand(4)]\ndef get_init_inputs(): return []\n",
        "(problem.py, line 4)",
    ),
    "a download": (
        "def fetch():\n    raise OSError('[Errno -3] Temporary failure in name resolution')\nfetch()\n",
        "OSError: [Errno -3] Temporary failure in name resolution (problem.py, line 2); problems run without a network",
    ),
}

MODEL = """import torch
class Model(torch.nn.Module):
    def forward(self, x): return %s
def get_inputs(): return [torch.rand(%s)]
def get_init_inputs(): return []
"""
TRIED = {
    # Of one element it is as large as its own middle, which no program knows.
    "a loss": (MODEL % ("(x - x[0, 0]).square().mean()", "64, 64"), "", ""),
    # A mean of so many is the same for all inputs, but not that of four rows.
    "a large mean": (MODEL % ("x.mean()", "2048, 2048"), "a constant and another input's answer", ""),
    "too large a mean": (MODEL % ("x[:, 0].mean()", "4100, 2100"), "", "too large to be tried whole on processors"),
    "ones": (MODEL % ("torch.sigmoid(x + 99)", "64, 64"), "a constant and another input's answer", ""),
}


def described(python, script, problem):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "describe.py").write_text(script)
        pathlib.Path(folder, "problem.py").write_text(problem)
        done = subprocess.run([python, "describe.py"], cwd=folder, capture_output=True, text=True, timeout=100)
    return json.loads(done.stdout.split("ksearch-description: ")[1])


def main():
    python, source = sys.argv[1:]
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode != 0:
        sys.exit(77)
    scripts = pathlib.Path(source, "coordinator/suites/python")
    script = "".join((scripts / name).read_text() for name in ("describing.py", "describe_module.py"))
    for was, now in (("MOST_READING = 60", "MOST_READING = 1"), ("@PRECISION@", "float32"), ("@TOLERANCE@", "1e-4")):
        if was not in script:
            sys.exit(f"FAILED: the script has no {was}")
        script = script.replace(was, now)
    for name, problem in PROBLEMS.items():
        said = described(python, script, problem)
        if "not read to the end within 1 s" not in said.get("error", ""):
            sys.exit(f"FAILED: {name}: {said}")
    for name, (problem, error) in RAISING.items():
        said = described(python, script, problem)
        if not said.get("error", "").endswith(error):
            sys.exit(f"FAILED: {name}: {said}")
    for name, (problem, degenerate, untested) in TRIED.items():
        said = described(python, script, problem)
        right = said["untested"].endswith(untested) if untested else not said["untested"]
        if said["degenerate"] != degenerate or not right:
            sys.exit(f"FAILED: {name}: {said}")


if __name__ == "__main__":
    main()
