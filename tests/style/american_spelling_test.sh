#!/usr/bin/env bash
# The spelling check must find breaches: plants some in a scratch tree.
# usage: american_spelling_test.sh <source root>
set -euo pipefail
check=$1/tests/style/american_spelling.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

plant() {  # <file> <text>
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/$(dirname "$1")"
  echo "$2" >"$tree/$1"
}
expect_breach() {
  plant "$@"
  if bash "$check" "$tree" >/dev/null; then
    echo "not found: $2 in $1"
    exit 1
  fi
}
expect_clean() {
  plant "$@"
  bash "$check" "$tree"
}
expect_breach README.md 'Optimisation of kernels'
expect_breach docs/suites/a.md 'The behaviour of a suite'
expect_breach coordinator/store/a.h '// Summarises what was recorded.'
expect_breach proto/a.proto '// Synchronised by the caller.'
expect_breach tests/cli/a_test.cc 'TEST(AddressTest, CanBeDialled) {'
expect_breach coordinator/dashboard/page/a.js '// the neighbouring node'
expect_clean docs/a.md 'An exercise in precise, concise optimization, otherwise cancelled; analyses promise a premise.'
expect_clean tests/bad_candidates/a.txt 'labelled by its text'
expect_clean configs/tasks/cpu/a/task.textproto 'title: "normalisation"'
