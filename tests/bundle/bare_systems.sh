#!/usr/bin/env bash
# usage: bare_systems.sh ARCHIVE [SYSTEM...]: tests a worker bundle in minimal installations of
# whole systems, which have only the packages that they need to start. SYSTEM is bookworm (Debian
# 12), jammy (Ubuntu 22.04) or noble (Ubuntu 24.04); all three if none is given. For each:
#   bare       every program starts, the self-test names what is missing, bubblewrap of the bundle
#              starts a runner in a sandbox;
#   with g++   after `apt-get install g++`: the self-test finds nothing missing, a worker joins a
#              coordinator of this machine, a CPU program passes;
#   with nvcc  if this machine has a CUDA toolkit, which is shown to the system: a worker without a
#              GPU builds CUDA programs for two architectures.
# Needs root, debootstrap, bubblewrap, a mirror of each system, and ksearch-coordinator and ksearch in
# KSEARCH_BIN_DIR (default: build/bundle/bin). One to three minutes a system. Exit status 77, with the
# reason, if one of these is missing.
#   KSEARCH_ROOTS      a folder where fresh systems are kept for the next time (default: none kept)
#   KSEARCH_DEBIAN, KSEARCH_UBUNTU   mirrors (default: those of this machine's apt configuration; a
#                                    system without one is skipped)
set -euo pipefail
archive=$(realpath "${1:?usage: bare_systems.sh ARCHIVE [SYSTEM...]}")
shift
source_root=$(cd "$(dirname "$0")/../.." && pwd)
bin_dir=${KSEARCH_BIN_DIR:-$source_root/build/bundle/bin}
systems=("$@")
[ "${#systems[@]}" -gt 0 ] || systems=(bookworm jammy noble)
# shellcheck source=tests/bundle/bare_system.sh
source "$source_root/tests/bundle/bare_system.sh"
for program in ksearch-coordinator ksearch; do
  [ -x "$bin_dir/$program" ] || skip "there is no $bin_dir/$program"
done
ours=/opt/ksearch/bin

programs_start() {
  local program
  for program in ksearch-worker ksearch-verifier ksearch-runner bwrap; do
    inside $ours/$program --version >"$work/log" 2>&1 || return 1
    grep -qE "^(ksearch-[a-z]*|bubblewrap) [0-9]+\.[0-9]" "$work/log" || return 1
  done
  for program in ksearch-worker ksearch-verifier; do
    inside $ours/$program --help >"$work/log" 2>&1 || return 1
    grep -q "^usage: " "$work/log" || return 1
  done
}

self_test() {  # self_test <expected status> <config>
  local status=0
  inside $ours/ksearch-worker --config "/opt/ksearch/configs/$2" --selftest --state-dir /tmp/state \
    >"$work/log" 2>&1 || status=$?
  [ "$status" = "$1" ]
}
names_what_is_missing() {
  self_test 3 worker_cpu.textproto && grep -q '^OK  *sandbox' "$work/log" &&
    grep -q '^FAIL  *compiler .*g++' "$work/log" && [ "$(grep -c ^FAIL "$work/log")" = 1 ]
}
names_the_driver() {
  self_test 3 worker_h200.textproto && grep -q '^FAIL  *driver .*install' "$work/log" &&
    grep -q '^FAIL  *compiler .*nvcc' "$work/log"
}
is_content() { self_test 0 worker_cpu.textproto && ! grep -q ^FAIL "$work/log"; }

# As ksearch-verifier does: a socket as descriptor 3, no network, no files but the system's, no
# account. The runner says who it is, and that its filter is in force.
runner_answers() {
  cat >"$work/shared/call.pl" <<'PERL'
use Socket;
use POSIX;
socketpair(my $ours, my $theirs, AF_UNIX, SOCK_SEQPACKET, 0) or die "socketpair: $!";
my $pid = fork();
if (!$pid) {
  POSIX::dup2(fileno($theirs), 3);
  exec(@ARGV);
  die "exec: $!";
}
close($theirs);
$SIG{ALRM} = sub { die "no word from the runner\n" };
alarm(20);
defined(recv($ours, my $hello, 65536, 0)) or die "recv: $!";
close($ours);
waitpid($pid, 0);
printf "hello of %d bytes, ended with %d\n", length($hello), $?;
exit(length($hello) > 0 && $? == 0 ? 0 : 1);
PERL
  inside perl /shared/call.pl $ours/bwrap --unshare-all --unshare-user --disable-userns \
    --uid 65534 --gid 65534 --cap-drop ALL --clearenv --ro-bind /usr /usr --symlink usr/lib /lib \
    --symlink usr/lib64 /lib64 --symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /tmp \
    --ro-bind $ours/ksearch-runner /runner --remount-ro / -- /runner >"$work/log" 2>&1
}

