"""What the scripts share that judge GPU MODE's submissions here and by upstream's evaluator: their options, and
the tasks of a checkout."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import evaluation  # noqa: E402
import rows as row_files  # noqa: E402


def tasks_by_folder():
    """Returns {real path of a problem's folder: the task's name}."""
    listed = json.loads(evaluation.ksearch(["task", "ls", "--suite", "gpumode", "--json"], 60).stdout)["tasks"]
    found = {}
    for each in listed:
        path = os.path.realpath(each["path"])
        found[path if os.path.isdir(path) else os.path.dirname(path)] = each["name"]
    return found


def run(parser, name, ours, upstream, report):
    """Adds the common options to `parser`, which has the script's own, and does what the first argument says.

    ours(options, rows, end) and upstream(options, rows, end) judge until `end`, a time of time.monotonic();
    report(options, rows) returns the exit status. Rows are kept in `name`.jsonl in $OUT.
    """
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--spent", type=float, default=0)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--rows", default=row_files.out_path(f"{name}.jsonl"))
    options = parser.parse_args()
    rows = row_files.Rows(options.rows, "key")
    if options.what == "report":
        return report(options, rows)
    end = time.monotonic() + options.share * options.seconds - options.spent - 5
    {"ours": ours, "upstream": upstream}[options.what](options, rows, end)
    return 0
