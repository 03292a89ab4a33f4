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
// cases about the largest input), each with its own seed, as many as kHiddenCaseTime of reference
// runs allow. Cases for which the reference gives no numbers are skipped. An additional case is the
// smallest workload with its usual inputs, but with a workspace filled with bytes not used before.
// `cases` and `oracles` are the job's. To be called before a candidate runs.
absl::StatusOr<std::vector<AnsweredHiddenCase>> AnswerHiddenCases(
    Bench& bench, const v1::Task& task, const std::string& task_sha256,
    const ProgramImage& reference, const std::vector<std::shared_ptr<const WorkloadCase>>& cases,
    const std::vector<OracleEntries>& oracles);

// Whether the case is compared within a series of calls that look like timed ones. True on CPUs,
// except for the workspace case. Like a timing, it then needs a process that has not run the gate.
bool IsAmongOthers(Bench& bench, const AnsweredHiddenCase& hidden);

// Makes calls of a candidate with the hidden case's inputs and compares one of them. On CPUs this
// is a random call of a session that looks like a timed one: equally many sets, a random number of
// calls before it, batches of random length. On a GPU, and for the workspace case, it is the first
// and only call. Non-OK if the machine is out of memory.
absl::StatusOr<Ending> CheckHiddenCase(Bench& bench, RunnerLink& link,
                                       const AnsweredHiddenCase& hidden,
                                       const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_CHECK_H_
