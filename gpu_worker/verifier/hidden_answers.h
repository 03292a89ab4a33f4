#ifndef KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_ANSWERS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_ANSWERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/task.pb.h"

namespace ksearch {

// The input variant of a hidden case for which there is an answer.
inline constexpr int64_t kHiddenVariant = 0;

// A hidden case with the reference's answers.
struct AnsweredHiddenCase {
  std::string name;
  size_t index = 0;  // of the workload in the job
  std::shared_ptr<const WorkloadCase> workload;
  std::shared_ptr<const WorkloadCase> usual;  // of the job
  OracleEntries oracles;
  int workspace_fill = 0;  // MapRequest's
  // The case changes a scalar or the workspace, which a runner receives when it maps the workload.
  // So a process that has mapped the usual case cannot run this one.
  bool remaps = false;
};

// Draws the hidden cases of the smallest workload and of a random other one (for that one, also
// cases about the largest input), then some of all others, each with its own seed, as many as
// kHiddenCaseTime of reference runs allow. Cases for which the reference gives no numbers are
// skipped. An additional case is the smallest workload with its usual inputs, but with a workspace
// filled with bytes not used before. `cases` and `oracles` are the job's. To be called before a
// candidate runs.
absl::StatusOr<std::vector<AnsweredHiddenCase>> AnswerHiddenCases(
    Bench& bench, const v1::Task& task, const std::string& task_sha256,
    const ProgramImage& reference, const std::vector<std::shared_ptr<const WorkloadCase>>& cases,
    const std::vector<OracleEntries>& oracles);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_ANSWERS_H_
