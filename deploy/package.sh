#!/usr/bin/env bash
# Builds and packs all of ksearch for x86-64 Debian 12 and Ubuntu 22.04 and 24.04 (docs/packages.md):
#   wheel     pip install ksearch-*.whl: the programs, tasks, prices and the Python side
#   deb       apt-get install ./ksearch_*.deb: the programs and systemd units
#   tarball   can be unpacked anywhere
#   deploy/package.sh [wheel] [deb] [tarball] [--without-cuda] [--without-python] [--skip-build]
#                     [--programs FOLDER] [--python-programs FOLDER] [--out FOLDER]
#     (none named)      all three
#     --without-cuda    packs a worker that cannot use GPUs, where it was built without a CUDA toolkit
#     --without-python  leaves the runner of candidates in Python out
#     --skip-build      packs what build/bundle and build/release hold, or the folders named by
#                       --programs and --python-programs
#     --out FOLDER      where the packages go (default: build/packages)
# Prints the packages' paths. The version is that of deploy/version.sh when the programs were built.
# Needs what deploy/install_deps.sh --with-bundle installs.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=()
cuda_needed=1
with_python=1
build=1
out=build/packages
bundle_options=()
while [ $# -gt 0 ]; do
  case $1 in
    wheel | deb | tarball) wanted+=("$1") ;;
    --without-cuda) cuda_needed=0 ;;
    --without-python) with_python=0 ;;
    --skip-build) build=0 ;;
    --programs | --python-programs) bundle_options+=("$1" "${2:?$1 needs a folder}"); shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
  esac
  shift
done
[ "${#wanted[@]}" -gt 0 ] || wanted=(wheel deb tarball)
fail() { echo "package.sh: $*" >&2; exit 1; }
for tool in cmake patchelf dpkg-deb python3 objdump protoc; do
  command -v "$tool" >/dev/null || fail "$tool is not installed; run deploy/install_deps.sh --with-bundle"
done

if [ "$build" = 1 ]; then
  version=$(deploy/version.sh)
  cmake --preset bundle -DKSEARCH_VERSION="$version" >&2
  cmake --build --preset bundle --target ksearch ksearch-coordinator ksearch-autoscaler ksearch-worker ksearch-verifier \
    ksearch-runner ksearch-model-server >&2
  if [ "$with_python" = 1 ]; then
    cmake --preset release -DKSEARCH_VERSION="$version" >&2
    cmake --build --preset release --target ksearch_python_runner >&2
  fi
fi
[ "$with_python" = 0 ] || bundle_options+=(--with-python)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$(deploy/worker_bundle.sh --with-coordinator --skip-build --out "$work" "${bundle_options[@]}")
tar -C "$work" -xzf "$archive"
name=$(basename "$archive" .tar.gz)
bundle=$work/$name
version=$("$bundle/bin/ksearch-worker" --version | cut -d' ' -f2)

if [ "$cuda_needed" = 1 ] && ! grep -q '^CUDA support: yes$' "$bundle/CONTENTS.txt"; then
  fail "this worker was built without CUDA support: install a CUDA toolkit 12.8 or newer (no GPU is" \
    "needed), delete build/bundle and build again, or give --without-cuda"
fi

# The newest C library symbols that anything in the package needs.
glibc=$(find "$bundle/bin" "$bundle/lib" -type f -exec sh -c \
  'head -c 4 "$1" | grep -q ELF && objdump -T "$1" 2>/dev/null' sh {} \; |
  grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1 | cut -d_ -f2)
[ -n "$glibc" ] || fail "$bundle/bin has no programs"
if [ "$(printf '%s\n2.35\n' "$glibc" | sort -V | tail -n 1)" != 2.35 ]; then
  echo "package.sh: WARNING: these programs want GLIBC_$glibc and do not start on Ubuntu 22.04 (2.35):" \
    "they are not those of preset bundle" >&2
fi

mkdir -p "$out"
for kind in "${wanted[@]}"; do
  case $kind in
    tarball) cp "$archive" "$out/"; echo "$out/$name.tar.gz" ;;
    wheel)
      mkdir -p "$work/python"
      cp -r python/ksearch python/ksearch_programs python/ksearch_suites "$work/python/"
      protoc -I. --include_imports --descriptor_set_out="$work/python/ksearch/_protos.binpb" \
        proto/search_service.proto
      deploy/packages/make_wheel.py --bundle "$bundle" --python "$work/python" --version "$version" \
        --platform "manylinux_${glibc/./_}_x86_64" --out "$out"
      ;;
    deb) deploy/packages/make_deb.sh "$bundle" "$version" "$glibc" "$out" ;;
  esac
done
