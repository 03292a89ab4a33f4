#!/usr/bin/env bash
# usage: packages_on_bare_systems.sh WHEEL DEB [SYSTEM...]: judges the packages of deploy/package.sh in the
# smallest installations of whole systems. SYSTEM is bookworm (Debian 12), jammy (Ubuntu 22.04) or noble
# (Ubuntu 24.04); all three if none is given. For each:
#   wheel   in a virtual environment, with g++ installed, two commands are typed:
#             pip install ksearch-*.whl
#             ksearch run --local --task matmul_f32 --model local/scripted-demo ...
#           and the first confirmed kernel is there within three minutes of the first one's start. The model
#           is a scripted one on loopback, over the HTTP path of a real one.
#   deb     apt-get installs it; the self-test is content, systemd's own check finds no fault in the units, a
#           coordinator and a worker start as the units would start them, and a program passes.
# Needs root, debootstrap, bubblewrap and a mirror of each system. Two to four minutes a system. Exit status
# 77, with the reason, where that cannot be had. KSEARCH_ROOTS, KSEARCH_DEBIAN and KSEARCH_UBUNTU are as for
# bare_systems.sh.
set -euo pipefail
wheel=$(realpath "${1:?usage: packages_on_bare_systems.sh WHEEL DEB [SYSTEM...]}")
deb=$(realpath "${2:?usage: packages_on_bare_systems.sh WHEEL DEB [SYSTEM...]}")
shift 2
source_root=$(cd "$(dirname "$0")/../.." && pwd)
systems=("$@")
[ "${#systems[@]}" -gt 0 ] || systems=(bookworm jammy noble)
readonly seconds_to_kernel=180
# shellcheck source=tests/bundle/bare_system.sh
source "$source_root/tests/bundle/bare_system.sh"

install_first() {
  inside apt-get update >"$work/log" 2>&1 &&
    inside apt-get install -y --no-install-recommends g++ python3-venv >>"$work/log" 2>&1
}

# What a user types. HOME is one that does not exist before; the account is root's, of whom the worker
# becomes another.
venv=/opt/env
typed() {
  inside --setenv HOME /opt/home --setenv PATH "$venv/bin:/usr/bin:/bin" \
    --setenv KSEARCH_MODEL_URL "$model_url" "$@"
}
start_model() {
  inside_instead --setenv PATH "$venv/bin:/usr/bin:/bin" ksearch-model-server \
    --cassette /shared/demo/matmul.cassette.textproto --port 0 --port-file /shared/model.port \
    >"$work/model.log" 2>&1 &
  pids+=($!)
  wait_until 30 test -s "$work/shared/model.port" || { cp "$work/model.log" "$work/log"; return 1; }
  model_url=http://127.0.0.1:$(head -n 1 "$work/shared/model.port")/v1
}
first_kernel() {
  local begin=$SECONDS status=0
  typed pip install --quiet --no-index "/shared/${wheel##*/}" >"$work/log" 2>&1 || return 1
  start_model || return 1  # comes with the wheel, hence not before
  typed timeout $seconds_to_kernel ksearch run --local --task matmul_f32 --model local/scripted-demo \
    --rounds 3 --progress 10s >>"$work/log" 2>&1 || status=$?
  kernel_after=$((SECONDS - begin))
  [ "$status" = 0 ] && grep -q 'new incumbent' "$work/log" && [ $kernel_after -le $seconds_to_kernel ]
}
goes_down() { typed ksearch down >"$work/log" 2>&1 && grep -q 'worker stopped, coordinator stopped' "$work/log"; }
uninstalls() {
  typed pip uninstall --quiet --yes ksearch >"$work/log" 2>&1 && ! [ -e "$root$venv/bin/ksearch" ] &&
    [ -z "$(find "$root$venv" -path '*ksearch_programs*' -type f ! -name '*.pyc')" ]
}

