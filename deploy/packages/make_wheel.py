#!/usr/bin/env python3
"""Makes a wheel of an unpacked bundle and the Python side. Needs nothing but Python.

usage: make_wheel.py --bundle FOLDER --python FOLDER --version VERSION --platform TAG --out FOLDER

The bundle's bin/, lib/, configs/ and licenses/ become the package ksearch_programs, beside the packages
of the Python side. The same input gives the same bytes; SOURCE_DATE_EPOCH is the time of every file.
Prints the wheel's path.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

# Files that are executed by their paths, and files that are only read, both under ksearch_programs/.
FOLDERS = ("bin", "lib", "configs", "licenses")
COMMANDS = {
    "ksearch": "ksearch",
    "ksearch-coordinator": "ksearch_coordinator",
    "ksearch-autoscaler": "ksearch_autoscaler",
    "ksearch-worker": "ksearch_worker",
    "ksearch-model-server": "ksearch_model_server",
}
METADATA = """\
Metadata-Version: 2.1
Name: ksearch
Version: {version}
Summary: Searches for faster compute kernels, and calls one faster only when a confirmation says so
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: client
Requires-Dist: grpcio>=1.51; extra == "client"
Requires-Dist: protobuf>=4.21; extra == "client"
Provides-Extra: kernelbench
Requires-Dist: pyarrow>=12; extra == "kernelbench"
Description-Content-Type: text/markdown

{description}
"""
DESCRIPTION = """\
`ksearch run --local --task softmax_rows_f32 --model openai/NAME --budget-usd 5` starts what it needs on
this machine, searches, and prints the result. It needs a key in OPENAI_API_KEY, ANTHROPIC_API_KEY or
GEMINI_API_KEY, or a server's address in KSEARCH_MODEL_URL; `ksearch up` says what is missing.
Candidates in C++ are built with the machine's g++, those in CUDA with its CUDA toolkit.

`pip install 'ksearch[client]'` adds what `import ksearch` needs.
"""


def files_below(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


class Wheel:
    def __init__(self, path, moment):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.moment = time.gmtime(max(moment, 315532800))[:6]  # zip knows no time before 1980
        self.record = []

    def add(self, name, content, executable=False):
        entry = zipfile.ZipInfo(name, self.moment)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3  # Unix: pip takes the permissions from the entry
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, record_name):
        entry = zipfile.ZipInfo(record_name, self.moment)
        entry.external_attr = 0o100644 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, "\n".join([*self.record, f"{record_name},,", ""]))
        self.archive.close()


def main():
    parser = argparse.ArgumentParser()
    for name in ("--bundle", "--python", "--version", "--platform", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    bundle, python = pathlib.Path(options.bundle), pathlib.Path(options.python)
    tag = f"py3-none-{options.platform}"
    path = pathlib.Path(options.out) / f"ksearch-{options.version}-{tag}.whl"
    part = path.with_suffix(".part")
    wheel = Wheel(part, int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    for file in files_below(python):
        if file.suffix in (".py", ".pyi", ".typed", ".binpb"):
            wheel.add(str(file.relative_to(python)), file.read_bytes())
    for folder in FOLDERS:
        if not (bundle / folder).is_dir():
            sys.exit(f"make_wheel.py: {bundle} has no {folder}/: it is no bundle with a coordinator")
        for file in files_below(bundle / folder):
            executable = bool(file.stat().st_mode & 0o111)
            wheel.add(f"ksearch_programs/{file.relative_to(bundle)}", file.read_bytes(), executable)
    info = f"ksearch-{options.version}.dist-info"
    wheel.add(f"{info}/LICENSE", (bundle / "LICENSE").read_bytes())
    wheel.add(f"{info}/METADATA",
              METADATA.format(version=options.version, description=DESCRIPTION).encode())
    commands = "".join(f"{name} = ksearch_programs:{function}\n" for name, function in COMMANDS.items())
    wheel.add(f"{info}/entry_points.txt", f"[console_scripts]\n{commands}".encode())
    wheel.add(f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: ksearch\nRoot-Is-Purelib: false\n"
                                f"Tag: {tag}\n").encode())
    wheel.close(f"{info}/RECORD")
    part.replace(path)
    print(path)


if __name__ == "__main__":
    main()
