# Sourced by the scripts beside it: runs a coordinator and one worker on this machine, in their own
# folder, and stops them when the script ends.
#   KSEARCH_BIN_DIR        programs (default: bin/ of an unpacked bundle, else the newest build)
#   KSEARCH_WORKER_CONFIG  default: configs/worker_h200.textproto
#   KSEARCH_COORDINATOR_CONFIG  default: one that only listens on a free port of the loopback
#   KSEARCH_TASK_DIR       default: configs/tasks
#   KSEARCH_CORPUS_WORKLOADS  leaves each task of the corpus so many workloads (fewer_workloads.py)
#   KSEARCH_WORKER_STATE   folder that keeps what workers build; default: they begin with nothing
#   KSEARCH_WORKER_NICENESS  of the worker and all that it starts, except compilers; below 0 needs root
#   OUT                    folder for copies of the logs at the end, if set
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cluster_pids=()

find_programs() {
  local folder newest=
  for folder in "${KSEARCH_BIN_DIR:-}" "$root/bin" "$root"/build/{bundle,release,dev}/bin; do
    [ -n "$folder" ] && [ -x "$folder/ksearch-worker" ] && [ -x "$folder/ksearch" ] || continue
    newest=$folder
    break
  done
  [ -n "$newest" ] || {
    echo "no ksearch-worker and ksearch under $root/bin or build/*/bin; set KSEARCH_BIN_DIR" >&2
    return 1
  }
  echo "$newest"
}

wait_for() {  # wait_for <seconds> <what> <command...>
  local tries=$(($1 * 10)) what=$2 pid
  shift 2
  until "$@" >/dev/null 2>&1; do
    for pid in "${cluster_pids[@]}"; do
      kill -0 "$pid" 2>/dev/null || { echo "a program ended while waiting for $what" >&2; return 1; }
    done
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "$what did not come up" >&2; return 1; }
    sleep 0.1
  done
}

stop_cluster() {
  local status=$? pid tries
  trap - EXIT INT TERM
  for pid in "${cluster_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${cluster_pids[@]}"; do
    tries=50
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -gt 0 ]; do
      sleep 0.1
      tries=$((tries - 1))
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
  wait 2>/dev/null || true
  if [ -n "${OUT:-}" ]; then cp "$cluster"/log/*.log "$OUT/" 2>/dev/null || true; fi
  if [ "${cluster_up:-0}" = 0 ]; then tail -n 20 "$cluster"/log/*.log >&2 || true; fi
  rm -rf "$cluster"
  exit "$status"
}

start_worker() {  # start_worker <name>: with a state folder of that name
  nice -n "${KSEARCH_WORKER_NICENESS:-0}" "$cluster/bin/ksearch-worker" --config "${KSEARCH_WORKER_CONFIG:-$root/configs/worker_h200.textproto}" \
    --coordinator "$KSEARCH_COORDINATOR" --state-dir "${KSEARCH_WORKER_STATE:-$cluster}/$1" --name "$1" \
    >"$cluster/log/$1.log" 2>&1 &
  cluster_pids+=($!)
  wait_for 90 "worker $1" worker_is_ready "$1"
}
worker_is_ready() { grep -qE "$1.* ready " <<<"$("$cluster/bin/ksearch" workers)"; }

# Copies the programs into a new folder, $cluster, which is removed when the script ends.
make_cluster() {
  local from
  from=$(find_programs)
  cluster=$(mktemp -d /tmp/ksearch-gpu.XXXXXX)
  # A worker started as root becomes an unprivileged user, who must be able to read all this.
  chmod 755 "$cluster"
  mkdir -p "$cluster/bin" "$cluster/log"
  trap stop_cluster EXIT INT TERM
  cp -r "$from"/ksearch* "$cluster/bin/"
  if [ -e "$from/libksearch_python_runner.so" ]; then
    cp "$from/libksearch_python_runner.so" "$cluster/bin/"
  fi
  if [ -x "$from/bwrap" ]; then cp "$from/bwrap" "$cluster/bin/" && cp -r "$from/../lib" "$cluster/"; fi
  chmod -R a+rX "$cluster"
  export KSEARCH=$cluster/bin/ksearch
}

# Call before start_cluster. The worker also offers Python, with the interpreter $KSEARCH_PYTHON
# (default: that of $VIRTUAL_ENV, else python3); sets `python` to it.
use_python() {
  python=${KSEARCH_PYTHON:-${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python3}}
  python=$(command -v "${python:-python3}")
  "$python" -c 'import torch, triton; assert torch.cuda.is_available(), "no GPU"; print(torch.__version__, triton.__version__)'
  cp "${KSEARCH_WORKER_CONFIG:-$root/configs/worker_h200.textproto}" "$cluster/worker.textproto"
  cat >>"$cluster/worker.textproto" <<CONFIG
toolchains {
  language: LANGUAGE_PYTHON
  interpreter: "$python"
}
CONFIG
  KSEARCH_WORKER_CONFIG=$cluster/worker.textproto
}

# Call between the two others. Tasks of the corpora (tests/gpu/tasks) join those of
# KSEARCH_TASK_DIR.
add_corpus_tasks() {
  mkdir "$cluster/tasks"
  cp -r "${KSEARCH_TASK_DIR:-$root/configs/tasks}" "$cluster/tasks/shipped"
  cp -r "$root/tests/gpu/tasks" "$cluster/tasks/corpus"
  [ -z "${KSEARCH_CORPUS_WORKLOADS:-}" ] ||
    python3 "$root/tests/gpu/fewer_workloads.py" "$cluster/tasks" "$KSEARCH_CORPUS_WORKLOADS"
  chmod -R a+rX "$cluster/tasks"
  KSEARCH_TASK_DIR=$cluster/tasks
}

# Call between the two others. Starts a scripted model; the coordinator's configuration has @MODEL_PORT@.
start_model_server() {  # start_model_server <cassette> <coordinator configuration>
  "$cluster/bin/ksearch-model-server" --cassette "$1" --port 0 --port-file "$cluster/model.port" \
    >"$cluster/log/model-server.log" 2>&1 &
  cluster_pids+=($!)
  wait_for 30 "the model server" test -s "$cluster/model.port"
  sed "s|@MODEL_PORT@|$(cat "$cluster/model.port")|" "$2" >"$cluster/coordinator.textproto"
  KSEARCH_COORDINATOR_CONFIG=$cluster/coordinator.textproto
}

# Exports KSEARCH_COORDINATOR. make_cluster has set KSEARCH, the command line program.
start_cluster() {
  local config=${KSEARCH_COORDINATOR_CONFIG:-$cluster/coordinator.textproto}
  [ -n "${KSEARCH_COORDINATOR_CONFIG:-}" ] || echo 'listen_address: "127.0.0.1:0"' >"$config"
  "$cluster/bin/ksearch-coordinator" --config "$config" --state-dir "$cluster/state" \
    --listen 127.0.0.1:0 --task-dir "${KSEARCH_TASK_DIR:-$root/configs/tasks}" >"$cluster/log/coordinator.log" 2>&1 &
  cluster_pids+=($!)
  wait_for 30 "the coordinator" test -s "$cluster/state/address"
  KSEARCH_COORDINATOR=$(cat "$cluster/state/address")
  export KSEARCH_COORDINATOR
  start_worker worker
  cluster_up=1
}
