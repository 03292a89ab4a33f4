#!/usr/bin/env bash
# Tests the sandbox under control groups version 2, as root: first the kernel's own limits, then the
# sandbox's tests, and with --with-worker a worker that judges a candidate that takes all memory.
# Prints PASS or FAIL lines; exit status 1 if any failed, 77 without version 2. Takes about 15 s, or
# 60 s with a worker (which needs what run_corpus.sh needs).
#   tests/gpu/cgroup_v2.sh [--with-worker]
#   KSEARCH_TESTS  folder of sandbox_bubblewrap_test and the like (default: gpu_tests/ beside the
#                  programs, as in an unpacked bundle, else the newest build's)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
failed=0
say() {  # say <0 or 1> <what>
  if [ "$1" = 0 ]; then echo "PASS  $2"; else echo "FAIL  $2"; failed=1; fi
}
[ "$(id -u)" = 0 ] || { echo "cgroup_v2.sh: must be root" >&2; exit 77; }
mount=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)
[ -n "$mount" ] && grep -qw memory "$mount/cgroup.controllers" && grep -qw pids "$mount/cgroup.controllers" ||
  { echo "cgroup_v2.sh: version 2 has no memory and pids controllers here" >&2; exit 77; }
echo "      $mount: $(cat "$mount/cgroup.controllers"); own group $(sed -n 's/^0:://p' /proc/self/cgroup)"

tests=
for folder in "${KSEARCH_TESTS:-}" "${KSEARCH_BIN_DIR:-/nowhere}/../gpu_tests" "$root/gpu_tests" \
  "$root"/build/{bundle,release,dev}/gpu_tests; do
  [ -n "$folder" ] && [ -x "$folder/sandbox_bubblewrap_test" ] || continue
  tests=$(cd "$folder" && pwd)
  break
done
[ -n "$tests" ] || { echo "cgroup_v2.sh: no sandbox_bubblewrap_test; set KSEARCH_TESTS" >&2; exit 2; }
# Bubblewrap is part of the bundle.
for folder in "${KSEARCH_BIN_DIR:-}" "$tests/../bin"; do
  [ -n "$folder" ] && [ -x "$folder/bwrap" ] && PATH=$(cd "$folder" && pwd):$PATH
done
export PATH
command -v bwrap >/dev/null || { echo "cgroup_v2.sh: no bwrap on PATH" >&2; exit 2; }
log=$(mktemp)
chmod 644 "$log"

# Runs under a group that Prepare has given to the account, as a worker's jobs do. Programs run as
# root here, so /tmp holds only what must be there.
run() {  # run <program> [filter]: its output is in $log
  KSEARCH_BIN_DIR=$tests timeout 100 "$tests/$1" ${2:+--gtest_filter="$2"} >"$log" 2>&1
}
ran() { grep -q "^\[       OK \] $1 " "$log"; }

# 1. The kernel's limits, without the sandbox.
group=$mount/ksearch-trial-$$
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
if mkdir "$group" 2>/dev/null && { grep -qw memory "$group/cgroup.controllers" ||
  echo "+memory +pids" >"$mount/cgroup.subtree_control"; } 2>/dev/null &&
  [ -e "$group/memory.max" ] && [ -e "$group/pids.max" ]; then
  echo $((100 << 20)) >"$group/memory.max"
  echo 0 >"$group/memory.swap.max" 2>/dev/null || true
  bash -c "echo \$\$ >'$group/cgroup.procs'; exec python3 -c 'x = bytearray(300 << 20); x[::4096] = bytes(len(x[::4096]))'" 2>/dev/null
  [ $? = 137 ]; say $? "memory.max kills a program of 300 MiB at 100 MiB"
  grep -q '^oom_kill [1-9]' "$group/memory.events"; say $? "memory.events tells of it"
  echo max >"$group/memory.max"
  echo 6 >"$group/pids.max"
  bash -c "echo \$\$ >'$group/cgroup.procs'; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 30 & done; wait" \
    >/dev/null 2>"$log" &
  holder=$!
  for _ in $(seq 50); do grep -q '^max [1-9]' "$group/pids.events" && break; sleep 0.1; done
  grep -q '^max [1-9]' "$group/pids.events"; say $? "pids.max refuses the seventh process"
  echo 1 >"$group/cgroup.kill"
  wait "$holder" 2>/dev/null
  for _ in $(seq 50); do grep -q '^populated 0' "$group/cgroup.events" && break; sleep 0.1; done
  grep -q '^populated 0' "$group/cgroup.events"; say $? "cgroup.kill ends all of them"
  rmdir "$group"
else
  rmdir "$group" 2>/dev/null
  echo "      no group can be made below $mount (own group $own); the sandbox tries its own below"
fi

# 2. The sandbox.
run sandbox_bubblewrap_test
status=$?
cgroup=$(sed -n 's/^launch to reaped:.*cgroup //p' "$log")
[ "$cgroup" = v2 ]; say $? "the sandbox takes control groups of version 2 (it says '$cgroup')"
grep '^launch to reaped' "$log" | sed 's/^/      /'
for name in MemoryHogIsKilledByTheCgroup ForkBombStopsAtTheLimit ProcessLimitDoesNotCountOtherSandboxes \
  EndlessLoopEndsAtItsCpuTime KillEndsALoopThatIgnoresSignals DaemonsDieWithTheJob; do
  ran "BubblewrapSandboxTest.$name" && ! grep -q "SKIPPED \] BubblewrapSandboxTest.$name" "$log"
  say $? "$name"
done
[ "$status" = 0 ]; say $? "all tests of the sandbox: $(grep -E '^\[  (PASSED|FAILED|SKIPPED) ' "$log" | tr -s ' ' | tr '\n' ' ')"
[ "$status" = 0 ] || grep -B3 -A8 'Failure' "$log" | head -60
grep '^no cgroup' "$log"

# 3. The next worker ends what a killed worker leaves running.
run sandbox_abandoned_cgroup_test
ran AbandonedCgroupTest.NextWorkerEndsWhatAKilledOneLeft
say $? "the next worker ends what a killed one left"
grep -A4 -E 'Failure|SKIPPED' "$log" | head -20
left=$(find "$mount" -maxdepth 3 -type d -name 'ksearch-*' 2>/dev/null | while read -r one; do
  pid=${one##*ksearch-}; [ -e "/proc/${pid%%-*}" ] || echo "$one"; done | wc -l)
echo "      groups of programs that are no more: $left (the next worker removes them)"

# 4. End to end, if requested.
if [ "${1:-}" = --with-worker ]; then
  "$here/run_corpus.sh" --only '^(host_memory_hog|thread_bomb|honest_plain)$' --seconds 90 >"$log" 2>&1
  status=$?
  sed 's/^/      /' "$log" | tail -5
  [ "$status" = 0 ] && grep -Eq '^host_memory_hog .*RESOURCE_LIMIT +[0-9.]+ +ok' "$log"
  say $? "a candidate that takes all memory is RESOURCE_LIMIT, an honest one passes"
fi
rm -f "$log"
[ "$failed" = 0 ] && echo "cgroup_v2: all passed" || echo "cgroup_v2: FAILED"
exit "$failed"
