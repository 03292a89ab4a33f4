"""Runs `ksearch` for the scripts of this folder. The environment variable KSEARCH names the program,
KSEARCH_COORDINATOR the coordinator."""
import json
import math
import os
import re
import subprocess
import time

UNAVAILABLE = 5  # exit status of `ksearch`
LANGUAGES = {".cu": "cuda", ".cpp": "cpp", ".py": "python"}


def ksearch(arguments, seconds):
    """Runs the command line; subprocess.TimeoutExpired after so many seconds."""
    return subprocess.run([os.environ["KSEARCH"], *arguments], capture_output=True, text=True, check=False,
                          timeout=max(1, seconds))


def with_headers(path):
    """Returns the file and the headers of its folder that it includes, directly or not."""
    folder = os.path.dirname(path)
    found = [path]
    for at in found:  # found grows
        with open(at, encoding="utf-8") as file:
            names = re.findall(r'^#include "([\w.]+)"', file.read(), re.MULTILINE)
        beside = [os.path.join(folder, name) for name in names]
        found += [header for header in beside if os.path.exists(header) and header not in found]
    return found


def evaluate(task, files, options=(), seconds=120):
    """Returns a JobResult as a dictionary; without one {"outcome": "NO_RESULT", "message": why}."""
    language = LANGUAGES[os.path.splitext(files[0])[1]]
    arguments = ["eval", "--task", task, "--language", language, "--json", *options, *files]
    end = time.monotonic() + seconds
    for attempt in range(3):
        try:
            done = ksearch(arguments, end - time.monotonic())
        except subprocess.TimeoutExpired:
            return {"outcome": "NO_RESULT", "message": f"no verdict within {seconds:.0f} s"}
        try:
            return json.loads(done.stdout)
        except ValueError:
            # A busy machine may answer too late; any other failure is final.
            if done.returncode != UNAVAILABLE or attempt == 2:
                break
            time.sleep(1)
    text = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
    return {"outcome": "NO_RESULT", "message": text}


def seconds(duration):
    """"1.5s" -> 1.5; an absent duration is 0."""
    return float(duration.rstrip("s")) if duration else 0.0


def outcome(result):
    return result.get("outcome", "").replace("OUTCOME_", "")


def speedup(result):
    """Returns the geometric mean of baseline / candidate over workloads with both, or None."""
    logs = []
    for workload in result.get("workloads", []):
        one = workload.get("baseline", {}).get("median_us", 0)
        two = workload.get("candidate", {}).get("median_us", 0)
        if one and two:
            logs.append(math.log(one / two))
    return math.exp(sum(logs) / len(logs)) if logs else None
