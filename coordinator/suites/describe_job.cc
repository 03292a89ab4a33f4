#include "coordinator/suites/describe_job.h"

#include "common/identity.h"
#include "common/measure_defaults.h"

namespace ksearch {
namespace {

constexpr char kName[] = "describe";
// Importing torch and drawing large tensors on processors takes time.
constexpr int64_t kSeconds = 300;

}  // namespace

DescribeJob MakeDescribeJob(const ProblemProgram& program) {
  DescribeJob job;
  job.task.set_name(kName);
  job.task.set_device(program.device);
  job.task.mutable_definition()->set_name(kName);
  job.spec.set_kind(v1::JOB_KIND_DESCRIBE);
  job.spec.set_task_sha256(TaskDigest(job.task));
  job.spec.set_task_name(kName);
  job.spec.set_device(job.task.device());
  *job.spec.mutable_candidate() = program.sources;
  *job.spec.mutable_plan() = WithDefaults(v1::MeasurePlan());
  *job.spec.mutable_limits() = WithDefaults(v1::Limits());
  job.spec.mutable_limits()->mutable_build_time()->set_seconds(kSeconds);
  return job;
}

}  // namespace ksearch
