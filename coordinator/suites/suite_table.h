#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_TABLE_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_TABLE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/suites/describe_job.h"
#include "coordinator/suites/recorded_blobs.h"
#include "coordinator/tasks/task_suite.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/config.pb.h"

namespace ksearch {

// Makes the coordinator's task suites: folders below `task_dirs` (directory_suite.h), and the tasks
// of `suites` under the suites' names. INVALID_ARGUMENT or NOT_FOUND names the entry: an unknown
// kind, an invalid or repeated name, or a path that is not such a folder. `descriptions` and
// `blobs` are borrowed and may be null.
absl::StatusOr<std::unique_ptr<TaskSuite>> MakeTaskSuites(
    std::vector<std::string> task_dirs,
    const google::protobuf::RepeatedPtrField<v1::SuiteConfig>& suites,
    const Descriptions* descriptions, RecordedBlobs* blobs = nullptr);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_TABLE_H_
