#!/usr/bin/env bash
# Checks that only one table names the languages (common/language.cc), except for the pairs of files
# that belong to a language. Prints every breach as file:line:text; exits with 1 if there is any.
# usage: language_fence.sh <source root>
set -euo pipefail
cd "$1"

allowed='common/language\.cc|coordinator/proposer/language/|gpu_worker/build/cuda/'
found=$(grep -rnE '\bLANGUAGE_(CPP|CUDA|PYTHON|TRITON)\b' \
          --include='*.h' --include='*.cc' --include='*.cu' --include='*.cuh' \
          common coordinator gpu_worker cli autoscaler 2>/dev/null | grep -vE "^($allowed)" || true)
if [ -n "$found" ]; then
  echo "ask the table of languages (common/language.h) instead of naming one:"
  echo "$found"
  exit 1
fi
