#!/usr/bin/env python3
"""Judges the programs of a table with `ksearch eval` and compares outcomes with the table. Started by
run_corpus.sh and the scripts for Python. Each line of the table is

  name  task  expected  options  why

name is a file beside the table, or a path from there, without its extension. expected is one or more
of these, joined by '|':
  an outcome       as in proto/result.proto, without OUTCOME_
  HARMLESS         PASSED without suspicions, and not over 1.15x as fast as the baseline: the
                   program computes what the baseline does, so whatever it tried did not help
  LABELLED         PASSED, but with suspicions of its text (gpu_worker/build/marks), so that it never
                   becomes the best: whatever it tried is neutralized
  HONEST           PASSED without suspicions
options, joined by ',', or '-':
  confirm          by `ksearch eval --confirm`, else as in a search
  twice            once more afterwards; the second result counts
  pad=BYTES        so many bytes of comments are appended to the program first
  untold           the program says "told: " and a number of its inputs, which must appear nowhere in
                   the result; else the outcome is TOLD
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import evaluation
import footprint

HARMLESS = 1.15
# For one evaluation, waits for a device included.
MOST_SECONDS = 240


def read_table(path):
    rows = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            parts = line.split(None, 4)
            if len(parts) != 5:
                sys.exit(f"{path}:{number}: needs name, task, expected, options and why")
            row = dict(zip(("name", "task", "expected", "options", "why"), parts))
            row["options"] = [] if row["options"] == "-" else row["options"].split(",")
            for ending in evaluation.LANGUAGES:
                file_path = os.path.join(os.path.dirname(path), row["name"] + ending)
                if os.path.exists(file_path):
                    row["file"] = file_path
            if "file" not in row:
                sys.exit(f"{path}:{number}: no file {row['name']}.cu, .cpp or .py beside the table")
            rows.append(row)
    return rows


def judge(row, scratch, end):
    files = evaluation.with_headers(row["file"])
    arguments = ["--repeat"]
    times = 1
    for option in row["options"]:
        name, _, value = option.partition("=")
        if name == "confirm":
            arguments.append("--confirm")
        elif name == "twice":
            times = 2
        elif name == "untold":
            pass  # looked at below
        elif name == "pad":
            padded = os.path.join(scratch, os.path.basename(files[0]))
            with open(files[0], encoding="utf-8") as source, \
                    open(padded, "w", encoding="utf-8") as target:
                target.write(source.read() + "// padding\n" * (int(value) // 11))
            files[0] = padded
        else:
            sys.exit(f"{row['name']}: unknown option '{name}'")
    start = time.monotonic()
    result = {}
    for _ in range(times):
        left = end - time.monotonic()
        if left < 1:
            result = {"outcome": "NO_RESULT", "message": "no time was left"}
            break
        result = evaluation.evaluate(row["task"], files, arguments, min(left, MOST_SECONDS))
    if "untold" in row["options"] and re.search(r"told: ?[-\d]", json.dumps(result)):
        result = {"outcome": "TOLD", "message": "the result has a number of the inputs"}
    return row, result, time.monotonic() - start


def agrees(expected, result):
    got = evaluation.outcome(result)
    for one in expected.split("|"):
        clean = got == "PASSED" and not result.get("suspicions")
        speedup = evaluation.speedup(result)
        if one == got or (one == "HONEST" and clean):
            return True
        if one == "LABELLED" and got == "PASSED" and any(
                suspicion.startswith("source: ") for suspicion in result.get("suspicions", [])):
            return True
        if one == "HARMLESS" and clean and speedup is not None and speedup <= HARMLESS:
            return True
    return False


# Keeps nvcc busy for some seconds.
BESIDE = """
template <int N> __global__ void Rounds(float* x) {
  float v = x[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 8 * N; ++i) v = v * x[i] + sqrtf(v + i);
  x[threadIdx.x] = v;
}
""" + "".join(f"template __global__ void Rounds<{n}>(float*);\n" for n in range(1, 17))


@contextlib.contextmanager
def compilers(count, folder):
    """Keeps that many CUDA compilers running, like a node that builds for others."""
    source = os.path.join(folder, "beside.cu")
    with open(source, "w", encoding="utf-8") as file:
        file.write(BESIDE)
    # As the worker finds it.
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    loop = 'while "$@" >/dev/null 2>&1; do :; done; echo "a compiler beside the programs failed" >&2'
    started = []
    for index in range(count):
        command = [nvcc, "-O3", "-arch=sm_90", "-c", source, "-o", os.path.join(folder, f"beside-{index}.o")]
        if index == 0:
            subprocess.run(command, check=True)
        started.append(subprocess.Popen(["sh", "-c", loop, "sh", *command], start_new_session=True))
    try:
        yield
    finally:
        ended = sum(process.poll() is not None for process in started)
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if ended:
            sys.exit(f"{ended} of {count} compilers were not at work all the time")


def interleaved(confirmations, screenings):
    """Confirmations keep the devices busy and screenings the compilers, so that both should be in hand at
    once. The last tenth are screenings, so that a pass does not end with one long confirmation."""
    places = [(0.9 * i / len(confirmations), row) for i, row in enumerate(confirmations)]
    places += [(i / len(screenings), row) for i, row in enumerate(screenings)]
    return [row for _, row in sorted(places, key=lambda place: place[0])]


def judge_all(rows, parallel, end, name):
    """Prints a line for each program and a summary; returns the records."""
    start = time.monotonic()
    counts = {"cheats": [0, 0], "honest": [0, 0]}
    records = []
    print(f"{'program':<34} {'expected':<28} {'got':<22} {'s':>5}  ok   message", flush=True)
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        for done in concurrent.futures.as_completed(
                [pool.submit(judge, row, scratch, end) for row in rows]):
            row, result, took = done.result()
            ok = agrees(row["expected"], result)
            got = evaluation.outcome(result)
            speedup = evaluation.speedup(result)
            if speedup is not None:
                got += f" {speedup:.2f}x"
            message = " ".join(result.get("message", "").split())
            if result.get("suspicions"):
                message = "suspicions: " + "; ".join(result["suspicions"])
            count = counts["honest" if row["expected"] == "HONEST" else "cheats"]
            count[0] += ok
            count[1] += 1
            print(f"{row['name'][:34]:<34} {row['expected'][:28]:<28} {got:<22} {took:5.1f}  "
                  f"{'ok' if ok else 'BAD':<4} {message[:110]}", flush=True)
            records.append({"pass": name, "name": row["name"], "expected": row["expected"],
                            "ok": ok, "seconds": took, "result": result})
    bad = sorted(record["name"] for record in records if not record["ok"])
    if bad:
        print("not as expected: " + " ".join(bad))
    print(f"{name}: cheats caught {counts['cheats'][0]} of {counts['cheats'][1]}, honest programs "
          f"passed {counts['honest'][0]} of {counts['honest'][1]}, "
          f"{time.monotonic() - start:.0f} s", flush=True)
    return records


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    default = os.path.join(here, "..", "bad_candidates", "cuda", "corpus.txt")
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", default=default)
    parser.add_argument("--only", default="", help="names that this regular expression finds")
    parser.add_argument("--part", default="1/1", help="K/N: every Nth program from the Kth on")
    parser.add_argument("--parallel", type=int, default=6, help="programs in hand at once")
    parser.add_argument("--seconds", type=float, default=285, help="for everything")
    parser.add_argument("--passes", type=int, default=1, help="how often each program is judged")
    parser.add_argument("--compilers", type=int, default=0,
                        help="so many compilers are at work beside every pass but one more that "
                             "comes first and fills the worker's build cache")
    parser.add_argument("--cold", action="store_true", help="without that first pass")
    parser.add_argument("--json", help="file for all results")
    options = parser.parse_args()

    rows = [row for row in read_table(options.table) if re.search(options.only, row["name"])]
    part = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", options.part)
    if not part or int(part[1]) > int(part[2]):
        sys.exit(f"--part {options.part}: needs K/N, where K is 1 to N")
    rows = rows[int(part[1]) - 1::int(part[2])]
    if not rows:
        sys.exit("no program of the table has such a name")
    rows = interleaved([row for row in rows if "confirm" in row["options"]],
                       [row for row in rows if "confirm" not in row["options"]])
    end = time.monotonic() + options.seconds
    records = []
    try:
        if options.compilers and not options.cold:
            records += judge_all(rows, options.parallel, end, "alone")
            print(f"after it: {footprint.text(footprint.footprint())}", flush=True)
        with tempfile.TemporaryDirectory() as folder, compilers(options.compilers, folder):
            for index in range(options.passes):
                if time.monotonic() >= end:
                    sys.exit(f"no time was left after {index} of {options.passes} passes")
                records += judge_all(rows, options.parallel, end, f"pass {index + 1}")
                print(f"after pass {index + 1}: {footprint.text(footprint.footprint())}", flush=True)
    finally:
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(records, file)
    sys.exit(0 if all(record["ok"] for record in records) else 1)


if __name__ == "__main__":
    main()
