#!/usr/bin/env bash
# usage: fake_gpus.sh BUILD_DIR NUMBER COMMAND...: runs the command on a simulated machine with NUMBER
# GPUs: a fake NVML, device nodes and nvidia-smi, and a verifier that answers "passed" to everything.
# Needs root for its own mount namespace. Exit status 77 if this machine does not allow that.
set -euo pipefail
build=$(cd "$1" && pwd) number=$2
shift 2
if [ -z "${FAKE_GPUS_INSIDE:-}" ]; then
  [ "$(id -u)" = 0 ] || { echo "skipped: not root"; exit 77; }
  unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }
  FAKE_GPUS_INSIDE=1 exec unshare -m "$BASH" "$0" "$build" "$number" "$@"
fi
fake=$(mktemp -d /tmp/ksearch-fake-gpus.XXXXXX)
chmod 755 "$fake"
finish() { rm -rf "$fake"; }
trap finish EXIT
mkdir "$fake/real" "$fake/bin" "$fake/lib"
# Our own /dev: the old one's nodes and those of the simulated GPUs.
mount --make-rprivate /
mount --rbind /dev "$fake/real" || { echo "skipped: no mounts here"; exit 77; }
mount -t tmpfs -o mode=755 fake /dev
for node in null zero full random urandom tty; do
  touch "/dev/$node"
  mount --bind "$fake/real/$node" "/dev/$node"
done
for folder in pts shm; do
  mkdir "/dev/$folder"
  mount --rbind "$fake/real/$folder" "/dev/$folder"
done
ln -s /proc/self/fd /dev/fd
for name in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${name#*:}" "/dev/${name%:*}"; done
umount -l "$fake/real"
touch /dev/nvidiactl /dev/nvidia-uvm
{
  echo '#!/bin/sh'
  for ((i = 0; i < number; ++i)); do
    touch "/dev/nvidia$i"
    printf 'echo "GPU-0000000%d-0000-0000-0000-00000000000%d, 00000000:%02X:00.0, NVIDIA H200"\n' \
      "$i" "$i" $((10 + i))
  done
} >"$fake/bin/nvidia-smi"
chmod 755 "$fake/bin/nvidia-smi"
chmod 666 /dev/nvidia*
cp -r "$build"/bin/ksearch* "$fake/bin/"
cp "$build/bin/ksearch-scripted-verifier" "$fake/bin/ksearch-verifier"
cp "$build/tests/gpu_worker/device/libfake_nvml.so" "$fake/lib/libnvidia-ml.so.1"
chmod -R a+rX "$fake"
PATH=$fake/bin:$PATH LD_LIBRARY_PATH=$fake/lib KSEARCH_FAKE_GPUS=$number KSEARCH_BIN_DIR=$fake/bin "$@"
