#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The mode of every suite's evaluator: a screening that is also timed by its clock.
inline constexpr absl::string_view kBenchmarkMode = "benchmark";

// That of a suite without another one; `evaluator` is whose it is, e.g. "KernelBench's evaluator".
absl::Status SetOnlyMode(absl::string_view evaluator, const std::string& mode,
                         v1::EvaluateRequest* request);

// INVALID_ARGUMENT; `modes`: those that there are, as a person would list them.
absl::Status NoSuchMode(absl::string_view evaluator, const std::string& mode,
                        absl::string_view modes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_
