# Sourced by the scripts beside it, after cluster.sh: runs a coordinator with one suite, and a worker for all
# of this machine's GPUs that judges Python programs.
#   KSEARCH_SUITE_DEVICE  cpu: for a machine without a GPU; KSEARCH_WORKER_CONFIG must then offer Python
export PYTHONDONTWRITEBYTECODE=1

# Call between make_cluster and start_cluster. Sets suite_gpus.
use_suite() {  # use_suite <kind> <path> [fields of SuiteConfig]
  local kind=$1 path=$2 fields=${3:-} cores slots
  suite_gpus=1
  if [ "${KSEARCH_SUITE_DEVICE:-cuda}" = cpu ]; then
    fields="$fields device: DEVICE_CLASS_CPU"
  else
    use_python
    suite_gpus=$(nvidia-smi -L | grep -c '^GPU ')
    cores=$(nproc)
    # Describing and building need only processors. Each torch process has threads for many of them.
    slots=$((5 * suite_gpus + cores / 4))
    sed -i -e '/^slots:/d' -e 's/^sandbox {$/&\n  max_processes: 512/' "$KSEARCH_WORKER_CONFIG"
    echo "slots: $slots" >>"$KSEARCH_WORKER_CONFIG"
    grep -q 'max_processes: 512' "$KSEARCH_WORKER_CONFIG" ||
      { echo "the worker's configuration has no message sandbox" >&2; return 1; }
  fi
  cat >"$cluster/coordinator.textproto" <<CONFIG
listen_address: "127.0.0.1:0"
suites { kind: "$kind" path: "$path" $fields }
CONFIG
  KSEARCH_COORDINATOR_CONFIG=$cluster/coordinator.textproto
}

# Nothing else may use the GPUs while upstream's evaluator runs. A worker finishes its jobs first, but gets
# only a few seconds for that.
end_programs() {
  local pid tries=100
  for pid in "${cluster_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${cluster_pids[@]}"; do
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -gt 0 ]; do
      sleep 0.1
      tries=$((tries - 1))
    done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  cluster_pids=()
}

# The worker's log, which includes warm stages and runners, explains what went wrong.
show_trouble() {  # show_trouble <exit status>
  [ "$1" = 0 ] || grep -h -e 'level=E' -e 'level=W' -e ERROR -e WARNING "$cluster/log/worker.log" | tail -n 30 | cut -c1-300 || true
}
