#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_SHAPED_INPUT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_SHAPED_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/tensors/seed.h"
#include "proto/task.pb.h"

namespace ksearch {

// An input of a workload, and what a recipe needs to make it. References must outlive this.
struct ShapedInput {
  const v1::Definition& definition;
  const v1::Workload& workload;
  const v1::TensorSpec& tensor;
  const Seed& seed;
  std::vector<int64_t> shape = {};
  int64_t element_bytes = 0;
  int64_t elements = 0;

  // A key for one purpose of this input.
  uint64_t Key(absl::string_view purpose) const;
};

// INVALID_ARGUMENT: neither the definition nor the workload gives that axis a value.
absl::StatusOr<int64_t> AxisValueOf(const v1::Definition& definition, const v1::Workload& workload,
                                    const std::string& name);

// Returns true for the types of segment bounds and page indices.
bool IsIndexType(v1::DType dtype);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_SHAPED_INPUT_H_
