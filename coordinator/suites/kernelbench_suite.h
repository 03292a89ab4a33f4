#ifndef KSEARCH_COORDINATOR_SUITES_KERNELBENCH_SUITE_H_
#define KSEARCH_COORDINATOR_SUITES_KERNELBENCH_SUITE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "coordinator/suites/describe_job.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/config.pb.h"

namespace ksearch {

// A suite of a checkout of KernelBench, or of its folder KernelBench/ (docs/suites/kernelbench.md):
// the file level<L>/<N>_<Name>.py is task l<L>/<N>. A task can be used once a worker has described
// the problem; until then it is listed with an error that says so. Files are read again at each
// call. `descriptions` is borrowed. NOT_FOUND or INVALID_ARGUMENT "path: ..." if there is no level.
absl::StatusOr<std::unique_ptr<TaskSuite>> MakeKernelBenchSuite(const v1::SuiteConfig& config,
                                                                const Descriptions* descriptions);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_KERNELBENCH_SUITE_H_
