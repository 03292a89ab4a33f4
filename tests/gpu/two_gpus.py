#!/usr/bin/env python3
"""The parts of two_gpus.sh; see there. Each prints PASS or FAIL lines; exit status 1 after a FAIL."""
import concurrent.futures
import contextlib
import datetime
import fcntl
import glob
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time

import evaluation

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "bad_candidates", "cuda")
CLUSTER = os.environ["CLUSTER"]
TASK = os.environ.get("TWO_GPUS_TASK", "rmsnorm_bf16")
HEADER = os.path.join(CORPUS, "rmsnorm.cuh")
LOOKS = [os.path.join(HERE, "sees_one_gpu.cu"), HEADER]
PLAIN = [os.path.join(CORPUS, "honest_plain.cu"), HEADER]
CHECK = ["--repeat", "--check"]
EVALS = 8  # per measurement of throughput
LEAST_GAIN = 1.5  # of two GPUs over one; below 2 because starts and ends are uneven
SLOWER = float(os.environ.get("TWO_GPUS_SLOWER", "1"))
PATIENCE = 35 * SLOWER  # seconds for one evaluation
# On a machine whose cores others share, rates say nothing about the worker.
RATES = os.environ.get("TWO_GPUS_RATES", "1") == "1"
failures = 0


def say(ok, what, detail=""):
    global failures
    failures += not ok
    detail = " ".join(detail.split())
    print(f"{'PASS' if ok else 'FAIL'}  {what}{': ' if detail else ''}{detail}", flush=True)
    with open(os.path.join(CLUSTER, "table"), "a", encoding="utf-8") as table:
        table.write(f"{'PASS' if ok else 'FAIL'}\t{what}\t{detail}\n")


def remember(**facts):
    path = os.path.join(CLUSTER, "facts.json")
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    known.update(facts)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(known, file)
    return known


def evaluate(files, options):
    left = int(os.environ["TWO_GPUS_END"]) - time.time() + 20
    return evaluation.evaluate(TASK, files, options, min(PATIENCE, max(5, left)))


def evaluate_many(count, parallel, files=PLAIN, options=("--repeat",)):
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        results = list(pool.map(lambda _: evaluate(files, list(options)), range(count)))
    return results, time.monotonic() - start


def device(result):
    return result.get("device", {}).get("device_id", "")


def all_passed(results, what):
    bad = [result for result in results if evaluation.outcome(result) != "PASSED"]
    if bad:
        say(False, what, f"{len(bad)} of {len(results)} did not pass, as "
                         f"{evaluation.outcome(bad[0])} {bad[0].get('message', '')[:300]}")
    return not bad


def listed_workers():
    done = subprocess.run([os.environ["KSEARCH"], "workers", "--json"], capture_output=True,
                          text=True, timeout=20, check=True)
    return json.loads(done.stdout).get("workers", [])


def sick_devices():
    sick = {}
    for worker in listed_workers():
        if worker.get("connected"):
            for one in worker.get("report", {}).get("health", {}).get("sick_devices", []):
                sick[one["device_id"]] = one.get("reason", "")
    return sick


def lease_states(worker="worker"):
    return [lease.get("state") for one in listed_workers() if one["name"] == worker
            for lease in one.get("report", {}).get("leases", [])]


def until(condition, seconds):
    end = time.monotonic() + seconds * SLOWER
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.2)
    return condition()


def held_interval(result):
    digits = re.match(r"(.*?)(\.\d+)?Z$", result["finished_at"])
    end = datetime.datetime.fromisoformat(digits[1] + "+00:00").timestamp() + float(digits[2] or 0)
    return end - evaluation.seconds(result.get("stage_times", {}).get("device_held")), end


def overlap(results):
    """Returns the seconds during which jobs held different devices at once, summed over pairs."""
    total = 0.0
    for i, one in enumerate(results):
        for other in results[:i]:
            if device(one) == device(other):
                continue
            a, b = held_interval(one), held_interval(other)
            total += max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    return total


@contextlib.contextmanager
def device_held(uuid):
    """Holds a GPU's lock as another worker's measurement would."""
    locks = glob.glob(f"/tmp/ksearch-device-*-{uuid}.lock")
    if not locks:
        sys.exit(f"no lock file of {uuid} in /tmp")
    files = [open(path, "rb") for path in locks]  # pylint: disable=consider-using-with
    for file in files:
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        for file in files:
            file.close()


# ---------------------------------------------------------------------------------- the parts


