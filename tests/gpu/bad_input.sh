#!/usr/bin/env bash
# Tests mistakes of people and machines, on a machine with a GPU: a worker that cannot start says why
# and exits with 3; a candidate's fault becomes its outcome; a GPU that another program uses, or whose
# memory is full, delays the worker and the candidate but fails neither. Prints one line per test: PASS,
# FAIL or SKIP with the reason; exit status 1 if any FAILs. Takes about a minute.
#   tests/gpu/bad_input.sh
# Needs what run_corpus.sh needs (tests/gpu/cluster.sh lists the variables), and a first GPU that nobody
# else uses. integration_cuda_build_test covers what needs no GPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
make_cluster
scratch=$cluster/scratch
mkdir -p "$scratch"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
gpu_config=${KSEARCH_WORKER_CONFIG:-$root/configs/worker_h200.textproto}
baseline=$root/configs/tasks/cuda/rmsnorm_bf16/baseline.cu

failures=0
pass() { echo "PASS: $*"; }
skip() { echo "SKIP: $*"; }
fail() {  # fail <what> [file with details]
  failures=$((failures + 1))
  echo "FAIL: $1"
  if [ $# -gt 1 ]; then tail -n 12 "$2" | cut -c1-400 | sed 's/^/    /'; fi
}
# says <what> <expected status> <status> <pattern> <file>
says() {
  if [ "$2" = "$3" ] && grep -qE "$4" "$5"; then pass "$1"; else fail "$1 (ended with $3)" "$5"; fi
}

# ---- Another user's program, which holds the GPU until it is killed: only a context or, with an
# argument, all memory as well.
cat >"$scratch/stranger.cu" <<'CUDA'
#include <cuda_runtime.h>
#include <stdio.h>
#include <unistd.h>
__global__ void touch() {}
int main(int count, char**) {
  touch<<<1, 1>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (size_t bytes = size_t{1} << 30; count > 1 && bytes >= size_t{16} << 20;) {
    void* memory;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) bytes /= 2;
  }
  puts("holding");
  fflush(stdout);
  for (;;) pause();
}
CUDA
"$nvcc" -arch=native -o "$scratch/stranger" "$scratch/stranger.cu" 2>"$scratch/nvcc.log" ||
  { cat "$scratch/nvcc.log" >&2; exit 1; }
stranger=
start_stranger() {
  : >"$scratch/stranger.out"
  "$scratch/stranger" "$@" >"$scratch/stranger.out" &
  stranger=$!
  cluster_pids+=("$stranger")
  wait_for 20 "the other program" grep -q holding "$scratch/stranger.out"
}
# The last of cluster_pids, which wait_for expects to be alive.
end_last() {
  local pid=${cluster_pids[-1]}
  unset 'cluster_pids[-1]'
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
}

# ---- Start-up: status 3 and the reason.
refuses() {  # refuses <what> <pattern> <config> [command before the worker]
  local what=$1 pattern=$2 config=$3 status=0
  shift 3
  timeout 40 "$@" "$cluster/bin/ksearch-worker" --config "$config" --coordinator 127.0.0.1:9 \
    --state-dir "$cluster/faulty" >"$scratch/refused" 2>&1 || status=$?
  says "$what" 3 "$status" "$pattern" "$scratch/refused"
}
gpu_worker() {  # gpu_worker <fields of device> <fields of the toolchain>: a configuration's path
  local path
  path=$(mktemp "$scratch/config.XXXXXX")
  chmod 644 "$path"
  echo "device { device_class: DEVICE_CLASS_CUDA $1 }
    toolchains { language: LANGUAGE_CUDA $2 }" >"$path"
  echo "$path"
}
chmod 755 "$scratch"
refuses "a GPU that is not there is named, with those that are" \
  'GPU-00000000-dead.*GPU-[0-9a-f]{8}' "$(gpu_worker 'gpus: "GPU-00000000-dead"' '')"
refuses "a missing nvcc is named" '/no/such/nvcc' \
  "$(gpu_worker 'gpus: "0"' 'compiler_path: "/no/such/nvcc"')"
refuses "an architecture that nvcc does not know is named" "architecture 'sm_1'.*sm_90a" \
  "$(gpu_worker 'gpus: "0"' 'architecture: "sm_1"')"
refuses "no GPU visible is said" 'CUDA_VISIBLE_DEVICES' "$(gpu_worker 'gpus: "all"' '')" \
  env CUDA_VISIBLE_DEVICES=
# Without a driver: hides its libraries from this one process behind empty files.
cat >"$scratch/hide.sh" <<'HIDE'
for library in $(ldconfig -p | awk '/lib(cuda|nvidia-ml)\.so\.1 /{print $NF}'); do
  mount --bind /dev/null "$(readlink -f "$library")" || exit 9
done
exec "$@"
HIDE
if unshare -m bash "$scratch/hide.sh" true 2>/dev/null; then
  refuses "without a driver the worker says what to install" 'driver.*(install|kernel module)' \
    "$gpu_config" unshare -m bash "$scratch/hide.sh"
else
  skip "without a driver: this container may not mount"
fi
start_stranger
if [ -n "$(nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null)" ]; then
  refuses "a GPU in use by another process is named, with what to do" \
    'is in use by .*(end that|allow_busy)' "$gpu_config"
else
  skip "a GPU in use: NVML lists no processes here"
fi
end_last

