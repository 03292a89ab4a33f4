#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_INPUT_MAKER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_INPUT_MAKER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "gpu_worker/verifier/byte_lru.h"
#include "gpu_worker/verifier/dialogue/runner_starter.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/made_inputs.h"
#include "gpu_worker/verifier/timing/trusted_function.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Calls make_inputs of a task's reference.py (TrustedFunction). The inputs are copied from its
// memory to this process's memory, and from there to the programs that are judged; on a GPU all of
// this happens in device memory.
//
// Thread-safe by one mutex, which is held while the program makes a variant: callers that ask for
// inputs have nothing else to do meanwhile.
class InputMaker final : public MadeInputs {
 public:
  // `on_device` is that of TrustedFunction.
  InputMaker(RunnerStarter& starter, const Clock& clock, BufferSetsFactory on_device);

  // From now on, this program makes the inputs; the artifact must have been checked. Clears earlier
  // faults. Cases of another task must not be asked for inputs anymore.
  void Use(const v1::Artifact& reference);

  absl::StatusOr<std::shared_ptr<MadeVariants>> Open(
      std::shared_ptr<const WorkloadCase> maker) override;

  // Why a variant since Use could not be made: a TaskFault, or an error of the machine. In that
  // case programs got zeros instead, and their results mean nothing.
  absl::Status fault() const;

 private:
  class Variants;

  std::shared_ptr<const MadeVariant> Get(const std::shared_ptr<const WorkloadCase>& maker,
                                         int64_t variant);
  absl::StatusOr<std::shared_ptr<const MadeVariant>> Make(
      const std::shared_ptr<const WorkloadCase>& maker, int64_t variant)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Clock& clock_;
  mutable Mutex mutex_;
  TrustedFunction function_ ABSL_GUARDED_BY(mutex_);
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
  ByteLru<const MadeVariant> made_ ABSL_GUARDED_BY(mutex_){int64_t{1} << 30};
  // The variant made last, however large: its tensors are requested one by one.
  std::string last_key_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const MadeVariant> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_INPUT_MAKER_H_
