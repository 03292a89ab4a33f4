#ifndef KSEARCH_COORDINATOR_SUITES_MODULE_PRECISION_H_
#define KSEARCH_COORDINATOR_SUITES_MODULE_PRECISION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// The floating-point type of a problem: the precision of KernelBench's runs.
struct ModulePrecision {
  absl::string_view name;                   // as users write it, e.g. "bf16"
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;  // torch uses the same name
  // Upstream's tolerance, both absolute and relative.
  double tolerance = 0;
};

// Returns the row of this name ("" is the first, "fp32"), or null.
const ModulePrecision* FindModulePrecision(absl::string_view name);
// "fp32, bf16 or fp16".
std::string ModulePrecisionNames();

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_MODULE_PRECISION_H_
