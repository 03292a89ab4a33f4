#!/usr/bin/env bash
# Judges submissions to a GPU MODE problem on this machine's GPUs, and also with upstream's own eval.py in
# benchmark mode; prints the means of all benchmarks by both, and their geometric means.
#   tests/gpu/suites/trimul.sh REFERENCE_KERNELS SUBMISSION.py... [--problem bioml/trimul] [--side ours|upstream|both]
#                              [--seconds N] [--rows FILE]
#     REFERENCE_KERNELS  a checkout of reference-kernels, or of its folder problems/, with that problem
#     --side             which evaluator runs (default: both, ours first, which gets 70 % of the time at most)
#     --seconds N        time limit (default 560)
#     --rows FILE        file of the results, read and appended to (default: trimul.jsonl in $OUT)
# Writes trimul.csv to $OUT. Exit status 1 if only one of the two finds a submission right, or if geometric
# means differ by more than 3 %. Needs what tests/gpu/python_gpu.sh needs, and PyYAML.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../cluster.sh"
source "$here/suite.sh"
started=$SECONDS
[ -d "${1:-}" ] && [ -f "${2:-}" ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
checkout=$(cd "$1" && pwd)
[ ! -d "$checkout/problems" ] || checkout=$checkout/problems
shift
side=both problem=bioml/trimul
submissions=() options=()
while [ $# -gt 0 ]; do
  case $1 in
    --side) side=$2; shift ;;
    --problem) problem=$2; shift ;;
    --*) options+=("$1" "$2"); shift ;;
    *) submissions+=("$(realpath "$1")") ;;
  esac
  shift
done
make_cluster
status=0
if [ "$side" != upstream ]; then
  use_suite gpumode "$checkout"
  start_cluster
  share=1
  [ "$side" = ours ] || share=0.7
  python3 "$here/trimul.py" ours "$checkout/$problem" --spent $((SECONDS - started)) --gpus "$suite_gpus" \
    --share "$share" "${options[@]}" "${submissions[@]}" || status=$?
  show_trouble "$status"
  end_programs
fi
if [ "$side" != ours ]; then
  cluster_up=1
  gpus=$(nvidia-smi -L | grep -c '^GPU ')
  TRITON_CACHE_DIR=$cluster/triton python3 "$here/trimul.py" upstream "$checkout/$problem" \
    --spent $((SECONDS - started)) --gpus "$gpus" "${options[@]}" "${submissions[@]}" || status=$?
fi
python3 "$here/trimul.py" report "$checkout/$problem" "${options[@]}" "${submissions[@]}" || status=$?
exit "$status"
