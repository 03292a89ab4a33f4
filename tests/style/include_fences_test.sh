#!/usr/bin/env bash
# The fence check must find breaches: plants one of each kind in a scratch tree.
# usage: include_fences_test.sh <source root>
set -euo pipefail
check=$1/tests/style/include_fences.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

expect_breach() {  # <file> <include line>
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{common,coordinator,gpu_worker,cli} "$tree/$(dirname "$1")"
  echo "$2" >"$tree/$1"
  if bash "$check" "$tree" >/dev/null; then
    echo "not found: $2 in $1"
    exit 1
  fi
}
expect_breach common/a.h '#include "coordinator/store/store.h"'
expect_breach gpu_worker/session/a.cc '#include "coordinator/store/store.h"'
expect_breach coordinator/search/a.cc '#include <sqlite3.h>'
expect_breach coordinator/engine/a.cc '#include <grpcpp/grpcpp.h>'
expect_breach coordinator/engine/b.cc '#include "proto/search_service.grpc.pb.h"'
expect_breach coordinator/store/a.cc '  #  include <curl/curl.h>'
expect_breach gpu_worker/runner/a.cc '#include "gpu_worker/verifier/x.h"'
expect_breach gpu_worker/verifier/tensors/a.h '#include "gpu_worker/verifier/dialogue/x.h"'
expect_breach gpu_worker/verifier/dialogue/a.h '#include "gpu_worker/verifier/timing/device/x.h"'
expect_breach gpu_worker/verifier/timing/device/a.h '#include "gpu_worker/verifier/instruments/x.h"'
expect_breach gpu_worker/verifier/instruments/a.cc '#include "gpu_worker/verifier/job_verifier.h"'
expect_breach gpu_worker/verifier/warm/a.cc '#include "gpu_worker/verifier/stages/gate.h"'
expect_breach cli/a.cc '#include <CLI/CLI.hpp>'
expect_breach cli/a.cc '#include "coordinator/tasks/task_folder.h"'
expect_breach cli/task/a.cc '#include "coordinator/store/store.h"'
expect_breach cli/task/a.cc '#include "coordinator/coordinator_config.h"'

rm -rf "${tree:?}"/*
mkdir -p "$tree"/{common,coordinator/store,gpu_worker,cli}
echo '#include <sqlite3.h>' >"$tree/coordinator/store/a.cc"
bash "$check" "$tree"
