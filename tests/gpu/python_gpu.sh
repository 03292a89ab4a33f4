#!/usr/bin/env bash
# Judges Python programs (Triton, torch) of tests/gpu/python on this machine's GPU as a search would,
# and prints name, expected and actual outcome; then compares one kernel's latency with that of
# triton.testing.do_bench. Exit status 1 if anything differs.
#   tests/gpu/python_gpu.sh [--only REGEX] [--parallel N] [--seconds N]
#   KSEARCH_PYTHON  the interpreter with torch for CUDA and triton (default: VIRTUAL_ENV's, else python3)
# Needs python3-dev and gcc for Triton's launchers, nvcc and g++ for the tasks' own programs, and the
# programs of a bundle (deploy/worker_bundle.sh --with-coordinator --with-python) in bin/, or a
# build; for more variables see tests/gpu/cluster.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
make_cluster
use_python
"$cluster/bin/ksearch-worker" --config "$KSEARCH_WORKER_CONFIG" --selftest \
  --state-dir "$cluster/selftest" | grep -i -e compiler -e FAIL || true
start_cluster
# Each job imports torch many times, so few run at once.
status=0
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/gpu/corpus.py" --table "$root/tests/gpu/python/programs.txt" \
  --parallel 3 --seconds 540 --json "$cluster/results.json" "$@" || status=1
if [ -n "${OUT:-}" ]; then cp "$cluster/results.json" "$OUT/python_gpu.json" || true; fi
# The worker's log has the output of each warm stage and runner, which explains failures.
[ "$status" = 0 ] || tail -n 40 "$cluster/log/worker.log" | cut -c1-400
"$python" "$root/tests/gpu/python/do_bench.py" "$root/tests/gpu/python/rmsnorm_triton.py" \
  "$root/configs/tasks/cuda/rmsnorm_bf16/workloads.jsonl" "$cluster/results.json" || status=1
exit "$status"
