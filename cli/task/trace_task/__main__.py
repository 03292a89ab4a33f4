"""python3 -I -B trace_task NAME FILE FUNCTION DTYPE WORKLOAD...: a function as a task.

FUNCTION may be empty if FILE defines only one; DTYPE too: float32, or as make_inputs returns.
WORKLOAD is "n=1024,d=64". Calls the function on inputs as a task's workloads draw
them, and prints one JSON object: {"error"}, or what `ksearch task new` makes files of (describe()).

FILE says what the inputs are by one of
  def make_inputs(seed, n, d): return inputs for these axes, as a dict by argument or in order
  SHAPES = {"x": "n d", "weight": "d"}; DTYPES = {"mask": "bool"}
  def function(x: "n d", weight: "d")
"""

import json
import os
import sys

from ksearch_trace.description import describe
from ksearch_trace.inputs import Inputs
from ksearch_trace.refused import Refused
from ksearch_trace.traced_function import TracedFunction
from ksearch_trace.user_file import check_signature, find_function, load_twice


def parse_workload(text):
    axes = {}
    for part in text.split(","):
        axis, value = part.split("=")
        axes[axis] = int(value)
    return axes


def trace(name, path, function, dtype, workloads):
    try:
        import torch
    except ImportError as error:
        raise Refused(
            f"{sys.executable} cannot import torch ({error}): give --interpreter a python that can"
        )
    assumed = []
    module, twin = load_twice(torch, path, assumed)
    chosen = find_function(module, path, function)
    found = getattr(module, chosen)
    check_signature(path, module, chosen, found)
    inputs = Inputs(torch, path, module, chosen, dtype, assumed)
    traced = TracedFunction(torch, path, found, inputs, assumed)
    traced.twin = getattr(twin, chosen, None)
    return describe(name, traced, [parse_workload(text) for text in workloads])


def main():
    out = os.dup(1)
    os.dup2(2, 1)  # what the user's file prints is not the answer
    name, path, function, dtype = sys.argv[1:5]
    try:
        answer = trace(name, path, function, dtype, sys.argv[5:])
    except Refused as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": f"{path}: the memory of this machine is not enough for these --shapes"}
    try:
        text = json.dumps(answer, allow_nan=False)
    except ValueError:
        text = json.dumps({"error": f"{path}: a number of the task is infinite or not a number"})
    with os.fdopen(out, "wb") as stream:
        stream.write((text + "\n").encode("ascii"))


if __name__ == "__main__":
    main()
