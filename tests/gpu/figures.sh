#!/usr/bin/env bash
# Measures on this machine's GPU what docs/benchmarks.md promises. One part a call, or all of them:
#   tests/gpu/figures.sh eval|torch|search|aa|slow|all [--seconds N] [...]
#     eval    candidate text to recorded verdict, cold and warm build cache [--count 7]
#     torch   the same with torch.utils.cpp_extension and a loop in Python [--count 3]
#     search  a scripted search: share of time in which the GPU is held, final speed-up
#     aa      a program confirmed against itself [--count 30]
#     slow    a program with 2.3 % more of the same work confirmed against the other [--count 20]
# Prints a table each and writes figures_PART.json to $OUT, if that is set; `all` ends with what
# figures.py report makes of those files. A part takes no longer than --seconds (default 540) and
# a little. Needs what run_museum.sh needs; torch with CUDA and ninja for `torch`.
# For another machine: --task, KSEARCH_RUN_CONFIG and KSEARCH_CASSETTE (of `search`), and
# what tests/gpu/cluster.sh lists.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=${1:-}
export PYTHONDONTWRITEBYTECODE=1
case $part in
  all)
    shift
    for one in eval torch search aa slow; do
      "$here/figures.sh" "$one" "$@" || echo "figures.sh: $one failed" >&2
    done
    [ -z "${OUT:-}" ] || python3 "$here/figures.py" report
    ;;
  torch)
    # Alone: a worker takes no jobs while somebody else computes on its GPU.
    python3 "$here/torch_loop.py" "${@:2}"
    ;;
  report) python3 "$here/figures.py" report ;;
  eval | aa | slow)
    source "$here/cluster.sh"
    make_cluster
    start_cluster
    python3 "$here/figures.py" "$@"
    ;;
  search)
    source "$here/cluster.sh"
    make_cluster
    start_model_server "${KSEARCH_CASSETTE:-$root/configs/demo/rmsnorm.cassette.textproto}" \
      "$root/configs/demo/coordinator.textproto"
    start_cluster
    KSEARCH_RUN_CONFIG=${KSEARCH_RUN_CONFIG:-$root/configs/demo/run_rmsnorm.textproto} \
      python3 "$here/figures.py" "$@"
    ;;
  *)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
