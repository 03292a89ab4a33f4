#ifndef KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_LATE_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_LATE_INPUTS_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "gpu_worker/verifier/tensors/late_inputs.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// Late inputs in the memory of this host that verifier and runner share.
class HostLateInputs final : public LateInputs {
 public:
  // `memory` holds a call's inputs, one span per input of `workload`, in order. Null if nothing can
  // be withheld.
  static std::unique_ptr<LateInputs> Withhold(const WorkloadCase& workload,
                                              const std::vector<std::byte*>& memory, Rng* rng);

  void Deliver() override;

 private:
  struct Part {
    std::byte* place = nullptr;
    std::vector<std::byte> bytes;
  };
  explicit HostLateInputs(std::vector<Part> parts) : parts_(std::move(parts)) {}

  const std::vector<Part> parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_LATE_INPUTS_H_
