#!/usr/bin/env python3
"""Started by flashinfer.sh; see there."""
import argparse
import concurrent.futures
import glob
import json
import math
import os
import queue
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import evaluation  # noqa: E402
import rows as row_files  # noqa: E402
from say import say  # noqa: E402

FIELDS = ["key", "side", "solution", "workload", "device", "status", "latency_us", "own_median_us", "seconds",
          "reason"]
AS_UPSTREAM = ["--compat", "--build-time", "400s"]


def solutions(dataset, only):
    found = []
    for path in sorted(glob.glob(os.path.join(dataset, "solutions", "**", "*.json"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            solution = json.load(file)
        if re.search(only, solution["name"]):
            found.append((solution["definition"], solution["name"]))
    return found


def key(side, solution, workload, turn=0):
    """`turn`: 0 for the judgment, from 1 on for times that both sides took in turns."""
    return f"{side}{turn or ''}/{solution}/{workload}"


def row(side, turn, solution, workload, **fields):
    return {"key": key(side, solution, workload, turn), "side": side, "solution": solution, "workload": workload,
            "device": row_files.device_name(), **fields}


def judge(definition, name, turn, seconds):
    """Returns the rows of one solution: one for each workload, and one for all ('')."""
    start = time.monotonic()
    arguments = ["eval", "--task", f"flashinfer/{definition}", "--solution", name, "--json", "--repeat",
                 *(os.environ.get("KSEARCH_EVAL_OPTIONS", "").split() or AS_UPSTREAM)]
    try:
        done = evaluation.ksearch(arguments, seconds)
        result = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return []
    except ValueError:
        result = {"outcome": "NO_RESULT", "message": done.stderr.strip()[-400:]}
    took = round(time.monotonic() - start, 1)
    verdict = next((score["verdict"] for score in result.get("suite_scores", []) if score.get("verdict")),
                   evaluation.outcome(result))
    reason = " ".join([*result.get("message", "").split(), *result.get("suspicions", [])])[:500]
    rows = [row("ours", turn, name, "", status=verdict, seconds=took, reason=reason)]
    for workload in result.get("workloads", []):
        own = workload.get("suite_verdict", {})
        passed = own.get("trials", 0) == own.get("passed", -1) if own else verdict == "PASSED"
        rows.append(row(
            "ours", turn, name, workload["workload_uuid"],
            status="PASSED" if passed else verdict,
            latency_us=workload.get("suite_time", {}).get("mean_us", ""),
            own_median_us=workload.get("candidate", {}).get("median_us", ""),
            reason=own.get("message", "") or workload.get("message", "")))
    return rows


def to_judge(side, options, rows):
    """The solutions without a result; in a turn, those that passed on both sides."""
    found = solutions(options.dataset, options.only)
    if options.turn:
        found = [one for one in found if all(
            rows.get(key(each, one[1], ""), {}).get("status", "PASSED") == "PASSED" for each in ("ours", "upstream"))]
    return [one for one in found if not rows.has_here(key(side, one[1], "", options.turn))]


def ours(options, rows, end):
    todo = to_judge("ours", options, rows)
    # In a turn everything is compiled, and nothing else should keep the host busy.
    jobs = options.jobs or (1 if options.turn else 2) * options.gpus
    say(f"ours: {len(todo)} solutions to judge, {jobs} at once on {options.gpus} GPUs")

    def one(definition, name):
        left = end - time.monotonic()
        found = judge(definition, name, options.turn, left - 5) if left >= 30 else []
        for each in found:
            rows.add(each)
        say(f"  {name:<36} {found[0]['status']:<20} {found[0]['seconds']:6.1f} s  {found[0]['reason'][:120]}"
            if found else f"  {name:<36} no time is left")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(one, *each) for each in todo]:
            future.result()


def one_process(options, what, definition, name, log, seconds, gpu=None):
    """Runs this file for one solution in a separate process, so that a solution that hangs or breaks a GPU
    does not cost others their results. Returns False if it did not end in time."""
    command = [sys.executable, os.path.abspath(__file__), what, options.dataset, "--rows", options.rows,
               "--turn", str(options.turn), "--definition", definition, "--name", name]
    environment = dict(os.environ)
    if gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = str(gpu)
    # Everything it starts shares its process group and is killed with it.
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    try:
        process.wait(timeout=max(1, seconds))
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def build(options, rows, end):
    """Compiles all solutions at once as upstream does, into the folder where its evaluator looks for them."""
    todo = to_judge("upstream", options, rows)
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 3)) as pool:
        for _ in pool.map(lambda one: one_process(options, "build-one", *one, sys.stdout, end - time.monotonic()), todo):
            pass