deb_installs() {
  inside apt-get install -y --no-install-recommends "/shared/${deb##*/}" >"$work/log" 2>&1 &&
    inside ksearch --version >>"$work/log" 2>&1
}
units_are_sound() {
  # By this machine's systemd, which looks for the programs here.
  mkdir -p "$work/units"
  for unit in "$root"/usr/lib/systemd/system/ksearch-*.service; do
    sed 's#^ExecStart=/usr/lib/ksearch/bin/[a-z-]*#ExecStart=/bin/true#' "$unit" >"$work/units/${unit##*/}"
  done
  systemd-analyze verify --man=no "$work"/units/*.service >"$work/log" 2>&1 &&
    ! grep -q ksearch "$work/log"
}
# The command of a unit, with some arguments of it replaced by others: nothing here is systemd.
command_of() { sed -n '/^ExecStart=/{:a;/\\$/{N;s/\\\n//;ba};s/^ExecStart=//;p}' "$root/usr/lib/systemd/system/$1.service"; }
self_test_is_content() {
  # shellcheck disable=SC2046
  inside $(command_of ksearch-worker) --selftest --state-dir /tmp/state >"$work/log" 2>&1 &&
    ! grep -q ^FAIL "$work/log"
}
program_passes() {
  local address task=/usr/lib/ksearch/configs/tasks/cpu/softmax_rows_f32
  # shellcheck disable=SC2046
  inside_instead $(command_of ksearch-coordinator) --state-dir /shared/state --listen 127.0.0.1:0 \
    >"$work/coordinator.log" 2>&1 &
  pids+=($!)
  wait_until 30 test -s "$work/shared/state/address" || { cp "$work/coordinator.log" "$work/log"; return 1; }
  address=$(cat "$work/shared/state/address")
  # shellcheck disable=SC2046
  inside_instead $(command_of ksearch-worker) --coordinator "$address" --state-dir /tmp/state \
    >"$work/worker.log" 2>&1 &
  pids+=($!)
  inside timeout 120 ksearch --coordinator "$address" eval --task softmax_rows_f32 --check \
    "$task/baseline.cpp" >"$work/log" 2>&1 && grep -q '^passed' "$work/log"
}
deb_goes() {
  inside apt-get purge -y ksearch >"$work/log" 2>&1 && ! [ -e "$root/usr/lib/ksearch" ] &&
    ! [ -e "$root/etc/ksearch" ] && ! [ -e "$root/usr/bin/ksearch" ]
}
end_programs() {
  for pid in "${pids[@]}"; do end_program "$pid"; done
  pids=()
}

tried=0
for system in "${systems[@]}"; do
  root=$work/$system
  if ! get_root; then
    echo "SKIP: $system: no such system could be made: $(tail -n 1 "$work/log")"
    continue
  fi
  chmod 755 "$root"
  rm -rf "$work/shared" && mkdir -p "$root/shared" "$work/shared"
  cp "$wheel" "$deb" "$work/shared/"
  cp -r "$source_root/configs/demo" "$work/shared/"
  chmod -R a+rX "$work/shared"
  chmod 1777 "$work/shared"
  if ! install_first; then
    echo "SKIP: $system: g++ and python3-venv cannot be installed: $(tail -n 1 "$work/log")"
    continue
  fi
  tried=$((tried + 1))
  echo "---- $system: $(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release")"
  inside python3 -m venv $venv
  kernel_after=none
  model_url=
  judge "pip install and ksearch run give a confirmed kernel within $seconds_to_kernel s" first_kernel
  echo "      after $kernel_after s: $(grep -m 1 'new incumbent' "$work/log" || true)"
  judge "ksearch down ends the pair" goes_down
  judge "pip uninstall leaves nothing" uninstalls
  end_programs
  judge "apt-get installs the Debian package" deb_installs
  if command -v systemd-analyze >/dev/null; then
    judge "systemd finds no fault in the units" units_are_sound
  else
    echo "SKIP: $system: systemd-analyze is not installed"
  fi
  judge "the self-test with the package's configuration is content" self_test_is_content
  judge "coordinator and worker start as the units say, and a program passes" program_passes
  end_programs
  judge "apt-get purge leaves nothing" deb_goes
done
[ "$tried" -gt 0 ] || skip "no system could be made"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
