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
  // `memory` holds a call's inputs, one span per input of `workload`, in order. Where no part of an
  // input can be withheld (DrawLateParts) but a program makes some of them, all of these are, if
  // they are small: another variant, which no call has, is in their place. What a program makes
  // need not be right anywhere else, so it never holds parts of two variants together. Null if
  // nothing can be withheld.
  static std::unique_ptr<LateInputs> Withhold(const WorkloadCase& workload,
                                              const std::vector<std::byte*>& memory, Rng* rng);

  // Withholds all inputs whose contents differ from call to call: those in `stand_ins`, another
  // call's, are in their place. Null if there are none.
  static std::unique_ptr<LateInputs> WithholdAll(const WorkloadCase& workload,
                                                 const std::vector<std::byte*>& memory,
                                                 const std::vector<std::byte*>& stand_ins);

  void Deliver() override;

 private:
  struct Part {
    std::byte* place = nullptr;
    std::vector<std::byte> bytes;
  };
  static std::vector<Part> WithholdMade(const WorkloadCase& workload,
                                        const std::vector<std::byte*>& memory, Rng* rng);
  explicit HostLateInputs(std::vector<Part> parts) : parts_(std::move(parts)) {}

  const std::vector<Part> parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_LATE_INPUTS_H_
