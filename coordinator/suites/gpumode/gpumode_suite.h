#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUITE_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUITE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "coordinator/suites/describe_job.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/config.pb.h"

namespace ksearch {

// A suite of a checkout of GPU MODE's reference-kernels, of its folder problems/, or of the folder
// of one problem (docs/suites/gpumode.md): each folder with a task.yml is a task, named as its
// set's .yaml says, or otherwise after the folder. A task can be used once a worker has described
// the problem; until then it is listed with an error that says so. Files are read again at each
// call. `descriptions` is borrowed. NOT_FOUND or INVALID_ARGUMENT "path: ..." if there is no
// problem.
absl::StatusOr<std::unique_ptr<TaskSuite>> MakeGpuModeSuite(const v1::SuiteConfig& config,
                                                            const Descriptions* descriptions);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_SUITE_H_
