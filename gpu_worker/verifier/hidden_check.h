#ifndef KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_CHECK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_CHECK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/task.pb.h"

namespace ksearch {

// A hidden case, drawn and answered by the reference.
struct AnsweredHiddenCase {
  std::string name;
  size_t index = 0;  // of the workload among the job's
  std::shared_ptr<const WorkloadCase> workload;
  std::shared_ptr<const WorkloadCase> usual;  // of the job
  OracleEntries oracles;
  int workspace_fill = 0;  // MapRequest's
  // What is unusual is a scalar, or the workspace, which a runner gets when it maps the workload: a
  // process that has mapped the usual case cannot be given this one.
  bool remaps = false;
};

// The hidden cases of the smallest workload and, about the largest input too, of one drawn among
// the others, each from a seed of its own, as many as kHiddenCaseTime of reference runs allow. A
// case that the reference cannot answer with numbers is left out. One more: the smallest workload
// as it is, with other bytes in the workspace than at any time before. `cases` and `oracles` are
// the job's; before a candidate runs.
absl::StatusOr<std::vector<AnsweredHiddenCase>> AnswerHiddenCases(
    Bench& bench, const v1::Task& task, const std::string& task_sha256,
    const ProgramImage& reference, const std::vector<std::shared_ptr<const WorkloadCase>>& cases,
    const std::vector<OracleEntries>& oracles);

// Whether the case is compared in a series of calls like those of a timing: on processors, but for
// the case of the workspace. It wants a process that has seen no gate, as those of timings.
bool IsAmongOthers(Bench& bench, const AnsweredHiddenCase& hidden);

// Calls of a candidate with inputs of the hidden kind, of which one is compared. On processors it
// is any call of a session like a timed one: as many sets, a random number of calls before it,
// batches of random length. On a GPU, and where the workspace is what is unusual, it is the first
// and only one. Non-OK if the machine has no memory for it.
absl::StatusOr<Ending> CheckHiddenCase(Bench& bench, RunnerLink& link,
                                       const AnsweredHiddenCase& hidden,
                                       const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_CHECK_H_
