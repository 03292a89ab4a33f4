#!/usr/bin/env python3
"""Started by kernelbench.sh; see there."""
import argparse
import ast
import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import evaluation  # noqa: E402
import rows as row_files  # noqa: E402

AIMS = {"1": 95, "2": 90, "3": 40}  # problems of a level that are to be right
FIELDS = ["task", "level", "described", "describe_s", "degenerate", "status", "seconds", "device_s",
          "suite_verdict", "candidate_us", "baseline_us", "reason"]


def problems():
    try:
        listed = evaluation.ksearch(["task", "ls", "--suite", "kernelbench", "--json"], 60)
    except subprocess.TimeoutExpired:
        sys.exit("ksearch task ls: no answer within 60 s")
    if listed.returncode != 0:
        sys.exit(f"ksearch task ls: {listed.stderr or listed.returncode}")
    return json.loads(listed.stdout)["tasks"]


def model_new(path):
    """Returns the problem's own Model, renamed as candidates must be."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"\bModel\b", "ModelNew", file.read())


def elements(path):
    """Estimates how many numbers get_inputs() of a problem makes, from its text alone."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    known = {}

    def number(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return known.get(node.id, 1)
        if isinstance(node, (ast.Tuple, ast.List)):
            return math.prod(number(each) for each in node.elts)
        if isinstance(node, ast.Starred):
            return number(node.value)
        if isinstance(node, ast.BinOp):
            left, right = number(node.left), number(node.right)
            return left * right if isinstance(node.op, ast.Mult) else max(left, right)
        return 1

    total = 0
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = number(node.value)
        elif isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    total += math.prod(number(argument) for argument in call.args)
    return total


class Judge:
    def __init__(self, options, rows, end):
        self._options = options
        self._rows = rows
        self._end = end
        self._scratch = tempfile.mkdtemp(prefix="kernelbench.")
        self._print = threading.Lock()

    def describe(self, problem):
        """Returns a row with what is known so far; None: the time was up."""
        task = problem["name"]
        row = {"task": task, "level": problem.get("level", ""), "described": False, "reason": ""}
        start = time.monotonic()
        left = self._end - start
        if left < 20:
            return None
        seconds = min(left - 5, self._options.problem_seconds)
        described = None
        try:
            described = evaluation.ksearch(["task", "describe", task, "--json"], seconds)
        except subprocess.TimeoutExpired:
            if self._end - time.monotonic() < 10:
                return None
        row["describe_s"] = round(time.monotonic() - start, 1)
        if described is None:
            row["status"], row["reason"] = "not described", f"no answer within {seconds:.0f} s"
        elif described.returncode == 0:
            row["described"] = True
        else:
            row["status"] = "not described"
            try:
                row["reason"] = json.loads(described.stdout)[task]
            except (ValueError, KeyError, TypeError):
                row["reason"] = described.stderr.strip()[-500:]
        return row

    def evaluate(self, problem, row):
        """Adds the result of an evaluation; False: the time was up."""
        left = self._end - time.monotonic()
        if left < 15:
            return False
        path = os.path.join(self._scratch, problem["name"].replace("/", "_") + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(model_new(problem["path"]))
        options = [] if self._options.timed else ["--check"]
        start = time.monotonic()
        seconds = min(left - 5, self._options.problem_seconds)
        result = evaluation.evaluate(problem["name"], [path], options, seconds)
        row["seconds"] = round(time.monotonic() - start, 1)
        row["status"] = evaluation.outcome(result)
        if row["status"] == "NO_RESULT" and self._end - time.monotonic() < 10:
            return False
        row["reason"] = " ".join(result.get("message", "").split())[:500]
        row["device_s"] = evaluation.seconds(
            result.get("stage_times", {}).get("device_held", ""))
        for score in result.get("suite_scores", []):
            if score.get("verdict"):
                row["suite_verdict"] = score["verdict"]
        official = [one for one in result.get("workloads", []) if "held_out" not in one.get("workload_uuid", "")]
        if official:
            row["candidate_us"] = official[0].get("candidate", {}).get("median_us", "")
            row["baseline_us"] = official[0].get("baseline", {}).get("median_us", "")
        return True

    def finish(self, row):
        self._rows.add(row)
        with self._print:
            mark = "ok" if row.get("status") == "PASSED" else "--"
            print(f"{row['task']:<22} {mark} {row.get('status', ''):<14} "
                  f"{row.get('describe_s', 0):6.1f} {row.get('seconds', 0) or 0:6.1f} s  "
                  f"{row.get('reason', '')[:110]}", flush=True)


def report(rows, levels):
    """Prints what is not right, then counts; returns the number of described problems that are not right."""
    wrong = 0
    print("\nSUMMARY: kernelbench")
    for row in sorted(rows, key=lambda row: row["task"]):
        if row.get("status") != "PASSED":
            print(f"  {row['task']}: {row.get('status')}: {row.get('reason', '')[:200]}")
    print(f"\n{'level':<6} {'tried':>8} {'described':>9} {'right':>6} {'aim':>4} {'not right':>9} {'degenerate':>10} "
          f"{'suite says correct':>18}")
    for level in levels:
        of_level = [row for row in rows if row["task"].split("/")[1] == f"l{level}"]
        described = [row for row in of_level if row["described"]]
        right = [row for row in described if row.get("status") == "PASSED"]
        wrong += len(described) - len(right)
        degenerate = sum(bool(row.get("degenerate")) for row in described)
        correct = sum(row.get("suite_verdict") == "correct" for row in described)
        print(f"{level:<6} {len(of_level):>8} {len(described):>9} {len(right):>6} {AIMS.get(level, ''):>4} "
              f"{len(described) - len(right):>9} {degenerate:>10} {correct:>18}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", default="1,2,3")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--spent", type=float, default=0)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--problem-seconds", type=float, default=150)
    parser.add_argument("--timed", action="store_true")
    parser.add_argument("--rows", default=row_files.out_path("kernelbench.jsonl"))
    options = parser.parse_args()

    start = time.monotonic()
    end = start + options.seconds - options.spent - 5
    levels = [level.strip() for level in options.levels.split(",")]
    part, parts = (int(number) for number in options.part.split("/"))
    rows = row_files.Rows(options.rows, "task")
    chosen = [problem for problem in problems()
              if problem["name"].split("/")[1][1:] in levels and re.search(options.only, problem["name"])]
    chosen = chosen[part - 1::parts]
    # Retries what another command left unanswered or what lost a worker. The largest come first, because
    # a long evaluation must not begin last.
    todo = [problem for problem in chosen if not rows.has(problem["name"])]
    todo.sort(key=lambda problem: -elements(problem["path"]))
    judge = Judge(options, rows, end)
    jobs = options.jobs or 3 * options.gpus
    describers = max(2, (os.cpu_count() or 2) // 6)
    print(f"{len(chosen)} problems, {len(todo)} of them to do; {options.gpus} GPUs, {jobs} evaluations and "
          f"{describers} descriptions at once", flush=True)

    def judged(problem, row):
        if judge.evaluate(problem, row):
            judge.finish(row)

    with concurrent.futures.ThreadPoolExecutor(jobs) as evaluators, \
            concurrent.futures.ThreadPoolExecutor(describers) as pool:

        def handle(problem):
            row = judge.describe(problem)
            if row is None:
                return None
            if not row["described"]:
                judge.finish(row)
                return None
            return evaluators.submit(judged, problem, row)

        evaluations = [future.result() for future in [pool.submit(handle, one) for one in todo]]
        for evaluated in evaluations:
            if evaluated is not None:
                evaluated.result()
    mine = {problem["name"]: problem for problem in problems()}
    known = [row for row in rows.all() if row["task"] in {problem["name"] for problem in chosen}]
    for row in known:
        row["degenerate"] = mine[row["task"]].get("degenerate", "") or row.get("degenerate", "")
    wrong = report(known, levels)
    left = sorted({problem["name"] for problem in chosen} - {row["task"] for row in known})
    print(f"{len(left)} problems are left for another command: {' '.join(left)}"[:1500] if left
          else f"all {len(chosen)} problems are done")
    print(f"{time.monotonic() - start:.0f} s")
    rows.write_csv(row_files.out_path("kernelbench.csv"), FIELDS)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
