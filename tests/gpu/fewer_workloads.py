#!/usr/bin/env python3
"""fewer_workloads.py FOLDER N: leaves every task in FOLDER at most N workloads: N - 1 that are not held
out, spread over the task's, and the middle one of those that are. A confirmation times every program on
every workload, so that many programs can be confirmed in less time."""
import glob
import json
import os
import re
import sys


def spread(items, count):
    """`count` of the items, first and last included if there is more than one."""
    if count >= len(items):
        return items
    if count == 1:
        return items[:1]
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def main():
    folder, wanted = sys.argv[1], int(sys.argv[2])
    if wanted < 2:
        sys.exit("N must be at least 2: one workload is held out")
    for path in glob.glob(os.path.join(folder, "**", "workloads.jsonl"), recursive=True):
        settings = os.path.join(os.path.dirname(path), "task.textproto")
        with open(settings, encoding="utf-8") as file:
            text = file.read()
        held_out = re.findall(r'^held_out: "([^"]*)"$', text, re.M)
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file if line.strip()]
        uuids = [json.loads(line)["workload"]["uuid"] for line in lines]
        if len(lines) <= wanted:
            continue
        kept = spread([uuid for uuid in uuids if uuid not in held_out], wanted - 1 if held_out else wanted)
        kept += [uuid for uuid in uuids if uuid in held_out][len(held_out) // 2:][:1]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for line, uuid in zip(lines, uuids) if uuid in kept)
        for uuid in held_out:
            if uuid not in kept:
                text = text.replace(f'held_out: "{uuid}"\n', "")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
