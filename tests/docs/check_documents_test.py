#!/usr/bin/env python3
"""The check of the documents must find faults: plants one of each kind in a scratch tree."""
import os
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_documents.py")
GOOD = {
    "README.md": "# A\n\n[the index](docs/README.md)\n",
    "CONVENTIONS.md": "# C\n",
    "results/README.md": "# R\n",
    "docs/README.md": "# D\n\n[a](a.md#two-words) [b](measuring.md) [c](threat_model.md) [d](glossary.md)\n",
    "docs/a.md": "# A page\n\n## Two words\n",
    "docs/measuring.md": "# M\n",
    "docs/threat_model.md": "# T\n",
    "docs/glossary.md": "| word | in the code | meaning |\n|---|---|---|\n| batch | GO (`GoRequest`) | some calls |\n",
    "proto/a.proto": "// docs/a.md\nmessage GoRequest {}\n",
}


def check(changes):
    with tempfile.TemporaryDirectory() as tree:
        for folder in ("bench", "cli", "common", "configs", "coordinator", "deploy", "gpu_worker", "tests"):
            os.makedirs(os.path.join(tree, folder))
        for path, text in {**GOOD, **changes}.items():
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, CHECK, tree], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def expect(what, changes):
    code, text = check(changes)
    if code != 1 or what not in text:
        raise SystemExit(f"not found: {what}\n{text}")


code, text = check({})
if code != 0:
    raise SystemExit(f"faults in a good tree:\n{text}")
expect("README.md:1: there is no docs/b.md", {"README.md": "[b](docs/b.md)\n"})
expect("has no heading 'three'", {"README.md": "[a](docs/a.md#three)\n"})
expect("docs/a.md:1: 123 columns", {"docs/a.md": "word " * 24 + "abc\n"})
expect("docs/a.md:1: 'museum'", {"docs/a.md": "The museum (code: late work) of `museum.txt`\n"})
expect("docs/b.md: docs/README.md does not lead there", {"docs/b.md": "# B\n"})
expect("docs/measuring.md: 151 lines", {"docs/measuring.md": "a\n" * 151})
expect("cli/a.h: names docs/gone.md", {"cli/a.h": "// docs/gone.md\n"})
expect("the sources have no 'GoRequest'", {"proto/a.proto": "message Batch {}\n"})