def build_one(options):
    from flashinfer_bench.compile import BuilderRegistry
    from flashinfer_bench.data import TraceSet

    traces = TraceSet.from_path(options.dataset)
    solution = next(one for one in traces.solutions[options.definition] if one.name == options.name)
    start = time.monotonic()
    runnable = BuilderRegistry.get_instance().build(traces.definitions[options.definition], solution)
    # A Python solution that compiles its own extension (flashinfer_dataset.py).
    module = sys.modules.get(getattr(runnable._callable, "__module__", ""))
    if hasattr(module, "load"):
        module.load()
    say(f"{options.name}: built within {time.monotonic() - start:.0f} s")


def upstream(options, rows, end):
    todo = to_judge("upstream", options, rows)
    say(f"upstream: {len(todo)} solutions to judge on {options.gpus} GPUs")
    gpus = queue.Queue()
    for gpu in range(options.gpus):
        gpus.put(gpu)

    def one(definition, name):
        gpu = gpus.get()
        try:
            start = time.monotonic()
            if end - start < 30:
                say(f"  {name:<36} no time is left")
                return
            with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
                in_time = one_process(options, "upstream-one", definition, name, log, end - start - 5, gpu)
                log.seek(0)
                text = log.read()
            took = time.monotonic() - start
            status = row_files.Rows(options.rows, "key").get(key("upstream", name, "", options.turn), {}).get("status")
            said = "" if status else "did not end in time" if not in_time else "ended without a result: "
            if said.endswith(": "):
                said += re.sub(r"\s+", " ", text[-700:])
            say(f"  {name:<36} {status or '-':<20} {took:6.1f} s  {said}")
        finally:
            gpus.put(gpu)

    with concurrent.futures.ThreadPoolExecutor(options.gpus) as pool:
        for future in [pool.submit(one, *each) for each in todo]:
            future.result()


def upstream_one(options, rows):
    from flashinfer_bench.bench import Benchmark, BenchmarkConfig
    from flashinfer_bench.data import TraceSet

    name = options.name
    config = BenchmarkConfig(definitions=[options.definition], solutions=[name], profile_baseline=False,
                             timeout_seconds=400)
    start = time.monotonic()
    benchmark = Benchmark(TraceSet.from_path(options.dataset), config)
    traces = benchmark.run_all(dump_traces=False)
    took = round(time.monotonic() - start, 1)
    found = [trace for trace in traces.traces.get(options.definition, []) if trace.solution == name]
    for trace in found:
        evaluation_ = trace.evaluation
        latency = evaluation_.performance.latency_ms * 1000 if evaluation_.performance else ""
        reason = "" if evaluation_.status.value == "PASSED" else (evaluation_.log or "")[-600:]
        rows.add(row("upstream", options.turn, name, trace.workload.uuid, status=evaluation_.status.value,
                     latency_us=latency, reason=reason))
    states = {trace.evaluation.status.value for trace in found}
    if states:
        worst = next((state for state in sorted(states) if state != "PASSED"), "PASSED")
        rows.add(row("upstream", options.turn, name, "", status=worst, seconds=took))


