#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUBMISSION_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUBMISSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// A program of the task gpumode/`leaderboard` as one file submission.py with custom_kernel(data),
// beginning with the directive that upstream's command line reads. `description`: what a worker
// said of the problem. A submission is handed back as it is; a program in Python is followed by
// code that unpacks `data`; the file contains the text of one in CUDA or C++, built by
// torch.utils.cpp_extension when it is imported. INVALID_ARGUMENT: a program of several files, or
// one that needs an extent which no tensor of `data` shows.
absl::StatusOr<std::string> GpuModeSubmission(absl::string_view leaderboard,
                                              absl::string_view description,
                                              const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUBMISSION_H_
