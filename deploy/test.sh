#!/usr/bin/env bash
# Installs what is missing, builds and runs the tests. Ends with the line "N passed, N failed".
#   deploy/test.sh            the dev preset: all tests that need no GPU
#   deploy/test.sh asan tsan  other presets (see CMakePresets.json)
# With CI=true: dev in full; then the fuzz preset, which runs the unit tests under address and
# undefined-behavior sanitizers and each fuzzer for 60 s (less where all before took so long that
# the whole would come near an hour); then tsan. KSEARCH_FUZZ_SECONDS sets another time.
# With CI=true a test that fails is tried once more, because many tests wait for real processes on a
# machine with other load; tests that needed it are named before the last line. A report of a
# sanitizer or a fuzzer counts as a failure even if the second try passes.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
if [ "${#presets[@]}" = 0 ]; then
  presets=(dev)
  [ "${CI:-}" != true ] || presets=(dev fuzz tsan)
fi

# Builds the presets to come on processors that the tests of this one leave idle, as many of them run
# alone or wait. The session gets the lowest share (the kernel shares processors between sessions first),
# and its processes run only on idle processors. The presets' own builds repeat what is not finished or
# fails.
ahead=
build_ahead() {
  command -v setsid chrt >/dev/null || return 0
  # shellcheck disable=SC2016  # for the inner shell
  setsid bash -c 'echo 19 2>/dev/null >/proc/self/autogroup || true
    for preset; do
      cmake --preset "$preset" && chrt -i 0 cmake --build --preset "$preset" -- --quiet -j2
    done' ahead "$@" >"build/ahead-$1.log" 2>&1 &
  ahead=$!
}
stop_building_ahead() {
  [ -n "$ahead" ] || return 0
  kill -- -"$ahead" 2>/dev/null || true
  wait "$ahead" || true
  ahead=
}
trap stop_building_ahead EXIT

# Seconds for each fuzzer, two at a time, so that all ends by minute 57 with 5 minutes for the unit tests
# beside them and for tsan.
fuzz_seconds() {
  local fuzzers=(tests/fuzz/*_fuzz.cc)
  local each=$(((57 * 60 - 5 * 60 - SECONDS) * 2 / ${#fuzzers[@]}))
  echo $((each > 60 ? 60 : each < 6 ? 6 : each))
}
deploy/install_deps.sh --with-clang
if [ "${CI:-}" = true ] && ! deploy/install_deps.sh --with-python; then
  echo "test.sh: no python3-torch, so programs in Python are not tested" >&2
fi

if [ "${CI:-}" = true ] && ! deploy/install_deps.sh --with-slurm; then
  echo "test.sh: no Slurm, so the autoscaler is not tested with one" >&2
fi
if [ "${CI:-}" = true ] && ! deploy/install_deps.sh --with-chromium; then
  echo "test.sh: no Chromium, so the page is not tested in a browser" >&2
fi
if [ "${CI:-}" = true ] && ! deploy/install_deps.sh --with-prometheus; then
  echo "test.sh: no Prometheus, so the metrics are not tested with one" >&2
fi
if [ "${CI:-}" = true ] && ! deploy/install_deps.sh --with-ssh-server; then
  echo "test.sh: no ssh server, so the autoscaler is not tested with one" >&2
fi

# With an empty cache, looking there and filling it makes a build a third longer for nothing: no preset
# shares a compiled file with another.
if [ "${CI:-}" = true ] && ! ccache --print-stats 2>/dev/null | grep -qE '^files_in_cache\s+[1-9]'; then
  export CCACHE_DISABLE=1
fi

repeat=()
[ "${CI:-}" != true ] || repeat=(--repeat until-pass:2)
passed=0
failed=0
second_tries=()
for i in "${!presets[@]}"; do
  preset=${presets[$i]}
  echo "== $preset"
  stop_building_ahead
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" -- --quiet
  if [ "${CI:-}" = true ] && [ "$preset" = fuzz ]; then
    export KSEARCH_FUZZ_SECONDS=${KSEARCH_FUZZ_SECONDS:-$(fuzz_seconds)}
    echo "each fuzzer runs for $KSEARCH_FUZZ_SECONDS s"
  fi
  if [ "${CI:-}" = true ] && [ -n "${presets[$((i + 1))]:-}" ]; then
    build_ahead "${presets[@]:$((i + 1))}"
  fi
  jobs=()
  # Most tests of this preset wait for processes and for each other's measurements; those that measure run
  # alone. Those of the other presets compute.
  [ "${CI:-}" != true ] || [ "$preset" != dev ] || jobs=(--parallel $(($(nproc) * 3 / 2)))
  log=build/$preset/ctest.log
  ctest --preset "$preset" --timeout 300 "${repeat[@]}" "${jobs[@]}" 2>&1 | tee "$log" || true
  # ctest's own summary: "97% tests passed, 3 tests failed out of 120"
  summary=$(grep -E 'tests passed, [0-9]+ tests failed out of [0-9]+' "$log" || true)
  if [ -z "$summary" ]; then
    echo "test.sh: no tests ran in preset $preset" >&2
    failed=$((failed + 1))
    continue
  fi
  bad=$(sed -E 's/.*, ([0-9]+) tests failed out of ([0-9]+).*/\1/' <<<"$summary")
  all=$(sed -E 's/.*, ([0-9]+) tests failed out of ([0-9]+).*/\2/' <<<"$summary")
  while read -r name; do
    grep -qE "Test +#[0-9]+: $name \.* +Passed" "$log" || continue
    second_tries+=("$preset/$name")
  done < <(sed -nE 's/.*Test +#[0-9]+: ([^ ]+) .*\*\*\*.*/\1/p' "$log" | sort -u)
  if [ "$bad" = 0 ] &&
    grep -E '(WARNING|ERROR|SUMMARY): [A-Za-z]+Sanitizer|ERROR: libFuzzer|runtime error:' "$log"; then
    bad=1
  fi
  # A fresh machine may have little disk space, and this preset's build is no longer needed. The log and
  # the fuzzers' findings stay.
  if [ "${CI:-}" = true ]; then
    find "build/$preset" -mindepth 1 -maxdepth 1 ! -name ctest.log ! -name fuzz -exec rm -rf {} +
  fi
  passed=$((passed + all - bad))
  failed=$((failed + bad))
done
for name in "${second_tries[@]}"; do
  echo "passed only at the second try: $name"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
