#ifndef KSEARCH_COORDINATOR_SUITES_MODULE_PRECISION_H_
#define KSEARCH_COORDINATOR_SUITES_MODULE_PRECISION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// The floating-point type of a problem: the precision of KernelBench's runs.
struct ModulePrecision {
  absl::string_view name;                   // as users write it, "bf16"
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;  // torch has it under the same name
  // Upstream's, absolute and relative.
  double tolerance = 0;
};

// The row of that name ("" is the first, "fp32"); null if there is none.
const ModulePrecision* FindModulePrecision(absl::string_view name);
// "fp32, bf16 or fp16".
std::string ModulePrecisionNames();

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_MODULE_PRECISION_H_
