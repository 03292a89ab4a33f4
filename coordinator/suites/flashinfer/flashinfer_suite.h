#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SUITE_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SUITE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "coordinator/suites/recorded_blobs.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/config.pb.h"

namespace ksearch {

// Recorded tensors up to this total size are sent with their task. Larger tensors are sent as
// blobs.
inline constexpr int64_t kMaxRecordedBytes = 8 << 20;
inline constexpr int64_t kMaxInlineTensorBytes = 1 << 20;
// The largest tensor that is sent as a blob.
inline constexpr int64_t kMaxBlobBytes = int64_t{16} << 30;

// A data set of FlashInfer-Bench as it is (docs/suites/flashinfer.md): <path>/definitions with one
// task for each definition, <path>/workloads, <path>/blob with recorded tensors, <path>/solutions
// and <path>/traces. Files are read again at each call. The definition's own reference, a function
// in PyTorch, is the task's reference and its baseline. Lines that cannot be evaluated are left out
// with the reason (TaskSummary.left_out); a definition of which nothing is left is listed with an
// error. NOT_FOUND or INVALID_ARGUMENT "path: ..." if there is no folder `definitions`. `blobs`,
// borrowed, keeps what tasks have in blobs as they are loaded; null: there are none, and lines with
// tensors that do not fit into their task are left out.
absl::StatusOr<std::unique_ptr<TaskSuite>> MakeFlashInferSuite(const v1::SuiteConfig& config,
                                                               RecordedBlobs* blobs);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SUITE_H_
