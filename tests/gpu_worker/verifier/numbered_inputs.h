#ifndef KSEARCH_TESTS_GPU_WORKER_VERIFIER_NUMBERED_INPUTS_H_
#define KSEARCH_TESTS_GPU_WORKER_VERIFIER_NUMBERED_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/tensors/made_inputs.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// Makes float inputs whose elements are all the number of their variant, or what `number` makes of
// it.
class NumberedInputs final : public MadeInputs {
 public:
  using Number = std::function<int64_t(int64_t variant)>;

  explicit NumberedInputs(Number number = [](int64_t variant) { return variant; })
      : number_(std::move(number)) {}

  absl::StatusOr<std::shared_ptr<MadeVariants>> Open(
      std::shared_ptr<const WorkloadCase> maker) override {
    return std::make_shared<Variants>(std::move(maker), number_);
  }

 private:
  class Variants final : public MadeVariants {
   public:
    Variants(std::shared_ptr<const WorkloadCase> maker, Number number)
        : maker_(std::move(maker)), number_(std::move(number)) {}

    std::shared_ptr<const MadeVariant> Get(int64_t variant) override {
      std::vector<std::vector<std::byte>> made;
      for (const TensorArgument& tensor : maker_->tensors()) {
        if (!tensor.output) continue;
        const std::vector<float> numbers(static_cast<size_t>(tensor.elements),
                                         static_cast<float>(number_(variant)));
        made.emplace_back(static_cast<size_t>(tensor.bytes));
        std::memcpy(made.back().data(), numbers.data(), made.back().size());
      }
      return std::make_shared<const HostOutputs>(std::move(made));
    }

   private:
    const std::shared_ptr<const WorkloadCase> maker_;
    const Number number_;
  };

  const Number number_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_VERIFIER_NUMBERED_INPUTS_H_