def report(options, rows):
    known = {each["key"]: each for each in rows.all()}
    differ = 0
    print(f"\nSUMMARY: flashinfer\n{'solution':<36} {'ours':<20} {'upstream':<20} {'workloads':>9} {'ours/upstream':>14} {'least':>6} "
          f"{'most':>6} {'own clock':>10}")
    for _, name in solutions(options.dataset, options.only):
        mine, theirs = known.get(key("ours", name, ""), {}), known.get(key("upstream", name, ""), {})
        ratios, owns = [], []
        for one, each in known.items():
            if not one.startswith(f"ours/{name}/") or not each["workload"]:
                continue
            other = known.get(key("upstream", name, each["workload"]))
            if other is None:
                continue
            if each["status"] != other["status"]:
                differ += 1
                print(f"  {name}, workload {each['workload']}: {each['status']} here, {other['status']} upstream: "
                      f"{(each.get('reason') or other.get('reason') or '').strip()[-200:]}")
            if each.get("device") != other.get("device"):
                continue
            if each.get("latency_us") and other.get("latency_us"):
                ratios.append(each["latency_us"] / other["latency_us"])
            if each.get("own_median_us") and other.get("latency_us"):
                owns.append(each["own_median_us"] / other["latency_us"])
        if mine and theirs and mine["status"] != theirs["status"]:
            differ += 1
        mean = math.exp(statistics.fmean(math.log(r) for r in ratios)) if ratios else None
        own = math.exp(statistics.fmean(math.log(r) for r in owns)) if owns else None
        print(f"{name:<36} {mine.get('status', '-'):<20} {theirs.get('status', '-'):<20} {len(ratios):>9} "
              f"{f'{mean:.3f}' if mean else '-':>14} {f'{min(ratios):.3f}' if ratios else '-':>6} "
              f"{f'{max(ratios):.3f}' if ratios else '-':>6} {f'{own:.3f}' if own else '-':>10}")
    rows.write_csv(row_files.out_path("flashinfer.csv"), FIELDS)
    report_turns(options, known)
    print("ours/upstream: latency by ksearch's imitation of upstream's clock over that of upstream's evaluator; "
          "own clock: the median by ksearch's own")
    return 1 if differ else 0


def report_turns(options, known):
    """By workload, what both sides said in their turns, and how far each agrees with itself."""
    turns = sorted({int(found[1]) for found in (re.match(r"ours(\d+)/", each) for each in known) if found})
    if not turns:
        return
    print(f"in turns: medians in us\n{'solution':<36} {'workload':<10} {'ours':>8} {'upstream':>8} {'ratio':>6} "
          f"{'ours, most/least':>16} {'upstream':>9}")
    all_ratios, all_spreads = [], {"ours": [], "upstream": []}
    for _, name in solutions(options.dataset, options.only):
        for workload in sorted({each["workload"] for each in known.values() if each["solution"] == name} - {""}):
            times = {side: [each["latency_us"] for turn in turns
                            if (each := known.get(key(side, name, workload, turn), {})).get("latency_us")]
                     for side in ("ours", "upstream")}
            if not all(times.values()):
                continue
            medians = {side: statistics.median(each) for side, each in times.items()}
            spreads = {side: max(each) / min(each) for side, each in times.items()}
            ratio = medians["ours"] / medians["upstream"]
            all_ratios.append(ratio)
            for side, spread in spreads.items():
                all_spreads[side].append(spread)
            print(f"{name:<36} {workload[:8]:<10} {medians['ours']:8.1f} {medians['upstream']:8.1f} {ratio:6.3f} "
                  f"{spreads['ours']:16.3f} {spreads['upstream']:9.3f}")
    if not all_ratios:
        return
    within = sum(abs(math.log(ratio)) <= math.log(1.05) for ratio in all_ratios)
    mean = math.exp(statistics.fmean(map(math.log, all_ratios)))
    spreads = ", ".join(f"{side} {statistics.median(each):.3f}" for side, each in all_spreads.items())
    print(f"{len(turns)} turns, {len(all_ratios)} pairs: ratio {mean:.3f} ({min(all_ratios):.3f} to "
          f"{max(all_ratios):.3f}), {within} within 5 %; most/least of one side, medians: {spreads}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ours", "build", "build-one", "upstream", "upstream-one",
                                                 "report"])
    parser.add_argument("dataset")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--spent", type=float, default=0)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--turn", type=int, default=0)
    parser.add_argument("--rows", default=row_files.out_path("flashinfer.jsonl"))
    parser.add_argument("--definition", default="")
    parser.add_argument("--name", default="")
    parser.add_argument("--share", type=float, default=1)
    options = parser.parse_args()
    end = time.monotonic() + options.share * options.seconds - options.spent - 5
    rows = row_files.Rows(options.rows, "key")
    if options.what == "ours":
        ours(options, rows, end)
    elif options.what == "build":
        build(options, rows, end)
    elif options.what == "build-one":
        build_one(options)
    elif options.what == "upstream":
        upstream(options, rows, end)
    elif options.what == "upstream-one":
        upstream_one(options, rows)
    else:
        return report(options, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
