#!/usr/bin/env bash
# Tests a worker with two GPUs on a machine that has them: two device slots by UUID, clocks and
# temperature of both, one GPU per candidate, two jobs at the same time, a job that waits for a busy GPU,
# one broken GPU, a killed verifier, a killed worker beside another. Prints a PASS or FAIL line for each
# and a table; exit status 1 if any failed. Takes 60 to 100 s; a part that does not begin within
# --seconds (default 95) is reported as skipped and fails.
#   tests/gpu/two_gpus.sh [--seconds N]
# Needs root, because it denies the worker's account the second GPU's device node for some seconds, and
# what run_corpus.sh needs. Further GPUs are not used. OUT=FOLDER keeps logs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=95
if [ "${1:-}" = --seconds ]; then seconds=$2; fi
export PYTHONDONTWRITEBYTECODE=1
source "$here/cluster.sh"
make_cluster
export CLUSTER=$cluster TWO_GPUS_END=$(($(date +%s) + seconds))

python3 "$here/two_gpus.py" find
base=${KSEARCH_WORKER_CONFIG:-$root/configs/worker_h200.textproto}
mapfile -t uuids <"$cluster/uuids"
chosen() {  # chosen <file> <uuid...>: the worker's configuration with these GPUs
  local file=$1 gpus= uuid
  shift
  for uuid in "$@"; do gpus="$gpus gpus: \"$uuid\""; done
  sed "s|gpus: \"all\"|$gpus|" "$base" >"$file"
  grep -q "${1}" "$file" || { echo "$base has no line gpus: \"all\"" >&2; exit 1; }
}
chosen "$cluster/both.textproto" "${uuids[0]}" "${uuids[1]}"
chosen "$cluster/first.textproto" "${uuids[0]}"
chosen "$cluster/second.textproto" "${uuids[1]}"
cat >"$cluster/coordinator.textproto" <<'CONFIG'
listen_address: "127.0.0.1:0"
scheduler { lease_ttl { seconds: 5 } report_interval { seconds: 1 } }
CONFIG

failed=0
part() {  # part <name>: of two_gpus.py
  if [ "$(date +%s)" -ge "$TWO_GPUS_END" ]; then
    echo "FAIL  $1: skipped, the time is up"
    return 1
  fi
  timeout $((40 * ${TWO_GPUS_SLOWER:-1})) python3 "$here/two_gpus.py" "$1"
}
stop_worker() {  # stop_worker <pid> [signal]
  local pid kept=() tries=100
  kill "-${2:-TERM}" "$1"
  while kill -0 "$1" 2>/dev/null && [ "$tries" -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done
  wait "$1" 2>/dev/null || true
  for pid in "${cluster_pids[@]}"; do [ "$pid" = "$1" ] || kept+=("$pid"); done
  cluster_pids=("${kept[@]}")
}

KSEARCH_COORDINATOR_CONFIG=$cluster/coordinator.textproto
KSEARCH_WORKER_CONFIG=$cluster/both.textproto
start_cluster
for name in slots readings sees two busy sick verifier; do part "$name" || failed=1; done

cp "$cluster/log/worker.log" "$cluster/log/worker-both.log"
stop_worker "${cluster_pids[-1]}"
KSEARCH_WORKER_CONFIG=$cluster/first.textproto start_worker worker
part one || failed=1
part pinned || failed=1
first=${cluster_pids[-1]}
KSEARCH_WORKER_CONFIG=$cluster/second.textproto start_worker second
part killed &
killer=$!
tries=300
until [ -e "$cluster/kill-now" ] || ! kill -0 "$killer" 2>/dev/null || [ "$tries" = 0 ]; do
  sleep 0.1
  tries=$((tries - 1))
done
stop_worker "$first" KILL
touch "$cluster/killed"
wait "$killer" || failed=1
python3 "$here/two_gpus.py" table
[ "$failed" = 0 ] && echo "two_gpus: all passed" || echo "two_gpus: FAILED"
exit "$failed"
