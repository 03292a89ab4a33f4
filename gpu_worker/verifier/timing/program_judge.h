#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_PROGRAM_JUDGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_PROGRAM_JUDGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "gpu_worker/verifier/dialogue/runner_starter.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/output_judge.h"
#include "gpu_worker/verifier/timing/trusted_function.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Calls judge_outputs of a task's reference (TrustedFunction). It gets copies of the inputs and of
// the outputs, and no access to the program that is judged. Thread-safe by one mutex, which is held
// while the program judges.
class ProgramJudge final : public OutputJudge {
 public:
  // `on_device` is that of TrustedFunction: checks of large results take seconds there and minutes
  // on processors.
  ProgramJudge(RunnerStarter& starter, const Clock& clock, BufferSetsFactory on_device);

  // From now on, this program judges; the artifact must have been checked. Clears earlier faults.
  void Use(const v1::Artifact& reference);

  OutputComparison Judge(const WorkloadCase& workload, int64_t variant, const SavedOutputs& outputs,
                         const SavedOutputs& expected) override;

  // Why some outputs since Use could not be judged: a TaskFault, or an error of the machine. In
  // that case no verdict since Use means anything.
  absl::Status fault() const;

 private:
  class Held;

  absl::Status Ask(const WorkloadCase& workload, int64_t variant, const SavedOutputs& outputs,
                   OutputComparison* verdict) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  TrustedFunction function_ ABSL_GUARDED_BY(mutex_);
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
  // The case with which the function is called, for the workload with this key.
  std::string key_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Held> held_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const WorkloadCase> judging_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_PROGRAM_JUDGE_H_
