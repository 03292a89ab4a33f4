#!/usr/bin/env python3
"""The measurements of figures.sh that use `ksearch`; see there. `search` passes arguments that it
does not know to `ksearch run`."""
import argparse
import collections
import concurrent.futures
import datetime
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import evaluation

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUDA_CORPUS = os.path.join(ROOT, "tests", "bad_candidates", "cuda")
STAGES = ("queued", "build", "wait_device", "check", "measure", "device_held", "total")


def baseline_of(task):
    found = glob.glob(os.path.join(ROOT, "configs", "tasks", "*", task, "baseline.c*"))
    if len(found) != 1:
        sys.exit(f"no task {task} under configs/tasks, or several")
    return found[0]


def copy_with_comment(path, folder, text):
    """Writes a new candidate: the same program with another comment."""
    target = os.path.join(folder, "kernel" + os.path.splitext(path)[1])
    comment = "#" if path.endswith(".py") else "//"
    with open(path, encoding="utf-8") as source, open(target, "w", encoding="utf-8") as copy:
        copy.write(source.read() + f"\n{comment} {text}\n")
    return target


def write(part, figures):
    if os.environ.get("OUT"):
        path = os.path.join(os.environ["OUT"], f"figures_{part}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


def median(values):
    return statistics.median(values) if values else float("nan")


# ------------------------------------------------------------------------- eval


def one_verdict(task, path, options, left):
    start = time.monotonic()
    result = evaluation.evaluate(task, [path], options, left)
    wall = time.monotonic() - start
    stages = {name: evaluation.seconds(result.get("stage_times", {}).get(name))
              for name in STAGES}
    return {"wall": wall, "outcome": evaluation.outcome(result), "message": result.get("message", ""),
            "speedup": evaluation.speedup(result), "stages": stages,
            "workloads": len(result.get("workloads", []))}


def measure_eval(options):
    task = options.task or "gqa_paged_decode"
    base = options.candidate or baseline_of(task)
    end = time.monotonic() + options.seconds
    verdicts = {"first": [], "cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as folder:
        # Builds reference and baseline, and fills the oracle's and the baseline's caches.
        path = copy_with_comment(base, folder, f"first {time.time_ns()}")
        verdicts["first"].append(one_verdict(task, path, [], end - time.monotonic()))
        for number in range(options.count or 7):
            if time.monotonic() > end - 30:
                break
            path = copy_with_comment(base, folder, f"candidate {number} {time.time_ns()}")
            verdicts["cold"].append(one_verdict(task, path, [], end - time.monotonic()))
            verdicts["warm"].append(one_verdict(task, path, ["--repeat"], end - time.monotonic()))
    print(f"candidate text to recorded verdict, {task}, {verdicts['first'][0]['workloads']} workloads;"
          " medians in seconds")
    print(f"{'cache':<7}{'n':>3}{'wall':>8}{'worst':>8}" + "".join(f"{s:>13}" for s in STAGES))
    figures = {"task": task, "verdicts": verdicts}
    for kind, ones in verdicts.items():
        walls = [one["wall"] for one in ones]
        middle = {stage: median([one["stages"][stage] for one in ones]) for stage in STAGES}
        print(f"{kind:<7}{len(ones):>3}{median(walls):>8.2f}{max(walls, default=0):>8.2f}"
              + "".join(f"{middle[stage]:>13.2f}" for stage in STAGES))
        figures[kind] = {"wall": median(walls), **middle}
    failed = [one for ones in verdicts.values() for one in ones if one["outcome"] != "PASSED"]
    for one in failed[:3]:
        print(f"not passed: {one['outcome']} {one['message'][:200]}")
    if base.endswith(".py"):
        print("aims on an H200: cold under 8, warm under 4, device_held under 3")
        write("python", figures)
    else:
        print("aims on an H200: cold under 5 with device_held under 2, warm under 2.5")
        write("eval", figures)
    return bool(failed) or len(verdicts["cold"]) < 5


# ------------------------------------------------------------------------- search


def ksearch(*arguments, left=120, may_fail=False):
    done = subprocess.run([os.environ["KSEARCH"], *arguments], capture_output=True, text=True,
                          timeout=max(1, left), check=False)
    if done.returncode != 0 and not done.stdout and not may_fail:
        sys.exit(f"ksearch {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def timestamp(text):
    digits = re.match(r"(.*?)(\.\d+)?Z$", text)
    whole = datetime.datetime.fromisoformat(digits[1] + "+00:00").timestamp()
    return whole + float(digits[2] or 0)


def busy_share(jobs):
    """Returns the busy share of the time from the first job's hold on the device to the last job's
end, and that time."""
    if not jobs:
        return 0.0, 0.0
    begin = min(job["finished"] - job["held"] for job in jobs)
    span = max(job["finished"] for job in jobs) - begin
    return (sum(job["held"] for job in jobs) / span if span > 0 else 0.0), span


def measure_search(options):
    start = time.monotonic()
    config = os.environ["KSEARCH_RUN_CONFIG"]
    try:
        subprocess.run([os.environ["KSEARCH"], "run", "--config", config, *options.more],
                       stdout=subprocess.DEVNULL, timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        print(f"the search did not end within {options.seconds:.0f} s; what follows is of a part")
        ksearch("stop", "last")
    wall = time.monotonic() - start
    candidates = []
    for line in ksearch("log", "last", "--json", "--limit", "100000").splitlines():
        candidate = json.loads(line).get("candidate_id")
        if candidate and candidate not in candidates:
            candidates.append(candidate)
    jobs = {}
    for candidate in candidates:
        for result in json.loads(ksearch("show", "last", candidate, "--json")).get("results", []):
            stages = result.get("stage_times", {})
            held = evaluation.seconds(stages.get("device_held"))
            jobs[result["job_id"]] = {
                "held": held, "finished": timestamp(result["finished_at"]),
                "confirmation": bool(result.get("comparisons")),
                "outcome": evaluation.outcome(result),
                "build": evaluation.seconds(stages.get("build")),
                "wait": evaluation.seconds(stages.get("wait_device"))}
    held = [job for job in jobs.values() if job["held"] > 0]
    share, span = busy_share(held)
    # The end of a run waits only for its last confirmations, so also report without the last tenth.
    by_end = sorted(held, key=lambda job: job["finished"])
    flowing, _ = busy_share(by_end[:max(1, len(by_end) * 9 // 10)])
    best = json.loads(ksearch("best", "last", "--json", may_fail=True) or "{}")
    best_summary = best.get("best", {})
    outcomes = collections.Counter(job["outcome"] for job in jobs.values())
    figures = {"wall": wall, "jobs": len(jobs), "held_s": sum(job["held"] for job in held),
               "span_s": span, "busy_share": share, "busy_share_first_nine_tenths": flowing,
               "confirmations": sum(job["confirmation"] for job in jobs.values()),
               "outcomes": outcomes, "best": best_summary, "all_jobs": list(jobs.values())}
    print(f"scripted search, {os.path.basename(config)}: {wall:.0f} s, {len(jobs)} jobs "
          f"({figures['confirmations']} confirmations), outcomes {dict(outcomes)}")
    print(f"device held {figures['held_s']:.1f} s of {span:.1f} s between first and last: "
          f"{100 * share:.0f} % (first nine tenths of the jobs: {100 * flowing:.0f} %); aim 70 %")
    print(f"median build {median([j['build'] for j in jobs.values()]):.2f} s, wait for the device "
          f"{median([j['wait'] for j in held]):.2f} s, held {median([j['held'] for j in held]):.2f} s")
    if best_summary:
        print(f"confirmed best {best_summary['candidate_id'][:12]}: {best_summary['speedup']:.3f}x "
              f"[{best_summary['speedup_low']:.3f}, {best_summary['speedup_high']:.3f}] "
              f"at {100 * (2 * best_summary.get('confidence', 0.5) - 1):.1f} %")
    else:
        print("no confirmed best")
    write("search", figures)
    return not best_summary


# ------------------------------------------------------------------------- aa, slow


def confirm_many(make, count, parallel, end):
    """make(number) -> (task, files, options). Returns results in order of arrival; stops when too
    little time is left for another one."""
    results = []
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        def one(number):
            # The slowest so far, and the same again for those that wait before it.
            took = max((r["took"] for r in results), default=20)
            if time.monotonic() + took > end:
                return None
            start = time.monotonic()
            task, files, options = make(number)
            result = evaluation.evaluate(task, files, ["--confirm", "--repeat", *options],
                                         end - time.monotonic())
            return {"task": task, "took": time.monotonic() - start, "result": result}

        for done in concurrent.futures.as_completed([pool.submit(one, n) for n in range(count)]):
            if done.result() is not None:
                results.append(done.result())
    return results


def verdict_of(result):
    comparisons = result.get("comparisons", [])
    if evaluation.outcome(result) != "PASSED" or not comparisons:
        return evaluation.outcome(result) or "NO_RESULT"
    return comparisons[0].get("verdict", "VERDICT_UNSPECIFIED")


def summarize(part, results, good):
    counts = collections.Counter()
    by_task = collections.defaultdict(collections.Counter)
    logs = []
    for one in results:
        verdict = verdict_of(one["result"])
        counts[verdict] += 1
        by_task[one["task"]][verdict] += 1
        if one["result"].get("comparisons"):
            comparison = one["result"]["comparisons"][0]
            logs.append((comparison.get("log_speedup", 0), comparison.get("ci_low", 0),
                         comparison.get("ci_high", 0)))
        elif verdict not in ("EQUAL", "WORSE"):
            print(f"{verdict}: {one['result'].get('message', '')[:200]}")
    for task, ones in by_task.items():
        print(f"  {task}: " + ", ".join(f"{name} {n}" for name, n in sorted(ones.items())))
    if logs:
        means = [log for log, _, _ in logs]
        spread = statistics.pstdev(means)
        print(f"  speed-up: mean {100 * (math.exp(statistics.mean(means)) - 1):+.3f} %, standard "
              f"deviation {100 * spread:.3f} %, widest interval "
              f"{100 * max(high - low for _, low, high in logs):.2f} %, "
              f"{median([one['took'] for one in results]):.1f} s each")
    write(part, {"counts": counts, "by_task": by_task, "good": good, "of": len(results),
                 "log_speedup_ci": logs})
    return counts


def measure_aa(options):
    tasks = options.task.split(",") if options.task else ["rmsnorm_bf16", "gemm_bf16"]
    with tempfile.TemporaryDirectory() as folder:
        def make(number):
            task = tasks[number % len(tasks)]
            here = os.path.join(folder, str(number))
            os.makedirs(here)
            return task, [copy_with_comment(baseline_of(task), here, f"confirmation {number}")], []

        results = confirm_many(make, options.count or 30, options.parallel,
                               time.monotonic() + options.seconds)
    print("a program confirmed against itself")
    counts = summarize("aa", results, "EQUAL")
    print(f"equal in {counts['EQUAL']} of {len(results)}; aim 97 %")
    return counts["EQUAL"] < 0.97 * len(results) or not results


def measure_slow(options):
    name = options.program or os.path.join(CUDA_CORPUS, "honest_gemm_two_percent_slower.cu")
    rival = options.rival or os.path.join(CUDA_CORPUS, "honest_gemm.cu")
    task = options.task or "gemm_bf16"
    rivals = [word for path in evaluation.with_headers(rival) for word in ("--rival", path)]

    def make(_):
        return task, evaluation.with_headers(name), rivals

    results = confirm_many(make, options.count or 20, options.parallel,
                           time.monotonic() + options.seconds)
    print(f"{os.path.basename(name)} confirmed against {os.path.basename(rival)}")
    counts = summarize("slow", results, "WORSE")
    print(f"seen to be slower in {counts['WORSE']} of {len(results)}; aim 19 of 20")
    return counts["WORSE"] < 0.95 * len(results) or not results


def report():
    out = os.environ.get("OUT", ".")
    loaded = {}
    for path in glob.glob(os.path.join(out, "figures_*.json")):
        with open(path, encoding="utf-8") as file:
            loaded[os.path.basename(path)[len("figures_"):-len(".json")]] = json.load(file)
    print("| what | measured |\n|---|---|")
    if "eval" in loaded:
        cold, warm = loaded["eval"]["cold"], loaded["eval"]["warm"]
        print(f"| candidate text to verdict, {loaded['eval']['task']}, cold | {cold['wall']:.2f} s, "
              f"device held {cold['device_held']:.2f} s |")
        print(f"| the same, warm build cache | {warm['wall']:.2f} s |")
    if "torch" in loaded:
        torch = loaded["torch"]
        print(f"| torch cpp_extension and a Python loop, cold / warm | {torch['cold']['total']:.1f} / "
              f"{torch['warm']['total']:.1f} s |")
        if "eval" in loaded:
            print(f"| ratio, cold / warm | {torch['cold']['total'] / cold['wall']:.1f}x / "
                  f"{torch['warm']['total'] / warm['wall']:.1f}x |")
    if "search" in loaded:
        search = loaded["search"]
        print(f"| scripted search: device held | {100 * search['busy_share']:.0f} % |")
        if search["best"]:
            print(f"| its confirmed speed-up | {search['best']['speedup']:.2f}x |")
    for part, what in (("aa", "against itself: equal"), ("slow", "2 % slower: seen")):
        if part in loaded:
            figures = loaded[part]
            print(f"| {what} | {figures['counts'].get(figures['good'], 0)} of {figures['of']} |")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["eval", "search", "aa", "slow", "report"])
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=2, help="confirmations in hand at once")
    parser.add_argument("--task", help="of aa: several, joined by ','")
    parser.add_argument("--candidate", help="of eval: the program (default: the task's baseline)")
    parser.add_argument("--program", help="of slow: the slower program")
    parser.add_argument("--rival", help="of slow: what it is compared with")
    options, options.more = parser.parse_known_args()
    if options.more and options.part != "search":
        parser.error(f"unknown arguments: {' '.join(options.more)}")
    if options.part == "report":
        sys.exit(report())
    measure = {"eval": measure_eval, "search": measure_search, "aa": measure_aa,
               "slow": measure_slow}[options.part]
    sys.exit(1 if measure(options) else 0)


if __name__ == "__main__":
    main()
