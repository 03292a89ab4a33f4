#!/usr/bin/env bash
# Builds and packs a GPU node's worker: ksearch-worker, -verifier, -runner and bubblewrap with its
# libraries, configs and a systemd unit. The bundle runs on x86-64 Ubuntu 22.04, 24.04 and Debian 12
# without any package installed; building CUDA candidates there takes a CUDA toolkit and g++.
#   deploy/worker_bundle.sh [--with-coordinator] [--with-python] [--skip-build] [--out FOLDER]
#     --with-coordinator  packs coordinator, command line, scripted model server, tasks, prices, docs
#                         and the GPU tests too, and libcurl with its libraries
#     --with-python       packs the runner of programs in Python too, from a build of preset release
#     --skip-build        packs what build/bundle holds
#     --programs FOLDER   packs the programs of this folder (with --skip-build; default:
#                         build/bundle/bin), with the shared libraries that they need
#     --python-programs FOLDER   the same for the runner of programs in Python (default:
#                         build/release/bin)
#     --out FOLDER        where the archive goes (default: build/bundle)
# Prints the archive's path. Without a CUDA toolkit (12.8 or newer) on the building machine the bundle
# cannot use GPUs: that is said here, and in its CONTENTS.txt. Installs nothing; needs patchelf beside what a build needs
# (deploy/install_deps.sh --with-bundle).
set -euo pipefail
cd "$(dirname "$0")/.."

with_coordinator=0
with_python=0
build=1
out=build/bundle
built=build/bundle/bin
built_python=build/release/bin
while [ $# -gt 0 ]; do
  case $1 in
    --with-coordinator) with_coordinator=1 ;;
    --with-python) with_python=1 ;;
    --skip-build) build=0 ;;
    --programs) built=${2:?--programs needs a folder}; shift ;;
    --python-programs) built_python=${2:?--python-programs needs a folder}; shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
  esac
  shift
done
fail() { echo "worker_bundle.sh: $*" >&2; exit 1; }

for tool in cmake patchelf strip tar gzip bwrap; do
  command -v "$tool" >/dev/null ||
    fail "$tool is not installed; run deploy/install_deps.sh --with-bundle"
done

programs=(ksearch-worker ksearch-verifier ksearch-runner)
kind=worker
if [ "$with_coordinator" = 1 ]; then
  programs+=(ksearch-coordinator ksearch-autoscaler ksearch ksearch-model-server)
  kind=all
fi
if [ "$build" = 1 ]; then
  cmake --preset bundle -DKSEARCH_VERSION="$(deploy/version.sh)" >&2
  targets=("${programs[@]}")
  [ "$with_coordinator" = 0 ] || targets+=(ksearch_gpu_tests)
  cmake --build --preset bundle --target "${targets[@]}" >&2
  if [ "$with_python" = 1 ]; then
    cmake --preset release -DKSEARCH_VERSION="$(deploy/version.sh)" >&2
    cmake --build --preset release --target ksearch_python_runner >&2
  fi
fi
for program in "${programs[@]}"; do
  [ -x "$built/$program" ] || fail "there is no $built/$program: build it first"
done
# Sandboxes show the runner and the C library, but not the libraries beside the other programs.
needs=$(ldd "$built/ksearch-runner" 2>/dev/null | awk '$2 == "=>" && $1 !~ /^lib(c|m|dl|pthread|rt)\.so/ {print $1}')
[ -z "$needs" ] ||
  fail "$built/ksearch-runner needs $(head -n 1 <<<"$needs"), which no sandbox shows: build it by the preset bundle"
version=$("$built/ksearch-worker" --version | cut -d' ' -f2)
name=ksearch-$kind-$version-linux-x86_64

# A worker that can use GPUs contains the names of the driver's functions.
cuda=yes
grep -q cuDriverGetVersion "$built/ksearch-worker" || cuda=no
say_cuda() {
  [ "$cuda" = yes ] || echo "worker_bundle.sh: WARNING: this bundle has no CUDA support and judges cpp tasks only: no CUDA" \
    "toolkit 12.8 or newer was found when it was built (install one, then delete build/bundle and build again)" >&2
}
say_cuda

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/$name
mkdir -p "$root"/{bin,lib,configs,systemd,apparmor}
chmod 755 "$stage" "$root"

for program in "${programs[@]}"; do
  strip -s -o "$root/bin/$program" "$built/$program"
done

