#!/usr/bin/env bash
# Installs what building and running needs from Debian 12's own packages. Does nothing if everything
# is installed. Works as root or with sudo. docs/dependencies.md says why each package is needed.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git ca-certificates
  libgrpc++-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler libabsl-dev
  libcurl4-openssl-dev libsqlite3-dev libssl-dev nlohmann-json3-dev libyaml-dev libcli11-dev
  libboost-dev
  node-d3-axis node-d3-hierarchy node-d3-scale node-d3-selection node-d3-shape node-d3-zoom
  libgtest-dev libgmock-dev libbenchmark-dev
  libseccomp-dev bubblewrap iproute2
  python3-venv patchelf
)
# What deploy/worker_bundle.sh and deploy/package.sh need is in the list above, since a test packs.
if [ "${1:-}" = "--with-bundle" ]; then
  shift
fi
# The sanitizer and fuzz presets are built with clang.
if [ "${1:-}" = "--with-clang" ]; then
  packages+=(clang lld clang-format libclang-rt-14-dev)
fi
# Tests of programs in Python: torch for processors, 600 MB on disk, the headers that extensions in C++
# are built with, and pip, with which one test installs Triton's interpreter
# (tests/tasks/triton_on_cpu.py) and another the models of flashinfer-bench.
if [ "${1:-}" = "--with-python" ]; then
  packages+=(python3-torch libtorch-dev pybind11-dev python3-pip)
fi

# A test of the autoscaler under a real Slurm. Its services need not run; on a machine where they must
# not be installed, leave this out.
if [ "${1:-}" = "--with-slurm" ]; then
  packages+=(slurm-wlm munge)
fi

# Tests that open the page, a report and a trace in a browser (400 MB on disk), and tests that have a real
# Prometheus check and scrape the metrics. Neither is needed to build or to run ksearch.
if [ "${1:-}" = "--with-chromium" ]; then
  packages+=(chromium)
fi
if [ "${1:-}" = "--with-prometheus" ]; then
  packages+=(prometheus)
fi
# Tests of the autoscaler's provider of hosts with a real server, which each starts for itself.
if [ "${1:-}" = "--with-ssh-server" ]; then
  packages+=(openssh-server openssh-client)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "install_deps.sh: these packages are missing: ${missing[*]}" >&2
    echo "Run this script as root, or install sudo." >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "installing: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
