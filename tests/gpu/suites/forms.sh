#!/usr/bin/env bash
# Judges a few small programs in the form of each suite on this machine's GPUs: GPU MODE's three modes and a
# problem with a checker of its own, FlashInfer-Bench's samplers and top-k indexers, and a KernelBench problem
# whose inputs its own Python makes. Prints a line for each, with the time. Takes less than a minute on a GPU.
#   tests/gpu/suites/forms.sh [--only REGEX] [--seconds N] [--jobs N]
#     --only REGEX  programs whose names match
#     --seconds N   time limit (default 100)
#     --jobs N      evaluations in progress at once (default: 2 for each GPU)
# Exit status 1 if a verdict is not as expected. Needs what tests/gpu/python_gpu.sh needs, and numpy. For more
# variables see tests/gpu/cluster.sh; on a machine without a GPU set KSEARCH_SUITE_DEVICE=cpu and, in
# KSEARCH_WORKER_CONFIG, a worker's configuration that offers Python.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../cluster.sh"
source "$here/suite.sh"
started=$SECONDS
make_cluster
# A worker that was started as root must be able to read what it is given.
cp -r "$root/tests/integration/data/gpumode" "$cluster/gpumode"
python3 "$here/forms.py" write "$cluster"
chmod -R a+rX "$cluster"
use_suite gpumode "$cluster/gpumode"
device=
[ "${KSEARCH_SUITE_DEVICE:-cuda}" != cpu ] || device='device: DEVICE_CLASS_CPU'
cat >>"$KSEARCH_COORDINATOR_CONFIG" <<CONFIG
suites { kind: "flashinfer" path: "$cluster/flashinfer" $device }
suites { kind: "kernelbench" path: "$cluster/kernelbench" $device }
CONFIG
start_cluster
status=0
python3 "$here/forms.py" judge "$cluster" --spent $((SECONDS - started)) --gpus "$suite_gpus" "$@" || status=$?
show_trouble "$status"
exit "$status"