worker_ready() { grep -qE " $1 .* ready " <<<"$("$bin_dir/ksearch" workers)"; }
start_worker() {  # start_worker <name> <config>
  inside_instead $ours/ksearch-worker --config "/opt/ksearch/configs/$2" \
    --coordinator "$KSEARCH_COORDINATOR" --state-dir /tmp/state --name "$1" --slots 2 \
    >"$work/log" 2>&1 &
  pids+=($!)
  wait_until 90 worker_ready "$1"
}
stop_worker() {
  end_program "${pids[-1]}"
  unset 'pids[-1]'
}
program_passes() {
  local task=$source_root/configs/tasks/cpu/softmax_rows_f32
  start_worker "$system" worker_cpu.textproto || return 1
  timeout 120 "$bin_dir/ksearch" eval --repeat --task softmax_rows_f32 "$task/baseline.cpp" \
    >"$work/log" 2>&1 && grep -q '^passed' "$work/log"
}
cuda_builds() {
  local task=$source_root/configs/tasks/cuda/rmsnorm_bf16 architecture
  start_worker "$system-builds" worker_build.textproto || return 1
  for architecture in sm_90a sm_100a; do
    timeout 120 "$bin_dir/ksearch" eval --repeat --build-only --architecture $architecture \
      --task rmsnorm_bf16 "$task/baseline.cu" >"$work/log" 2>&1 || return 1
    grep -q "^kernels for $architecture" "$work/log" || return 1
  done
}

"$bin_dir/ksearch-coordinator" --state-dir "$work/coordinator" --listen 127.0.0.1:0 \
  --task-dir "$source_root/configs/tasks" >"$work/coordinator.log" 2>&1 &
pids+=($!)
wait_until 30 test -s "$work/coordinator/address" || { cat "$work/coordinator.log"; exit 1; }
KSEARCH_COORDINATOR=$(cat "$work/coordinator/address")
export KSEARCH_COORDINATOR
nvcc=$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")
machines_toolkit=
[ ! -x "$nvcc" ] || machines_toolkit=${nvcc%/bin/nvcc}

tried=0
for system in "${systems[@]}"; do
  root=$work/$system
  toolkit=
  if ! get_root; then
    echo "SKIP: $system: no such system could be made: $(tail -n 1 "$work/log")"
    continue
  fi
  tried=$((tried + 1))
  chmod 755 "$root"
  rm -rf "$work/shared" && mkdir -p "$root/opt/ksearch" "$root/shared" "$work/shared"
  tar -C "$root/opt/ksearch" --strip-components=1 -xzf "$archive"
  echo "---- $system: $(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release"), $(inside ldd --version |
    head -n 1)"

  judge "every program starts" programs_start
  judge "the self-test names the compiler that is missing, and nothing else" names_what_is_missing
  judge "the self-test names driver and nvcc on a node for GPUs" names_the_driver
  judge "bubblewrap of the bundle starts a runner in a sandbox" runner_answers

  if ! { inside apt-get update && inside apt-get install -y --no-install-recommends g++; } \
    >"$work/log" 2>&1; then
    echo "SKIP: $system: g++ cannot be installed: $(tail -n 1 "$work/log")"
    continue
  fi
  judge "with g++ the self-test finds no fault" is_content
  judge "a worker joins, and a program passes" program_passes
  stop_worker
  if [ -z "$machines_toolkit" ]; then
    echo "SKIP: $system: this machine has no CUDA toolkit to show it"
    continue
  fi
  toolkit=$machines_toolkit
  judge "with a CUDA toolkit it builds for sm_90a and sm_100a without a GPU" cuda_builds
  stop_worker
done
[ "$tried" -gt 0 ] || skip "no system could be made"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
