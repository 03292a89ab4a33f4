#!/usr/bin/env bash
# Checks who includes whom: proto <- common <- {coordinator, gpu_worker, cli, autoscaler}, and each third-party
# library only behind its fence. Prints every breach as file:line:include; exit 1 if there is any.
# usage: include_fences.sh <source root>
set -euo pipefail
cd "$1"

breaches=0
# fence <what may not be included (regex after the opening quote or bracket)> <where it may (regex of paths)>
fence() {
  local pattern=$1 allowed=$2 found
  found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($pattern)" \
            --include='*.h' --include='*.cc' --include='*.cu' --include='*.cuh' \
            common coordinator gpu_worker cli autoscaler 2>/dev/null | grep -vE "^($allowed)" || true)
  if [ -n "$found" ]; then
    echo "not allowed here (fence: $allowed):"
    echo "$found"
    breaches=1
  fi
}

fence 'coordinator/(dashboard|engine|events|ledger|llm|packet|proposer|scheduler|search|service|store|views|world_model)/|coordinator/[^/]*\.h' 'coordinator/'
fence 'gpu_worker/' 'gpu_worker/'
fence 'cli/' 'cli/'
fence 'autoscaler/' 'autoscaler/'
fence 'tests/' 'none/'

fence 'grpcpp|^grpc/|[^>"]*\.grpc\.pb\.h' 'coordinator/service/|coordinator/main|gpu_worker/session/|cli/|common/grpc_channel|autoscaler/grpc_coordinator'
fence 'sqlite3' 'coordinator/store/'
fence 'curl/' 'coordinator/llm/|autoscaler/fleet/api_client'
fence 'boost/(beast|asio)' 'coordinator/dashboard/|coordinator/llm/model_server/'
fence 'boost/' 'coordinator/dashboard/|coordinator/llm/model_server/|coordinator/events/sinks/'
fence 'cuda|nvml|cublas' 'gpu_worker/(cuda|verifier|runner|device)/|gpu_worker/build/cuda/ksearch_cuda\.h'
fence 'seccomp\.h' 'gpu_worker/sandbox/'
fence 'yaml\.h' 'coordinator/suites/gpumode/|common/yaml_json'
fence 'CLI/' 'cli/((options|access_options|budget_options|memory_options|run_options)\.cc|(command_options|option_kinds|value_words)\.(h|cc))'

# Inside the coordinator.
fence 'coordinator/engine/' 'coordinator/(engine|views|service)/|coordinator/main'
fence 'coordinator/views/' 'coordinator/(views|service)/|coordinator/main'
fence 'coordinator/service/' 'coordinator/service/|coordinator/main'
fence 'coordinator/store/' 'coordinator/(store|engine|views|service)/|coordinator/main'
fence 'coordinator/dashboard/' 'coordinator/dashboard/|coordinator/main'
fence 'coordinator/events/' 'coordinator/(events|dashboard|service)/|coordinator/(main|coordinator_config)'
fence 'coordinator/scheduler/' 'coordinator/(scheduler|views|service)/|coordinator/main|coordinator/engine/model_caller'
fence 'coordinator/search/' 'coordinator/(search|engine)/'
# One format of tasks, which the command line writes and the coordinator reads.
fence 'coordinator/tasks/' 'coordinator/(tasks|suites|engine|views|service)/|coordinator/main|cli/task/'
fence 'coordinator/suites/' 'coordinator/(suites|service)/|coordinator/main|cli/task/'
fence 'coordinator/proposer/' 'coordinator/(proposer|search)/'
fence 'coordinator/packet/' 'coordinator/(packet|proposer|search|service|views)/'
fence 'coordinator/world_model/' 'coordinator/(world_model|proposer|search)/'
# Inside the worker: the driver's wrappers do not depend on their users.
fence 'gpu_worker/(session|executor|build|verifier|profile|runner|sandbox)/' 'gpu_worker/(session|executor|build|verifier|profile|runner|sandbox|device|selftest)/|gpu_worker/(main|worker_config)'
# The runner runs beside the candidate and must not depend on anything else.
fence 'gpu_worker/(session|executor|build|verifier|profile)/' 'gpu_worker/(session|executor|build|verifier|profile|selftest)/|gpu_worker/main'
# Inside the verifier: tensors < dialogue < {timing, host} < {instruments, cuda, warm} < the checks of programs < stages < what
# carries out a job. The two headers that all may include know nothing of the rest: harness_constants.h, byte_lru.h.
verifier=gpu_worker/verifier
fence "$verifier/dialogue/" "$verifier/(dialogue|timing|instruments|cuda|warm|stages)/|$verifier/[^/]*:"
fence "$verifier/(timing|host)/" "$verifier/(timing|host|instruments|cuda|warm|stages)/|$verifier/[^/]*:"
fence "$verifier/(instruments|cuda)/" "$verifier/(instruments|cuda|stages)/|$verifier/[^/]*:"
fence "$verifier/(checker|hidden_check)\.h" "$verifier/stages/|$verifier/[^/]*:"
fence "$verifier/stages/" "$verifier/stages/|$verifier/job_verifier\."
fence "$verifier/(job_verifier|request_loop)\.h" "$verifier/[^/]*:"

exit "$breaches"
