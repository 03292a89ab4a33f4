#!/usr/bin/env bash
# Measures on this machine's GPU what docs/internals/benchmarks.md promises: one part per call, or all:
#   tests/gpu/figures.sh eval|torch|search|python|aa|slow|all [--seconds N] [...]
#     eval    candidate text to recorded verdict, cold and warm build cache [--count 7]
#     torch   the same with torch.utils.cpp_extension and a Python loop [--count 3]
#     search  a scripted search: share of time in which the GPU is held, final speed-up
#     python  eval and search with programs in Triton, and the usual way beside them [--count 7]
#     aa      a program confirmed against itself [--count 30]
#     slow    a program with 2.3 % more of the same work confirmed against the other [--count 20]
# Prints a table for each part and writes figures_PART.json to $OUT, if set; `all` ends with the
# output of figures.py report on those files. A part takes little longer than --seconds (default
# 540). Needs what run_corpus.sh needs; for `torch` also torch with CUDA and ninja, for `python`
# also what python_gpu.sh needs.
# For another machine: --task, KSEARCH_RUN_CONFIG and KSEARCH_CASSETTE (of `search`), and
# what tests/gpu/cluster.sh lists.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=${1:-}
export PYTHONDONTWRITEBYTECODE=1
case $part in
  all)
    shift
    for one in eval torch search python aa slow; do
      "$here/figures.sh" "$one" "$@" || echo "figures.sh: $one failed" >&2
    done
    [ -z "${OUT:-}" ] || python3 "$here/figures.py" report
    ;;
  torch)
    # Without a worker: it takes no jobs while another program computes on its GPU.
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
  python)
    source "$here/cluster.sh"
    programs=$here/python
    make_cluster
    use_python
    start_model_server "$programs/search.cassette.textproto" "$root/configs/demo/coordinator.textproto"
    start_cluster
    status=0
    python3 "$here/figures.py" eval --task rmsnorm_bf16 --candidate "$programs/rmsnorm_triton.py" \
      "${@:2}" || status=1
    KSEARCH_RUN_CONFIG=$programs/search.textproto python3 "$here/figures.py" search || status=1
    # Without a compiler's cache from an earlier run.
    for _ in 1 2 3; do
      TRITON_CACHE_DIR=$(mktemp -d "$cluster/usual.XXXXXX") "$python" "$programs/usual_way.py" \
        "$programs/rmsnorm_triton.py" "$root/configs/tasks/cuda/rmsnorm_bf16/workloads.jsonl" || status=1
    done
    exit "$status"
    ;;
  *)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
