#!/usr/bin/env bash
# usage: container_images.sh ARCHIVE: builds the images of deploy/container from an archive of
# deploy/worker_bundle.sh --with-coordinator and starts them, on a machine that has neither a daemon
# that runs containers nor a registry: buildah builds, on a Debian that debootstrap has made from this
# machine's mirror; runc starts, as engines and Kubernetes would have it.
#   images     both are built from the Containerfiles, unchanged except for the base image; checks
#              their accounts and what they start;
#   sandbox    how much of it works inside containers with different permissions, as reported by
#              `--selftest` (docs/kubernetes.md has the table);
#   together   a coordinator and a worker in containers judge a program.
# Needs root, debootstrap, bubblewrap, buildah and runc. About three minutes and 3 GB of disk while it
# runs. Exit status 77, with the reason, if one of these is missing.
#   KSEARCH_ROOTS      a folder where a fresh system is kept for the next time (default: none kept)
#   KSEARCH_DEBIAN     mirror (default: that of this machine's apt configuration)
set -euo pipefail
archive=$(realpath "${1:?usage: container_images.sh ARCHIVE}")
source_root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/bundle/bare_system.sh
source "$source_root/tests/bundle/bare_system.sh"
for tool in buildah runc; do
  command -v $tool >/dev/null || skip "$tool is not installed"
done
system=bookworm
root=$work/$system
get_root || skip "no Debian could be made: $(tail -n 1 "$work/log")"

export STORAGE_DRIVER=vfs
store=("--root" "$work/images" "--runroot" "$work/running")
images() { buildah "${store[@]}" "$@"; }
# Calls runc directly for a container's state, which is asked many times a second.
runtime=$work/runtime
cat >"$runtime" <<SCRIPT
#!/bin/sh
case " \$* " in *" --bundle "*) exec python3 "$source_root/tests/bundle/runtime_as.py" "\$@" ;; esac
exec runc "\$@"
SCRIPT
chmod +x "$runtime"
context=$work/context
mkdir "$context"
cp "$source_root"/deploy/container/Containerfile.* "$context/"
cp "$archive" "$context/archive.tar.gz"
# Host and container are one machine: the network is the machine's.
contained() { (contained_instead "$@"); }  # contained <words for the runtime> <container> <command...>
contained_instead() {  # in place of this shell, so that end_program ends it with the container
  local words=$1 container=$2
  shift 2
  export KSEARCH_CONTAINER=$words KSEARCH_ROOT=$work/root
  exec buildah "${store[@]}" run --isolation oci --runtime "$runtime" --network host \
    --volume "$work/shared:/shared" "$container" -- "$@"
}

make_base() {
  local container
  tar -C "$root" -cf "$work/base.tar" . && rm -rf "$root"
  container=$(images from scratch) && images add "$container" "$work/base.tar" / &&
    images commit "$container" ksearch-base && images rm "$container" && rm "$work/base.tar"
}
build() {  # build <coordinator|worker>
  images build-using-dockerfile --isolation chroot --pull-never --build-arg BASE=localhost/ksearch-base \
    --build-arg ARCHIVE=archive.tar.gz -f "$context/Containerfile.$1" -t "ksearch-$1" "$context" \
    >"$work/log" 2>&1
}
has() {  # has <image> <format> <what it prints>
  images inspect --type image --format "$2" "localhost/$1" >"$work/log" && [ "$(cat "$work/log")" = "$3" ]
}
coordinator_is_itself() {
  has ksearch-coordinator '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' \
    '64122:64122 [/opt/ksearch/bin/ksearch-coordinator] [--state-dir /var/lib/ksearch]'
}
worker_is_itself() {
  has ksearch-worker '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' \
    '0:0 [/opt/ksearch/bin/ksearch-worker] [--config /opt/ksearch/configs/worker_h200.textproto]'
}

