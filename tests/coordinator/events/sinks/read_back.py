#!/usr/bin/env python3
"""usage: read_back.py SINK_SAMPLES PACKAGES: reads the sinks' files with the programs that they are for:
wandb's own reader and protos, and TensorBoard's. PACKAGES: see tests/python/package_index.py."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import package_index  # noqa: E402


def main():
    samples, packages = sys.argv[1:]
    python = package_index.interpreter(packages)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([samples, folder], check=True)
        for check in ("read_wandb.py", "read_tensorboard.py"):
            if subprocess.run([python, HERE / check, folder]).returncode:
                sys.exit(f"FAILED: {check}")
    print("read back by", ", ".join(package_index.PACKAGES[:2]))


main()
