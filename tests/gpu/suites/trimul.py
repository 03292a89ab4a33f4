#!/usr/bin/env python3
"""Started by trimul.sh; see there."""
import argparse
import concurrent.futures
import math
import os
import queue
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import evaluation  # noqa: E402
import gpumode_upstream  # noqa: E402
import rows as row_files  # noqa: E402
import two_sides  # noqa: E402
from say import say  # noqa: E402

FIELDS = ["key", "side", "submission", "case", "device", "status", "mean_us", "own_mean_us", "runs", "seconds",
          "reason"]
AS_UPSTREAM = ["--compat", "--build-time", "400s"]


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def row(side, submission, case, **fields):
    return {"key": f"{side}/{submission}/{case}", "side": side, "submission": submission, "case": case,
            "device": row_files.device_name(), **fields}


def ours(options, rows, end):
    task = two_sides.tasks_by_folder()[os.path.realpath(options.problem)]
    described = evaluation.ksearch(["task", "describe", task], 300)
    say(described.stdout.strip() or described.stderr.strip())

    def one(path):
        name = name_of(path)
        left = end - time.monotonic()
        if rows.has_here(f"ours/{name}/"):
            return
        if left < 30:
            say(f"  ours: {name}: no time is left")
            return
        say(f"  ours: {name} begins")
        start = time.monotonic()
        result = evaluation.evaluate(
            task, [path], os.environ.get("KSEARCH_EVAL_OPTIONS", "").split() or AS_UPSTREAM, left - 5)
        if evaluation.outcome(result) == "NO_RESULT" and end - time.monotonic() < 10:
            say(f"  ours: {name}: not done within {time.monotonic() - start:.0f} s")
            return
        verdict = next((score["verdict"] for score in result.get("suite_scores", []) if score.get("verdict")), "")
        reason = " ".join([*result.get("message", "").split(), *result.get("suspicions", [])])[:500]
        for index, workload in enumerate(result.get("workloads", [])):
            own = workload.get("candidate", {}).get("latency_us", [])
            rows.add(row("ours", name, index, status=evaluation.outcome(workload),
                         mean_us=workload.get("suite_time", {}).get("mean_us", ""),
                         runs=workload.get("suite_time", {}).get("calls", ""),
                         own_mean_us=sum(own) / len(own) if own else "",
                         reason=workload.get("workload_uuid", "")))
        passed = evaluation.outcome(result) == "PASSED"
        rows.add(row("ours", name, "", status="pass" if passed else verdict or evaluation.outcome(result),
                     seconds=round(time.monotonic() - start, 1), reason=reason))
        say(f"  ours: {name}: {evaluation.outcome(result)} {verdict}, {time.monotonic() - start:.0f} s {reason[:150]}")

    with concurrent.futures.ThreadPoolExecutor(2 * options.gpus) as pool:
        for future in [pool.submit(one, path) for path in options.submissions]:
            future.result()


def upstream(options, rows, end):
    task = gpumode_upstream.read_task(options.problem)
    gpus = queue.Queue()
    for gpu in range(options.gpus):
        gpus.put(gpu)

    def one(path):
        name = name_of(path)
        if rows.has_here(f"upstream/{name}/"):
            return
        gpu = gpus.get()
        try:
            left = end - time.monotonic()
            if left < 30:
                say(f"  upstream: {name}: no time is left")
                return
            evaluate(path, name, gpu, left - 5)
        finally:
            gpus.put(gpu)

    def evaluate(path, name, gpu, seconds):
        say(f"  upstream: {name} begins on GPU {gpu}")
        start = time.monotonic()
        said, tail, killed = gpumode_upstream.run(options.problem, path, "benchmark", gpu, seconds)
        if killed:
            say(f"  upstream: {name}: not done within {seconds:.0f} s")
            return
        for index in range(len(task["benchmarks"])):
            mean = said.get(f"benchmark.{index}.mean")
            rows.add(row("upstream", name, index,
                         status="PASSED" if mean else said.get(f"benchmark.{index}.status", "missing"),
                         mean_us=float(mean) / 1000 if mean else "", runs=said.get(f"benchmark.{index}.runs", ""),
                         reason=said.get(f"benchmark.{index}.error", "")[:300]))
        check = said.get("check", "no answer")
        rows.add(row("upstream", name, "", status=check, seconds=round(time.monotonic() - start, 1),
                     reason="" if check == "pass" else tail))
        say(f"  upstream: {name}: {check}, {time.monotonic() - start:.0f} s")

    with concurrent.futures.ThreadPoolExecutor(options.gpus) as pool:
        for future in [pool.submit(one, path) for path in options.submissions]:
            future.result()


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def report(options, rows):
    known = {each["key"]: each for each in rows.all()}
    cases = len(gpumode_upstream.read_task(options.problem)["benchmarks"])
    bad = 0

    def means(side, name, field):
        found = [known.get(f"{side}/{name}/{index}", {}).get(field) for index in range(cases)]
        return [value for value in found if value]

    def text(value):
        return f"{value:.1f}" if value else "-"

    print(f"\nSUMMARY: trimul\n{'submission':<24} {'ours':<10} {'upstream':<10} {'ours us':>9} {'upstream us':>11} {'ratio':>7} "
          f"{'own clock us':>12}")
    for path in options.submissions:
        name = name_of(path)
        mine, theirs = known.get(f"ours/{name}/", {}), known.get(f"upstream/{name}/", {})
        here, there = means("ours", name, "mean_us"), means("upstream", name, "mean_us")
        own = means("ours", name, "own_mean_us")
        ratio = None
        if len(here) == cases and len(there) == cases:
            ratio = geometric_mean(here) / geometric_mean(there)
            bad += abs(ratio - 1) > 0.03
        if mine and theirs:
            bad += mine["status"] != theirs["status"]
        print(f"{name:<24} {mine.get('status', '-'):<10} {theirs.get('status', '-'):<10} "
              f"{text(geometric_mean(here)):>9} {text(geometric_mean(there)):>11} "
              f"{f'{ratio:.3f}' if ratio else '-':>7} {text(geometric_mean(own)):>12}")
        for index in range(cases):
            one, two = known.get(f"ours/{name}/{index}", {}), known.get(f"upstream/{name}/{index}", {})
            if one.get("mean_us") or two.get("mean_us"):
                print(f"    case {index}: {text(one.get('mean_us'))} us ({one.get('runs', '-')} calls) here, "
                      f"{text(two.get('mean_us'))} us ({two.get('runs', '-')} calls) upstream, own clock "
                      f"{text(one.get('own_mean_us'))} us")
        for side in (mine, theirs):
            if side and side["status"] != "pass":
                print("    " + re.sub(r"\s+", " ", f"{side['side']}: {side.get('reason', '')}")[:400])
    rows.write_csv(row_files.out_path("trimul.csv"), FIELDS)
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ours", "upstream", "report"])
    parser.add_argument("problem")
    parser.add_argument("submissions", nargs="+")
    return two_sides.run(parser, "trimul", ours, upstream, report)


if __name__ == "__main__":
    sys.exit(main())
