#!/usr/bin/env bash
# The fence check must find breaches: plants some in a scratch tree.
# usage: language_fence_test.sh <source root>
set -euo pipefail
check=$1/tests/style/language_fence.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

plant() {  # <file> <text>
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{common,coordinator,gpu_worker,cli} "$tree/$(dirname "$1")"
  echo "$2" >"$tree/$1"
}
expect_breach() {
  plant "$@"
  if bash "$check" "$tree" >/dev/null; then
    echo "not found: $2 in $1"
    exit 1
  fi
}
expect_breach coordinator/engine/a.cc 'if (config.language() == v1::LANGUAGE_CUDA) {'
expect_breach gpu_worker/build/marks/a.cc '    case v1::LANGUAGE_CPP:'
expect_breach cli/a.h '{"triton", v1::LANGUAGE_TRITON}'
expect_breach common/other.cc 'return v1::LANGUAGE_PYTHON;'
plant common/language.cc '{.id = v1::LANGUAGE_CPP}'
bash "$check" "$tree"
plant coordinator/engine/a.cc 'config.language() == v1::LANGUAGE_UNSPECIFIED'
bash "$check" "$tree"
