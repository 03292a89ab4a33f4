#!/usr/bin/env bash
# Judges every program of the corpus (tests/bad_candidates/cuda: cheats and honest twins) as a
# candidate of a search would be, on this machine's GPU: starts a coordinator and a worker, runs
# `ksearch eval` on each, prints name, expected and actual outcome, and counts. Exit status 1 if any
# differs.
#   tests/gpu/run_corpus.sh [--only REGEX] [--parallel N] [--seconds N] [--table FILE] [--passes N] [--compilers N] [--cold]
# Needs nvcc, g++, python3 and the programs of a bundle (deploy/worker_bundle.sh
# --with-coordinator) in bin/, or a build; for more variables see tests/gpu/cluster.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
make_cluster
add_corpus_tasks
start_cluster
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/gpu/corpus.py" "$@" ${OUT:+--json "$OUT/corpus.json"}
