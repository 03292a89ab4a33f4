#!/usr/bin/env bash
# Describes the problems of a reference-kernels checkout and judges each problem's own submission.py on this
# machine's GPUs, as upstream's mode does, and also with upstream's own eval.py. Prints a line for each problem,
# and at the end every problem that is not right, with the reason.
#   tests/gpu/suites/gpumode.sh REFERENCE_KERNELS [--mode test|benchmark] [--only REGEX] [--side ours|upstream|both]
#                               [--seconds N] [--rows FILE]
#     REFERENCE_KERNELS  a checkout of reference-kernels, or of its folder problems/
#     --mode             test: check only; benchmark: also time by upstream's clock (default: test)
#     --only REGEX       problems whose names match
#     --side             which evaluator runs (default: both, ours first, which gets 60 % of the time at most)
#     --seconds N        time limit (default 560)
#     --rows FILE        file of the results, read and appended to (default: gpumode.jsonl in $OUT)
# Writes gpumode.csv to $OUT. Exit status 1 if only one of the two finds a submission right. Needs what
# tests/gpu/python_gpu.sh needs, and PyYAML. For more variables see tests/gpu/cluster.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../cluster.sh"
source "$here/suite.sh"
started=$SECONDS
[ -d "${1:-}" ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
checkout=$(cd "$1" && pwd)
[ ! -d "$checkout/problems" ] || checkout=$checkout/problems
shift
side=both
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --side) side=$2 ;;
    *) options+=("$1" "$2") ;;
  esac
  shift 2
done
make_cluster
status=0
run() {  # run <what> [arguments]: gpumode.py
  local what=$1
  shift
  python3 "$here/gpumode.py" "$what" "$checkout" --spent $((SECONDS - started)) --gpus "$suite_gpus" "$@" \
    "${options[@]}"
}
use_suite gpumode "$checkout"
if [ "$side" != upstream ]; then
  start_cluster
  share=1
  [ "$side" = ours ] || share=0.6
  run ours --share "$share" || status=$?
  end_programs
fi
[ "$side" = ours ] || run upstream || status=$?
run report || status=$?
show_trouble "$status"
exit "$status"
