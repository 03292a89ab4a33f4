#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/verifier/judges/sampling_rule.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// The inputs of a sampling operation for one input variant: rows of probabilities (`probs`, rows x
// tokens), and the limits `top_k` and `top_p` that the rule uses, per row or the same for all rows.
class SamplingInputs {
 public:
  // INVALID_ARGUMENT names what is missing in the case.
  static absl::StatusOr<SamplingInputs> Read(const WorkloadCase& workload, int64_t variant);
  // Checks by the task's definition whether its cases can be read at all.
  static absl::Status Check(const WorkloadCase& workload);

  int64_t rows() const { return rows_; }
  int64_t tokens() const { return tokens_; }
  std::vector<double> Row(int64_t row) const;
  DrawLimits LimitsOf(int64_t row) const;

 private:
  int64_t rows_ = 0, tokens_ = 0;
  v1::DType dtype_ = v1::DTYPE_UNSPECIFIED;
  int64_t element_bytes_ = 0;
  std::vector<std::byte> probabilities_;
  // One for each row, or one for all rows; empty if the rule does not use them.
  std::vector<double> top_k_, top_p_;
  double margin_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_INPUTS_H_
