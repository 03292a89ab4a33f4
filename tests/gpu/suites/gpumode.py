#!/usr/bin/env python3
"""Started by gpumode.sh; see there."""
import argparse
import concurrent.futures
import glob
import os
import queue
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import evaluation  # noqa: E402
import gpumode_upstream  # noqa: E402
import rows as row_files  # noqa: E402
import two_sides  # noqa: E402
from say import say  # noqa: E402

FIELDS = ["key", "side", "problem", "status", "mean_us", "seconds", "describe_s", "device", "reason"]
RIGHT = {"pass"}


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def problems(options):
    """Returns {name: folder} of the problems with a submission of their own."""
    found = {}
    for path in sorted(glob.glob(os.path.join(options.checkout, "**", "task.yml"), recursive=True)):
        folder = os.path.dirname(path)
        name = os.path.relpath(folder, options.checkout)
        if re.search(options.only, name) and os.path.exists(os.path.join(folder, "submission.py")):
            found[name] = folder
    return found


def row(side, problem, **fields):
    return {"key": f"{side}/{problem}", "side": side, "problem": problem, "device": row_files.device_name(), **fields}


def ours(options, rows, end):
    tasks = two_sides.tasks_by_folder()

    def one(name, folder):
        left = end - time.monotonic()
        if rows.has_here(f"ours/{name}") or left < 20:
            return
        begin = time.monotonic()
        task = tasks.get(os.path.realpath(folder))
        if task is None:
            rows.add(row("ours", name, status="NOT_LISTED"))
            return
        try:
            described = evaluation.ksearch(["task", "describe", task], left - 5)
        except subprocess.TimeoutExpired:
            say(f"  ours: {name}: no description in time")
            return
        describe_s = round(time.monotonic() - begin, 1)
        if described.returncode != 0:
            reason = one_line(described.stderr or described.stdout)[:400]
            rows.add(row("ours", name, status="NOT_DESCRIBED", describe_s=describe_s, reason=reason))
            say(f"  ours: {name}: not described: {reason[:160]}")
            return
        result = evaluation.evaluate(
            task, [os.path.join(folder, "submission.py")],
            ["--compat", options.mode, "--build-time", "300s"], end - time.monotonic() - 5)
        outcome = evaluation.outcome(result)
        means = [each.get("suite_time", {}).get("mean_us") for each in result.get("workloads", [])]
        reason = one_line(" ".join([result.get("message", ""), *result.get("suspicions", [])]))[:400]
        rows.add(row("ours", name, status="pass" if outcome == "PASSED" else outcome, describe_s=describe_s,
                     mean_us=means if all(means) else "", seconds=round(time.monotonic() - begin, 1), reason=reason))
        say(f"  ours: {name}: {outcome}, {time.monotonic() - begin:.0f} s {reason[:160]}")

    with concurrent.futures.ThreadPoolExecutor(3 * options.gpus) as pool:
        for future in [pool.submit(one, *each) for each in problems(options).items()]:
            future.result()


def upstream(options, rows, end):
    gpus = queue.Queue()
    # Checking may share a GPU; timing may not.
    for gpu in list(range(options.gpus)) * (3 if options.mode == "test" else 1):
        gpus.put(gpu)

    def one(name, folder):
        if rows.has_here(f"upstream/{name}"):
            return
        gpu = gpus.get()
        try:
            left = end - time.monotonic()
            if left < 20:
                return
            begin = time.monotonic()
            said, tail, killed = gpumode_upstream.run(
                folder, os.path.join(folder, "submission.py"), options.mode, gpu, left - 5)
            if killed:
                say(f"  upstream: {name}: not done in time")
                return
            check = said.get("check", "no answer")
            reasons = [f"{key}: {value}" for key, value in said.items() if key.endswith(".error")]
            means = [float(value) / 1000 for key, value in said.items() if re.fullmatch(r"benchmark\.\d+\.mean", key)]
            rows.add(row("upstream", name, status=check, mean_us=means, seconds=round(time.monotonic() - begin, 1),
                         reason="" if check == "pass" else one_line(" ".join(reasons) or tail)[:400]))
            say(f"  upstream: {name}: {check}, {time.monotonic() - begin:.0f} s")
        finally:
            gpus.put(gpu)

    with concurrent.futures.ThreadPoolExecutor(gpus.qsize()) as pool:
        for future in [pool.submit(one, *each) for each in problems(options).items()]:
            future.result()


def report(options, rows):
    differ = both = 0
    print(f"\nSUMMARY: gpumode, mode {options.mode}\n{'problem':<44} {'ours':<22} upstream")
    for name in problems(options):
        mine, theirs = rows.get(f"ours/{name}", {}), rows.get(f"upstream/{name}", {})
        print(f"{name:<44} {mine.get('status', '-'):<22} {theirs.get('status', '-')}")
        if mine and theirs and mine["status"] != "NO_RESULT":
            both += 1
            differ += (mine["status"] in RIGHT) != (theirs["status"] in RIGHT)
        for side in (mine, theirs):
            if side and side["status"] not in RIGHT:
                print("    " + f"{side['side']}: {side.get('reason', '')}"[:300])
    print(f"{both} judged by both, {differ} of them differently")
    rows.write_csv(row_files.out_path("gpumode.csv"), FIELDS)
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ours", "upstream", "report"])
    parser.add_argument("checkout")
    parser.add_argument("--mode", choices=["test", "benchmark"], default="test")
    parser.add_argument("--only", default="")
    return two_sides.run(parser, "gpumode", ours, upstream, report)


if __name__ == "__main__":
    sys.exit(main())
