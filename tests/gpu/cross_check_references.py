#!/usr/bin/env python3
"""Judges the CUDA tasks' references in torch, tests/tasks/torch, against reference.cu; cross_check_references.sh starts it.

  cross_check_references.py tasks FOLDER            makes copies of the tasks, below FOLDER
  cross_check_references.py judge FOLDER [TASK...]  judges, prints a line for each workload

Each is a candidate that the task's own reference.cu judges. Of each task there are two copies: one judges the workloads that guide a search, the other those that are held out. The
errors are `ksearch eval --check`'s; RMS errors are multiples of the task's rms_yardstick.
"""
import json
import os
import re
import shutil
import sys

from evaluation import evaluate, outcome

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TASKS = os.path.join(ROOT, "configs", "tasks", "cuda")
REFERENCES = os.path.join(ROOT, "tests", "tasks", "torch")
HELD_OUT = re.compile(r'^held_out: "([^"]*)"\n', re.MULTILINE)
KINDS = ("guiding", "held_out")
SECONDS = 300


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def write(text, *parts):
    with open(os.path.join(*parts), "w", encoding="utf-8") as file:
        file.write(text)


def copy_task(task, folder, kind):
    name = f"{task}__{kind}"
    source, target = os.path.join(TASKS, task), os.path.join(folder, name)
    os.makedirs(target)
    for program in ("reference.cu", "baseline.cu"):
        shutil.copy(os.path.join(source, program), target)
    definition = json.loads(read(source, "definition.json"))
    definition["name"] = name
    write(json.dumps(definition), target, "definition.json")
    workloads = [json.loads(line) for line in read(source, "workloads.jsonl").splitlines() if line]
    for workload in workloads:
        workload["definition"] = name
    write("".join(json.dumps(w) + "\n" for w in workloads), target, "workloads.jsonl")
    settings = read(source, "task.textproto")
    held_out = set(HELD_OUT.findall(settings))
    if kind == "held_out":
        uuids = [w["workload"]["uuid"] for w in workloads]
        held_out = [uuid for uuid in uuids if uuid not in held_out]
        settings = HELD_OUT.sub("", settings)
        settings += "".join(f'held_out: "{uuid}"\n' for uuid in held_out)
    write(settings, target, "task.textproto")
    return len(workloads) - len(held_out)


def tasks_with_both():
    return [
        task
        for task in sorted(os.listdir(TASKS))
        if os.path.exists(os.path.join(REFERENCES, task + ".py"))
    ]


def judge(task, kind):
    """Returns whether every workload passed."""
    result = evaluate(
        f"{task}__{kind}", [os.path.join(REFERENCES, task + ".py")], ["--check"], SECONDS
    )
    for workload in result.get("workloads", []):
        correctness = workload.get("correctness", {})
        print(
            f"{task:22} {workload['workload_uuid']:28} {outcome(workload):12} "
            f"max {correctness.get('max_abs_error', 0):.2g}, "
            f"RMS {correctness.get('rms_error_ratio', 0):.2g} yardsticks"
        )
    if outcome(result) != "PASSED":
        print(f"{task:22} {kind}: {outcome(result)}: {result.get('message', '')}")
    return outcome(result) == "PASSED" and bool(result.get("workloads"))


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("tasks", "judge"):
        sys.exit(__doc__)
    if sys.argv[1] == "tasks":
        for task in tasks_with_both():
            counts = [copy_task(task, sys.argv[2], kind) for kind in KINDS]
            print(f"{task}: {counts[0]} + {counts[1]} workloads")
        return 0
    tasks = sys.argv[3:] or tasks_with_both()
    passed = [judge(task, kind) for task in tasks for kind in KINDS]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
