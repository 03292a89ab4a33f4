"""usage: read_wandb.py FOLDER: reads the runs of sink_samples by wandb's own reader and protos."""

import json
import pathlib
import sys

from wandb.proto import wandb_internal_pb2 as pb
from wandb.sdk.internal.datastore import DataStore


def records(path):
    store = DataStore()
    store.open_for_scan(str(path))
    read = []
    while (data := store.scan_data()) is not None:
        record = pb.Record()
        record.ParseFromString(data)
        read.append(record)
    return read


def items(message):
    return {item.key: json.loads(item.value_json) for item in message}


def check(condition, what):
    if not condition:
        sys.exit(f"read_wandb.py: {what}")


def main():
    folder = pathlib.Path(sys.argv[1]) / "wandb"
    runs = {}
    for path in sorted(folder.glob("offline-run-*/run-*.wandb")):
        runs.setdefault(path.stem, []).append((path.parent, records(path)))
    check(sorted(runs) == ["run-a", "run-b", "run-c"], f"runs {sorted(runs)}")
    check(len(runs["run-a"]) == 1, "a run that was never resumed has one folder")
    check(len(runs["run-b"]) == 2, "a resumed run has a folder for each part")

    place, read = runs["run-a"][0]
    check([record.num for record in read] == list(range(1, len(read) + 1)), "numbers of records")
    kinds = [record.WhichOneof("record_type") for record in read]
    check(None not in kinds, "a record has a type that wandb does not know")
    check(kinds[:2] == ["header", "run"], f"begins with {kinds[:2]}")
    check(kinds[-3:] == ["exit", "final", "footer"], f"ends with {kinds[-3:]}")
    run = read[1].run
    check((run.run_id, run.project, run.run_group, run.job_type) == ("a", "ksearch", "softmax_rows_f32", "world_model"),
          f"run {run}")
    check(run.HasField("start_time"), "no start time")
    config = items(run.config.update)
    check(config["task"] == "softmax_rows_f32" and config["rounds"] == 20 and config["language"] == "cpp", f"config {config}")

    history = [items(record.history.item) for record in read if record.WhichOneof("record_type") == "history"]
    check(len(history) == 403, f"{len(history)} history records for 400 candidates, 2 confirmations and the end")
    check([line["_step"] for line in history] == list(range(403)), "steps")
    check(all(isinstance(line["_timestamp"], (int, float)) and line["_runtime"] >= 0 for line in history), "times")
    check(history[-1]["round"] == 400, "rounds")
    check([line["best/speedup"] for line in history if "best/speedup" in line][:2] == [1.25, 1.25], "best curve")
    check(all(len(line) <= 64 and max(map(len, line)) <= 128 for line in history), "too much for W&B")
    check(abs(history[-1]["cost/usd"] - 1.0) < 1e-9, "cost")
    summaries = [items(record.summary.update) for record in read if record.WhichOneof("record_type") == "summary"]
    check(summaries[-1]["best/speedup"] == 2.5 and "runtime" in summaries[-1]["_wandb"], f"summary {summaries[-1]}")
    metrics = [record.metric for record in read if record.WhichOneof("record_type") == "metric"]
    check(any(metric.glob_name == "best/*" and metric.step_metric == "round" for metric in metrics), "metrics")
    check(next(record for record in read if record.HasField("exit")).exit.exit_code == 0, "exit code")

    paths = [file.path for record in read for file in record.files.files]
    check(sum(path.startswith("incumbents/") for path in paths) == 4, f"files {paths}")
    check(sum(path.startswith("world_model/") for path in paths) == 3, f"files {paths}")
    for path in paths:
        check((place / "files" / path).is_file(), f"{path} is announced and is not there")

    first, second = runs["run-b"]
    steps = [[items(r.history.item)["_step"] for r in part if r.HasField("history")] for _, part in (first, second)]
    check(second[1][1].run.run_id == "b" and second[1][1].run.starting_step == steps[0][-1] + 1 == steps[1][0],
          f"a resumed run keeps its id and goes on with its steps: {steps}")
    check(runs["run-c"][0][1][-1].WhichOneof("record_type") != "footer", "a run that goes on has no end")

    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    check(b"of the user alone" not in everything, "the program that the run began with was told")


main()