# Libraries other than the C library's own are put beside the programs that need them, so that a job's
# environment need not name them. Of the machine's own libraries only the C library is used.
notices=()
copy_libraries() {  # copy_libraries <from, a program or library> <to, a folder> [pattern to leave out]
  local library path
  while read -r library path; do
    case $library in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.*) continue ;;
    esac
    # shellcheck disable=SC2053
    [[ $library != ${3:-none} ]] || continue
    cp -L "$path" "$2/$library"
    notices+=("$(realpath "$path")")
  done < <(ldd "$1" | awk '$2 == "=>" {print $1, $3}')
}
find_beside() {  # find_beside <folder as seen from the program> <program>
  patchelf --set-rpath "\$ORIGIN/$1" "$2"
}
# Debian's build of bubblewrap.
cp -L "$(command -v bwrap)" "$root/bin/bwrap"
notices+=("$(realpath "$(command -v bwrap)")")
for program in bwrap "${programs[@]}"; do
  from=$built/$program
  [ "$program" != bwrap ] || from=$root/bin/bwrap
  before=${#notices[@]}
  copy_libraries "$from" "$root/lib"
  [ "${#notices[@]}" = "$before" ] || find_beside ../lib "$root/bin/$program"
done
for library in "$root"/lib/*; do find_beside . "$library"; done

# The user's interpreter loads this library and the libraries beside it, but uses its own C and C++
# libraries. The sandbox shows the folder (build/python).
if [ "$with_python" = 1 ]; then
  runner=libksearch_python_runner.so
  libraries=$root/bin/ksearch_python_libraries
  [ -f "$built_python/$runner" ] || fail "there is no $built_python/$runner: build it first"
  mkdir -p "$libraries"
  cp -R "$built_python/ksearch_runner.py" "$built_python/ksearch_runner_modules" "$root/bin/"
  strip -s -o "$root/bin/$runner" "$built_python/$runner"
  copy_libraries "$built_python/$runner" "$libraries" '@(libstdc++|libgcc_s).so.*'
  find_beside ksearch_python_libraries "$root/bin/$runner"
  for library in "$libraries"/*; do find_beside . "$library"; done
fi

cp configs/worker_*.textproto "$root/configs/"
cp deploy/systemd/ksearch-worker.service "$root/systemd/"
cp deploy/apparmor/ksearch-bwrap "$root/apparmor/"
cp docs/gpu_workers.md LICENSE "$root/"
mkdir -p "$root/licenses"
printf '%s\n' "${notices[@]}" | sort -u | while read -r path; do
  # Debian records some files under their names from before /usr was merged.
  package=$(dpkg-query -S "$path" 2>/dev/null || dpkg-query -S "${path#/usr}" 2>/dev/null || true)
  package=${package%%:*}
  [ -z "$package" ] || cp -L "/usr/share/doc/$package/copyright" "$root/licenses/$package"
done
# Components that the programs contain without a separate file: static archives, headers, and the
# page's d3.
linked=(libgrpc-dev libprotobuf-dev libabsl-dev libre2-dev libc-ares-dev zlib1g-dev libssl-dev libseccomp-dev libyaml-dev
  libstdc++-12-dev)
if [ "$with_coordinator" = 1 ]; then
  linked+=(libsqlite3-dev libcli11-dev nlohmann-json3-dev libboost1.74-dev)
  for path in /usr/share/doc/node-d3-*; do linked+=("${path##*/}"); done
fi
for package in "${linked[@]}"; do
  cp -L "/usr/share/doc/$package/copyright" "$root/licenses/$package"
done
if [ "$with_coordinator" = 1 ]; then
  cp configs/coordinator.textproto configs/coordinator_network.textproto configs/autoscaler.textproto "$root/configs/"
  cp -r configs/tasks configs/prices configs/demo "$root/configs/"
  cp deploy/systemd/ksearch-coordinator.service deploy/systemd/ksearch-autoscaler.service "$root/systemd/"
  # `ksearch task new` has the user's own interpreter run this.
  cp -r "$built/trace_task" "$root/bin/"
  find "$root/bin/trace_task" -name __pycache__ -prune -exec rm -rf {} +
  cp -r docs README.md CHANGELOG.md "$root/"
  # The tests of a machine with a GPU, if this tree has them.
  if [ -d build/bundle/gpu_tests ]; then
    mkdir -p "$root/gpu_tests"
    for program in build/bundle/gpu_tests/*; do
      [ -f "$program" ] || continue
      strip -s -o "$root/gpu_tests/${program##*/}" "$program" 2>/dev/null ||
        cp "$program" "$root/gpu_tests/"
    done
  fi
fi
{
  echo "ksearch $version, $kind bundle for x86-64 Linux"
  echo "CUDA support: $cuda"
  echo
  (cd "$root" && find . -type f | LC_ALL=C sort | sed 's#^\./##')
} >"$root/CONTENTS.txt"
# A worker started as root switches to another account, which must be able to read all this.
chmod -R u+w,go-w,a+rX "$root"

mkdir -p "$out"
archive=$out/$name.tar.gz
tar -C "$stage" --owner=0 --group=0 --sort=name -cf - "$name" | gzip -9 >"$archive.part"
mv "$archive.part" "$archive"
bytes=$(stat -c %s "$archive")
[ "$with_coordinator" = 1 ] || [ "$bytes" -le $((40 << 20)) ] ||
  fail "$archive has $bytes bytes, more than the 40 MiB promised"
echo "packed $((bytes >> 10)) KiB, CUDA support: $cuda" >&2
say_cuda
echo "$archive"
