#!/usr/bin/env bash
# A whole search on this machine: installs what is missing, builds, starts a scripted model server,
# a coordinator and two workers, and searches for a faster matrix product. Needs no GPU, no key and
# no network except the package mirror. The last line states the confirmed speed-up.
#   KSEARCH_DEMO_DIR=DIR  keeps the state there (default: a temporary folder, removed at the end)
set -euo pipefail
cd "$(dirname "$0")/.."
source_dir=$PWD

deploy/install_deps.sh
echo "building (the first time takes some minutes) ..." >&2
cmake --preset release >/dev/null
cmake --build --preset release -- --quiet ksearch ksearch-coordinator ksearch-worker \
  ksearch-verifier ksearch-runner ksearch-model-server

if [ -n "${KSEARCH_DEMO_DIR:-}" ]; then
  demo=$KSEARCH_DEMO_DIR
  mkdir -p "$demo"
else
  demo=$(mktemp -d /tmp/ksearch-demo.XXXXXX)
fi
# Workers started as root switch to an unprivileged user, who must be able to reach the binaries.
chmod 755 "$demo"
mkdir -p "$demo/bin" "$demo/log"
rm -f "$demo/state/address" "$demo/model.port"
cp -r build/release/bin/ksearch* "$demo/bin/"
bin=$demo/bin

pids=()
finish() {
  status=$?
  trap - EXIT INT TERM
  [ "${#pids[@]}" = 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  if [ "$status" != 0 ]; then
    echo "demo failed; logs are in $demo/log" >&2
    tail -n 5 "$demo"/log/*.log >&2 || true
  elif [ -z "${KSEARCH_DEMO_DIR:-}" ]; then
    rm -rf "$demo"
  fi
  exit "$status"
}
trap finish EXIT INT TERM

wait_for() {  # wait_for <what> <command...>: up to 20 s
  local what=$1 tries=0
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || { echo "demo: $what did not come up" >&2; return 1; }
    sleep 0.1
  done
}

"$bin/ksearch-model-server" --cassette "$source_dir/configs/demo/matmul.cassette.textproto" \
  --port 0 --port-file "$demo/model.port" >"$demo/log/model-server.log" 2>&1 &
pids+=($!)
wait_for "the model server" test -s "$demo/model.port"

sed "s|@MODEL_PORT@|$(cat "$demo/model.port")|" "$source_dir/configs/demo/coordinator.textproto" \
  >"$demo/coordinator.textproto"
"$bin/ksearch-coordinator" --config "$demo/coordinator.textproto" --state-dir "$demo/state" \
  --listen 127.0.0.1:0 --task-dir "$source_dir/configs/tasks" >"$demo/log/coordinator.log" 2>&1 &
pids+=($!)
wait_for "the coordinator" test -s "$demo/state/address"
KSEARCH_COORDINATOR=$(cat "$demo/state/address")
export KSEARCH_COORDINATOR

for n in 1 2; do
  "$bin/ksearch-worker" --config "$source_dir/configs/worker_cpu.textproto" \
    --coordinator "$KSEARCH_COORDINATOR" --state-dir "$demo/worker$n" --name "worker$n" \
    >"$demo/log/worker$n.log" 2>&1 &
  pids+=($!)
done
two_workers() { [ "$("$bin/ksearch" workers | grep -c ' ready ')" = 2 ]; }
wait_for "two workers" two_workers

"$bin/ksearch" workers
echo
started=$(date +%s)
"$bin/ksearch" run --task matmul_f32 --config "$source_dir/configs/demo/run.textproto"
echo "the search took $(($(date +%s) - started)) s"
echo
"$bin/ksearch" tree last
echo
"$bin/ksearch" best last
# "speedup": 12.345 -> 12.35
speedup=$("$bin/ksearch" best last --json | sed -nE 's/^ *"speedup": *([0-9.]+).*/\1/p' | head -n 1)
printf 'confirmed speed-up over baseline.cpp: %.2fx\n' "$speedup"
