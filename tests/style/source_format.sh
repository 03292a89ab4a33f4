#!/usr/bin/env bash
# Checks that clang-format finds nothing to change. usage: source_format.sh <source root>
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 1; }
find common coordinator gpu_worker cli autoscaler bench tests -name '*.h' -o -name '*.cc' -o -name '*.cu' |
  grep -v -E '/(bad_candidates|data|corpus)/' | xargs clang-format --dry-run -Werror
