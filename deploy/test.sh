#!/usr/bin/env bash
# Installs what is missing, builds and runs the tests. Ends with the line "N passed, N failed".
#   deploy/test.sh            the dev preset: all tests that need no GPU
#   deploy/test.sh asan tsan  other presets (see CMakePresets.json)
# With CI=true: dev in full; then the fuzz preset, which runs the unit tests under address and
# undefined-behaviour sanitizers and each fuzzer for a bounded time; then tsan.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
if [ "${#presets[@]}" = 0 ]; then
  presets=(dev)
  [ "${CI:-}" != true ] || presets=(dev fuzz tsan)
fi
export KSEARCH_FUZZ_SECONDS=${KSEARCH_FUZZ_SECONDS:-10}
deploy/install_deps.sh --with-clang

passed=0
failed=0
for preset in "${presets[@]}"; do
  echo "== $preset"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" -- --quiet
  log=build/$preset/ctest.log
  ctest --preset "$preset" --timeout 300 2>&1 | tee "$log" || true
  # ctest's own summary: "97% tests passed, 3 tests failed out of 120"
  summary=$(grep -E 'tests passed, [0-9]+ tests failed out of [0-9]+' "$log" || true)
  if [ -z "$summary" ]; then
    echo "test.sh: no tests ran in preset $preset" >&2
    failed=$((failed + 1))
    continue
  fi
  bad=$(sed -E 's/.*, ([0-9]+) tests failed out of ([0-9]+).*/\1/' <<<"$summary")
  all=$(sed -E 's/.*, ([0-9]+) tests failed out of ([0-9]+).*/\2/' <<<"$summary")
  passed=$((passed + all - bad))
  failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
