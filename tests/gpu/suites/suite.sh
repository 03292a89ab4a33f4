# Sourced by the scripts beside it, after cluster.sh: a coordinator with one suite, and a worker for all of
# this machine's GPUs that judges programs in Python.
#   KSEARCH_SUITE_DEVICE  cpu: a machine without a GPU; KSEARCH_WORKER_CONFIG then offers Python
export PYTHONDONTWRITEBYTECODE=1

# Between make_cluster and start_cluster. Sets suite_gpus.
use_suite() {  # use_suite <kind> <path> [fields of SuiteConfig]
  local kind=$1 path=$2 fields=${3:-} cores slots
  suite_gpus=1
  if [ "${KSEARCH_SUITE_DEVICE:-cuda}" = cpu ]; then
    fields="$fields device: DEVICE_CLASS_CPU"
  else
    use_python
    suite_gpus=$(nvidia-smi -L | grep -c '^GPU ')
    cores=$(nproc)
    # Describing and building take processors only. Each process of torch has threads for many of them.
    slots=$((5 * suite_gpus + cores / 8))
    sed -i -e "s/^slots: .*/slots: $slots/" -e 's/max_processes: 64 /max_processes: 512 /' "$KSEARCH_WORKER_CONFIG"
    grep -q "^slots: $slots" "$KSEARCH_WORKER_CONFIG" && grep -q 'max_processes: 512' "$KSEARCH_WORKER_CONFIG" ||
      { echo "the worker's configuration has no lines slots and max_processes" >&2; return 1; }
  fi
  cat >"$cluster/coordinator.textproto" <<CONFIG
listen_address: "127.0.0.1:0"
suites { kind: "$kind" path: "$path" $fields }
CONFIG
  KSEARCH_COORDINATOR_CONFIG=$cluster/coordinator.textproto
}

# What went wrong stands in the worker's log, warm stages and runners included.
show_trouble() {  # show_trouble <exit status>
  [ "$1" = 0 ] || grep -h -e 'level=E' -e 'level=W' -e ERROR -e WARNING "$cluster/log/worker.log" | tail -n 30 | cut -c1-300 || true
}
