#!/usr/bin/env bash
# Checks the CUDA tasks' references in torch (tests/tasks/torch) against reference.cu on every workload,
# on this machine's GPU: each is a candidate that reference.cu judges, through a coordinator and a
# worker that the script starts. Exit status 1 if one does not pass.
#   tests/gpu/cross_check_references.sh [TASK...]
#   KSEARCH_PYTHON  the interpreter with torch for CUDA (default: VIRTUAL_ENV's, else python3)
# Needs nvcc and g++ for reference.cu, python3-dev, and the programs of a bundle or a build, as
# as tests/gpu/python_gpu.sh does; for more variables see tests/gpu/cluster.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
make_cluster
use_python
mkdir "$cluster/tasks"
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/gpu/cross_check_references.py" tasks "$cluster/tasks"
chmod -R a+rX "$cluster/tasks"
KSEARCH_TASK_DIR=$cluster/tasks
start_cluster
status=0
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/gpu/cross_check_references.py" judge \
  "$cluster/tasks" "$@" || status=1
[ "$status" = 0 ] || tail -n 40 "$cluster/log/worker.log" | cut -c1-400
exit "$status"
