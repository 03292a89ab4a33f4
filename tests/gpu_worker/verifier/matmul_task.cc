#include "tests/gpu_worker/verifier/matmul_task.h"

#include <cstdlib>

#include "common/digest.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr char kTask[] = R"(
  name: "matmul" device: DEVICE_CLASS_CPU
  definition {
    name: "matmul" op_type: "gemm"
    axes { name: "m" } axes { name: "n" } axes { name: "k" }
    inputs { name: "a" shape: "m" shape: "k" dtype: DTYPE_FLOAT32 }
    inputs { name: "b" shape: "k" shape: "n" dtype: DTYPE_FLOAT32 }
    outputs { name: "c" shape: "m" shape: "n" dtype: DTYPE_FLOAT32 }
  }
  tolerance { atol: 1e-3 rtol: 1e-3 max_rms_error_ratio: 4 rms_yardstick: 2e-7 }
)";

void AddWorkload(v1::Task* task, const std::string& uuid, int64_t m, int64_t n, int64_t k,
                 bool held_out) {
  v1::Workload* workload = task->add_workloads();
  workload->set_uuid(uuid);
  workload->set_held_out(held_out);
  const std::pair<const char*, int64_t> axes[] = {{"m", m}, {"n", n}, {"k", k}};
  for (const auto& [name, value] : axes) {
    v1::AxisValue* axis = workload->add_axes();
    axis->set_axis(name);
    axis->set_value(value);
  }
  for (const char* input : {"a", "b"}) {
    v1::InputRecipe* recipe = workload->add_inputs();
    recipe->set_input(input);
    recipe->mutable_random();
  }
}

}  // namespace

v1::Task MatmulTask() {
  v1::Task task;
  CHECK_OK(ParseTextproto(kTask, "matmul", &task));
  AddWorkload(&task, "small", 32, 24, 40, false);
  AddWorkload(&task, "medium", 96, 80, 64, false);
  AddWorkload(&task, "large", 256, 256, 192, false);
  AddWorkload(&task, "odd", 33, 7, 129, true);
  AddWorkload(&task, "tiny_values", 32, 24, 40, false);
  // Subnormal: the smallest normal float is 1.2e-38.
  task.mutable_workloads()->rbegin()->mutable_inputs(0)->mutable_random()->set_scale(3e-39);
  return task;
}

v1::Artifact CandidateArtifact(const std::string& name) {
  const char* folder = std::getenv("KSEARCH_BIN_DIR");
  CHECK(folder != nullptr);
  v1::Artifact artifact;
  artifact.set_id(name);
  artifact.set_path(std::string(folder) + "/../candidates/" + name + ".so");
  const absl::StatusOr<std::string> bytes = ReadFile(artifact.path(), int64_t{64} << 20);
  CHECK_OK(bytes.status());
  artifact.set_sha256(Sha256Hex(*bytes));
  return artifact;
}

v1::VerifierRequest ScreenRequest(const std::string& candidate) {
  v1::VerifierRequest request;
  request.set_request_id("test");
  *request.mutable_task() = MatmulTask();
  request.set_task_sha256(TaskDigest(request.task()));
  v1::JobSpec* job = request.mutable_job();
  job->set_kind(v1::JOB_KIND_SCREEN);
  job->add_workload_uuids("medium");
  job->add_workload_uuids("small");
  *job->mutable_plan()->mutable_max_time_per_workload() = ToProto(absl::Milliseconds(20));
  *job->mutable_limits()->mutable_call_time() = ToProto(absl::Seconds(1));
  *job->mutable_limits()->mutable_total_time() = ToProto(absl::Seconds(20));
  *request.mutable_candidate() = CandidateArtifact(candidate);
  *request.mutable_reference() = CandidateArtifact("reference");
  *request.mutable_baseline() = CandidateArtifact("honest");
  return request;
}

v1::VerifierRequest ConfirmRequest(const std::string& candidate, const std::string& rival) {
  v1::VerifierRequest request = ScreenRequest(candidate);
  v1::JobSpec* job = request.mutable_job();
  job->set_kind(v1::JOB_KIND_CONFIRM);
  job->add_workload_uuids("odd");
  job->add_rivals()->set_rival_id("baseline");
  *job->mutable_plan()->mutable_min_block_time() = ToProto(absl::Milliseconds(4));
  *request.add_rivals() = CandidateArtifact(rival);
  return request;
}

}  // namespace ksearch
