#!/usr/bin/env python3
"""usage: describe_test.py PYTHON SOURCE_DIR: what is reported of a KernelBench problem whose file does not end."""

import json
import pathlib
import subprocess
import sys
import tempfile

PROBLEMS = {
    "loops": "while True:\n    pass\n",
    "waits": "import threading\nthreading.Event().wait()\n",
    "catches": "import time\ntry:\n    time.sleep(1000)\nexcept Exception:\n    pass\ntime.sleep(1000)\n",
}


def main():
    python, source = sys.argv[1:]
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode != 0:
        sys.exit(77)
    scripts = pathlib.Path(source, "coordinator/suites/python")
    script = "".join((scripts / name).read_text() for name in ("describing.py", "describe_module.py"))
    for was, now in (("MOST_READING = 60", "MOST_READING = 1"), ("@PRECISION@", "float32"), ("@TOLERANCE@", "1e-4")):
        if was not in script:
            sys.exit(f"FAILED: the script has no {was}")
        script = script.replace(was, now)
    for name, problem in PROBLEMS.items():
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "describe.py").write_text(script)
            pathlib.Path(folder, "problem.py").write_text(problem)
            done = subprocess.run([python, "describe.py"], cwd=folder, capture_output=True, text=True, timeout=100)
        said = json.loads(done.stdout.split("ksearch-description: ")[1])
        if "not read to the end within 1 s" not in said.get("error", ""):
            sys.exit(f"FAILED: {name}: {said}, {done.stderr}")


if __name__ == "__main__":
    main()
