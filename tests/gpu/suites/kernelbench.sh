#!/usr/bin/env bash
# Describes the problems of a checkout of KernelBench and judges on each the trivial ModelNew, a copy of
# Model, on all of this machine's GPUs: how many can be described, and how many of those are right. Prints
# a line for each problem, then counts and every problem that is not right, with the reason. Exit status 1
# if a problem that could be described is not right.
#   tests/gpu/suites/kernelbench.sh CHECKOUT [--levels 1,2,3] [--only REGEX] [--part K/N] [--seconds N]
#                                   [--timed] [--rows FILE] [--jobs N] [--problem-seconds N]
#     --seconds N          ends within so many seconds (default 560); what is left is done by the same
#                          command later, with the rows of this one
#     --timed              screens, so that programs and eager baselines are timed too; else only checks
#     --rows FILE          where results are kept and read (default: kernelbench.jsonl in $OUT)
#     --jobs N             evaluations in hand at once (default: 3 for each GPU)
#     --problem-seconds N  at most so long for a problem (default 150)
# Writes kernelbench.csv to $OUT. Needs what tests/gpu/python_gpu.sh needs; some problems need einops.
# What else can be set: tests/gpu/cluster.sh; KSEARCH_SUITE_DEVICE=cpu for a machine without a GPU, with a
# worker's configuration in KSEARCH_WORKER_CONFIG that offers programs in Python.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../cluster.sh"
source "$here/suite.sh"
started=$SECONDS
[ -d "${1:-}" ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
checkout=$(cd "$1" && pwd)
shift
make_cluster
use_suite kernelbench "$checkout"
start_cluster
status=0
python3 "$here/kernelbench.py" --spent $((SECONDS - started)) --gpus "$suite_gpus" "$@" || status=$?
show_trouble "$status"
exit "$status"