def find(_):
    """Which GPUs: the first two that nvidia-smi lists."""
    done = subprocess.run(["nvidia-smi", "--query-gpu=uuid,pci.bus_id,name",
                           "--format=csv,noheader"], capture_output=True, text=True, timeout=30,
                          check=False)
    gpus = [[field.strip() for field in line.split(",")] for line in done.stdout.splitlines()]
    if done.returncode != 0 or len(gpus) < 2:
        sys.exit(f"two_gpus.sh needs two GPUs; nvidia-smi lists {len(gpus)} {done.stderr.strip()}")
    minors = {}
    for path in glob.glob("/proc/driver/nvidia/gpus/*/information"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        uuid = re.search(r"GPU UUID:\s*(\S+)", text)
        minor = re.search(r"Device Minor:\s*(\d+)", text)
        if uuid and minor:
            minors[uuid[1]] = int(minor[1])
    facts = {uuid: {"bus": bus.lower()[-12:], "name": name, "minor": minors.get(uuid, number)}
             for number, (uuid, bus, name) in enumerate(gpus)}
    chosen = [gpu[0] for gpu in gpus[:2]]
    remember(gpus=facts, chosen=chosen)
    with open(os.path.join(CLUSTER, "uuids"), "w", encoding="utf-8") as file:
        file.write("\n".join(chosen) + "\n")
    for uuid in chosen:
        print(f"      {uuid} {facts[uuid]}")


def slots(facts):
    devices = [entry["fingerprint"]["device_id"] for worker in listed_workers()
               for entry in worker["hello"]["devices"]]
    say(sorted(devices) == sorted(facts["chosen"]), "one device slot a GPU, by UUID",
        " ".join(devices))


def readings(facts):
    """The worker reports each GPU's readings, and `ksearch worker ls --wide` shows them."""
    def known():
        return {one["device_id"]: one for worker in listed_workers()
                for one in worker.get("report", {}).get("health", {}).get("readings", [])
                if one.get("sm_clock_mhz") and one.get("temperature_celsius")}

    there = until(lambda: sorted(known()) == sorted(facts["chosen"]), 15)
    say(there, "both GPUs tell their clocks and temperature", "; ".join(
        f"{one['sm_clock_mhz']} MHz, {one['temperature_celsius']} C" for one in known().values()))
    wide = subprocess.run([os.environ["KSEARCH"], "worker", "ls", "--wide"], capture_output=True,
                          text=True, timeout=20, check=False).stdout
    lines = [line for line in wide.splitlines() if " MHz " in line]
    say(len(lines) == 2 and all(any(uuid in line for line in lines) for uuid in facts["chosen"]),
        "worker ls --wide has a line for each GPU", " | ".join(lines))


def sees(facts):
    first, took = evaluate_many(2, 2, LOOKS)
    more, _ = evaluate_many(4, 4, LOOKS, CHECK)
    results = first + more
    if not all_passed(results, "candidates see exactly one GPU"):
        return
    wrong = []
    for result in results:
        seen = re.findall(r"seen: count=(\S+) bus=(\S+) uuid=(\S+) nodes=(\S*)",
                          result.get("stderr_excerpt", ""))
        gpu = facts["gpus"].get(device(result), {})
        expected = ("1", gpu.get("bus"), device(result), f"{gpu.get('minor')},")
        for count, bus, uuid, nodes in seen:
            if (count, bus.lower()[-12:], uuid, nodes) != expected:
                wrong.append(f"{count} {bus} {uuid} /dev/nvidia{nodes} on {device(result)}")
        if not seen:
            wrong.append(f"nothing said on {device(result)}: "
                         f"{result.get('stderr_excerpt', '')[:200]!r}")
    say(not wrong, "candidates see exactly one GPU: count, UUID, bus, device node",
        wrong[0] if wrong else f"{len(results)} results, the first two after {took:.1f} s")
    used = sorted(set(device(result) for result in results))
    say(used == sorted(facts["chosen"]), "both GPUs were used", " ".join(used))


def two(_):
    evaluate_many(2, 2, PLAIN, CHECK)  # builds
    results, took = evaluate_many(EVALS, 4)
    if not all_passed(results, "two GPUs at once"):
        return
    both = overlap(results)
    remember(two=took, held=sum(evaluation.seconds(r["stage_times"].get("device_held"))
                                for r in results))
    say(both > (0.2 * took if RATES else 0), "two jobs are measured at the same time",
        f"{both:.1f} of {took:.1f} s, {EVALS} evaluations")


def busy(facts):
    with device_held(facts["chosen"][0]):
        results, took = evaluate_many(2, 1, PLAIN, CHECK)
    if all_passed(results, "a job takes the GPU that is free"):
        say(all(device(result) == facts["chosen"][1] for result in results),
            "a job takes the GPU that is free", f"2 evaluations in {took:.1f} s beside a busy one")


def sick(facts):
    well, ill = facts["chosen"]
    node = f"/dev/nvidia{facts['gpus'][ill]['minor']}"
    mode = stat.S_IMODE(os.stat(node).st_mode)
    try:
        os.chmod(node, 0o600)
    except OSError as error:
        say(False, "a GPU out of order is reported", f"cannot bar {node}: {error}")
        return
    try:
        start = time.monotonic()
        noticed = until(lambda: ill in sick_devices(), 8)
        say(noticed, "a GPU out of order is reported",
            f"after {time.monotonic() - start:.1f} s: {sick_devices().get(ill, 'nothing')[:120]}")
        text = subprocess.run([os.environ["KSEARCH"], "workers"], capture_output=True, text=True,
                              timeout=20, check=False).stdout
        say(f"{ill} takes no jobs" in text, "`ksearch workers` names it")
        results, _ = evaluate_many(2, 2, PLAIN, CHECK)
        if all_passed(results, "the other GPU goes on"):
            say(all(device(result) == well for result in results), "the other GPU goes on")
    finally:
        os.chmod(node, mode)
    start = time.monotonic()
    back = until(lambda: not sick_devices(), 10)
    say(back, "it serves again once it is repaired", f"after {time.monotonic() - start:.1f} s")
    results, _ = evaluate_many(4, 4, PLAIN, CHECK)
    if all_passed(results, "both GPUs serve again"):
        used = sorted(set(device(result) for result in results))
        say(used == sorted(facts["chosen"]), "both GPUs serve again", " ".join(used))


def verifier(facts):
    with open(os.path.join(CLUSTER, "log", "worker.log"), encoding="utf-8") as file:
        pids = re.findall(rf'verifier started".* pid=(\d+) gpu={facts["chosen"][1]}', file.read())
    if not pids:
        say(False, "a verifier is killed", "its start is not in the worker's log")
        return
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(evaluate, PLAIN, CHECK) for _ in range(4)]
        time.sleep(0.3)
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pids[-1]), signal.SIGKILL)
        results = [job.result() for job in jobs]
    if all_passed(results, "a killed verifier costs no job its verdict"):
        say(True, "a killed verifier costs no job its verdict", f"pid {pids[-1]}")