self_test() {  # self_test <words>: what it says in $work/log
  contained "$1" worker sh -c 'rm -rf /tmp/state; exec ksearch-worker --config \
    /opt/ksearch/configs/worker_cpu.textproto --selftest --state-dir /tmp/state' >"$work/log" 2>&1
}
works() { self_test "$1" && grep -q '^OK  *sandbox' "$work/log" && grep -q '^OK  *compiler' "$work/log"; }
works_not() {  # works_not <words> <why>
  if self_test "$1"; then return 1; fi
  grep -q "^FAIL  *sandbox .*$2.* -> .*systempaths=unconfined" "$work/log"
}
said() { grep -E '^(OK|WARN|FAIL)  *(sandbox|cgroups)' "$work/log" | cut -c 1-160 | sed 's/^/    /'; }
barred_by_chroot() {
  if images run --isolation chroot worker -- ksearch-worker --config \
    /opt/ksearch/configs/worker_cpu.textproto --selftest --state-dir /tmp/state >"$work/log" 2>&1; then
    return 1
  fi
  grep -q '^FAIL  *sandbox .*user namespaces' "$work/log"
}

start_contained() {  # start_contained <words> <container> <log> <command...>
  local words=$1 container=$2 log=$3
  shift 3
  contained_instead "$words" "$container" "$@" >"$log" 2>&1 &
  pids+=($!)
}
client() { "$work/bundle/bin/ksearch" --coordinator "$(cat "$work/shared/state/address")" "$@"; }
logs() { tail -n 20 "$work"/coordinator.log "$work"/worker.log >"$work/log" 2>&1 || true; }
worker_ready() { [[ $(client workers) == *' contained '*' ready '* ]]; }
judge_together() {
  mkdir "$work/shared/state" && chown 64122:64122 "$work/shared/state"
  start_contained "" coordinator "$work/coordinator.log" ksearch-coordinator --state-dir /shared/state \
    --listen 127.0.0.1:0
  wait_until 180 test -s "$work/shared/state/address" || { logs; return 1; }
  start_contained "seccomp proc few" worker "$work/worker.log" ksearch-worker --config \
    /opt/ksearch/configs/worker_cpu.textproto --coordinator "$(cat "$work/shared/state/address")" \
    --state-dir /tmp/state --name contained --slots 2
  wait_until 180 worker_ready || { logs; return 1; }
  timeout 300 "$work/bundle/bin/ksearch" --coordinator "$(cat "$work/shared/state/address")" eval \
    --task softmax_rows_f32 "$source_root/configs/tasks/cpu/softmax_rows_f32/baseline.cpp" \
    >"$work/log" 2>&1 && grep -q '^passed' "$work/log"
}

mkdir -p "$work/shared" "$work/bundle"
tar -C "$work/bundle" --strip-components=1 -xzf "$archive"
make_base >"$work/log" 2>&1 || { cat "$work/log"; skip "buildah cannot make an image here"; }
judge "the coordinator's image is built" build coordinator
judge "it runs as account 64122, which starts the coordinator" coordinator_is_itself
judge "the worker's image is built" build worker
judge "it runs as root, which the worker gives up" worker_is_itself
images from --pull-never --name worker localhost/ksearch-worker >/dev/null
images from --pull-never --name coordinator localhost/ksearch-coordinator >/dev/null

if ! contained "" worker true >"$work/log" 2>&1; then
  echo "SKIP: runc cannot start a container here: $(tail -n 1 "$work/log")"
else
  # The copy for user namespaces: only root can reach the image store.
  mounted=$(images mount worker) && cp -a "$mounted" "$work/root" && images umount worker >/dev/null
  chmod 755 "$work/root"
  judge "an engine's defaults: no sandbox" works_not "" "hostname"
  said
  judge "without the filter of system calls: no sandbox" works_not "seccomp" "mount proc"
  said
  judge "with an unmasked /proc only: no sandbox" works_not "proc" "hostname"
  said
  judge "without both: a sandbox" works "seccomp proc"
  said
  judge "the same with three capabilities and no new privileges: a sandbox" works "seccomp proc few"
  said
  judge "as deploy/kubernetes has it, in a user namespace of the pod's: a sandbox" works "seccomp proc few users"
  said
  judge "the same with /proc as Kubernetes masks it by default: no sandbox" works_not "seccomp few users" "mount proc"
  said
  judge "a coordinator and a worker in containers judge a program" judge_together
fi
judge "where a build's RUN is only a chroot: no sandbox, and why" barred_by_chroot
said
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
