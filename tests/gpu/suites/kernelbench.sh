#!/usr/bin/env bash
# Describes the problems of a KernelBench checkout and judges the trivial ModelNew, a copy of Model, on each,
# on all GPUs of this machine, to learn how many can be described and how many of those are right. Prints a
# line for each problem, then counts and every problem that is not right, with the reason. Exit status 1 if
# a problem that could be described is not right.
#   tests/gpu/suites/kernelbench.sh CHECKOUT [--levels 1,2,3] [--only REGEX] [--part K/N] [--seconds N]
#                                   [--timed] [--rows FILE] [--jobs N] [--problem-seconds N]
#     --seconds N          time limit (default 560); to finish what is left, run the same command again
#                          with the rows of this one
#     --timed              screens, which also times programs and eager baselines; the default only checks
#     --rows FILE          file of the results, read and appended to (default: kernelbench.jsonl in $OUT)
#     --jobs N             evaluations in progress at once (default: 3 for each GPU)
#     --problem-seconds N  time limit for one problem (default 150)
# Writes kernelbench.csv to $OUT. Needs what tests/gpu/python_gpu.sh needs; some problems need einops.
# For more variables see tests/gpu/cluster.sh; on a machine without a GPU set KSEARCH_SUITE_DEVICE=cpu and, in
# KSEARCH_WORKER_CONFIG, a worker's configuration that offers Python.
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
