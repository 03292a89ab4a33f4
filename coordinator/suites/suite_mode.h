#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The mode of every suite's evaluator: a screening that is also timed by its clock.
inline constexpr absl::string_view kBenchmarkMode = "benchmark";

// The only mode of a suite; `evaluator` names its evaluator, e.g. "KernelBench's evaluator".
absl::Status SetOnlyMode(absl::string_view evaluator, const std::string& mode,
                         v1::EvaluateRequest* request);

// INVALID_ARGUMENT; `modes` lists the modes that exist, in words.
absl::Status NoSuchMode(absl::string_view evaluator, const std::string& mode,
                        absl::string_view modes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_MODE_H_
