#!/usr/bin/env bash
# Judges published kernels as solutions of FlashInfer-Bench, with their sources unchanged, on this
# machine's GPUs, and also with upstream's own evaluator (flashinfer-bench): status and latency of
# every solution on every workload.
#   tests/gpu/suites/flashinfer.sh PACK [--side ours|upstream|both] [--workloads N] [--only REGEX]
#                                  [--turns N] [--seconds N] [--rows FILE] [--jobs N]
#     PACK            definitions/, workloads/ and results/ (see flashinfer_dataset.py), and whl/, the wheels
#                     of flashinfer-bench and of what it needs beside this machine's torch
#     --side          which evaluator runs (default: both, ours first, which gets 80 % of the time at most);
#                     without ours, compares with its rows
#     --workloads N   workloads of each definition (default 6); ksearch holds out every fifth of them
#     --only REGEX    solutions whose names match
#     --turns N       with both sides: afterwards, when everything is compiled and nothing else runs, both time
#                     those that passed on both sides N times more, in turns (default 0)
#     --seconds N     time limit (default 560)
#     --rows FILE     file of the results, read and appended to (default: flashinfer.jsonl in $OUT)
# Each solution compiles for half a minute or more on both sides; upstream compiles all at once, while ksearch
# judges. To finish what is left, run the same command again with the rows of this one. Writes flashinfer.csv
# to $OUT. Exit status 1 if a status differs. Needs what tests/gpu/python_gpu.sh needs, ninja, numpy and
# safetensors. For more variables see tests/gpu/cluster.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../cluster.sh"
source "$here/suite.sh"
started=$SECONDS
[ -d "${1:-}" ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
pack=$(cd "$1" && pwd)
shift
side=both workloads=6 turns=0
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --side) side=$2; shift ;;
    --workloads) workloads=$2; shift ;;
    --turns) turns=$2; shift ;;
    *) options+=("$1") ;;
  esac
  shift
done
make_cluster
python3 "$here/flashinfer_dataset.py" "$pack" "$cluster/dataset" --workloads "$workloads"
chmod -R a+rX "$cluster/dataset"
status=0
run() {  # run <what> [arguments]: flashinfer.py
  local what=$1
  shift
  python3 "$here/flashinfer.py" "$what" "$cluster/dataset" --spent $((SECONDS - started)) "$@" "${options[@]}"
}
upstream() (
  export PYTHONPATH=$cluster/upstream FIB_CACHE_PATH=$cluster/fib FIB_DATASET_PATH=$cluster/dataset
  # Torch would ask the GPU for this, and its context would keep ksearch from measuring there. Also skips an
  # extension of tvm-ffi that none of these solutions needs.
  TORCH_CUDA_ARCH_LIST=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)+PTX
  export TORCH_CUDA_ARCH_LIST TVM_FFI_DISABLE_TORCH_C_DLPACK=1 TORCH_EXTENSIONS_DIR=$cluster/extensions
  run "$@"
)
builds=
if [ "$side" != ours ]; then
  python3 -c 'import sys, zipfile; [zipfile.ZipFile(wheel).extractall(sys.argv[1]) for wheel in sys.argv[2:]]' \
    "$cluster/upstream" "$pack"/whl/*.whl
  cp "$here/keep_equal_files.py" "$cluster/upstream/sitecustomize.py"
  upstream build >"$cluster/log/upstream_builds.log" 2>&1 &
  builds=$!
fi
if [ "$side" != upstream ]; then
  share=1
  [ "$side" = ours ] || share=0.8
  use_suite flashinfer "$cluster/dataset"
  start_cluster
  run ours --gpus "$suite_gpus" --share "$share" || status=$?
  show_trouble "$status"
  [ "$turns" != 0 ] || end_programs
fi
if [ "$side" != ours ]; then
  cluster_up=1
  wait "$builds" || true
  gpus=$(nvidia-smi -L | grep -c '^GPU ')
  upstream upstream --gpus "$gpus" || status=$?
  # The worker's processes keep their contexts, and are idle while upstream's evaluator runs.
  for turn in $([ "$side" != both ] || seq "$turns"); do
    run ours --gpus "$suite_gpus" --turn "$turn" || status=$?
    upstream upstream --gpus "$gpus" --turn "$turn" || status=$?
  done
fi
run report || status=$?
exit "$status"
