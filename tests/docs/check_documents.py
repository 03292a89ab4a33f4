#!/usr/bin/env python3
"""Checks the documents: every link leads somewhere, every page is in the index, lines are not too long.

usage: check_documents.py SOURCE_ROOT

It reads README.md, CONVENTIONS.md, results/README.md and docs/.
- A line has at most 120 columns, except rows of tables, fenced blocks and single words.
- docs/measuring.md and docs/threat_model.md have at most 150 lines: to say more, say less elsewhere.
- Names that only the code has (docs/glossary.md) stand in code spans or behind "code:", and a name in the
  glossary's second column is one of the sources'.
- A page that a source names (docs/NAME.md) exists.
"""
import os
import re
import subprocess
import sys

LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
PAGE = re.compile(r"\bdocs/[A-Za-z0-9_/.-]*?\.md\b")
FENCED = re.compile(r"^\s*```")
PENDING = ()  # pages that others name and that are not written yet
PRIVATE = re.compile(r"\b(museum|lead-in|late work|look(ed|s)? over|keeps the device|arrivals?)\b(?! order)")
IN_CODE = re.compile(r"`[^`]*`|\((?:in the )?code: [^)]*\)")
SHORT = ("docs/measuring.md", "docs/threat_model.md")


def anchor(heading):
    """The name that a heading's link target gets."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.lstrip("#").strip()).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def pages(root):
    found = ["README.md", "CONVENTIONS.md", "results/README.md"]
    for folder, _, names in os.walk(os.path.join(root, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names
                  if name.endswith(".md")]
    return sorted(found)


def read(root, page):
    """The page's lines, with None in place of those in fenced blocks; and its anchors."""
    lines, anchors, inside = [], set(), False
    for line in open(os.path.join(root, page), encoding="utf-8").read().split("\n"):
        if FENCED.match(line):
            inside = not inside
            lines.append(None)
        elif inside:
            lines.append(None)
        else:
            lines.append(line)
            if line.startswith("#"):
                anchors.add(anchor(line))
    return lines, anchors


def main(root):
    faults = []
    texts = {page: read(root, page) for page in pages(root)}
    linked = set()
    for page, (lines, _) in texts.items():
        for number, line in enumerate(lines, 1):
            if line is None:
                continue
            if len(line) > 120 and page not in PENDING and not line.lstrip().startswith("|") and " " in line.strip():
                faults.append(f"{page}:{number}: {len(line)} columns, more than 120")
            private = PRIVATE.search(IN_CODE.sub("", line))
            if private and page != "docs/glossary.md" and page not in PENDING:
                faults.append(f"{page}:{number}: '{private[0]}' is a word of the code: see docs/glossary.md")
            for target in LINK.findall(line):
                if "://" in target:
                    continue
                path, _, part = target.partition("#")
                there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if not os.path.exists(os.path.join(root, there)) and there not in PENDING:
                    faults.append(f"{page}:{number}: there is no {there}")
                    continue
                if page == "docs/README.md" or page.startswith("docs/suites/"):
                    linked.add(there)
                if part and there in texts and part not in texts[there][1]:
                    faults.append(f"{page}:{number}: {there} has no heading '{part}'")
    for page in texts:
        if page.startswith("docs/") and page != "docs/README.md" and page not in linked:
            faults.append(f"{page}: docs/README.md does not lead there")
    for page in SHORT:
        length = len(texts[page][0]) - 1
        if length > 150:
            faults.append(f"{page}: {length} lines, more than 150")
    names = {name: False for line in texts["docs/glossary.md"][0] if line and line.startswith("|")
             for whole in re.findall(r"`([^`]+)`", line.split("|")[2])
             for name in ([whole] if "/" in whole or whole.endswith((".txt", ".sh")) else whole.split("."))}
    files = subprocess.run(["find", "README.md", "CONVENTIONS.md", "bench", "cli", "common", "configs",
                            "coordinator", "deploy", "docs", "gpu_worker", "proto", "results", "tests",
                            "-type", "f", "-size", "-1024k"],
                           cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    for path in sorted(files):
        if not path or "/corpus/" in path or path.startswith(("tests/docs/", "tests/style/")):
            continue
        try:
            text = open(os.path.join(root, path), encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
        if not path.startswith("docs/"):
            for name in names:
                names[name] = names[name] or name in path or name in text
        for named in sorted(set(PAGE.findall(text))):
            if not os.path.exists(os.path.join(root, named)) and named not in PENDING:
                faults.append(f"{path}: names {named}, which is not there")
    faults += [f"docs/glossary.md: the sources have no '{name}'"
               for name, found in names.items() if not found]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
