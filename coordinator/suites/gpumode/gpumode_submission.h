#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUBMISSION_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUBMISSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns a program of the task gpumode/`leaderboard` as a single file submission.py with
// custom_kernel(data), which begins with the directive that upstream's command line reads.
// `description`: the worker's description of the problem. A submission is returned unchanged; a
// Python program is followed by code that unpacks `data`; the text of a CUDA or C++ program is
// embedded in the file, and torch.utils.cpp_extension builds it on import. INVALID_ARGUMENT: the
// program has several files, or needs an extent that no tensor of `data` shows.
absl::StatusOr<std::string> GpuModeSubmission(absl::string_view leaderboard,
                                              absl::string_view description,
                                              const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUBMISSION_H_
