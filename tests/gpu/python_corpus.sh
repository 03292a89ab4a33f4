#!/usr/bin/env bash
# Judges the corpus of Python programs that cheat, and of honest ones that resemble them
# (tests/bad_candidates/python_gpu/corpus.txt), on this machine's GPU as a search would: prints name,
# expected and actual outcome, and counts. Exit status 1 if any differs.
#   tests/gpu/python_corpus.sh [--only REGEX] [--part K/N] [--parallel N] [--seconds N]
# Needs what tests/gpu/python_gpu.sh needs, and ninja for the interpreter's torch (one program).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
make_cluster
use_python
add_corpus_tasks
start_cluster
status=0
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/gpu/corpus.py" \
  --table "$root/tests/bad_candidates/python_gpu/corpus.txt" --parallel 3 --seconds 900 \
  --json "$cluster/results.json" "$@" || status=1
if [ -n "${OUT:-}" ]; then cp "$cluster/results.json" "$OUT/python_corpus.json" || true; fi
[ "$status" = 0 ] || tail -n 40 "$cluster/log/worker.log" | cut -c1-400
exit "$status"