# ---- Candidates and their outcomes.
start_cluster
head='#include "ksearch_task.h"'
printf '%s\nextern "C" int ksearch_run(float* x, int n) { return 0; }\n' "$head" >"$scratch/parameters.cu"
printf '%s\n' "$head" >"$scratch/no_entry.cu"
printf 'extern "C" { int ksearch_run = 5; }\n' >"$scratch/variable.cu"
printf 'extern "C" int ksearch_run(float* x, int n) { x[0] = 1; return 0; }\n' >"$scratch/undeclared.cu"
head -c 400000 /dev/zero | tr '\0' '\n' >"$scratch/oversized.cu"
cp "$root/tests/bad_candidates/cuda/"{huge_allocation,huge_workspace}.cu \
  "$root/tests/bad_candidates/cuda/"*.cuh "$scratch/"
judge() {  # judge <name> <what> <expected status> <pattern> <arguments...>: in the background
  local name=$1 what=$2 expected=$3 pattern=$4 status=0
  shift 4
  timeout 60 "$KSEARCH" eval --repeat --task rmsnorm_bf16 "$@" >"$scratch/$name.out" 2>&1 || status=$?
  says "$what" "$expected" "$status" "$pattern" "$scratch/$name.out" >"$scratch/$name.line"
}
names=()
judges=()
in_parallel() { names+=("$1"); judge "$@" & judges+=($!); }
in_parallel parameters "an entry with other parameters is told what it must be" 7 \
  'compile_error: .*the entry must be: extern "C"' "$scratch/parameters.cu"
in_parallel no_entry "a missing entry is told how to define it" 7 \
  'compile_error: the entry is missing: define extern "C"' "$scratch/no_entry.cu"
in_parallel oversized "an oversized source is refused with the limit" 7 \
  'invalid_source: .*at most [0-9]+ are allowed' "$scratch/oversized.cu"
in_parallel variable "an entry that is no function is a crash of its own" 7 \
  '^runtime_error: ' "$scratch/variable.cu"
in_parallel undeclared "an entry of another interface is wrong, or a crash of its own" 7 \
  '^(runtime_error|incorrect|input_modified|out_of_bounds|cheat): ' "$scratch/undeclared.cu"
in_parallel other_device "an architecture that no GPU has is said" 3 \
  'can judge cuda candidates on sm_75;' --architecture sm_75 "$baseline"
in_parallel other_build "an architecture that no compiler knows is said" 3 \
  'can build cuda candidates for sm_999;' --build-only --architecture sm_999 "$baseline"
for name in "${names[@]}"; do
  wait "${judges[0]}"
  judges=("${judges[@]:1}")
  cat "$scratch/$name.line"
  ! grep -q ^FAIL "$scratch/$name.line" || failures=$((failures + 1))
done
for name in huge_allocation huge_workspace; do
  status=0
  timeout 40 "$KSEARCH" eval --repeat --task rmsnorm_bf16 "$scratch/$name.cu" "$scratch/rmsnorm.cuh" \
    >"$scratch/$name.out" 2>&1 || status=$?
  says "out of device memory, the candidate's own doing ($name)" 7 "$status" \
    '^(resource_limit|runtime_error): ' "$scratch/$name.out"
done

# ---- Another program starts while the worker is running.
passes() {  # passes <what>
  local status=0
  timeout 60 "$KSEARCH" eval --repeat --task rmsnorm_bf16 "$baseline" >"$scratch/passes.out" 2>&1 ||
    status=$?
  says "$1" 0 "$status" '^passed' "$scratch/passes.out"
}
passes "after all of these the worker is up and a right candidate passes"
start_stranger
if grep -qx "$stranger" <<<"$(nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null)"; then
  busy() { grep -q 'other processes compute on it' <<<"$("$KSEARCH" workers --json)"; }
  if wait_for 10 "the notice" busy; then
    pass "a GPU that somebody begins to use takes no jobs, and says so"
  else
    "$KSEARCH" workers --json >"$scratch/workers" || true
    fail "a GPU that somebody begins to use takes no jobs" "$scratch/workers"
  fi
else
  skip "a GPU that somebody begins to use: NVML does not name processes as this container does"
fi
end_last
passes "once they are gone it goes on"

# ---- Another program takes the device memory; the worker is configured to share the GPU.
end_last
sed 's/^\( *gpus: .*\)$/\1\n  allow_busy: true/' "$gpu_config" >"$scratch/crowded.textproto"
chmod 644 "$scratch/crowded.textproto"
KSEARCH_WORKER_CONFIG=$scratch/crowded.textproto
start_worker crowded
passes "a worker that lives with others measures"
start_stranger all
"$KSEARCH" eval --repeat --task rmsnorm_bf16 "$baseline" >"$scratch/crowded.out" 2>&1 &
waiting=$!
short() { grep -qiE 'job returned.*(memory|OUT_OF_MEMORY)' "$cluster/log/crowded.log"; }
if wait_for 25 "the return of the job" short; then
  pass "without device memory the job is returned, with the reason"
elif kill -0 "$waiting" 2>/dev/null; then
  fail "without device memory the job is returned" "$cluster/log/crowded.log"
else
  fail "without device memory a right candidate is not judged" "$scratch/crowded.out"
fi
end_last
status=0
for _ in $(seq 400); do kill -0 "$waiting" 2>/dev/null || break; sleep 0.1; done
if kill "$waiting" 2>/dev/null; then status=124; else wait "$waiting" || status=$?; fi
says "once there is memory again the same job passes, on the same worker" 0 "$status" '^passed' \
  "$scratch/crowded.out"

[ "$failures" = 0 ] && echo "bad_input.sh: all good" || { echo "bad_input.sh: $failures failed"; exit 1; }
