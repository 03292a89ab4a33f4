"""Runs upstream's own eval.py of a GPU MODE problem, as its server does."""
import os
import shutil
import subprocess
import sys
import tempfile


def read_task(folder):
    import yaml

    with open(os.path.join(folder, "task.yml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def case_line(case):
    """Formats cases as upstream's server does."""
    return "; ".join(f"{key}: {value}" for key, value in case.items())


def run(problem, submission, mode, gpu, seconds):
    """Runs eval.py in `mode` (test or benchmark) on the problem's cases of that mode.

    Returns what it answered, {key: value}; the end of what it printed; and whether it was killed because
    `seconds` were over. `gpu` is the index of the GPU, or None for the environment's.
    """
    task = read_task(problem)
    with tempfile.TemporaryDirectory() as folder:
        for file in task["files"]:
            source = submission if file["source"] == "@SUBMISSION@" else os.path.join(problem, file["source"])
            shutil.copy(source, os.path.join(folder, file["name"]))
        with open(os.path.join(folder, "cases.txt"), "w", encoding="utf-8") as cases:
            cases.write("\n".join(case_line(case) for case in task[mode + "s"]) + "\n")
        into, out = os.pipe()
        environment = {**os.environ, "POPCORN_FD": str(out), "TRITON_CACHE_DIR": os.path.join(folder, "triton")}
        if gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = str(gpu)
        with open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, task["config"]["main"], mode, "cases.txt"], cwd=folder, env=environment,
                pass_fds=[out], stdout=log, stderr=subprocess.STDOUT)
            os.close(out)
            killed = False
            try:
                process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                killed = True
                process.kill()
                process.wait()
            log.seek(0)
            tail = log.read()[-600:]
        with os.fdopen(into, encoding="utf-8", errors="replace") as pipe:
            said = dict(line.strip().split(": ", 1) for line in pipe if ": " in line)
    return said, tail, killed