def one(facts):
    warm = evaluate(PLAIN, ["--repeat"])
    results, took = evaluate_many(EVALS, 4)
    if not all_passed([warm] + results, "one GPU alone"):
        return
    say(all(device(result) == facts["chosen"][0] for result in results),
        "a worker of one GPU uses no other")
    known = remember(one=took)
    gain = took / known["two"] if known.get("two") else 0
    say(gain >= LEAST_GAIN or not RATES, "two GPUs do more than one",
        f"{EVALS} evaluations in {known.get('two', 0):.1f} s, with one in {took:.1f} s: {gain:.2f}x")


def pinned(facts):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with device_held(facts["chosen"][0]):
            job = pool.submit(evaluate, PLAIN, CHECK)
            waits = until(lambda: "WAITING" in lease_states(), 10)
            time.sleep(2)
        result = job.result()
    waited = evaluation.seconds(result.get("stage_times", {}).get("wait_device"))
    if all_passed([result], "a job waits for its GPU while that is busy"):
        say(waits and waited > 1.9, "a job waits for its GPU while that is busy", f"{waited:.1f} s")


def killed(facts):
    """Two workers, one GPU each; two_gpus.sh kills the first when the file kill-now appears."""
    evaluate_many(2, 2, PLAIN, CHECK)  # builds on the second
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(evaluate, PLAIN, ["--repeat"]) for _ in range(6)]
        until(lambda: "RUNNING" in lease_states(), 10)
        with open(os.path.join(CLUSTER, "kill-now"), "w", encoding="utf-8"):
            pass
        until(lambda: os.path.exists(os.path.join(CLUSTER, "killed")), 5)
        results = [job.result() for job in jobs]
    if all_passed(results, "a killed worker leaves the other unharmed"):
        on_second = sum(device(result) == facts["chosen"][1] for result in results)
        again = [result for result in results if result.get("attempt", 1) > 1]
        say(again and all(device(result) == facts["chosen"][1] for result in again),
            "a killed worker leaves the other unharmed, which takes over its jobs",
            f"6 verdicts, {on_second} by the other, {len(again)} of them at a second try")
    states = {worker["name"]: worker.get("connected", False) for worker in listed_workers()}
    say(states.get("second") is True and not states.get("worker"), "the coordinator knows",
        str(states))


def table(facts):
    print(f"\n{'':6}{'what':<72}detail")
    with open(os.path.join(CLUSTER, "table"), encoding="utf-8") as file:
        for line in file:
            verdict, what, detail = line.rstrip("\n").split("\t")
            print(f"{verdict:<6}{what[:70]:<72}{detail[:100]}")
    if facts.get("two") and facts.get("one"):
        print(f"\n{EVALS} evaluations of {TASK}: one GPU {facts['one']:.2f} s, two GPUs "
              f"{facts['two']:.2f} s, {facts['one'] / facts['two']:.2f}x; "
              f"devices held {facts['held']:.2f} s in all")


def main():
    parts = {f.__name__: f for f in (find, slots, readings, sees, two, busy, sick, verifier, one, pinned,
                                     killed, table)}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: two_gpus.py {'|'.join(parts)}")
    parts[sys.argv[1]](remember())
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
