#!/usr/bin/env bash
# Judges published kernels as solutions of FlashInfer-Bench, without a change to their sources, on this
# machine's GPUs, and beside it by upstream's own evaluator (flashinfer-bench): status and latency of every
# solution on every workload.
#   tests/gpu/suites/flashinfer.sh PACK [--side ours|upstream|both] [--workloads N] [--only REGEX]
#                                  [--seconds N] [--rows FILE] [--jobs N]
#     PACK            definitions/, workloads/ and results/ (flashinfer_dataset.py says what of), and whl/, from
#                     which flashinfer-bench and what it needs are installed beside this machine's torch
#     --side          which evaluator runs (default: both, ours first); without ours, compares with its rows
#     --workloads N   of each definition (default 6); ksearch holds every fifth of them out
#     --only REGEX    solutions whose names this finds
#     --seconds N     ends within so many seconds (default 560)
#     --rows FILE     where results are kept and read (default: flashinfer.jsonl in $OUT)
# Each solution compiles for a minute or so; all of them take about 6 minutes for each side on four GPUs.
# Writes flashinfer.csv to $OUT. Exit status 1 if a status differs. Needs what tests/gpu/python_gpu.sh needs,
# ninja and numpy. What else can be set: tests/gpu/cluster.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../cluster.sh"
source "$here/suite.sh"
started=$SECONDS
[ -d "${1:-}" ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
pack=$(cd "$1" && pwd)
shift
side=both workloads=6
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --side) side=$2; shift ;;
    --workloads) workloads=$2; shift ;;
    *) options+=("$1") ;;
  esac
  shift
done
make_cluster
python3 "$here/flashinfer_dataset.py" "$pack" "$cluster/dataset" --workloads "$workloads"
chmod -R a+rX "$cluster/dataset"
status=0
if [ "$side" != upstream ]; then
  use_suite flashinfer "$cluster/dataset"
  start_cluster
  python3 "$here/flashinfer.py" ours "$cluster/dataset" --spent $((SECONDS - started)) --gpus "$suite_gpus" "${options[@]}" ||
    status=$?
  show_trouble "$status"
  # Nobody else may use the GPUs beside upstream's evaluator.
  for pid in "${cluster_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${cluster_pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  cluster_pids=()
fi
if [ "$side" != ours ]; then
  cluster_up=1
  python3 -m pip install -q --no-index --no-deps --find-links "$pack/whl" --target "$cluster/upstream" \
    flashinfer-bench pydantic pydantic-core annotated-types typing-inspection docstring-parser apache-tvm-ffi
  PYTHONPATH=$cluster/upstream FIB_CACHE_PATH=$cluster/fib FIB_DATASET_PATH=$cluster/dataset \
    python3 "$here/flashinfer.py" upstream "$cluster/dataset" --spent $((SECONDS - started)) "${options[@]}" || status=$?
fi
python3 "$here/flashinfer.py" report "$cluster/dataset" "${options[@]}" || status=$?
exit "$status"
