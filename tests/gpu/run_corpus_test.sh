#!/usr/bin/env bash
# usage: run_corpus_test.sh SOURCE_ROOT BIN_DIR: tests run_corpus.sh with CPU programs. It must agree
# with a right table, reject a wrong one, end in time, and leave nothing behind.
set -euo pipefail
root=$1
export KSEARCH_BIN_DIR=$2 KSEARCH_WORKER_CONFIG=$root/configs/worker_cpu.textproto
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OUT=$work
fail() { cat "$work/log" >&2; echo "FAILED: $*" >&2; exit 1; }
table=$root/tests/bad_candidates/cpu/corpus.txt

timeout 200 "$root/tests/gpu/run_corpus.sh" --table "$table" --passes 2 >"$work/log" 2>&1 ||
  fail "the table is right, but it objects"
for pass in 1 2; do
  grep -q "^pass $pass: cheats caught 4 of 4, honest programs passed 0 of 0" "$work/log" || fail "counts"
  grep -qE "^after pass $pass: worker mib [1-9].* processes [1-9]" "$work/log" || fail "no footprint"
done
[ -s "$work/corpus.json" ] && [ -s "$work/worker.log" ] || fail "no results or logs in \$OUT"

cp -r "$root/tests/bad_candidates/cpu/matmul_f32" "$work/"
echo 'matmul_f32/zeros matmul_f32 HONEST - nobody would say so' >"$work/corpus.txt"
status=0
timeout 200 "$root/tests/gpu/run_corpus.sh" --table "$work/corpus.txt" >"$work/log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "a wrong table ended with $status, not 1"
grep -q '^not as expected: matmul_f32/zeros' "$work/log" || fail "who differs is not named"

status=0
timeout 60 "$root/tests/gpu/run_corpus.sh" --table "$table" --seconds 0 >"$work/log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "without time it ended with $status, not 1"
grep -q 'no time was left' "$work/log" || fail "does not say that time ran out"

export KSEARCH_WORKER_CONFIG=$work/no_such.textproto
status=0
timeout 60 "$root/tests/gpu/run_corpus.sh" --table "$table" >"$work/log" 2>&1 || status=$?
[ "$status" != 0 ] || fail "started without a worker"
grep -q 'no_such.textproto' "$work/log" || fail "does not show why the worker ended"
echo "4 passed, 0 failed"
