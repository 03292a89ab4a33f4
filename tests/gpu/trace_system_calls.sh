#!/usr/bin/env bash
# Traces the system calls that the honest programs of the corpus, and NVIDIA's driver on their behalf,
# make under the tight filter on this machine's GPU: judges each program in the real sandbox with a
# tracer around its runner, and prints the kinds of calls with their arguments and the answer of the
# allow-list for GPUs (gpu_worker/sandbox/gpu_driver_allow_list.cc). Exit status 1 if a program does
# not pass or the list would refuse a call. Takes some minutes.
#   tests/gpu/trace_system_calls.sh [--only PART_OF_A_NAME] [--filter deny-list|log|allow-list]
# For a driver that the list was not tested with: with --filter deny-list this must refuse nothing, and
# without it, as with run_corpus.sh, every program must pass.
# Needs nvcc, g++, ksearch-runner and the programs of gpu_tests/ (a bundle made by
# deploy/worker_bundle.sh --with-coordinator, or the target ksearch_gpu_tests of a build).
#   KSEARCH_BIN_DIR    folder of ksearch-runner; gpu_tests/ is beside it
#   OUT                folder for a copy of the table, system_calls.txt, if set
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
while [ $# -gt 0 ]; do
  case $1 in
    --only) export KSEARCH_ONLY=${2:?--only needs a part of a name} ;;
    --filter) export KSEARCH_GPU_FILTER=${2:?--filter needs a name} ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  shift 2
done

program=
for bin in "${KSEARCH_BIN_DIR:-}" "$root/bin" "$root"/build/{bundle,release,dev}/bin; do
  [ -n "$bin" ] && [ -x "$bin/ksearch-runner" ] && [ -x "$bin/../gpu_tests/gpu_honest_calls_test" ] || continue
  program=$bin/../gpu_tests/gpu_honest_calls_test
  break
done
[ -n "$program" ] || {
  echo "no ksearch-runner with gpu_tests/gpu_honest_calls_test beside its folder; set KSEARCH_BIN_DIR" >&2
  exit 2
}
tracer=$bin/ksearch-system-call-tracer
[ -x "$tracer" ] || tracer=$bin/../gpu_tests/ksearch-system-call-tracer
scratch=$(mktemp -d /tmp/ksearch-calls.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
# The test drops root, so others must be able to read everything it reads.
mkdir "$scratch/bin"
cp "$bin/ksearch-runner" "$tracer" "$scratch/bin/"
cp -r "$root/tests/bad_candidates/cuda" "$scratch/corpus"
cp -r "$root/configs/tasks" "$scratch/tasks"
cp -r "$root/gpu_worker/build/cuda" "$scratch/headers"
if [ -z "${KSEARCH_BWRAP:-}" ] && [ -x "$bin/bwrap" ]; then
  cp "$bin/bwrap" "$scratch/bin/" && cp -r "$bin/../lib" "$scratch/lib"
  export KSEARCH_BWRAP=$scratch/bin/bwrap
fi
chmod -R a+rX "$scratch"

status=0
KSEARCH_CALLS=$scratch/calls KSEARCH_BIN_DIR=$scratch/bin KSEARCH_CORPUS=$scratch/corpus \
  KSEARCH_TASKS=$scratch/tasks KSEARCH_CUDA_HEADERS=$scratch/headers "$program" >"$scratch/log" 2>&1 || status=$?
grep -E '^[a-z0-9_]+ JOB_KIND_' "$scratch/log" || true
if [ "$status" != 0 ]; then tail -n 40 "$scratch/log" >&2; fi
if [ ! -s "$scratch/calls" ]; then
  echo "nothing was traced" >&2
  tail -n 20 "$scratch/log" >&2
  exit 1
fi
# The union over all runners.
LC_ALL=C sort -u "$scratch/calls" >"$scratch/table"
cat "$scratch/table"
if [ -n "${OUT:-}" ]; then cp "$scratch/table" "$OUT/system_calls.txt"; fi
refused=$(grep -c '^refused' "$scratch/table" || true)
trouble=$(grep -c '^tracer:' "$scratch/table" || true)
echo "$(wc -l <"$scratch/table") kinds of calls, of which the list would refuse $refused"
[ "$status" = 0 ] && [ "$refused" = 0 ] && [ "$trouble" = 0 ]
