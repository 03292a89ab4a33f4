#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The mode that every suite's evaluator has: a screening that its clock times as well.
inline constexpr absl::string_view kBenchmarkMode = "benchmark";

// Sets the only mode of a suite. `evaluator` names its evaluator, e.g. "KernelBench's evaluator".
absl::Status SetOnlyMode(absl::string_view evaluator, const std::string& mode,
                         v1::EvaluateRequest* request);

// INVALID_ARGUMENT; `modes` lists the existing modes as text.
absl::Status NoSuchMode(absl::string_view evaluator, const std::string& mode,
                        absl::string_view modes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_
