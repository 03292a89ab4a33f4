#!/usr/bin/env bash
# Tests the three suites on this machine's GPUs one after the other with the scripts beside this one, each
# within a time limit. Prints their output, and all summaries again at the end.
#   tests/gpu/suites/all.sh PACKS [--trimul SECONDS] [--flashinfer SECONDS] [--kernelbench SECONDS]
#     PACKS      a folder with trimul_pack/, flashinfer/ and KernelBench/ or archives of them (trimul_pack.tar.xz,
#                flashinfer.tar.xz, kernelbench.tar.xz)
#     --SUITE N  the suite's time limit in seconds (default: 0, which skips it); the words that follow and do
#                not begin with -- are options for its script, e.g. --kernelbench 300 only='l1/' jobs=8
# Continues from the rows of an earlier command, <suite>.jsonl, if they are in PACKS or in $OUT. Writes to $OUT:
# <suite>.jsonl with a line for each result, as it arrives; suites.txt, the output; suites_logs.tar.gz, logs
# and tables. Exit status 1 if one of the scripts fails. Needs what they need.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -d "${1:-}" ] && [ $# -ge 3 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
packs=$(cd "$1" && pwd)
shift
out=${OUT:-.}
mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
parts=()

try() {  # try <suite> <seconds> <script> <arguments...>
  local suite=$1 seconds=$2
  shift 2
  parts+=("$suite")
  mkdir -p "$scratch/logs/$suite"
  [ -e "$out/$suite.jsonl" ] || [ ! -e "$packs/$suite.jsonl" ] || cp "$packs/$suite.jsonl" "$out/"
  echo "=== $suite: $seconds s, $(date +%T)"
  # Kills a script that hangs beyond its time, even if that loses its summary.
  OUT=$scratch/logs/$suite timeout --kill-after=15 $((seconds + 20)) "$@" --seconds "$seconds" \
    --rows "$out/$suite.jsonl" 2>&1 | tee "$scratch/$suite.txt" || status=1
  cat "$scratch/$suite.txt" >>"$out/suites.txt"
}

while [ $# -gt 0 ]; do
  suite=${1#--} seconds=${2:?"$1 needs a number of seconds"}
  shift 2
  options=()
  while [ $# -gt 0 ] && [[ $1 != --* ]]; do
    options+=("--${1%%=*}" "${1#*=}")
    shift
  done
  case $suite in
    trimul | flashinfer | kernelbench) ;;
    *) echo "all.sh: --$suite: no such suite" >&2; exit 2 ;;
  esac
  [ "$seconds" -gt 0 ] || continue
  archive=$packs/$suite.tar.xz
  [ "$suite" != trimul ] || archive=$packs/trimul_pack.tar.xz
  [ ! -e "$archive" ] || tar -C "$packs" -xJf "$archive"
  case $suite in
    trimul) try trimul "$seconds" "$here/trimul.sh" "$packs/trimul_pack" "$packs"/trimul_pack/submissions/*.py "${options[@]}" ;;
    flashinfer) try flashinfer "$seconds" "$here/flashinfer.sh" "$packs/flashinfer" "${options[@]}" ;;
    kernelbench) try kernelbench "$seconds" "$here/kernelbench.sh" "$packs/KernelBench" "${options[@]}" ;;
  esac
done
tar -C "$scratch" -czf "$out/suites_logs.tar.gz" logs || true
echo
echo "=== summaries, $(date +%T)"
for suite in "${parts[@]}"; do
  if grep -q '^SUMMARY: ' "$scratch/$suite.txt"; then
    tac "$scratch/$suite.txt" | sed '/^SUMMARY: /q' | tac | cut -c1-240 | tail -n 60
  else
    echo "$suite ended without a summary:"
    tail -n 15 "$scratch/$suite.txt" | cut -c1-240
  fi
done | tee -a "$out/suites.txt"
exit "$status"
